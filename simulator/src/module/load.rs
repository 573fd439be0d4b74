//! Loading PTX text into a context.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::function::most_shared_memory;
use super::loaded::{Module, Owner};
use super::target::{NEWEST_PTX, version_directive, wrong_target};
use crate::context::Context;
use crate::engine;
use crate::error::code;
use crate::memory::{self, AllocationKind, Memory, guest};
use crate::settings;
use warpsmith_abi::CUresult;
use warpsmith_isa::Target;

/// Why a module was not loaded.
pub(crate) struct LoadFailure {
    pub(crate) code: CUresult,
    pub(crate) text: String,
}

fn failure(code: CUresult, text: impl Into<String>) -> LoadFailure {
    LoadFailure {
        code,
        text: text.into(),
    }
}

/// Refuses what can be seen to be no PTX that this driver takes.
pub(super) fn refuse_image(ptx: &str) -> Result<(), LoadFailure> {
    if settings::process().disable_jit {
        let text = "PTX cannot be loaded: CUDA_DISABLE_PTX_JIT or CUDA_DISABLE_JIT is set";
        return Err(failure(code::JIT_COMPILATION_DISABLED, text));
    }
    if !ptx
        .lines()
        .any(|line| line.trim_start().starts_with(".version"))
    {
        let text = "the image is no PTX: it has no .version";
        return Err(failure(code::INVALID_IMAGE, text));
    }
    if let Some((major, minor)) = version_directive(ptx)
        && (major, minor) > NEWEST_PTX
    {
        let text = format!(
            "ptxas fatal   : Unsupported .version {major}.{minor}; current version is '{}.{}'",
            NEWEST_PTX.0, NEWEST_PTX.1
        );
        return Err(failure(code::UNSUPPORTED_PTX_VERSION, text));
    }
    Ok(())
}

/// Refuses PTX that this device does not run.
pub(super) fn refuse_target(target: Target, device: usize) -> Result<(), LoadFailure> {
    match wrong_target(target, device) {
        Some(text) => Err(failure(code::INVALID_PTX, text)),
        None => Ok(()),
    }
}

/// What the compiler says of a PTX text, which it calls by a name.
pub(super) fn compiler_error(name: &str, error: &engine::LoadError) -> LoadFailure {
    let text = format!(
        "ptxas {name}, line {}, column {}; error   : {}",
        error.line, error.column, error.message
    );
    failure(code::INVALID_PTX, text)
}

/// Loads PTX into a context.
pub(crate) fn load(context: &Arc<Context>, ptx: &str) -> Result<Arc<Module>, LoadFailure> {
    load_placed(context, ptx, &BTreeMap::new(), Owner::Program)
}

/// As [`load`]; these variables have their memory, and what it holds, already.
pub(super) fn load_placed(
    context: &Arc<Context>,
    ptx: &str,
    placed: &BTreeMap<String, usize>,
    owner: Owner,
) -> Result<Arc<Module>, LoadFailure> {
    refuse_image(ptx)?;
    if settings::process().eager_loading {
        let wait = context.wait_to_load(|| "a module (CUDA_MODULE_LOADING=EAGER)".to_owned());
        wait.map_err(|code| failure(code, "the context ended while the module waited for it"))?;
    }
    let mut variables = Vec::new();
    let mut out_of_memory = false;
    let mut place = |variable: &engine::Global| {
        if let Some(&address) = placed.get(&variable.name) {
            return Some(address as u64);
        }
        let kind = if variable.managed {
            AllocationKind::Managed
        } else {
            AllocationKind::Global
        };
        let by = format!("variable {}", variable.name);
        let address = context.allocate((variable.size as usize).max(1), kind, by);
        out_of_memory |= address.is_err();
        variables.push(address.ok()?);
        address.ok().map(|address| address as u64)
    };
    let loaded = engine::Module::load_for(settings::process().vector_level, ptx, &mut place);
    let loaded = match loaded {
        Ok(loaded) => refuse_code(&loaded, context.device).map(|()| loaded),
        Err(_) if out_of_memory => Err(failure(
            code::OUT_OF_MEMORY,
            "no memory for the module's variables",
        )),
        Err(error) => Err(compiler_error("application ptx input", &error)),
    };
    let loaded = loaded.inspect_err(|_| {
        for &base in &variables {
            memory::release(base, "a module load that failed");
        }
    })?;
    for variable in loaded.globals() {
        if placed.contains_key(&variable.name) {
            continue;
        }
        debug_assert!(Memory::global().is_live(variable.address as usize, variable.image.len()));
        // SAFETY: the engine keeps the address that it was given above, whose allocation has the variable's size.
        unsafe { guest::write(variable.address as usize, &variable.image) };
    }
    Ok(Module::add(context, loaded, variables, owner))
}

/// Compiles PTX that is loaded into a context later, if it can be.
pub(super) fn compile(ptx: &str, device: usize) -> Result<engine::Module, LoadFailure> {
    refuse_image(ptx)?;
    // Where nothing is; the code is not executed.
    let mut next = 16_u64;
    let mut place = |variable: &engine::Global| {
        let address = next.next_multiple_of(variable.align.max(1));
        next = address + variable.size.max(1);
        Some(address)
    };
    let compiled = engine::Module::load_for(settings::process().vector_level, ptx, &mut place)
        .map_err(|error| compiler_error("application ptx input", &error))?;
    refuse_code(&compiled, device)?;
    Ok(compiled)
}

/// Refuses code that this device does not run.
fn refuse_code(code: &engine::Module, device: usize) -> Result<(), LoadFailure> {
    refuse_target(code.target, device)?;
    // What the driver's compiler takes; ptxas on its own has a limit of 48 KiB.
    let most = most_shared_memory(device);
    match code.kernels().find(|kernel| kernel.static_shared > most) {
        None => Ok(()),
        Some(kernel) => {
            let text = format!(
                "ptxas error   : Entry function '{}' uses too much shared data ({:#x} bytes, {most:#x} max)",
                kernel.name, kernel.static_shared
            );
            Err(failure(code::INVALID_PTX, text))
        }
    }
}
