//! Launches of executable graphs.

use std::sync::Arc;

use super::capture_state::CaptureState;
use super::captured_child::{WholeGraph, refuse_changed};
use super::contents::EventAction;
use super::exec::{GraphExec, Whole};
use crate::driver_call::call;
use crate::error::{Busy, Error, Result};
use crate::gpu::open_device::check_same_device;
use crate::order::access::ViewScope;
use crate::order::order_lock::OrderGuard;
use crate::order::stream_handle::StreamHandle;
use crate::panics::source::{NumberToSet, Source, begin_graph_launch};
use crate::panics::timeline::NewLaunch;
use crate::stream::Stream;
use crate::trace::track::Track;
use crate::trace::work::Work;

impl GraphExec {
    /// Launches the graph in the stream and returns: it runs after what the stream holds and before what comes later. Within the
    /// graph only its edges give order. The memory that it uses is put in order with other streams' uses.
    ///
    /// In a stream that is being captured the launch becomes a child graph of what is captured: a copy of the graph that this was made of, or
    /// updated to last. It is a copy of that alone, so it is refused where a single node was changed or switched off since, or the graph has got
    /// more nodes; [`Capture::child`](crate::Capture::child) adds any graph.
    ///
    /// The stream may be of another device than the graph: each node runs on the device that it is of all the same. From then on both devices find
    /// the order of their work under one lock, as devices do that use each other's memory.
    ///
    /// # Errors
    ///
    /// The host has some of the graph's memory open, or an earlier fault comes to light. In a capture: the graph allocates memory, has loops or
    /// branches, or is not what this is any more; or the stream is of another device than the `Gpu` by which the graph was made.
    // covers: GRAPH-20, GRAPH-21
    pub fn launch(&mut self, stream: &Stream) -> Result<()> {
        const CALL: &str = "cuGraphLaunch";
        self.prepare_devices(stream)?;
        // Given up after the lock: with its last owner a stream of another library gives up its keeper, which is the program's and may call this crate.
        let last = self.last_stream.upgrade();
        let guard = stream.gpu.lock_order();
        if stream.handle.is_captured() {
            let of_stream = ("the captured stream", &stream.gpu);
            check_same_device(CALL, ("the graph", &self.gpu), of_stream)?;
            return self.launch_captured(&guard, stream);
        }
        let open = self
            .contents
            .ordered()
            .any(|used| used.memory.history().is_open_to_host());
        let kept_out = self
            .contents
            .devices_besides(&self.gpu)
            .chain([&self.gpu])
            .any(|gpu| gpu.order().launch_gate.state().has_host_accesses())
            || stream.handle.host_accesses().are_open();
        if open || kept_out {
            return Err(Error::Busy(Box::new(Busy {
                call: CALL,
                reason: "the host has memory open that the graph uses, or updates a graph that it may launch"
                    .into(),
                hint: "drop the guards of `host()` and `host_mut()` first, and wait for the update",
            })));
        }
        for used in &self.contents.events {
            if used.action == EventAction::Wait {
                used.event.refuse_captured(CALL)?;
            }
        }
        // Recordings in the graph may be complete before the launch is, but after all that is before it.
        let recorded = self
            .records_events()
            .then(|| stream.handle.timeline().end());
        let (launch, to_set) = begin_graph_launch(stream.handle.timeline(), self.panic_sources());
        let enqueued = self.enqueue(&guard, stream, last.as_deref(), &launch, &to_set);
        if enqueued.is_err() {
            self.panic_sources().for_each(Source::separate_next_launch);
        }
        enqueued?;
        for used in &self.contents.events {
            if used.action == EventAction::Wait {
                stream
                    .handle
                    .timeline()
                    .follow(&launch, &used.event.reach());
            }
        }
        for used in &self.contents.events {
            if let (EventAction::Record, Some(reach)) = (used.action, &recorded) {
                used.event.set_position(None, reach.clone());
            }
        }
        Ok(())
    }

    /// Adds a copy of the graph that this is to the stream's capture.
    fn launch_captured(&self, guard: &OrderGuard<'_>, stream: &Stream) -> Result<()> {
        let capture = CaptureState::of(&self.gpu, guard, &stream.handle)?;
        if self.is_changed {
            return Err(refuse_changed("a node of this was changed by itself since"));
        }
        if let Some(node) = self.switched_off.first() {
            return Err(refuse_changed(&format!("{node:?} of this is switched off")));
        }
        let Whole {
            template,
            number,
            changes,
        } = &self.whole;
        let whole = WholeGraph {
            template,
            contents: &self.contents,
            number: *number,
            changes: *changes,
        };
        capture.add_child(guard, &stream.handle, &whole)
    }

    /// The number of the graph whose conditions its kernels set.
    pub(super) fn conditions_of(&self) -> u64 {
        self.whole.number
    }

    fn records_events(&self) -> bool {
        let mut events = self.contents.events.iter();
        events.any(|used| used.action == EventAction::Record)
    }

    /// Where kernels tell of panics that run when it is launched: its own, and those of graphs that they launch.
    fn panic_sources(&self) -> impl Iterator<Item = &Source> {
        self.panics
            .iter()
            .chain(&self.contents.panics)
            .map(|source| &***source)
    }

    /// Enqueues a launch after all that its memory's earlier uses conflict with.
    fn enqueue(
        &mut self,
        guard: &OrderGuard<'_>,
        stream: &Stream,
        last: Option<&StreamHandle>,
        launch: &NewLaunch<'_>,
        to_set: &[NumberToSet],
    ) -> Result<()> {
        for used in self.contents.ordered() {
            used.memory.order_use(
                "cuGraphLaunch",
                guard,
                &stream.handle,
                launch,
                used.access,
                ViewScope::Shared,
            )?;
        }
        if !to_set.is_empty()
            && let Some(last) = last
            && *last != *stream.handle
        {
            last.hold_back(guard, stream.handle.stream_ref())?;
        }
        for &NumberToSet { address, number } in to_set {
            // SAFETY: the word lives with its source, which lives until the stream has done this: with this executable graph, or that of the
            // contents whose kernels tell there. The launches before are done then, which read it: they are in this stream, or in one that it
            // waits for, as the last stream above, and as all that have had the turn of a graph that kernels launch.
            unsafe { call!(cuMemsetD32Async(address, number, 1, stream.handle.raw())) }?;
        }
        self.last_stream = Arc::downgrade(&stream.handle);
        stream.gpu.traced(
            || Track::of(&stream.handle),
            || Work::graph(self.contents.launches.len()),
            // SAFETY: `self` owns the executable graph, `stream` the stream; `contents` keeps what the nodes use, which is freed in order.
            || unsafe { call!(cuGraphLaunch(self.raw, stream.handle.raw())) },
        )?;
        self.hold_back_other_devices(guard, stream)
    }

    /// Prepares launches in this stream: maps the memory that the graph allocates, so that the first launch does not have to. A launch in
    /// another stream maps again.
    ///
    /// # Errors
    ///
    /// The device has not so much memory, or the stream is being captured.
    // covers: GMEM-20
    pub fn upload(&mut self, stream: &Stream) -> Result<()> {
        stream.handle.refuse_capture(
            "cuGraphUpload",
            "an upload is no node of a graph",
            "upload before the capture, or in the stream that launches the graph",
        )?;
        self.prepare_devices(stream)?;
        let guard = stream.gpu.lock_order();
        // SAFETY: `self` owns the executable graph, `stream` the stream. The graph is destroyed after what its device holds, which follows the stream.
        unsafe { call!(cuGraphUpload(self.raw, stream.handle.raw())) }?;
        self.hold_back_other_devices(&guard, stream)
    }
}
