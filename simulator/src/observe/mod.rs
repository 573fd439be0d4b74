//! Observers of the kernels that this process's simulator runs: the way in for a profiler, a tracer, a debugger, a recorder.
//!
//! An [`Observer`] that is registered is told of each launch, step, branch, access and barrier of the kernels that are launched through
//! the driver's functions. [`register`] takes it for all contexts of the process, [`register_for_context`] for one;
//! dropping the [`Registration`] removes it.
//!
//! ```
//! use std::sync::Arc;
//! use std::sync::atomic::{AtomicU64, Ordering};
//! use warpsmith_simulator::observe::{self, At, Observer};
//!
//! #[derive(Default)]
//! struct Steps(AtomicU64);
//!
//! impl Observer for Steps {
//!     fn step(&self, _: &At<'_>) {
//!         self.0.fetch_add(1, Ordering::Relaxed);
//!     }
//! }
//!
//! let steps = Arc::new(Steps::default());
//! let registration = observe::register(steps.clone());
//! // ... launch kernels, and wait for them ...
//! drop(registration);
//! println!("{} steps", steps.0.load(Ordering::Relaxed));
//! ```
//!
//! # Which launches an observer is told of
//!
//! Those that begin to execute while it is registered: in a stream that may be later than `cuLaunchKernel` returns, so a program waits
//! for its streams before it drops the registration. A launch that is executing keeps the observers that it began with until it has
//! ended, whatever is registered or removed meanwhile; its last call is [`Observer::finished`]. Launches of a process that runs on a
//! GPU, or on the drop-in library, which holds a simulator of its own, are not seen.
//!
//! Several observers are called one after the other, in the order of their registration. The same observer may be registered more
//! than once, and is then called as often. Kernels of several streams run at the same time: [`At::launch`] tells them apart.
//!
//! # What an observer may do
//!
//! It is called in the middle of a kernel, on the simulator's threads. It may register and remove observers, but must not wait for the
//! launch that it is told of. A panic of it stops the launch and becomes the sticky error of the context (`CUDA_ERROR_UNKNOWN`), with the
//! panic's message and the kernel's name; [`Observer::finished`] is not called then.
//!
//! # Cost
//!
//! Where no observer is registered, a launch looks at an empty list once, and kernels run in an interpreter loop that is compiled without
//! the calls.

mod bank_conflicts;

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, RwLock};

use warpsmith_abi::CUcontext;
use warpsmith_abi::fault::FaultKind;

use crate::context::Context;
use crate::engine::Fault;
pub use bank_conflicts::{BankConflicts, ConflictSite};

pub use crate::engine::Statistics;
pub use crate::engine::observe::{Access, Arrival, At, Barrier, LaunchEvent, Observer};
use crate::sync::{read, write};

/// All that are registered, in the order of their registration.
static REGISTERED: RwLock<Vec<Registered>> = RwLock::new(Vec::new());

/// An observer that is registered.
struct Registered {
    number: u64,
    /// The context whose launches it is told of; `None` for all.
    context: Option<u64>,
    observer: Arc<dyn Observer + Send>,
}

/// Keeps an observer registered until it is dropped. One that is leaked ([`std::mem::forget`]) leaves it registered, and alive, until the
/// process ends; nothing else comes of that.
#[derive(Debug)]
#[must_use = "an observer is removed when its registration is dropped"]
pub struct Registration {
    number: u64,
}

impl Drop for Registration {
    fn drop(&mut self) {
        let removed: Vec<_> = write(&REGISTERED)
            .extract_if(.., |registered| registered.number == self.number)
            .collect();
        // After the lock: the observer's destructor may register or remove others.
        drop(removed);
    }
}

/// No context of this process's simulator has the handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this process's simulator has no such context")]
pub struct UnknownContext;

/// Registers an observer for the launches of all contexts of this process.
pub fn register(observer: Arc<dyn Observer + Send>) -> Registration {
    add(None, observer)
}

/// Registers an observer for the launches of one context. It stays registered when the context is reset; once the context is destroyed it
/// is told of nothing any more.
///
/// # Errors
///
/// The simulator has no such context: it was destroyed, is null, or belongs to another driver.
pub fn register_for_context(
    context: CUcontext,
    observer: Arc<dyn Observer + Send>,
) -> Result<Registration, UnknownContext> {
    let context = Context::of_handle(context).map_err(|_| UnknownContext)?;
    Ok(add(Some(context.id()), observer))
}

fn add(context: Option<u64>, observer: Arc<dyn Observer + Send>) -> Registration {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    write(&REGISTERED).push(Registered {
        number,
        context,
        observer,
    });
    Registration { number }
}

/// The observers of one launch.
pub(crate) struct LaunchObservers {
    observers: Vec<Arc<dyn Observer + Send>>,
    /// What the first panic of one of them says.
    panic: OnceLock<String>,
}

impl LaunchObservers {
    /// Those of a launch that begins now in a context.
    pub(crate) fn of(context: &Context) -> Self {
        let concerned = |registered: &&Registered| {
            registered
                .context
                .is_none_or(|watched| watched == context.id())
        };
        Self {
            observers: read(&REGISTERED)
                .iter()
                .filter(concerned)
                .map(|registered| Arc::clone(&registered.observer))
                .collect(),
            panic: OnceLock::new(),
        }
    }

    /// All of them as one; `None` where there is none.
    pub(crate) fn as_one(&self) -> Option<&dyn Observer> {
        (!self.observers.is_empty()).then_some(self)
    }

    /// Where a panic of an observer stops the launch of this kernel, the error of the context says so.
    pub(crate) fn blame<'a>(&'a self, context: &'a Context, kernel: &'a str) -> Blame<'a> {
        Blame {
            observers: self,
            context,
            kernel,
        }
    }

    /// Tells each of them. A panic goes on to the launch, which it stops.
    #[inline]
    fn tell(&self, tell: impl Fn(&(dyn Observer + Send))) {
        for observer in &self.observers {
            if let Err(payload) = catch_unwind(AssertUnwindSafe(|| tell(&**observer))) {
                let message = payload_as_str(&*payload).unwrap_or("a panic without a message");
                let _ = self.panic.set(message.to_owned());
                resume_unwind(payload);
            }
        }
    }
}

/// See [`LaunchObservers::blame`].
pub(crate) struct Blame<'a> {
    observers: &'a LaunchObservers,
    context: &'a Context,
    kernel: &'a str,
}

impl Drop for Blame<'_> {
    fn drop(&mut self) {
        if let Some(message) = self.observers.panic.get() {
            let text = format!(
                "an observer panicked, which stopped kernel `{}`: {message}",
                self.kernel
            );
            self.context
                .fail(Fault::outside_kernels(FaultKind::Other, text));
        }
    }
}

fn payload_as_str(payload: &(dyn Any + Send)) -> Option<&str> {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str))
}

impl Observer for LaunchObservers {
    fn launch(&self, launch: &LaunchEvent<'_>) {
        self.tell(|observer| observer.launch(launch));
    }

    fn step(&self, at: &At<'_>) {
        self.tell(|observer| observer.step(at));
    }

    fn branch(&self, at: &At<'_>, of: u32) {
        self.tell(|observer| observer.branch(at, of));
    }

    fn access(&self, at: &At<'_>, access: &Access<'_>) {
        self.tell(|observer| observer.access(at, access));
    }

    fn barrier(&self, at: &At<'_>, arrival: &Arrival) {
        self.tell(|observer| observer.barrier(at, arrival));
    }

    fn finished(&self, launch: &LaunchEvent<'_>, outcome: Result<Statistics, &Fault>) {
        self.tell(|observer| observer.finished(launch, outcome));
    }
}
