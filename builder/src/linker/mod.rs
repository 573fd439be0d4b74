//! The PTX linker: bitcode of a kernel crate and its dependencies in, PTX text out.
//!
//! It runs in this process over rustc's own LLVM. Each duty is a module of its own; [`link`] is the order
//! in which they happen. rustc hands over *unoptimised* bitcode: every LLVM optimisation happens here, once,
//! after the duties that LLVM's passes must see the result of.

pub mod archive;
pub mod convergence;
mod globals;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::llvm::{self, Context, Module, TargetMachine};

/// What to link, and how.
#[derive(Debug)]
pub(crate) struct LinkJob<'a> {
    /// rustc's LLVM library.
    pub llvm: &'a Path,
    /// Archives taken whole: the kernel crate and its dependencies.
    pub crates: &'a [PathBuf],
    /// Archives from which members are pulled by need: `core` and its friends.
    pub libraries: &'a [PathBuf],
    /// `sm_90a` ...
    pub cpu: String,
    /// `+ptx86` ...
    pub features: String,
}

/// A failed link.
#[derive(Debug)]
pub(crate) enum LinkError {
    /// Something that a user can mend, already in words.
    Message(String),
}

impl From<String> for LinkError {
    fn from(message: String) -> Self {
        LinkError::Message(message)
    }
}

/// Symbols that the driver resolves when it loads the PTX.
const DRIVER_SYMBOLS: &[&str] = &["vprintf", "__assertfail", "malloc", "free"];

fn resolved_by_driver(name: &str) -> bool {
    DRIVER_SYMBOLS.contains(&name) || name.starts_with("cuda")
}

/// Calling convention of PTX kernels (`.entry`).
const PTX_KERNEL: u32 = 71;

/// Links and optimises; returns PTX text.
pub(crate) fn link(job: &LinkJob<'_>) -> Result<String, LinkError> {
    let api = llvm::load(job.llvm)
        .map_err(|e| format!("cannot load LLVM from {}: {e}", job.llvm.display()))?;
    let context = Context::new(api);
    let machine = TargetMachine::new(&context, &job.cpu, &job.features)?;
    let module = load(&context, job)?;
    module.set_target(&machine);

    convergence::mark(&module);
    globals::place(&module);
    internalise(&module);
    module.run_passes("globaldce", &machine)?;
    check_symbols(&module)?;
    dump(&module, "before");
    module.run_passes("default<O3>", &machine)?;
    dump(&module, "after");
    Ok(module.emit(&machine)?)
}

/// With `WARPSMITH_DUMP_IR=DIR`, writes the module's text there: the first thing to look at when PTX surprises.
fn dump(module: &Module<'_>, stage: &str) {
    if let Some(folder) = std::env::var_os("WARPSMITH_DUMP_IR") {
        let path = Path::new(&folder).join(format!("{stage}.ll"));
        if let Err(error) =
            std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(&path, module.to_ir()))
        {
            eprintln!("warning: {}: {error}", path.display());
        }
    }
}

/// Puts all bitcode that is needed into one module.
fn load<'c>(context: &'c Context, job: &LinkJob<'_>) -> Result<Module<'c>, LinkError> {
    let module = context.create_module("kernels");
    for path in job.crates {
        for (name, bytes) in archive::Archive::open(path)?.bitcode_members()? {
            let part = context.parse_bitcode(&bytes, &name)?;
            strip_target(&part);
            module.link(part)?;
        }
    }
    let mut library = archive::Library::open(job.libraries.iter().map(PathBuf::as_path))?;
    let mut asked = HashSet::new();
    // LLVM itself makes calls of these when it lowers 128-bit arithmetic and memory intrinsics.
    loop {
        let missing: Vec<String> = undefined(&module)
            .into_iter()
            .filter(|name| asked.insert(name.clone()))
            .collect();
        if missing.is_empty() {
            return Ok(module);
        }
        for symbol in missing {
            if let Some((name, bytes)) = library.pull(&symbol)? {
                let part = context.parse_bitcode(&bytes, &name)?;
                strip_target(&part);
                module.link(part)?;
            }
        }
    }
}

/// Names that are used and not defined.
fn undefined(module: &Module<'_>) -> Vec<String> {
    module
        .functions()
        .into_iter()
        .filter(|f| f.is_declaration() && !f.is_intrinsic())
        .chain(module.globals().into_iter().filter(|g| g.is_declaration()))
        .filter(|v| !v.is_unused())
        .map(|v| v.name())
        .filter(|name| !name.starts_with("llvm.") && !resolved_by_driver(name))
        .collect()
}

/// rustc wrote its own default processor on every function; ours is the target machine's.
fn strip_target(module: &Module<'_>) {
    use crate::llvm::Attribute::Function;
    for function in module.functions() {
        function.remove_text(Function, "target-cpu");
        function.remove_text(Function, "target-features");
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

/// Stops at symbols that nobody defines.
fn check_symbols(module: &Module<'_>) -> Result<(), LinkError> {
    let missing = undefined(module);
    if missing.is_empty() {
        return Ok(());
    }
    Err(LinkError::Message(format!(
        "unresolved symbols: {}",
        missing.join(", ")
    )))
}
