//! The edges of a graph: adding them, and what the driver lists.

use warpsmith_driver::raw;

use super::builder::{GraphBuilder, INCOMPLETE};
use super::contents::null_node;
use super::edge::{Edge, EdgeKind};
use super::part::Before;
use crate::driver_call::call;
use crate::error::{Code, Error, Node, Result};

impl GraphBuilder<'_> {
    /// Lets `after` wait for `before`.
    ///
    /// # Errors
    ///
    /// A node belongs to another graph; `after` has an edge from `before` already, of its own or by memory that both use; or the edge would close a
    /// circle, of which the error names the nodes. The graph stays as it was.
    // covers: GRAPH-13
    pub fn depend(&mut self, before: impl Into<Node>, after: impl Into<Node>) -> Result<()> {
        let (before, after) = (before.into(), after.into());
        self.check_own("cuGraphAddDependencies", &[before, after])?;
        self.gpu.bind()?;
        self.followers.check_new_edge(before, after)?;
        self.add_edge(before, after, EdgeKind::Full)?;
        // What comes after a kernel that may end before what is before it comes after that by edges of its own.
        for open in self.early.get(&before).cloned().unwrap_or_default() {
            let known = self.parts.get(after).is_some_and(|part| {
                // One that begins early awaits it by itself, and what comes after that has an edge of its own.
                let waits = |edge: &Before| edge.node == open && edge.edge != EdgeKind::Started;
                part.before.iter().any(waits)
            });
            if !known {
                self.add_edge(open, after, EdgeKind::Full)
                    .inspect_err(|_| self.break_at(after, INCOMPLETE))?;
            }
        }
        Ok(())
    }

    /// # Errors
    ///
    /// One of the nodes belongs to another graph.
    pub(super) fn check_own(&self, call: &'static str, nodes: &[Node]) -> Result<()> {
        match nodes.iter().find(|node| node.graph() != self.number) {
            None => Ok(()),
            Some(node) => Err(Error::misuse(
                call,
                Code::INVALID_VALUE,
                format!("{node:?} belongs to another graph"),
                "use this graph's nodes",
            )),
        }
    }

    pub(super) fn add_edge(&mut self, before: Node, after: Node, kind: EdgeKind) -> Result<()> {
        let (from, to) = (before.raw(), after.raw());
        {
            let _turn = self.template.turn();
            self.template.note_change();
            // SAFETY: both nodes are this graph's: `check_own` has compared the graphs, or the caller passes its own. No method removes nodes.
            unsafe {
                match kind {
                    EdgeKind::Full => call!(cuGraphAddDependencies(self.raw, &from, &to, 1)),
                    kind => call!(cuGraphAddDependencies_v2(
                        self.raw,
                        &from,
                        &to,
                        &kind.data(),
                        1
                    )),
                }
            }
        }
        .map_err(|error| error.while_doing(|| format!("from {before:?} to {after:?}")))?;
        self.followers.add(before, after);
        if let Some(part) = self.parts.get_mut(after) {
            part.before.push(Before {
                node: before,
                edge: kind,
            });
        }
        Ok(())
    }

    /// The edges, as the driver lists them.
    pub(super) fn raw_edges(&self) -> Result<Vec<Edge>> {
        self.gpu.bind()?;
        let _turn = self.template.turn();
        let mut count = 0;
        let null = std::ptr::null_mut();
        // SAFETY: with null arrays the driver writes the number of edges to `count` only; `self` keeps the graph.
        unsafe {
            call!(cuGraphGetEdges_v2(
                self.raw,
                null,
                null,
                std::ptr::null_mut(),
                &mut count
            ))
        }?;
        let mut from = vec![null_node(); count];
        let mut to = from.clone();
        let mut data = vec![raw::CUgraphEdgeData::default(); count];
        if count > 0 {
            // SAFETY: the arrays have room for `count` entries each; `self` keeps the graph.
            unsafe {
                call!(cuGraphGetEdges_v2(
                    self.raw,
                    from.as_mut_ptr(),
                    to.as_mut_ptr(),
                    data.as_mut_ptr(),
                    &mut count
                ))
            }?;
        }
        let node = |raw| Node::new(raw, self.number);
        Ok(from
            .into_iter()
            .zip(to)
            .zip(&data)
            .take(count)
            .map(|((from, to), data)| Edge {
                from: node(from),
                to: node(to),
                kind: EdgeKind::of(data),
            })
            .collect())
    }
}
