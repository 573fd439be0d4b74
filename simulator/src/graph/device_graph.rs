//! Graphs that kernels may launch: what was uploaded of them, and whether they are running.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use super::objects::UserObject;
use super::plan::Plan;
use crate::sync::lock;

/// All that exist, by handle.
static DEVICE_GRAPHS: Mutex<BTreeMap<u64, Arc<DeviceGraph>>> = Mutex::new(BTreeMap::new());

/// The device's side of an executable graph.
pub(super) struct DeviceGraph {
    pub(super) handle: u64,
    pub(super) context: u64,
    state: Mutex<DeviceState>,
}

#[derive(Default)]
struct DeviceState {
    /// What a launch by a kernel runs: later updates are not seen before the next upload (H200, driver 580.159.04).
    uploaded: Option<Uploaded>,
    running: Option<Launcher>,
    /// It is to run once more after it has ended.
    relaunched: bool,
}

/// What runs, with what it keeps alive.
#[derive(Clone)]
pub(super) struct Uploaded {
    pub(super) plan: Arc<Plan>,
    /// Held.
    pub(super) _objects: Arc<Vec<(usize, Arc<UserObject>)>>,
}

/// Who has launched a graph that is running.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Launcher {
    Host,
    Kernel,
}

impl DeviceGraph {
    /// Makes the side of a graph with this handle.
    pub(super) fn add(handle: u64, context: u64) -> Arc<Self> {
        let graph = Arc::new(Self {
            handle,
            context,
            state: Mutex::default(),
        });
        lock(&DEVICE_GRAPHS).insert(handle, Arc::clone(&graph));
        graph
    }

    /// The graph with this handle.
    pub(super) fn find(handle: u64) -> Option<Arc<Self>> {
        lock(&DEVICE_GRAPHS).get(&handle).cloned()
    }

    /// From now on no kernel finds it; what is running ends as usual.
    pub(super) fn remove(&self) {
        lock(&DEVICE_GRAPHS).remove(&self.handle);
    }

    /// Makes this what kernels launch.
    pub(super) fn upload(&self, uploaded: Uploaded) {
        lock(&self.state).uploaded = Some(uploaded);
    }

    /// A launch by the host begins, which uploads, too; `false` if a kernel's launch is still running.
    pub(super) fn begin_by_host(&self, uploaded: Uploaded) -> bool {
        let mut state = lock(&self.state);
        let alone = state.running.is_none();
        state.uploaded = Some(uploaded);
        state.running = Some(Launcher::Host);
        alone
    }

    /// A launch by a kernel of another graph begins; `None` if it is running, or was never uploaded.
    pub(super) fn begin(&self) -> Option<Uploaded> {
        let mut state = lock(&self.state);
        let uploaded = state.uploaded.clone()?;
        if state.running.is_some() || state.relaunched {
            return None;
        }
        state.running = Some(Launcher::Kernel);
        Some(uploaded)
    }

    /// A tail launch by one of its own kernels: it runs once more after its end; `None` if it does so already.
    pub(super) fn relaunch(&self) -> Option<Uploaded> {
        let mut state = lock(&self.state);
        let uploaded = state.uploaded.clone()?;
        let first = !std::mem::replace(&mut state.relaunched, true);
        first.then_some(uploaded)
    }

    /// An execution has ended. One that was launched again counts as running until its next end.
    pub(super) fn end(&self) {
        let mut state = lock(&self.state);
        state.running = match std::mem::take(&mut state.relaunched) {
            true => Some(Launcher::Kernel),
            false => None,
        };
    }
}
