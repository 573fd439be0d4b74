//! Nodes that signal semaphores of other program interfaces, and wait for them.

use warpsmith_driver::raw;

use super::builder::GraphBuilder;
use super::new_node::NewNode;
use crate::driver_call::call;
use crate::error::{Code, Error, Node, Result};
use crate::stream::semaphore::{SemaphorePoint, signals, waits};

impl GraphBuilder<'_> {
    /// Adds a signal of semaphores of another interface, at each launch; of a timeline to the same value each time, unless the graph is
    /// updated. Nothing but [`depend`](Self::depend) orders it with other nodes. The graph keeps the semaphores.
    ///
    /// See [`ExternalSemaphore`](crate::ExternalSemaphore) for what the caller sees to.
    ///
    /// # Errors
    ///
    /// There are none; one is of another device; this is the body of a loop or a branch.
    // covers: GRAPH-10
    pub fn signal_semaphores(&mut self, points: &[SemaphorePoint<'_>]) -> Result<Node> {
        let mut raw = signals(points);
        let parameters = raw::CUDA_EXT_SEM_SIGNAL_NODE_PARAMS {
            extSemArray: raw.semaphores.as_mut_ptr(),
            paramsArray: raw.parameters.as_ptr(),
            numExtSems: raw.len(),
        };
        self.add_semaphores("cuGraphAddExternalSemaphoresSignalNode", points, |new| {
            // SAFETY: `new` has a variable for the node and nodes of this graph. The driver copies the arrays, which outlive the call; the contents
            // keep the semaphores.
            unsafe {
                call!(cuGraphAddExternalSemaphoresSignalNode(
                    new.node,
                    new.graph,
                    new.before.as_ptr(),
                    new.before.len(),
                    &parameters
                ))
            }
        })
    }

    /// Adds a wait for semaphores of another interface, at each launch. Nothing but [`depend`](Self::depend) orders it with other nodes:
    /// those that are to wait depend on it. The graph keeps the semaphores.
    ///
    /// See [`ExternalSemaphore`](crate::ExternalSemaphore) for what the caller sees to.
    ///
    /// # Errors
    ///
    /// There are none; one is of another device; this is the body of a loop or a branch.
    // covers: GRAPH-10
    pub fn wait_semaphores(&mut self, points: &[SemaphorePoint<'_>]) -> Result<Node> {
        let mut raw = waits(points);
        let parameters = raw::CUDA_EXT_SEM_WAIT_NODE_PARAMS {
            extSemArray: raw.semaphores.as_mut_ptr(),
            paramsArray: raw.parameters.as_ptr(),
            numExtSems: raw.len(),
        };
        self.add_semaphores("cuGraphAddExternalSemaphoresWaitNode", points, |new| {
            // SAFETY: `new` has a variable for the node and nodes of this graph. The driver copies the arrays, which outlive the call; the contents
            // keep the semaphores.
            unsafe {
                call!(cuGraphAddExternalSemaphoresWaitNode(
                    new.node,
                    new.graph,
                    new.before.as_ptr(),
                    new.before.len(),
                    &parameters
                ))
            }
        })
    }

    fn add_semaphores(
        &mut self,
        call: &'static str,
        points: &[SemaphorePoint<'_>],
        make: impl FnOnce(NewNode<'_>) -> Result<()>,
    ) -> Result<Node> {
        self.outside_of_bodies("a signal of a semaphore, or a wait for one")?;
        for point in points {
            point.check_device(call, ("the graph", &self.gpu))?;
        }
        if points.is_empty() {
            return Err(Error::misuse(
                call,
                Code::INVALID_VALUE,
                "no semaphore is given",
                "a node that does nothing is made by `empty`",
            ));
        }
        let node = self.add(&[], make)?;
        for point in points {
            self.contents.kept.push(point.kept());
        }
        Ok(node)
    }
}
