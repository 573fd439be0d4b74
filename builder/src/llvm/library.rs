//! Loads rustc's LLVM library, once for the life of the process.

use std::ffi::CStr;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};

use super::differences::Subnormals;
use super::guarded::fatal_error;
use super::sys::Api;

/// LLVM's library, loaded once for the life of the process.
static LOADED: OnceLock<(PathBuf, Api)> = OnceLock::new();
static LOADING: Mutex<()> = Mutex::new(());

/// Loads LLVM from `library` (at the first call) and makes the NVPTX target ready.
pub fn load(library: &Path) -> Result<&'static Api, String> {
    let _guard = LOADING.lock().unwrap_or_else(|e| e.into_inner());
    if let Some((path, api)) = LOADED.get() {
        if path != library {
            return Err(format!(
                "this process already uses the LLVM library of another toolchain ({})",
                path.display()
            ));
        }
        return Ok(api);
    }
    let api = Api::load(library).map_err(|e| e.to_string())?;
    if api.differences.subnormals == Subnormals::Environment
        && api.LLVMCreateDenormalFPEnvAttribute.is_none()
    {
        return Err("it has no LLVMCreateDenormalFPEnvAttribute".into());
    }
    let arguments: Vec<_> = [c"warpsmith"]
        .iter()
        .chain(OPTIONS)
        .map(|a| a.as_ptr())
        .collect();
    // SAFETY: `arguments` has as many pointers as its length says, to strings that end in zero and live as long as the process
    // (constants).
    unsafe {
        (api.LLVMParseCommandLineOptions)(
            arguments.len() as i32,
            arguments.as_ptr(),
            std::ptr::null(),
        )
    };
    // SAFETY: plain registration functions, called once, before any other use of LLVM.
    unsafe {
        (api.LLVMInstallFatalErrorHandler)(fatal_error);
        (api.LLVMInitializeNVPTXTargetInfo)();
        (api.LLVMInitializeNVPTXTarget)();
        (api.LLVMInitializeNVPTXTargetMC)();
        (api.LLVMInitializeNVPTXAsmPrinter)();
    }
    Ok(&LOADED.get_or_init(|| (library.to_path_buf(), api)).1)
}

/// Options of LLVM that no API sets. They hold for the whole process, which uses this LLVM for nothing else.
const OPTIONS: &[&CStr] = &[
    // Loop strength reduction gives each array of a loop a 64-bit pointer of its own to step: registers that
    // are dear here, to save an address computation that is one instruction. nvcc does not do it either.
    c"-disable-lsr",
    // Moving arithmetic into the branch that uses its result (LLVM's machine sinking) keeps all operands
    // alive instead of one result: on a 7 x 7 convolution, 784 multiply-adds end up behind all their loads,
    // and 40 registers become 106. ptxas sinks by itself what is worth it.
    c"-disable-machine-sink",
    // As many rounds at once as nvcc makes: each more costs registers.
    c"-unroll-max-count=4",
    // Twice what it takes otherwise for all rounds of a constant number, and for some of many: indices of 64 bits make up to twice as many
    // instructions of a loop than nvcc has in the same one.
    c"-unroll-threshold=600",
    c"-unroll-partial-threshold=150",
    // No loop is made one of vectors: of bytes, for which LLVM would, each operation of a vector is one for each element on the machine, with others that take vectors
    // apart and put them together, and a loop for the rest follows.
    c"-force-vector-width=1",
    // Fewer cases than these are told apart by comparisons, as nvcc does it: a table of jumps is a test for a number beyond it, a load and a
    // jump to an address, of which ptxas makes no predicates.
    c"-min-jump-table-entries=8",
];
