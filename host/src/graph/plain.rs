//! What uses no memory: functions on the host, empty nodes, values that the graph keeps.

use std::sync::{Arc, Mutex};

use warpsmith_driver::raw;

use super::builder::GraphBuilder;
use super::contents::RecordedHost;
use super::handle::HostNode;
use super::handle::sealed::Named;
use super::part::PartKind;
use crate::driver_call::call;
use crate::error::{Node, Result};
use crate::stream::host_function::{HostFunction, run_repeated};

impl GraphBuilder<'_> {
    /// Adds a call of a function on the host, at each launch. See [`Stream::host_fn`](crate::Stream::host_fn) for what it may do.
    // covers: GRAPH-05
    pub fn host(&mut self, function: impl Fn() + Send + Sync + 'static) -> Result<HostNode> {
        self.outside_of_bodies("a host function")?;
        // The pointer comes when the graph is made ready.
        let parameters = raw::CUDA_HOST_NODE_PARAMS {
            fn_: Some(run_repeated),
            userData: std::ptr::null_mut(),
        };
        let node = self.add_kind(PartKind::Host, &[], &[], |new| {
            // SAFETY: `new` has a variable for the node and nodes of this graph. The driver copies `parameters`, and calls nothing before
            // the graph is launched, which `instantiate` gives the pointer for that `run_repeated` asks for.
            unsafe {
                call!(cuGraphAddHostNode(
                    new.node,
                    new.graph,
                    new.before.as_ptr(),
                    new.before.len(),
                    &parameters
                ))
            }
        })?;
        let function: HostFunction = Arc::new(function);
        self.keep_with(node, |contents| {
            contents.host_functions.push(RecordedHost {
                node,
                function: function.clone(),
            });
        });
        Ok(HostNode::named(node))
    }

    /// Gives a value to the graph: it is dropped when the graph, its copies and all executable graphs of them are gone and no launch of them runs
    /// (a user object). For what foreign kernels or libraries need by pointers.
    ///
    /// It is dropped by some thread that waits or frees, or on a thread of the driver's, where what it does with this crate is put off or refused, as
    /// in [`host`](Self::host).
    ///
    /// ```
    /// use std::sync::Arc;
    /// use warpsmith_host::prelude::*;
    ///
    /// # fn main() -> Result<()> {
    /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
    /// let table = Arc::new([1, 2, 3]);
    /// let mut graph = gpu.graph()?;
    /// graph.keep(table.clone());
    /// let ready = graph.instantiate()?;
    /// drop(graph);
    /// assert_eq!(Arc::strong_count(&table), 2);
    /// drop(ready);
    /// gpu.synchronize()?;
    /// assert_eq!(Arc::strong_count(&table), 1);
    /// # Ok(())
    /// # }
    /// ```
    // covers: GRAPH-40, GRAPH-41, GRAPH-42
    pub fn keep(&mut self, value: impl Send + 'static) {
        // Nobody takes the lock: it makes the value `Sync`.
        self.contents.kept.push(Arc::new(Mutex::new(value)));
    }

    /// Adds a node that does nothing, as a joint of edges.
    // covers: GRAPH-08
    pub fn empty(&mut self) -> Result<Node> {
        self.add(&[], |new| {
            // SAFETY: `new` has a variable for the node and nodes of this graph.
            unsafe {
                call!(cuGraphAddEmptyNode(
                    new.node,
                    new.graph,
                    new.before.as_ptr(),
                    new.before.len()
                ))
            }
        })
    }
}
