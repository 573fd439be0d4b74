//! Runs LLVM where a fatal error of it is a result.
//!
//! LLVM ends the process when it cannot go on (an instruction that the target lacks, say): it calls a handler, and `exit` if the
//! handler returns. Unwinding through its frames would be undefined behaviour. So all work with LLVM is done on a thread of its
//! own, and the handler stays: it says what happened, and that thread sleeps for the rest of the process's life, with what it holds.
//! LLVM calls the handler without holding a lock of its own that other threads need.

use std::cell::RefCell;
use std::ffi::{CStr, c_char};
use std::sync::mpsc;
use std::thread;

/// The bytes of stack of such a thread: LLVM's passes recurse over expressions and loops.
const STACK: usize = 256 << 20;

/// Takes the reason of a fatal error.
type Report = Box<dyn FnOnce(String)>;

thread_local! {
    /// What takes the reason of a fatal error on this thread.
    static REPORT: RefCell<Option<Report>> = const { RefCell::new(None) };
}

/// Runs `work` to its end or to a fatal error of LLVM, whose reason is the `Err`.
pub fn run<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, String> {
    let (result, receiver) = mpsc::channel();
    let thread = thread::Builder::new()
        .name("LLVM".into())
        .stack_size(STACK)
        .spawn(move || {
            let report = result.clone();
            REPORT.set(Some(Box::new(move |reason| {
                let _ = report.send(Err(reason));
            })));
            let _ = result.send(Ok(work()));
        })
        .map_err(|error| format!("no thread for LLVM: {error}"))?;
    match receiver.recv() {
        Ok(result) => result,
        // It ended without a result: by a panic.
        Err(_) => match thread.join() {
            Err(panic) => std::panic::resume_unwind(panic),
            Ok(()) => Err("LLVM's thread ended without a result".into()),
        },
    }
}

/// LLVM's handler of fatal errors. It must not return.
pub(super) extern "C" fn fatal_error(reason: *const c_char) {
    // SAFETY: LLVM calls the handler with a text that ends in zero.
    let reason = unsafe { CStr::from_ptr(reason) }
        .to_string_lossy()
        .into_owned();
    let report = REPORT.try_with(|report| report.try_borrow_mut().ok()?.take());
    match report {
        Ok(Some(report)) => report(reason),
        // Not a thread of `run`: nobody can be told.
        _ => {
            eprintln!("error: LLVM: {reason}");
            std::process::abort();
        }
    }
    loop {
        thread::park();
    }
}
