//! Memory that a graph allocates: it lives from one node to another at each launch, and no stream may use it.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Code, Error, Result};

/// Whose nodes may use the memory, and until when nodes can be added that do.
#[derive(Debug)]
pub(crate) struct GraphMemory {
    /// The graph's number.
    graph: u64,
    /// Where its allocation node puts it.
    pub(crate) address: u64,
    /// A node frees it.
    is_freed: AtomicBool,
}

impl GraphMemory {
    pub(crate) fn of(graph: u64, address: u64) -> GraphMemory {
        GraphMemory {
            graph,
            address,
            is_freed: AtomicBool::new(false),
        }
    }

    /// Notes that a node frees it.
    pub(crate) fn set_freed(&self) {
        self.is_freed.store(true, Ordering::Release);
    }

    pub(crate) fn is_freed(&self) -> bool {
        self.is_freed.load(Ordering::Acquire)
    }

    /// # Errors
    ///
    /// A new node of this graph cannot use the memory.
    pub(crate) fn check_node_of(&self, graph: u64) -> Result<()> {
        const CALL: &str = "cuGraphAddNode";
        if self.graph != graph {
            return Err(Error::misuse(
                CALL,
                Code::INVALID_VALUE,
                "the memory is allocated by another graph",
                "only nodes of the graph that allocates it, and of its bodies, can use it: copy to a buffer of a stream there",
            ));
        }
        if self.is_freed() {
            return Err(Error::misuse(
                CALL,
                Code::INVALID_VALUE,
                "a node of the graph has freed the memory: `free` or `instantiate` added it",
                "add all nodes that use the memory before",
            ));
        }
        Ok(())
    }

    /// The error of a use by a stream.
    pub(crate) fn refuse_stream(&self, call: &'static str) -> Error {
        Error::misuse(
            call,
            Code::INVALID_VALUE,
            "the memory is a graph's: it is there only while a launch of the graph runs",
            "let the graph copy to a buffer that a stream has made, and use that",
        )
    }
}
