//! Nodes that record events and wait for them.

use super::builder::GraphBuilder;
use super::contents::EventAction;
use super::handle::sealed::Named;
use super::handle::{EventRecordNode, EventWaitNode};
use super::new_node::NewNode;
use super::part::PartKind;
use crate::driver_call::call;
use crate::error::{Node, Result};
use crate::stream::event::Event;

impl GraphBuilder<'_> {
    /// Adds a node that records an event, anew at each launch: it is complete when all is done that comes before the node. Which nodes these
    /// are, [`depend`](Self::depend) says; by itself it comes after none.
    ///
    /// A wait for the event tells of panics in what was before the launch. For those in the launch itself, wait for a position after it.
    ///
    /// ```
    /// use warpsmith_host::prelude::*;
    ///
    /// # fn main() -> Result<()> {
    /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
    /// let (stream, other) = (gpu.stream()?, gpu.stream()?);
    /// let mut words = stream.zeroed::<u32>(4)?;
    /// let (ready, filled) = (gpu.event()?, gpu.event()?);
    /// let mut graph = gpu.graph()?;
    /// let wait = graph.wait(&ready)?;
    /// let fill = graph.fill(&mut words, 7)?;
    /// let record = graph.record(&filled)?;
    /// graph.depend(wait, fill)?;
    /// graph.depend(fill, record)?;
    /// let mut graph = graph.instantiate()?;
    /// other.record(&ready)?;
    /// graph.launch(&stream)?;                        // waits for that recording
    /// other.wait(&filled)?;                          // for this launch's fill
    /// other.synchronize()?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// This is the body of a loop or a branch.
    // covers: GRAPH-09
    pub fn record(&mut self, event: &Event) -> Result<EventRecordNode> {
        const CALL: &str = "cuGraphAddEventRecordNode";
        let node = self.add_event(CALL, event, EventAction::Record, |new| {
            // SAFETY: `new` has a variable for the node and nodes of this graph; the contents keep the event.
            unsafe {
                call!(cuGraphAddEventRecordNode(
                    new.node,
                    new.graph,
                    new.before.as_ptr(),
                    new.before.len(),
                    event.raw()
                ))
            }
        })?;
        Ok(EventRecordNode::named(node))
    }

    /// Adds a node that waits for an event: for the recording that is the last one when the graph is launched. Which nodes come after it,
    /// [`depend`](Self::depend) says. See [`record`](Self::record).
    ///
    /// # Errors
    ///
    /// This is the body of a loop or a branch. A launch is refused while the event stands for a node of a capture.
    // covers: GRAPH-09
    pub fn wait(&mut self, event: &Event) -> Result<EventWaitNode> {
        const CALL: &str = "cuGraphAddEventWaitNode";
        let node = self.add_event(CALL, event, EventAction::Wait, |new| {
            // SAFETY: `new` has a variable for the node and nodes of this graph; the contents keep the event.
            unsafe {
                call!(cuGraphAddEventWaitNode(
                    new.node,
                    new.graph,
                    new.before.as_ptr(),
                    new.before.len(),
                    event.raw()
                ))
            }
        })?;
        Ok(EventWaitNode::named(node))
    }

    fn add_event(
        &mut self,
        call: &'static str,
        event: &Event,
        action: EventAction,
        make: impl FnOnce(NewNode<'_>) -> Result<()>,
    ) -> Result<Node> {
        self.outside_of_bodies("an event")?;
        self.include_device(call, event.gpu())?;
        let kind = match action {
            EventAction::Record => PartKind::EventRecord,
            EventAction::Wait => PartKind::EventWait,
        };
        let node = self.add_kind(kind, &[], &[], make)?;
        self.keep_with(node, |contents| contents.add_event(event, action));
        Ok(node)
    }
}
