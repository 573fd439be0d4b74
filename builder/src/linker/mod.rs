//! The PTX linker: bitcode of a kernel crate and its dependencies in, PTX text out.
//!
//! It runs in this process over rustc's own LLVM. Each duty is a module of its own; `link_here` is the order
//! in which they happen. rustc hands over *unoptimised* bitcode: every LLVM optimisation happens here, once,
//! after the duties that LLVM's passes must see the result of.

// Values are compared by their address; what a context collects behind it does not matter.
#![allow(clippy::mutable_key_type)]

mod allocator;
pub mod archive;
mod atomics;
mod call_chains;
mod convergence;
mod copies;
mod float;
mod globals;
mod launch_parameters;
mod line_directives;
mod lines;
mod local_atomics;
mod panics;
mod reach;
mod reachable;
mod records;
mod replaced;
mod requirements;
mod shared;
mod short_names;
mod signature;
mod spaces;
mod symbols;
mod template;
mod unresolved;
mod unsupported;
mod untranslatable;
mod user_code;

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::arch::{Arch, PtxVersion};
use crate::environment;
use crate::error::BuildError;
use crate::llvm::{
    self, Attribute, Context, Module, TargetMachine, calling_convention::PTX_KERNEL, guarded,
};

pub(crate) use float::FloatOptions;
pub(crate) use records::VERSION as RECORD_VERSION;
use untranslatable::Optimised;

/// What to link, and how.
#[derive(Debug)]
pub(crate) struct LinkJob {
    /// rustc's LLVM library.
    pub llvm: PathBuf,
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

/// Links, optimises and translates; returns PTX text.
pub(crate) fn link(job: LinkJob) -> Result<String, BuildError> {
    let (job, optimised) = (Arc::new(job), Arc::new(Mutex::new(None)));
    let linked = guarded::run({
        let (job, optimised) = (job.clone(), optimised.clone());
        move || link_here(&job, &optimised)
    });
    match linked {
        Ok(Ok(Ok(ptx))) => Ok(ptx),
        Ok(Err(error)) => Err(error),
        Ok(Ok(Err(reason))) | Err(reason) => {
            let optimised = optimised
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take();
            Err(untranslatable::explain(&job, optimised, &reason))
        }
    }
}

/// The same on this thread, with LLVM's reason if it cannot translate the module that is left in `kept`.
fn link_here(
    job: &LinkJob,
    kept: &Mutex<Option<Optimised>>,
) -> Result<Result<String, String>, BuildError> {
    let api = llvm::load(&job.llvm).map_err(|e| {
        BuildError::Setup(format!("cannot load LLVM from {}: {e}", job.llvm.display()))
    })?;
    let context = Context::new(api);
    let module = load(&context, job)?;
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

    // What LLVM's passes must see the result of.
    shared::replace_markers(&module)?;
    let managed = globals::assign_spaces(&module);
    for record in &records {
        records::apply(&module, record)?;
    }
    panics::shrink(&module);
    copies::widen(&module);
    convergence::mark(&module);
    internalise(&module);
    panics::keep_literal_handler(&module);
    replaced::keep_functions(&module);
    module.run_passes("globaldce", None)?;
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
    module
        .verify()
        .map_err(|e| format!("internal error: the linker made a broken module: {e}"))?;
    dump(&module, "before");

    module.run_passes(THREAD_JUMPS, None)?;
    panics::redirect_literals(&module);
    panics::release_literal_handler(&module);
    replaced::replace(&module);
    module.run_passes(PIPELINE, Some(&machine))?;

    // What must not disturb them.
    let take_launch = launch_parameters::pass(&module);
    copies::widen(&module);
    atomics::restore(&module);
    module.run_passes(EXPAND_ATOMICS, Some(&machine))?;
    atomics::restore(&module);
    spaces::resolve(&module)?;
    float::apply(&module, job.float, &records);
    let chains = if version < lines::CHAINS_SINCE {
        lines::flatten(&module, &job.foreign);
        None
    } else {
        Some(lines::number(&module, &job.foreign))
    };
    dump(&module, "after");
    let signature = signature::describe(&module, &records, &take_launch);
    *kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(Optimised {
        bitcode: module.to_bitcode(),
        features: version.feature(),
        chains: chains.clone(),
    });
    Ok(module.emit(&machine).map(|ptx| {
        let ptx = globals::mark_managed(ptx, &managed);
        let ptx = match chains {
            Some(chains) => line_directives::write(&ptx, &chains),
            None => ptx,
        };
        // SAFETY: the text was made of the module that the signature describes, and the records come from `#[kernel]`, or from code that
        // says `unsafe` to make one.
        unsafe { warpsmith_signature::sign(&ptx, &signature) }
    }))
}

/// Inlines, and threads jumps through what is known on the way: without it a plain `for i in 0..16` keeps the
/// `Option` that its iterator returns, its trip count stays unknown and it is never unrolled. LLVM skips jump
/// threading for GPUs, so this runs without the target machine (and leaves convergent code alone all the same).
/// MIR has a pass for it, too, but that one duplicates barriers and is off.
const THREAD_JUMPS: &str = "cgscc(devirt<4>(inline,function(sroa<modify-cfg>,early-cse<memssa>,jump-threading,\
    correlated-propagation,simplifycfg,instcombine<no-verify-fixpoint>))),globaldce";

/// LLVM's ordinary pipeline; then address spaces are inferred once more, for what the linker does after it.
const PIPELINE: &str = "default<O3>,function(infer-address-spaces)";

/// Makes wide atomics of the narrow ones that are left. LLVM 23 needs an analysis for it, and gives those with an order fences
/// instead, which is why the ones that have an instruction come first.
const EXPAND_ATOMICS: &str = "require<libcall-lowering-info>,function(atomic-expand)";

/// The oldest PTX version that has what the kernels use, and chains of inlined calls if lines are named; or the user's if it has what
/// the kernels use.
fn choose_version(
    module: &Module<'_>,
    records: &[records::Record],
    job: &LinkJob,
) -> Result<PtxVersion, BuildError> {
    let mut needs = requirements::check(module, job.arch, &job.foreign)?;
    for record in records {
        let mut attribute = |what, ptx, level| {
            requirements::attribute(&mut needs, job.arch, &record.kernel, what, ptx, level)
        };
        if record
            .parameters
            .iter()
            .any(|p| matches!(p, records::ParameterKind::ByValue { .. }))
        {
            attribute("grid_constant", PtxVersion::new(7, 7), 70)?;
        }
        if record.cluster[0] != 0 {
            attribute("cluster dimensions", PtxVersion::new(7, 8), 90)?;
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

/// Puts all bitcode that is needed into one module.
fn load<'c>(context: &'c Context, job: &LinkJob) -> Result<Module<'c>, BuildError> {
    let module = Module::new(context, "kernels");
    let mut kernels: HashMap<String, String> = HashMap::new();
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
            module.link(part)?;
        }
    }
    if let Some(path) = &job.libdevice {
        let bytes =
            std::fs::read(path).map_err(|e| format!("libdevice at {}: {e}", path.display()))?;
        let part = Module::parse_bitcode(context, &bytes, "libdevice")?;
        part.set_data_layout_of(&module);
        strip_target(&part);
        module.link(part)?;
    }
    let mut library = archive::Library::open(job.libraries.iter().map(PathBuf::as_path))?;
    let mut missing: Vec<String> = panics::replacements().map(String::from).collect();
    let mut asked = HashSet::new();
    while !missing.is_empty() {
        for symbol in missing {
            if let Some(member) = library.pull(&symbol)? {
                let part = Module::parse_bitcode(context, &member.bytes, &member.name)?;
                strip_target(&part);
                module.link(part)?;
            }
        }
        allocator::complete(&module);
        panics::replace(&module);
        missing = unresolved::values(&module)
            .into_iter()
            .map(|v| v.name())
            .chain(replaced::needed(&module))
            .filter(|name| asked.insert(name.clone()))
            .collect();
    }
    Ok(module)
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
