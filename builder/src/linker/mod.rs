//! The PTX linker: bitcode of a kernel crate and its dependencies in, PTX text out.
//!
//! It runs in this process over rustc's own LLVM. Each duty is a module of its own; `prepare` is the order in which those happen that
//! LLVM's passes must see the result of, with the whole module, and `units::compile` the order of the others, with each unit of it.
//! rustc hands over *unoptimised* bitcode: every LLVM optimisation happens here, once.

// Values are compared by their address; what a context collects behind it does not matter.
#![allow(clippy::mutable_key_type)]

mod address_alignment;
mod allocator;
mod approximations;
pub mod archive;
mod array_places;
mod assumptions;
mod atomics;
mod barriers;
mod bit_tests;
mod block_copies;
mod branch_values;
mod call_chains;
mod certain_cases;
mod chosen_slots;
mod chunk_ends;
mod cold_values;
mod comparisons;
mod constant_copies;
mod convergence;
mod copies;
mod counted_ends;
mod early_loads;
mod evaluate;
mod exchanged_slots;
mod exit_values;
mod fall_through;
mod float;
mod globals;
mod halves;
mod harmless;
mod inclusive_ranges;
mod invariant_loads;
mod joined_checks;
mod joined_conditions;
mod late_stores;
mod launch_facts;
mod launch_parameters;
mod line_directives;
mod lines;
mod loads_first;
mod local_alignment;
mod local_arrays;
mod local_atomics;
mod long_copies;
mod loop_counters;
mod loop_exits;
mod loops;
mod meetings;
mod moved_elements;
mod narrow;
mod needless_barriers;
mod offsets;
mod one_way_back;
mod optional_references;
mod other_rounds;
mod overwritten_arrays;
mod panic_messages;
mod panic_sites;
mod panic_tails;
mod panics;
mod pointer_values;
mod reach;
mod reachable;
mod read_only_slices;
mod records;
mod replaced;
mod requirements;
mod second_copy;
mod shared;
mod short_minima;
mod short_names;
mod signature;
mod spaces;
mod stack_slots;
mod stores_of_parts;
mod swaps;
mod symbols;
mod template;
mod thread_exits;
mod three_ways;
mod twin_counters;
mod uniform;
mod units;
mod unresolved;
mod unroll;
mod unsupported;
mod untranslatable;
mod user_code;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::arch::{Arch, PtxVersion};
use crate::environment;
use crate::error::BuildError;
use crate::llvm::{
    self, Attribute, Context, Module, TargetMachine, Value, calling_convention::PTX_KERNEL, guarded,
};

pub(crate) use float::FloatOptions;
pub(crate) use records::VERSION as RECORD_VERSION;
use units::{Facts, Whole};
use warpsmith_signature::Variable;

/// What to link, and how.
#[derive(Debug)]
pub(crate) struct LinkJob {
    /// rustc's LLVM library.
    pub llvm: PathBuf,
    /// Which rustc it is of: another one may have another library under the same path.
    pub toolchain: String,
    /// Archives taken whole: the user's own crates, the kernel crate last.
    pub crates: Vec<PathBuf>,
    /// Archives from which members are pulled by need: other crates, `core` and its friends.
    pub libraries: Vec<PathBuf>,
    /// NVIDIA's libdevice, if the user gave it.
    pub libdevice: Option<PathBuf>,
    /// The architecture.
    pub arch: Arch,
    /// The PTX version, if the user insists on one.
    pub ptx_version: Option<PtxVersion>,
    /// Floating-point switches of the build.
    pub float: FloatOptions,
    /// Whether PTX names source lines.
    pub lines: bool,
    /// Folders whose code is not the user's: lines are those of the code that it was inlined into.
    pub foreign: Vec<PathBuf>,
}

/// What linking gives.
pub(crate) struct Linked {
    /// The PTX.
    pub ptx: String,
    /// The units that were compiled: kernels, and what they have in common. The others were in the cache.
    pub compiled: Vec<String>,
    /// Whether the source's lines stand in the text as such alone: in no constant of the compiler's.
    pub names_lines_apart: bool,
}

/// Links, optimises and translates.
pub(crate) fn link(job: LinkJob) -> Result<Linked, BuildError> {
    let job = Arc::new(job);
    let prepared = guarded::run({
        let job = job.clone();
        move || prepare(&job)
    });
    let prepared = match prepared {
        Ok(prepared) => prepared?,
        Err(reason) => return Err(BuildError::Link(format!("LLVM stopped: {reason}"))),
    };
    let translated = units::translate(&job, &prepared.whole)?;
    let ptx = globals::mark_managed(translated.ptx, &prepared.managed);
    let mut signature =
        signature::describe(translated.kernels, prepared.variables, &prepared.records);
    signature.common_panics = translated.common_panics;
    Ok(Linked {
        // SAFETY: the text was made of the module that the signature describes, and the records come from `#[kernel]`, or from code that
        // says `unsafe` to make one.
        ptx: unsafe { warpsmith_signature::sign(&ptx, &signature) },
        compiled: translated.compiled,
        names_lines_apart: translated.is_cut,
    })
}

/// A linked module, and what is known of it as a whole.
struct Prepared {
    whole: Whole,
    records: Vec<records::Record>,
    managed: Vec<String>,
    variables: Vec<Variable>,
}

/// Links, and does what LLVM's passes must see the result of.
fn prepare(job: &LinkJob) -> Result<Prepared, BuildError> {
    let api = llvm::load(&job.llvm).map_err(|e| {
        BuildError::Setup(format!("cannot load LLVM from {}: {e}", job.llvm.display()))
    })?;
    let context = Context::new(api);
    let (module, of_libraries) = load(&context, job)?;
    let records = records::take(&module)?;
    if !module
        .functions()
        .iter()
        .any(|f| f.calling_convention() == PTX_KERNEL)
    {
        let package = job
            .crates
            .last()
            .map(|path| crate_name(path))
            .unwrap_or_default();
        return Err(BuildError::NoKernels { package });
    }

    shared::replace_markers(&module)?;
    let managed = globals::assign_spaces(&module);
    for record in &records {
        records::apply(&module, record)?;
    }
    panics::inline_wrappers(&module);
    panics::shrink(&module);
    comparisons::inline(&module);
    copies::widen(&module);
    convergence::mark(&module);
    internalise(&module);
    for symbols in [
        &[panics::LITERAL][..],
        &panic_sites::HANDLERS,
        &replaced::FUNCTIONS,
    ] {
        symbols::keep(&module, symbols);
    }
    module.run_passes("globaldce", None)?;
    let exits = thread_exits::decide(&module, &job.foreign)?;
    let missing = unresolved::describe(&module, &job.foreign);
    if !missing.is_empty() {
        return Err(BuildError::UnresolvedSymbols(missing));
    }
    unsupported::check(&module)?;
    let version = choose_version(&module, &records, job)?;
    let machine = TargetMachine::new(&context, job.arch.name(), &version.feature())?;
    module.set_target(&machine);
    if !job.lines {
        module.strip_debug_info();
    }
    let float = float::mark(&module, job.float, &records);
    forget_guids(&module);
    dump(&module, "before");
    let mut needs: HashMap<String, Vec<String>> = HashMap::new();
    let needed = panics::needs(&module).chain(panic_sites::needs(&module));
    let needed = needed.chain(replaced::needs(&module));
    for (function, needed) in needed.chain(exits) {
        needs.entry(function).or_default().push(needed);
    }
    Ok(Prepared {
        whole: Whole {
            text: module.to_ir(),
            facts: Facts {
                of_libraries,
                needs,
            },
            features: version.feature(),
            has_chains: version >= lines::CHAINS_SINCE,
            visible: signature::visible(&module)
                .into_iter()
                .map(|variable| variable.name())
                .collect(),
            float,
        },
        variables: signature::variables(&module),
        records,
        managed,
    })
}

/// The oldest PTX version that has what the kernels use, and chains of inlined calls if lines are named; or the user's if it has what
/// the kernels use.
fn choose_version(
    module: &Module<'_>,
    records: &[records::Record],
    job: &LinkJob,
) -> Result<PtxVersion, BuildError> {
    let mut needs = requirements::check(module, job.arch, &job.foreign)?;
    for record in records {
        if record
            .parameters
            .iter()
            .any(|p| matches!(p, records::ParameterKind::ByValue { .. }))
        {
            requirements::by_value(&mut needs);
        }
        if record.cluster[0] != 0 {
            requirements::cluster(module, &mut needs, job.arch, &record.kernel)?;
        }
    }
    match job.ptx_version {
        None if job.lines => Ok(needs.ptx.max(lines::CHAINS_SINCE)),
        None => Ok(needs.ptx),
        Some(asked) if asked > PtxVersion::NEWEST => Err(BuildError::Setup(format!(
            "PTX {asked} was asked for, and the newest that is known is {}",
            PtxVersion::NEWEST
        ))),
        Some(asked) if asked >= needs.ptx => Ok(asked),
        Some(asked) => Err(BuildError::PtxVersionTooOld {
            asked,
            needs: needs.ptx,
            reason: needs.what,
        }),
    }
}

/// With `WARPSMITH_DUMP_IR=DIR`, writes the module's text there: the first thing to look at when PTX surprises.
fn dump(module: &Module<'_>, stage: &str) {
    if let Some(folder) = environment::ir_folder() {
        let path = folder.join(format!("{stage}.ll"));
        if let Err(error) =
            std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(&path, module.to_ir()))
        {
            eprintln!("warning: {}: {error}", path.display());
        }
    }
}

/// Puts all bitcode that is needed into one module; gives the names of the functions that come from libraries, too.
fn load<'c>(
    context: &'c Context,
    job: &LinkJob,
) -> Result<(Module<'c>, HashSet<String>), BuildError> {
    let module = Module::new(context, "kernels");
    let mut kernels: HashMap<String, String> = HashMap::new();
    // Found part by part: the module has all instructions again in each round.
    let mut replaced_by = BTreeSet::new();
    for path in &job.crates {
        let krate = crate_name(path);
        for member in archive::Archive::open(path)?.bitcode_members()? {
            let part = Module::parse_bitcode(context, &member.bytes, &member.name)?;
            for kernel in part
                .functions()
                .iter()
                .filter(|f| f.calling_convention() == PTX_KERNEL && !f.is_declaration())
            {
                if let Some(other) = kernels.insert(kernel.name(), krate.clone()) {
                    return Err(BuildError::DuplicateKernel {
                        name: kernel.name(),
                        crates: vec![other, krate],
                    });
                }
            }
            strip_target(&part);
            replaced_by.extend(replaced::needed_by(&part));
            module.link(part)?;
        }
    }
    if let Some(path) = &job.libdevice {
        let bytes =
            std::fs::read(path).map_err(|e| format!("libdevice at {}: {e}", path.display()))?;
        let part = Module::parse_bitcode(context, &bytes, "libdevice")?;
        part.set_data_layout_of(&module);
        strip_target(&part);
        replaced_by.extend(replaced::needed_by(&part));
        module.link(part)?;
    }
    let mut of_libraries = HashSet::new();
    let mut library = archive::Library::open(job.libraries.iter().map(PathBuf::as_path))?;
    let of_panics = panics::replacements().chain(panic_sites::HANDLERS);
    let mut missing: Vec<String> = of_panics.map(String::from).collect();
    let mut asked = HashSet::new();
    while !missing.is_empty() {
        for symbol in missing {
            if let Some(member) = library.pull(&symbol)? {
                let part = Module::parse_bitcode(context, &member.bytes, &member.name)?;
                strip_target(&part);
                let functions = part.functions().into_iter();
                of_libraries.extend(functions.filter(|f| !f.is_declaration()).map(Value::name));
                replaced_by.extend(replaced::needed_by(&part));
                module.link(part)?;
            }
        }
        allocator::complete(&module);
        panics::replace(&module);
        missing = unresolved::values(&module)
            .into_iter()
            .map(|v| v.name())
            .chain(replaced::missing(&module, &replaced_by))
            .filter(|name| asked.insert(name.clone()))
            .collect();
    }
    Ok((module, of_libraries))
}

/// `kernels` of `libkernels-0123456789abcdef.rlib`.
fn crate_name(path: &Path) -> String {
    let stem = path
        .file_stem()
        .map(|s| s.to_string_lossy().into_owned())
        .unwrap_or_default();
    let name = stem.strip_prefix("lib").unwrap_or(&stem);
    name.rsplit_once('-')
        .map_or(name, |(name, _)| name)
        .to_owned()
}

/// rustc wrote its own default processor on every function; ours is the target machine's.
fn strip_target(module: &Module<'_>) {
    for function in module.functions() {
        function.remove_text(Attribute::Function, "target-cpu");
        function.remove_text(Attribute::Function, "target-features");
    }
}

/// LLVM 23 numbers functions and variables for profiles across modules. PTX has no such number, and a unit must be the same with it and
/// without.
fn forget_guids(module: &Module<'_>) {
    for value in module.functions().into_iter().chain(module.globals()) {
        value.remove_metadata("guid");
    }
}

/// Whether a function is the entry of a kernel that the module defines.
fn is_kernel(function: Value<'_>) -> bool {
    function.calling_convention() == PTX_KERNEL && !function.is_declaration()
}

/// Everything but kernels and the statics that the host may name becomes private to the module.
fn internalise(module: &Module<'_>) {
    for function in module.functions() {
        if !function.is_declaration() && function.calling_convention() != PTX_KERNEL {
            function.internalise();
        }
    }
    for global in module.globals() {
        if !global.is_declaration()
            && !globals::is_host_visible(global)
            && !global.name().starts_with("llvm.")
        {
            global.internalise();
        }
    }
    // `#[used]` keeps statics alive on ordinary targets; here only use keeps them.
    for name in ["llvm.used", "llvm.compiler.used"] {
        if let Some(list) = module.global(name) {
            list.delete_global();
        }
    }
}
