//! One semaphore: what it is made of, and what is issued for it.

use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl};
use rustix::io::{Errno, read, write};

use crate::context::Context;
use crate::error::{Result, code};
use crate::memory::shared_page::SharedPage;
use crate::registry::{ContextBound, Registry};
use crate::report;
use crate::streams::patience::wait_until;
use crate::sync::lock;

/// All semaphores.
pub(crate) static SEMAPHORES: Registry<Semaphore> = Registry::new();

impl ContextBound for Semaphore {
    fn context(&self) -> u64 {
        self.context
    }
}

/// The outcome of a signal or a wait; an error says what was done wrong.
type Checked<T = ()> = core::result::Result<T, String>;

/// What a descriptor is imported as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SemaphoreKind {
    /// Signalled or not; a wait makes it unsignalled.
    Binary,
    /// A number that only grows.
    Timeline,
}

/// A semaphore.
pub(crate) struct Semaphore {
    pub(crate) handle: usize,
    context: u64,
    state: State,
    issued: Mutex<IssuedForIt>,
    is_destroyed: AtomicBool,
}

enum State {
    Binary(OwnedFd),
    Timeline(SharedPage),
}

/// What has been issued for a semaphore and is not complete.
#[derive(Default)]
struct IssuedForIt {
    /// How many signals and waits, or launches of graphs with such.
    count: usize,
    waits: Vec<IssuedWait>,
}

/// A wait of a stream.
struct IssuedWait {
    number: u64,
    value: u64,
}

/// A descriptor that is to become a semaphore, which has been looked at.
pub(crate) struct Importable(State);

impl Importable {
    /// What a descriptor refers to, as a semaphore of this kind.
    ///
    /// # Errors
    ///
    /// Unknown if it is no such file.
    pub(crate) fn new(descriptor: OwnedFd, kind: SemaphoreKind) -> Result<Self> {
        let state = match kind {
            SemaphoreKind::Binary => is_eventfd(&descriptor)
                // By another number: the one that was handed over is closed, as for memory.
                .then(|| descriptor.try_clone().ok().map(State::Binary)),
            SemaphoreKind::Timeline => Some(SharedPage::map(&descriptor).map(State::Timeline)),
        };
        state.flatten().map(Importable).ok_or_else(|| {
            report::remark(match kind {
                SemaphoreKind::Binary => {
                    "cuImportExternalSemaphore: here a binary semaphore is an eventfd made with EFD_NONBLOCK, which the descriptor is not"
                }
                SemaphoreKind::Timeline => {
                    "cuImportExternalSemaphore: here a timeline semaphore is a memfd of eight bytes or more with F_SEAL_SHRINK, which the descriptor is not"
                }
            });
            code::UNKNOWN
        })
    }

    /// The semaphore of this handle.
    pub(crate) fn into_object(self, handle: usize, context: u64) -> Semaphore {
        Semaphore {
            handle,
            context,
            state: self.0,
            issued: Mutex::default(),
            is_destroyed: AtomicBool::new(false),
        }
    }
}

impl Semaphore {
    /// The program has destroyed it; how many things that were issued for it are not complete.
    pub(crate) fn destroy(&self) -> usize {
        self.is_destroyed.store(true, Ordering::Release);
        lock(&self.issued).count
    }

    /// Signals it. `number` says when that was issued, if it is known.
    ///
    /// # Errors
    ///
    /// What was done wrong.
    pub(super) fn signal(&self, value: u64, number: Option<u64>) -> Checked {
        self.refuse_destroyed("signalled")?;
        let issued = lock(&self.issued);
        let before = match &self.state {
            State::Binary(file) => {
                if is_signalled(file) {
                    return Err(format!(
                        "{self} is signalled again before anybody has waited for its last signal"
                    ));
                }
                write(file, &1_u64.to_ne_bytes())
                    .map_err(|error| format!("{self} cannot be signalled: {error}"))?;
                None
            }
            State::Timeline(page) => {
                let before = page.words()[0].load(Ordering::Acquire);
                if value <= before {
                    return Err(format!(
                        "{self} is signalled to {value}, but it is {before} already: each signal of a timeline makes it larger"
                    ));
                }
                page.words()[0].store(value, Ordering::Release);
                Some(before)
            }
        };
        let ends = |wait: &&IssuedWait| {
            let is_met = before.is_none_or(|before| before < wait.value && wait.value <= value);
            is_met && number.is_some_and(|number| wait.number < number)
        };
        match issued.waits.iter().find(ends) {
            None => Ok(()),
            Some(_) => Err(format!(
                "a wait for {self} was issued before the signal that ends it: a signal is issued first"
            )),
        }
    }

    /// Waits for it; `false` where the context ends first.
    ///
    /// # Errors
    ///
    /// What was done wrong.
    pub(super) fn wait(&self, value: u64, number: Option<u64>, context: &Context) -> Checked<bool> {
        self.refuse_destroyed("waited for")?;
        let is_met = || {
            // Together with the end of the wait: a signal must not find it in between.
            let mut issued = lock(&self.issued);
            let is_met = match &self.state {
                State::Binary(file) => {
                    take(file).map_err(|error| format!("{self} cannot be waited for: {error}"))?
                }
                State::Timeline(page) => page.words()[0].load(Ordering::Acquire) >= value,
            };
            if is_met {
                issued
                    .waits
                    .retain(|wait| Some(wait.number) != number || wait.value != value);
            }
            Ok(is_met)
        };
        let told = || {
            let until = match &self.state {
                State::Binary(_) => String::new(),
                State::Timeline(page) => {
                    let found = page.words()[0].load(Ordering::Acquire);
                    format!(" to become {value}; it is {found}")
                }
            };
            format!("{self}{until}; a deadlock, unless somebody still signals it")
        };
        wait_until(context, is_met, told)
    }

    /// Something is issued for it that is complete when [`complete`](Self::complete) is called; a stream's wait is one for `value`.
    pub(super) fn issue(&self, number: u64, waits_for: Option<u64>) {
        let mut issued = lock(&self.issued);
        issued.count += 1;
        let wait = waits_for.map(|value| IssuedWait { number, value });
        issued.waits.extend(wait);
    }

    pub(super) fn complete(&self, number: u64) {
        let mut issued = lock(&self.issued);
        issued.count -= 1;
        issued.waits.retain(|wait| wait.number != number);
    }

    fn refuse_destroyed(&self, used: &str) -> Checked {
        match self.is_destroyed.load(Ordering::Acquire) {
            true => Err(format!("{self} was destroyed before it is {used}")),
            false => Ok(()),
        }
    }
}

impl std::fmt::Display for Semaphore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kind = match self.state {
            State::Binary(_) => "binary",
            State::Timeline(_) => "timeline",
        };
        write!(f, "the external {kind} semaphore {:#x}", self.handle)
    }
}

/// Things that are issued together; complete when it is dropped.
pub(crate) struct Issued {
    pub(super) number: u64,
    pub(super) semaphores: Vec<Arc<Semaphore>>,
}

impl Drop for Issued {
    fn drop(&mut self) {
        for semaphore in &self.semaphores {
            semaphore.complete(self.number);
        }
    }
}

/// Whether a file is an `eventfd` whose reads do not block: else one of several waits for one signal could not be ended.
fn is_eventfd(file: &OwnedFd) -> bool {
    let link = std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd()));
    let is_event = link.is_ok_and(|name| name.as_os_str() == "anon_inode:[eventfd]");
    is_event && fcntl_getfl(file).is_ok_and(|flags| flags.contains(OFlags::NONBLOCK))
}

fn is_signalled(file: &OwnedFd) -> bool {
    let mut polled = [PollFd::new(file, PollFlags::IN)];
    let now = Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    poll(&mut polled, Some(&now)).is_ok_and(|ready| ready > 0)
}

/// Makes an `eventfd` unsignalled; whether it was signalled.
fn take(file: &OwnedFd) -> core::result::Result<bool, Errno> {
    match read(file, &mut [0; 8]) {
        Ok(_) => Ok(true),
        Err(Errno::AGAIN | Errno::INTR) => Ok(false),
        Err(error) => Err(error),
    }
}
