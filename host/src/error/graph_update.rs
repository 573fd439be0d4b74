//! Graphs that do not fit.

use std::fmt::{self, Display};

use super::{Code, Node};

/// [`Error::GraphUpdate`](crate::Error::GraphUpdate).
#[derive(Debug)]
pub struct GraphUpdateError {
    /// The driver's code, usually 910.
    pub code: Code,
    /// `CUgraphExecUpdateResult` as a number.
    pub result: u32,
    /// The same in words.
    pub reason: &'static str,
    /// The node of the new graph that does not fit, if the driver says so.
    pub node: Option<Node>,
}

impl Display for GraphUpdateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "cuGraphExecUpdate: {}: {} (result {})",
            self.code, self.reason, self.result
        )?;
        if let Some(node) = self.node {
            write!(f, ", at {node:?}")?;
        }
        write!(
            f,
            "\n  hint: instantiate the new graph instead; the old executable graph still works as it was"
        )
    }
}

impl std::error::Error for GraphUpdateError {}
