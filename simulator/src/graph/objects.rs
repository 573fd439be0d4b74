//! User objects: values of the program's that live as long as a graph, a copy or an executable of it does.

use core::ffi::c_void;
use std::sync::{Arc, Mutex};

use crate::registry::Registry;
use crate::streams::HostCall;
use crate::sync::lock;
use warpsmith_abi::CUhostFn;

/// All user objects of which the program owns references.
pub(crate) static USER_OBJECTS: Registry<UserObject> = Registry::new();

/// A user object. Graphs hold it by `Arc`; the program's own references are counted and stand for one `Arc` together.
pub(crate) struct UserObject {
    pub(crate) handle: usize,
    destroy: HostCall,
    owned: Mutex<OwnedReferences>,
}

/// The references that the program owns.
#[derive(Default)]
struct OwnedReferences {
    count: usize,
    /// Keeps the object while `count` is not 0.
    keeper: Option<Arc<UserObject>>,
}

/// What is left after the program has given references back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReferencesLeft {
    Some,
    None,
}

impl UserObject {
    pub(crate) fn new(handle: usize, data: *mut c_void, destroy: CUhostFn) -> Self {
        Self {
            handle,
            destroy: HostCall {
                function: destroy,
                data,
            },
            owned: Mutex::default(),
        }
    }

    /// Adds references that the program owns.
    pub(crate) fn retain(self: &Arc<Self>, count: usize) {
        let mut owned = lock(&self.owned);
        owned.count += count;
        owned.keeper.get_or_insert_with(|| Arc::clone(self));
    }

    /// Takes references of the program's away; `None`, and nothing done, if it owns fewer.
    pub(crate) fn release(&self, count: usize) -> Option<ReferencesLeft> {
        let mut owned = lock(&self.owned);
        owned.count = owned.count.checked_sub(count)?;
        if owned.count > 0 {
            return Some(ReferencesLeft::Some);
        }
        let keeper = owned.keeper.take();
        // The lock must be free before the object can go.
        drop(owned);
        Some(match keeper {
            Some(_) => ReferencesLeft::None,
            None => ReferencesLeft::Some,
        })
    }
}

impl Drop for UserObject {
    /// The destructor runs on a thread of its own: no driver call of the program's waits for it.
    fn drop(&mut self) {
        let destroy = self.destroy;
        let _ = std::thread::Builder::new()
            .name("warpsmith destructor".to_owned())
            .spawn(move || destroy.run());
    }
}
