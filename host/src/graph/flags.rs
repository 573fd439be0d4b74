//! Nodes that wait for flags and write them: batches of memory operations.

use std::sync::Arc;

use warpsmith_driver::raw;

use super::builder::GraphBuilder;
use super::contents::Contents;
use super::handle::FlagNode;
use super::handle::sealed::Named;
use super::part::PartKind;
use crate::driver_call::call;
use crate::error::{Code, Error, Node, Result};
use crate::memory::{FlagOperations, FlagWord, StreamFlag, Wait};

pub(super) const CALL: &str = "cuGraphAddBatchMemOpNode";

impl GraphBuilder<'_> {
    /// Adds a node that does operations on flags, in their order. It comes after the earlier nodes of the same flags; the rest,
    /// [`depend`](Self::depend) says: flags are in no order with buffers. The graph keeps the flags.
    ///
    /// See [`StreamFlag`] for waits that never end.
    ///
    /// ```
    /// use warpsmith_host::prelude::*;
    ///
    /// # fn main() -> Result<()> {
    /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
    /// let stream = gpu.stream()?;
    /// let (go, done) = (gpu.flag(0_u32)?, gpu.flag(0_u32)?);
    /// let mut words = stream.zeroed::<u32>(4)?;
    /// let mut graph = gpu.graph()?;
    /// let wait = graph.wait_value(&go, Wait::AtLeast(1))?;
    /// let fill = graph.fill(&mut words, 7)?;
    /// let write = graph.write_value(&done, 1)?;
    /// graph.depend(wait, fill)?;
    /// graph.depend(fill, write)?;
    /// graph.instantiate()?.launch(&stream)?;
    /// assert_eq!(done.get(), 0);
    /// go.set(1);
    /// assert_eq!(stream.download(&words)?, [7; 4]);
    /// assert_eq!(done.get(), 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// There are no operations, or more than 255; a flag is of another device; the device has no [`Wait::AnyClear`]; this is the body of a loop or a
    /// branch.
    pub fn flags(&mut self, operations: &FlagOperations<'_>) -> Result<FlagNode> {
        let mut list = checked(CALL, self, operations)?;
        self.outside_of_bodies("an operation on flags")?;
        let keys: Vec<usize> = operations
            .memory()
            .map(|memory| Arc::as_ptr(memory).addr())
            .collect();
        let after: Vec<Node> = keys
            .iter()
            .filter_map(|key| self.flags.get(key).copied())
            .collect();
        let parameters = parameters(self.gpu.context().raw(), &mut list);
        let node = self.add_kind(PartKind::Flags, &after, &[], |new| {
            // SAFETY: `new` has a variable for the node and nodes of this graph. The driver copies the operations, on words that the contents
            // keep.
            unsafe {
                call!(cuGraphAddBatchMemOpNode(
                    new.node,
                    new.graph,
                    new.before.as_ptr(),
                    new.before.len(),
                    &parameters
                ))
            }
        })?;
        self.keep_with(node, |contents| keep_flags(contents, operations));
        self.flags.extend(keys.into_iter().map(|key| (key, node)));
        Ok(FlagNode::named(node))
    }

    /// Adds a node that writes a flag: one of the operations of [`flags`](Self::flags).
    ///
    /// # Errors
    ///
    /// As for [`flags`](Self::flags).
    pub fn write_value<W: FlagWord>(&mut self, flag: &StreamFlag<W>, value: W) -> Result<FlagNode> {
        self.flags(&FlagOperations::new().write(flag, value))
    }

    /// Adds a node that waits for a flag: one of the operations of [`flags`](Self::flags).
    ///
    /// # Errors
    ///
    /// As for [`flags`](Self::flags).
    pub fn wait_value<W: FlagWord>(
        &mut self,
        flag: &StreamFlag<W>,
        until: Wait<W>,
    ) -> Result<FlagNode> {
        self.flags(&FlagOperations::new().wait(flag, until))
    }
}

/// # Errors
///
/// A node cannot do these operations.
fn checked(
    call: &'static str,
    builder: &GraphBuilder<'_>,
    operations: &FlagOperations<'_>,
) -> Result<Vec<raw::CUstreamBatchMemOpParams>> {
    let list = operations.checked(call, ("the graph", &builder.gpu))?;
    if list.is_empty() {
        return Err(Error::misuse(
            call,
            Code::INVALID_VALUE,
            "a node of no operations on flags",
            "give at least one, or add a node that does nothing: `empty()`",
        ));
    }
    Ok(list)
}

/// The node in the driver's form, as long as the list lives.
pub(super) fn parameters(
    context: raw::CUcontext,
    list: &mut [raw::CUstreamBatchMemOpParams],
) -> raw::CUDA_BATCH_MEM_OP_NODE_PARAMS {
    raw::CUDA_BATCH_MEM_OP_NODE_PARAMS {
        ctx: context,
        count: list.len() as u32,
        paramArray: list.as_mut_ptr(),
        flags: 0,
    }
}

pub(super) fn keep_flags(contents: &mut Contents, operations: &FlagOperations<'_>) {
    for memory in operations.memory() {
        contents.kept.push(memory.clone());
    }
}
