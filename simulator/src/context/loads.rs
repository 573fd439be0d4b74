//! What is being loaded into a context and waits for its work.

use std::sync::Mutex;

use crate::sync::lock;
use warpsmith_abi::fault::{Fault, FaultKind};

/// What a program does about it.
pub(super) const WAY_OUT: &str = "load what is to run beside other work before that is launched: `Module::preload`, cuFuncLoad, or CUDA_MODULE_LOADING=EAGER";

/// What is loaded and waits.
#[derive(Default)]
pub(super) struct Loads(Mutex<Vec<String>>);

/// A load that waits as long as this lives.
pub(super) struct Waiting<'a>(&'a Loads, pub(super) String);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut loads = lock(&self.0.0);
        if let Some(place) = loads.iter().position(|load| *load == self.1) {
            loads.remove(place);
        }
    }
}

impl Loads {
    /// A load begins to wait.
    pub(super) fn wait(&self, what: String) -> Waiting<'_> {
        lock(&self.0).push(what.clone());
        Waiting(self, what)
    }

    /// Adds to the report of a deadlock who waits for it.
    pub(super) fn explain(&self, fault: &mut Fault) {
        if fault.kind != FaultKind::Deadlock {
            return;
        }
        let loads = lock(&self.0);
        for what in loads.iter() {
            fault.notes.push(format!(
                "the load of {what} waits for the context's work, and so for this kernel, which may wait for what comes after the load"
            ));
        }
        if !loads.is_empty() {
            fault.notes.push(WAY_OUT.to_owned());
        }
    }
}
