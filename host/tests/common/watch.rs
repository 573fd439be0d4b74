//! Steps of a test beside work that is held up: a step that waits for that work is found, named, and let go on.

use std::sync::{Arc, Condvar, Mutex, PoisonError, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use warpsmith_host::prelude::*;

use super::hold_up;

/// So long a step may take while work is held up.
const PATIENCE: Duration = Duration::from_secs(10);

/// Watches the steps of one test, on a thread of its own.
pub struct Watch {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    what: String,
    step: String,
    /// Holds work up until it is dropped, and since when the present step runs beside that.
    gate: Option<(mpsc::Sender<()>, Instant)>,
    /// Steps that did not end before the gate was opened for them.
    found: Vec<String>,
    is_over: bool,
}

impl Watch {
    pub fn new() -> Watch {
        let shared = Arc::<Shared>::default();
        let thread = std::thread::spawn({
            let shared = shared.clone();
            move || shared.watch()
        });
        Watch {
            shared,
            thread: Some(thread),
        }
    }

    /// Says what the steps from here on belong to.
    pub fn begin(&self, what: String) {
        self.change(|state| state.what = what);
    }

    /// The next step.
    pub fn step(&self, step: &str) {
        self.change(|state| {
            state.step = step.into();
            if let Some((_, since)) = &mut state.gate {
                *since = Instant::now();
            }
        });
    }

    /// Holds a stream up until [`let_go`](Self::let_go), or until a step has taken too long.
    pub fn hold_up(&self, stream: &Stream) -> Result<()> {
        let gate = hold_up(stream)?;
        self.change(|state| state.gate = Some((gate, Instant::now())));
        Ok(())
    }

    /// Lets the work go on; whether all steps have ended before.
    pub fn let_go(&self) -> bool {
        self.change(|state| {
            state.gate = None;
            state.found.is_empty()
        })
    }

    /// The steps that have waited for the work that was held up.
    pub fn take_found(&self) -> Vec<String> {
        self.change(|state| std::mem::take(&mut state.found))
    }

    fn change<R>(&self, change: impl FnOnce(&mut State) -> R) -> R {
        let state = self.shared.state.lock();
        let changed = change(&mut state.unwrap_or_else(PoisonError::into_inner));
        self.shared.changed.notify_all();
        changed
    }
}

impl Shared {
    fn watch(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        while !state.is_over {
            let left = state
                .gate
                .as_ref()
                .map(|(_, since)| PATIENCE.saturating_sub(since.elapsed()));
            if left == Some(Duration::ZERO) {
                state.gate = None;
                let step = format!("{}: {}", state.what, state.step);
                eprintln!("it waits for work that is held up: {step}");
                state.found.push(step);
            }
            let wait = self.changed.wait_timeout(state, left.unwrap_or(PATIENCE));
            state = wait.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.change(|state| {
            state.is_over = true;
            state.gate = None;
        });
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
