//! Loading: what kind of image it is, the JIT options that matter here, and the log that tells what is wrong with it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use super::Module;
use crate::abi::CUresult;
use crate::device;
use crate::engine;
use crate::memory::{Kind, Memory};
use crate::state::{Context, code, device_memory, registries};

/// The log of one load: errors, and remarks.
#[derive(Default)]
pub(crate) struct Log {
    pub(crate) errors: String,
    pub(crate) remarks: String,
}

/// Why a module was not loaded.
pub(crate) struct Failure {
    pub(crate) code: CUresult,
    pub(crate) text: String,
}

fn failure(code: CUresult, text: impl Into<String>) -> Failure {
    Failure {
        code,
        text: text.into(),
    }
}

/// Loads PTX into a context.
pub(crate) fn load(context: &Arc<Context>, ptx: &str) -> Result<Arc<Module>, Failure> {
    let disabled = ["CUDA_DISABLE_PTX_JIT", "CUDA_DISABLE_JIT"]
        .into_iter()
        .find_map(switch);
    if disabled == Some(true) {
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
    let mut placed = Vec::new();
    let mut out_of_memory = false;
    let loaded = engine::Module::load(ptx, &mut |variable| {
        let kind = if variable.managed {
            Kind::Managed
        } else {
            Kind::Global
        };
        let by = format!("variable {}", variable.name);
        let address = device_memory::allocate(context, (variable.size as usize).max(1), kind, by);
        out_of_memory |= address.is_err();
        placed.push(address.ok()?);
        address.ok().map(|address| address as u64)
    });
    let fail = |failure: Failure| {
        for &base in &placed {
            device_memory::release(base, "a module load that failed");
        }
        Err(failure)
    };
    let loaded = match loaded {
        Ok(loaded) => loaded,
        Err(_) if out_of_memory => {
            return fail(failure(
                code::OUT_OF_MEMORY,
                "no memory for the module's variables",
            ));
        }
        Err(error) => {
            let text = format!(
                "ptxas application ptx input, line {}, column {}; error   : {}",
                error.line, error.column, error.message
            );
            return fail(failure(code::INVALID_PTX, text));
        }
    };
    if let Some(text) = wrong_target(&loaded.target, context.device) {
        return fail(failure(code::INVALID_PTX, text));
    }
    for variable in loaded.globals() {
        debug_assert!(Memory::global().is_live(variable.address as usize, variable.image.len()));
        // SAFETY: the engine keeps the address that it was given, whose allocation has the variable's size.
        unsafe {
            core::ptr::copy_nonoverlapping(
                variable.image.as_ptr(),
                variable.address as *mut u8,
                variable.image.len(),
            );
        }
    }
    Ok(registries().modules.add(|handle| Module {
        handle,
        context: context.id(),
        code: loaded,
        variables: placed,
        functions: Mutex::new(HashMap::new()),
    }))
}

/// The newest PTX that a driver of the simulated version takes.
const NEWEST_PTX: (u32, u32) = (9, 0);

fn version_directive(ptx: &str) -> Option<(u32, u32)> {
    let line = ptx
        .lines()
        .map(str::trim)
        .find(|line| line.starts_with(".version"))?;
    let (major, minor) = line.strip_prefix(".version")?.trim().split_once('.')?;
    let digits = |text: &str| {
        text.chars()
            .take_while(char::is_ascii_digit)
            .collect::<String>()
            .parse()
            .ok()
    };
    Some((digits(major)?, digits(minor)?))
}

/// A target's number and suffix: (90, "a") for `sm_90a`.
pub(crate) fn parse_target(target: &str) -> Option<(u32, &str)> {
    let rest = target.trim().strip_prefix("sm_")?;
    let digits = rest
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(rest.len());
    Some((rest[..digits].parse().ok()?, &rest[digits..]))
}

/// PTX runs on devices of its target's capability and newer ones; `a` only on exactly that, `f` only in the family.
fn wrong_target(target: &str, index: usize) -> Option<String> {
    let (number, suffix) = parse_target(target)?;
    let (major, minor) = device::compute_capability(index);
    let have = major * 10 + minor;
    let fits = match suffix {
        "a" => have == number,
        "f" => have / 10 == number / 10 && have >= number,
        _ => have >= number,
    };
    (!fits).then(|| {
        format!("the PTX is for {target}, and the device has compute capability {major}.{minor}")
    })
}

fn switch(name: &str) -> Option<bool> {
    std::env::var(name)
        .ok()
        .filter(|value| !value.is_empty())
        .map(|value| value != "0")
}
