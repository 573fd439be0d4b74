//! The devices of a graph: that of the `Gpu` or the stream that it was made by, those of nodes that are another one's, and those in whose streams it
//! is launched.

use std::sync::Arc;

use super::builder::{BuilderPosition, GraphBuilder};
use super::contents::Contents;
use super::exec::GraphExec;
use crate::error::{Code, Error, Result};
use crate::gpu::open_device::{OpenDevice, put_in_one_order};
use crate::order::order_lock::OrderGuard;
use crate::stream::Stream;

impl Contents {
    /// Notes a device that nodes are of, which need not be another one than the graph's.
    pub(super) fn add_device(&mut self, gpu: &Arc<OpenDevice>) {
        if !self.devices.iter().any(|known| Arc::ptr_eq(known, gpu)) {
            self.devices.push(gpu.clone());
        }
    }

    /// The devices of nodes that are not this one's.
    pub(super) fn devices_besides<'a>(
        &'a self,
        gpu: &'a Arc<OpenDevice>,
    ) -> impl Iterator<Item = &'a Arc<OpenDevice>> {
        let devices = self.devices.iter();
        devices.filter(move |other| !Arc::ptr_eq(other, gpu))
    }
}

impl GraphBuilder<'_> {
    /// Lets the work of a node of this device be part of the graph: it is in one order with the graph's own from here on. The caller holds no
    /// order lock.
    ///
    /// # Errors
    ///
    /// This is the body of a loop or a branch, and the device is another one than the graph's.
    pub(super) fn include_device(
        &mut self,
        call: &'static str,
        gpu: &Arc<OpenDevice>,
    ) -> Result<()> {
        if Arc::ptr_eq(&self.gpu, gpu) {
            return Ok(());
        }
        if self.position() == BuilderPosition::Body {
            let [own, other] = [&self.gpu, gpu].map(|gpu| gpu.context().choice);
            return Err(Error::misuse(
                call,
                Code::INVALID_CONTEXT,
                format!(
                    "the node is of `{other}`, and the body of a loop or a branch is of one device, here `{own}`"
                ),
                "add the node to the graph around the loop or branch, or make that graph by the other `Gpu`",
            ));
        }
        put_in_one_order(&self.gpu, gpu);
        self.contents.add_device(gpu);
        Ok(())
    }

    /// As [`include_device`](Self::include_device), of all devices of a graph that becomes a node of this one.
    ///
    /// # Errors
    ///
    /// Those of [`include_device`](Self::include_device).
    pub(super) fn include_devices_of(
        &mut self,
        call: &'static str,
        graph: &GraphBuilder<'_>,
    ) -> Result<()> {
        let devices = graph.contents.devices.iter();
        let mut devices = devices.chain([&graph.gpu]);
        devices.try_for_each(|gpu| self.include_device(call, gpu))
    }
}

impl GraphExec {
    /// As [`GraphBuilder::include_device`], for a changed node.
    pub(super) fn include_device(&mut self, gpu: &Arc<OpenDevice>) {
        if !Arc::ptr_eq(&self.gpu, gpu) {
            put_in_one_order(&self.gpu, gpu);
            self.contents.add_device(gpu);
        }
    }

    /// Puts the stream's device in one order with the graph's, makes what [`hold_back_other_devices`](Self::hold_back_other_devices) needs, and binds the
    /// stream's device. The caller holds no order lock.
    ///
    /// # Errors
    ///
    /// The driver refuses.
    pub(super) fn prepare_devices(&self, stream: &Stream) -> Result<()> {
        if !Arc::ptr_eq(&self.gpu, &stream.gpu) {
            put_in_one_order(&self.gpu, &stream.gpu);
        }
        for other in self.devices_besides_that_of(stream) {
            other.context().follower_stream()?;
        }
        stream.gpu.bind()
    }

    /// The graph's device, and those of its nodes, but for the stream's.
    fn devices_besides_that_of<'a>(
        &'a self,
        stream: &'a Stream,
    ) -> impl Iterator<Item = &'a Arc<OpenDevice>> {
        let of_nodes = self.contents.devices_besides(&self.gpu);
        [&self.gpu]
            .into_iter()
            .chain(of_nodes)
            .filter(|gpu| !Arc::ptr_eq(gpu, &stream.gpu))
    }

    /// Lets each device but the stream's, the graph's own and those that have nodes, wait for the launch that was just enqueued, in a stream of its own:
    /// what is freed there when all its streams are idle, the executable graph among it, and who waits for it or closes it, comes after the launch. A
    /// driver does not do that (H100, driver 580.159.04: a context does not wait for nodes of graphs that streams of others launch).
    pub(super) fn hold_back_other_devices(
        &self,
        guard: &OrderGuard<'_>,
        stream: &Stream,
    ) -> Result<()> {
        let mut others = self.devices_besides_that_of(stream).peekable();
        if others.peek().is_none() {
            return Ok(());
        }
        for other in others {
            other.bind()?;
            let follower = other.context().follower_stream()?;
            stream.handle.hold_back(guard, follower)?;
        }
        stream.gpu.bind()
    }
}
