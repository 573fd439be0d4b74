//! The conditions of a graph in the order in which they were made and given to nodes, which an update does not change.

use crate::error::{Code, Error, GraphUpdateError, Result};

/// The conditions of a graph or a body, and of the bodies inside it.
#[derive(Clone, Default)]
pub(crate) struct ConditionOrder {
    /// The handles of its own conditions, the oldest first.
    made: Vec<u64>,
    /// Those of them that a node uses.
    used: Vec<u64>,
    /// Its conditional nodes in order, each followed by the entries of its bodies.
    entries: Vec<Entry>,
    /// How many conditions of the bodies inside no node uses.
    unused_inside: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Entry {
    /// A node that uses the condition that was made as this one, counted in its graph or body.
    Node(usize),
    EndOfBody,
}

impl ConditionOrder {
    /// Notes a new condition.
    pub(super) fn add(&mut self, handle: u64) {
        self.made.push(handle);
    }

    /// Whether the condition is one of this graph or body, and no node's yet.
    pub(super) fn is_unused(&self, handle: u64) -> bool {
        self.made.contains(&handle) && !self.used.contains(&handle)
    }

    /// Notes the node of a condition.
    pub(super) fn give_to_node(&mut self, handle: u64) {
        if let Some(place) = self.made.iter().position(|&made| made == handle) {
            self.used.push(handle);
            self.entries.push(Entry::Node(place));
        }
    }

    /// Whether there is a condition.
    pub(super) fn is_any(&self) -> bool {
        !self.made.is_empty() || !self.entries.is_empty() || self.unused_inside > 0
    }

    /// Adds what is in a body of the node that was added last.
    pub(super) fn absorb(&mut self, body: ConditionOrder) {
        if !body.is_any() {
            return;
        }
        self.unused_inside += body.unused();
        self.entries.extend(body.entries);
        self.entries.push(Entry::EndOfBody);
    }

    fn unused(&self) -> usize {
        self.made.len() - self.used.len() + self.unused_inside
    }

    /// # Errors
    ///
    /// An executable graph with these conditions cannot be updated by a graph with those: CUDA C++ Programming Guide, "Graph Update Limitations".
    pub(super) fn check_update(&self, new: &ConditionOrder) -> Result<()> {
        let reason = if new.unused() > 0 {
            "a condition of the new graph is used by no node"
        } else if self.made.len() != new.made.len() || self.entries != new.entries {
            "conditions were made, or given to nodes, in another order"
        } else {
            return Ok(());
        };
        Err(Error::GraphUpdate(Box::new(GraphUpdateError {
            code: Code::GRAPH_EXEC_UPDATE_FAILURE,
            // `CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED`
            result: 5,
            reason,
            node: None,
        })))
    }
}
