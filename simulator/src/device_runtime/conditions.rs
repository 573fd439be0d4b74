//! The values of conditional graph nodes, which kernels set with `cudaGraphSetConditional`.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use crate::error::{Result, code};
use crate::sync::lock;

/// A conditional handle, which is good as long as somebody has this: the graph that it was made on, and what was instantiated of that.
#[derive(Debug)]
pub(crate) struct Owned {
    pub(crate) handle: u64,
}

impl Drop for Owned {
    fn drop(&mut self) {
        lock(&CONDITIONS).remove(&self.handle);
    }
}

#[derive(Clone, Copy)]
struct Condition {
    default: u32,
    /// Whether each launch of the graph starts with the default.
    assign_default: bool,
    /// Whether a node uses it.
    has_node: bool,
    value: Option<u32>,
}

static CONDITIONS: Mutex<BTreeMap<u64, Condition>> = Mutex::new(BTreeMap::new());

fn fresh_handle() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0xc0de_0001);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Makes a conditional handle.
pub(crate) fn create(default: u32, assign_default: bool) -> Arc<Owned> {
    let handle = fresh_handle();
    let condition = Condition {
        default,
        assign_default,
        has_node: false,
        value: None,
    };
    lock(&CONDITIONS).insert(handle, condition);
    Arc::new(Owned { handle })
}

/// Another handle with the same default, for a copied graph.
pub(crate) fn duplicate(original: u64) -> Arc<Owned> {
    let handle = fresh_handle();
    let mut conditions = lock(&CONDITIONS);
    if let Some(condition) = conditions.get(&original).copied() {
        conditions.insert(
            handle,
            Condition {
                value: None,
                ..condition
            },
        );
    }
    drop(conditions);
    Arc::new(Owned { handle })
}

/// Gives a handle to a node; it can have one.
pub(crate) fn assign_to_node(handle: u64) -> Result {
    let mut conditions = lock(&CONDITIONS);
    let condition = conditions.get_mut(&handle).ok_or(code::INVALID_VALUE)?;
    if condition.has_node {
        return Err(code::INVALID_VALUE);
    }
    condition.has_node = true;
    Ok(())
}

/// Whether a node uses the handle.
pub(crate) fn has_node(handle: u64) -> bool {
    lock(&CONDITIONS)
        .get(&handle)
        .is_some_and(|condition| condition.has_node)
}

/// The value that each launch starts with, if it starts with one.
pub(crate) fn launch_default(handle: u64) -> Option<u32> {
    lock(&CONDITIONS)
        .get(&handle)
        .filter(|condition| condition.assign_default)
        .map(|condition| condition.default)
}

/// Sets the value; `false` if there is no such handle.
pub(crate) fn set(handle: u64, value: u32) -> bool {
    match lock(&CONDITIONS).get_mut(&handle) {
        Some(condition) => {
            condition.value = Some(value);
            true
        }
        None => false,
    }
}

/// The value; `None` if it was never set and has no default.
pub(crate) fn value(handle: u64) -> Option<u32> {
    lock(&CONDITIONS)
        .get(&handle)
        .and_then(|condition| condition.value)
}
