//! User objects: values of the program's that live as long as a graph, a copy or an executable of it does.

use core::ffi::c_void;
use std::sync::{Arc, Mutex};

use crate::abi::CUhostFn;
use crate::state::lock;
use crate::streams::HostCall;

/// A user object. Graphs hold it by `Arc`; the program's own references are counted and stand for one `Arc` together.
pub(crate) struct UserObject {
    pub(crate) handle: usize,
    destroy: HostCall,
    /// References that the program owns, and the `Arc` that they keep.
    owned: Mutex<(usize, Option<Arc<UserObject>>)>,
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
        owned.0 += count;
        owned.1.get_or_insert_with(|| Arc::clone(self));
    }

    /// Takes references of the program's away; `false` if it owns fewer. `last` is set when none is left.
    pub(crate) fn release(&self, count: usize) -> Option<bool> {
        let mut owned = lock(&self.owned);
        owned.0 = owned.0.checked_sub(count)?;
        let keeper = if owned.0 == 0 { owned.1.take() } else { None };
        let last = keeper.is_some();
        // The lock must be free before the object can go.
        drop(owned);
        drop(keeper);
        Some(last)
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
