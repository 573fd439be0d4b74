//! The end of the process waits for communicators that are given back in the background: a thread inside of NCCL while its library's destructors
//! run would use what they have freed.

use std::ffi::c_int;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Condvar, Mutex, Once, PoisonError};
use std::time::Duration;

/// How long. Ranks in other processes may never come.
const LIMIT: Duration = Duration::from_secs(10);

static RUNNING: Mutex<Running> = Mutex::new(Running {
    process: 0,
    count: 0,
});
static ENDED: Condvar = Condvar::new();
/// As [`Running::process`], for who must not wait for the lock.
static PROCESS: AtomicU32 = AtomicU32::new(0);

/// Work in the background.
struct Running {
    /// The process that it runs in. A child that this forks has none of its threads.
    process: u32,
    /// How many pieces.
    count: usize,
}

/// Work in the background, which the end of the process waits for until this is dropped.
pub(crate) struct Awaited(());

impl Awaited {
    pub(crate) fn new() -> Awaited {
        static REGISTER: Once = Once::new();
        REGISTER.call_once(|| {
            unsafe extern "C" {
                fn atexit(function: extern "C" fn()) -> c_int;
            }
            // NCCL and the driver were loaded before, so their destructors run later than this.
            // SAFETY: the function is the C library's, with this signature; what is registered does not unwind. If it has no room nothing is
            // awaited.
            let _ = unsafe { atexit(wait) };
        });
        let process = std::process::id();
        let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        if running.process != process {
            *running = Running { process, count: 0 };
        }
        running.count += 1;
        PROCESS.store(process, Ordering::Relaxed);
        Awaited(())
    }
}

impl Drop for Awaited {
    fn drop(&mut self) {
        RUNNING.lock().unwrap_or_else(PoisonError::into_inner).count -= 1;
        ENDED.notify_all();
    }
}

extern "C" fn wait() {
    // In a forked child nothing ends the work that it has a copy of, nor frees a lock that was held.
    if PROCESS.load(Ordering::Relaxed) != std::process::id() {
        return;
    }
    let running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
    // A lock that panicked, or a time that is over: the process ends in any case.
    let _ = ENDED.wait_timeout_while(running, LIMIT, |running| running.count > 0);
}

/// How much work runs in the background.
#[cfg(test)]
pub(crate) fn running() -> usize {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner).count
}
