//! Live handles: how often each is held, and what it is of.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use crate::error::{Result, code};
use crate::sync::lock;

/// The live handles of things of one kind.
pub(super) struct Handles<T>(Mutex<BTreeMap<u64, Held<T>>>);

struct Held<T> {
    thing: Arc<T>,
    times: usize,
}

impl<T> Handles<T> {
    pub(super) const fn new() -> Self {
        Self(Mutex::new(BTreeMap::new()))
    }

    /// Holds a handle of `thing` once more, also where it had been released; gives the handle.
    pub(super) fn hold(&self, handle: u64, thing: Arc<T>) -> u64 {
        let mut handles = lock(&self.0);
        let held = handles.entry(handle).or_insert(Held { thing, times: 0 });
        held.times += 1;
        handle
    }

    /// Gives up one hold of a handle.
    ///
    /// # Errors
    ///
    /// Invalid value if nobody holds it.
    pub(super) fn release(&self, handle: u64) -> Result {
        let mut handles = lock(&self.0);
        let held = handles.get_mut(&handle).ok_or(code::INVALID_VALUE)?;
        held.times -= 1;
        if held.times == 0 {
            let gone = handles.remove(&handle);
            drop(handles);
            // Outside of the lock: it may be the last owner.
            drop(gone);
        }
        Ok(())
    }

    /// What a live handle is of.
    ///
    /// # Errors
    ///
    /// Invalid value if nobody holds it.
    pub(super) fn get(&self, handle: u64) -> Result<Arc<T>> {
        let handles = lock(&self.0);
        let held = handles.get(&handle).ok_or(code::INVALID_VALUE)?;
        Ok(Arc::clone(&held.thing))
    }

    /// All live handles, with what `of` says of each.
    pub(super) fn list<R>(&self, of: impl Fn(&T) -> R) -> Vec<(u64, R)> {
        let handles = lock(&self.0);
        let all = handles.iter();
        all.map(|(&handle, held)| (handle, of(&held.thing)))
            .collect()
    }
}
