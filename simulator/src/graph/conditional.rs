//! Conditional nodes and the values that decide them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

use super::Graph;
use crate::report;
use crate::state::{Result, code, lock};

/// A conditional node's operation.
#[derive(Clone)]
pub(crate) struct Conditional {
    pub(crate) handle: u64,
    pub(crate) kind: ConditionalKind,
    pub(crate) bodies: Vec<Arc<Graph>>,
}

/// What a conditional node does with its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConditionalKind {
    /// First body if the value is not zero, second body (if any) otherwise.
    If,
    /// The body as long as the value is not zero.
    While,
    /// The body of that number.
    Switch,
}

#[derive(Clone, Copy)]
struct Condition {
    default: u32,
    assign_default: bool,
    /// A node uses it.
    taken: bool,
    value: Option<u32>,
}

fn conditions() -> &'static Mutex<HashMap<u64, Condition>> {
    static CONDITIONS: OnceLock<Mutex<HashMap<u64, Condition>>> = OnceLock::new();
    CONDITIONS.get_or_init(Mutex::default)
}

fn fresh() -> u64 {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(0xc0de_0001);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Makes a handle for a graph.
pub(crate) fn create_condition(graph: &Graph, default: u32, assign_default: bool) -> u64 {
    let handle = fresh();
    let condition = Condition {
        default,
        assign_default,
        taken: false,
        value: None,
    };
    lock(conditions()).insert(handle, condition);
    graph.add_condition(handle);
    handle
}

/// A copied graph's own handle for the same condition.
pub(super) fn copy_condition(old: u64) -> u64 {
    let handle = fresh();
    let mut conditions = lock(conditions());
    if let Some(condition) = conditions.get(&old).copied() {
        conditions.insert(
            handle,
            Condition {
                value: None,
                ..condition
            },
        );
    }
    handle
}

/// Gives a handle to its one node.
pub(crate) fn take_condition(handle: u64) -> Result {
    let mut conditions = lock(conditions());
    let condition = conditions.get_mut(&handle).ok_or(code::INVALID_VALUE)?;
    if condition.taken {
        return Err(code::INVALID_VALUE);
    }
    condition.taken = true;
    Ok(())
}

pub(super) fn is_taken(handle: u64) -> bool {
    lock(conditions())
        .get(&handle)
        .is_some_and(|condition| condition.taken)
}

/// Default value and whether each launch starts with it.
pub(super) fn default_of(handle: u64) -> Option<(u32, bool)> {
    lock(conditions())
        .get(&handle)
        .map(|condition| (condition.default, condition.assign_default))
}

/// Sets the value, as `cudaGraphSetConditional` in a kernel does.
pub(crate) fn set_condition(handle: u64, value: u32) {
    match lock(conditions()).get_mut(&handle) {
        Some(condition) => condition.value = Some(value),
        None => report::fault(&format!(
            "cudaGraphSetConditional was called with {handle:#x}, which is no conditional handle"
        )),
    }
}

/// The value; `None` if nobody has set it and it has no default.
pub(super) fn value(handle: u64) -> Option<u32> {
    lock(conditions())
        .get(&handle)
        .and_then(|condition| condition.value)
}
