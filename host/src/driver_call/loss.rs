//! Contexts that a fault has made unusable. Every call answers the fault's code from then on, so what is told of it is kept here, for all
//! that have the context open: the first error that reaches the program has the whole report, later ones refer to it, and destructors
//! tell of it only where nobody else has.

use std::cell::Cell;
use std::sync::{Arc, Mutex, OnceLock, Weak};

use warpsmith_abi::fault::Fault;
use warpsmith_driver::raw;

use crate::sync::lock;

/// The loss of one context, if it comes to that.
#[derive(Default)]
pub(crate) struct ContextLoss {
    /// The simulator's fault.
    fault: OnceLock<Arc<Fault>>,
    /// The call whose error told the program.
    told_by: OnceLock<&'static str>,
}

/// By the context's handle. A handle that nobody has open any more may come back, for a context without a fault.
static OPEN: Mutex<Vec<(usize, Weak<ContextLoss>)>> = Mutex::new(Vec::new());

impl ContextLoss {
    /// What is shared by all that have this context open.
    pub(crate) fn of(context: raw::CUcontext) -> Arc<ContextLoss> {
        let mut open = lock(&OPEN);
        open.retain(|(_, loss)| loss.strong_count() > 0);
        let known = open.iter().find(|(known, _)| *known == context as usize);
        known
            .and_then(|(_, loss)| loss.upgrade())
            .unwrap_or_else(|| {
                let loss = Arc::default();
                open.push((context as usize, Arc::downgrade(&loss)));
                loss
            })
    }

    /// That of the context which is current on this thread.
    fn current() -> Option<Arc<ContextLoss>> {
        let mut context = std::ptr::null_mut();
        // SAFETY: the driver writes one handle to `context`, which outlives the call.
        let code = unsafe { raw::cuCtxGetCurrent(&mut context) };
        if code.0 != 0 {
            return None;
        }
        let open = lock(&OPEN);
        let (_, loss) = open.iter().find(|(known, _)| *known == context as usize)?;
        loss.upgrade()
    }

    /// Says that an error of `call` tells the program; gives the call that did so before.
    pub(crate) fn tell(&self, call: &'static str) -> Option<&'static str> {
        match self.told_by.set(call) {
            Ok(()) => None,
            Err(_) => self.told_by.get().copied(),
        }
    }
}

/// The fault of the current context, and which call's error told of it before an error of `call` does so now.
pub(super) struct CurrentLoss {
    pub(super) fault: Option<Arc<Fault>>,
    pub(super) told_by: Option<&'static str>,
}

impl CurrentLoss {
    /// For an answer that only lost contexts give, or (`is_fatal` is unset) other ones, too.
    pub(super) fn ask(call: &'static str, is_fatal: bool) -> CurrentLoss {
        let loss = ContextLoss::current();
        let fault = match loss.as_ref().and_then(|loss| loss.fault.get()) {
            Some(fault) => Some(fault.clone()),
            None => warpsmith_driver::fault(std::ptr::null_mut()).map(Arc::new),
        };
        if let (Some(loss), Some(fault)) = (&loss, &fault) {
            let _ = loss.fault.set(fault.clone());
        }
        let told_by = loss
            .filter(|_| is_fatal || fault.is_some())
            .and_then(|loss| {
                if UNHEARD.get() {
                    loss.told_by.get().copied()
                } else {
                    loss.tell(call)
                }
            });
        CurrentLoss { fault, told_by }
    }
}

thread_local! {
    static UNHEARD: Cell<bool> = const { Cell::new(false) };
}

/// Does what errors are not returned of to the program: the work of destructors, and looking for what can be freed. Such an error is
/// none that the program was told by.
pub(crate) fn unheard<R>(work: impl FnOnce() -> R) -> R {
    /// Also where the hook for errors of destructors panics.
    struct Restore(bool);
    impl Drop for Restore {
        fn drop(&mut self) {
            UNHEARD.set(self.0);
        }
    }
    let _restore = Restore(UNHEARD.replace(true));
    work()
}
