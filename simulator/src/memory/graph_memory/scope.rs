//! Which of its graph's allocations a node may use: those whose allocation comes before it and whose free comes after it by the edges.
//!
//! Whether memory happens to be live when a node runs is no answer: two branches may run in any order.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;

/// What one node may use.
pub(crate) struct NodeScope {
    /// The addresses of all allocations that its graph makes or frees.
    pub(crate) of_graph: Arc<BTreeSet<usize>>,
    /// Those of them that the node may use.
    pub(crate) usable: BTreeSet<usize>,
}

impl NodeScope {
    /// Whether the node may use the allocation that starts there. What is of no node of its graph is for the order of streams.
    pub(in crate::memory) fn allows(&self, base: usize) -> bool {
        !self.of_graph.contains(&base) || self.usable.contains(&base)
    }
}

thread_local! {
    /// Of the node that this thread executes.
    static CURRENT: RefCell<Option<Arc<NodeScope>>> = const { RefCell::new(None) };
}

/// Executes a node's work on this thread.
pub(crate) fn within(scope: Option<&Arc<NodeScope>>, work: impl FnOnce()) {
    struct Restore(Option<Arc<NodeScope>>);
    impl Drop for Restore {
        fn drop(&mut self) {
            CURRENT.set(self.0.take());
        }
    }
    let _restore = Restore(CURRENT.replace(scope.cloned()));
    work();
}

/// The scope of the node that this thread executes; `None` if its graph has no memory, or outside of nodes.
pub(in crate::memory) fn current() -> Option<Arc<NodeScope>> {
    CURRENT.with_borrow(Clone::clone)
}

/// Whether what this thread executes may use the graph's allocation that starts there.
pub(in crate::memory) fn allows(base: usize) -> bool {
    CURRENT.with_borrow(|scope| scope.as_ref().is_none_or(|scope| scope.allows(base)))
}
