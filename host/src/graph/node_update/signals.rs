//! Events and flags: others to record, to write and to wait for.

use warpsmith_driver::raw;

use crate::driver_call::call;
use crate::error::Result;
use crate::gpu::open_device::check_same_device;
use crate::graph::contents::{Contents, EventAction};
use crate::graph::exec::GraphExec;
use crate::graph::flags::{keep_flags, parameters};
use crate::graph::handle::{EventRecordNode, EventWaitNode, FlagNode, NodeHandle};
use crate::memory::FlagOperations;
use crate::stream::event::Event;

impl GraphExec {
    /// Gives a node another event to record, from the next launch on.
    ///
    /// # Errors
    ///
    /// The event is of another device than the node's; the node is not one of the graph that this was made of.
    // covers: GRAPH-53
    pub fn set_recorded_event(&mut self, node: EventRecordNode, event: &Event) -> Result<()> {
        const CALL: &str = "cuGraphExecEventRecordNodeSetEvent";
        self.change_event(CALL, node, event, EventAction::Record, |exec, node| {
            // SAFETY: `change` says that both are alive, and that the node records an event; the contents keep this one.
            unsafe { call!(cuGraphExecEventRecordNodeSetEvent(exec, node, event.raw())) }
        })
    }

    /// Gives a node another event to wait for, from the next launch on.
    ///
    /// # Errors
    ///
    /// The event is of another device; the node is not one of the graph that this was made of.
    // covers: GRAPH-53
    pub fn set_awaited_event(&mut self, node: EventWaitNode, event: &Event) -> Result<()> {
        const CALL: &str = "cuGraphExecEventWaitNodeSetEvent";
        self.change_event(CALL, node, event, EventAction::Wait, |exec, node| {
            // SAFETY: `change` says that both are alive, and that the node waits for an event; the contents keep this one.
            unsafe { call!(cuGraphExecEventWaitNodeSetEvent(exec, node, event.raw())) }
        })
    }

    /// As [`change`](Self::change), to what does this to an event.
    fn change_event(
        &mut self,
        name: &'static str,
        node: impl NodeHandle,
        event: &Event,
        action: EventAction,
        call: impl FnOnce(raw::CUgraphExec, raw::CUgraphNode) -> Result<()>,
    ) -> Result<()> {
        let part = self.part(name, node)?;
        // No driver gives a node an event of another device.
        let old = part.contents.events.first().map(|used| used.event.gpu());
        check_same_device(
            name,
            ("the event", event.gpu()),
            ("the node", old.unwrap_or(&self.gpu)),
        )?;
        let mut contents = Contents::default();
        contents.add_event(event, action);
        self.change(name, node, contents, call)
    }

    /// Gives a node other operations on flags, from the next launch on. Their number and their kinds stay: only flags and values change.
    ///
    /// # Errors
    ///
    /// They are of other kinds than the node's; as for [`GraphBuilder::flags`](crate::GraphBuilder::flags); the node is not one of the graph that
    /// this was made of.
    // covers: GRAPH-53
    pub fn set_flags(&mut self, node: FlagNode, operations: &FlagOperations<'_>) -> Result<()> {
        const CALL: &str = "cuGraphExecBatchMemOpNodeSetParams";
        self.part(CALL, node)?;
        let mut list = operations.checked(CALL, ("the graph", &self.gpu))?;
        let parameters = parameters(self.gpu.context().raw(), &mut list);
        let mut contents = Contents::default();
        keep_flags(&mut contents, operations);
        self.change(CALL, node, contents, |exec, node| {
            // SAFETY: `change` says that both are alive, and that the node is one of operations on flags. The driver copies these, on words that
            // the contents keep.
            unsafe { call!(cuGraphExecBatchMemOpNodeSetParams(exec, node, &parameters)) }
        })
    }
}
