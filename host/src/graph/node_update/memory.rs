//! Copies and fills: other memory, another value.

use bytemuck::Pod;

use super::{other_device, refused, wrong_kind};
use crate::driver_call::call;
use crate::error::{Code, Error, Node, Result};
use crate::graph::contents::Contents;
use crate::graph::copy::{fill_pattern, fill_use};
use crate::graph::exec::GraphExec;
use crate::graph::handle::{CopyNode, FillNode};
use crate::graph::part::{CopyShape, PartKind};
use crate::graph::planned_copy::PlannedCopy;
use crate::memory::view::RawView;
use crate::memory::{DeviceRead, DeviceWrite, PinnedBuffer};
use crate::order::memory_use::MemoryUse;

impl GraphExec {
    /// Gives a copy other memory, from the next launch on: as [`set_kernel`](Self::set_kernel). The length may change.
    ///
    /// # Errors
    ///
    /// The lengths differ, or are 0; the copy was one from or to memory of the host, or of a matrix or an array; and those of
    /// [`set_kernel`](Self::set_kernel).
    // covers: GRAPH-50, GRAPH-53
    pub fn set_copy<S, D>(&mut self, node: CopyNode, from: &S, to: &mut D) -> Result<()>
    where
        S: DeviceRead + ?Sized,
        D: DeviceWrite<Item = S::Item> + ?Sized,
    {
        self.change_copy(node, from.raw_view(), to.raw_view())
    }

    /// As [`set_copy`](Self::set_copy), of a copy that was made by [`copy_from_host`](crate::GraphBuilder::copy_from_host).
    ///
    /// # Errors
    ///
    /// As for [`set_copy`](Self::set_copy), with the host's memory where it was.
    pub fn set_copy_from_host<T: Pod, D: DeviceWrite<Item = T> + ?Sized>(
        &mut self,
        node: CopyNode,
        from: &PinnedBuffer<T>,
        to: &mut D,
    ) -> Result<()> {
        self.change_copy(node, from.memory.view(), to.raw_view())
    }

    /// As [`set_copy`](Self::set_copy), of a copy that was made by [`copy_to_host`](crate::GraphBuilder::copy_to_host).
    ///
    /// # Errors
    ///
    /// As for [`set_copy`](Self::set_copy), with the host's memory where it was.
    pub fn set_copy_to_host<S: DeviceRead + ?Sized>(
        &mut self,
        node: CopyNode,
        from: &S,
        to: &mut PinnedBuffer<S::Item>,
    ) -> Result<()> {
        self.change_copy(node, from.raw_view(), to.memory.view())
    }

    fn change_copy(&mut self, node: CopyNode, from: RawView<'_>, to: RawView<'_>) -> Result<()> {
        const CALL: &str = "cuGraphExecMemcpyNodeSetParams";
        let shape = match self.part(CALL, node)?.kind {
            PartKind::Copy(shape) if shape.is_linear => shape,
            PartKind::Copy(_) => {
                return Err(refused(
                    CALL,
                    node.into(),
                    "is a copy of a matrix or an array, which no driver changes",
                    "update the whole graph (`update_or_reinstantiate`), or add several copies and switch them off by `set_enabled`",
                ));
            }
            ref kind => return Err(wrong_kind(CALL, node.into(), kind)),
        };
        let Some(copy) = PlannedCopy::linear(from, to)? else {
            return Err(no_bytes(CALL, node.into()));
        };
        let gpu = copy.check(&self.gpu)?;
        let sides = |shape: CopyShape| (shape.from_host, shape.to_host);
        if sides(copy.shape) != sides(shape) {
            return Err(refused(
                CALL,
                node.into(),
                "copies in another direction: which side is memory of the host does not change",
                "use the one of `set_copy`, `set_copy_from_host` and `set_copy_to_host` that the copy was made by",
            ));
        }
        if copy.shape.devices != shape.devices {
            let message = "would copy between other devices";
            return Err(other_device(CALL, node.into(), message));
        }
        self.include_device(&gpu);
        let context = gpu.context().raw();
        let mut contents = of_uses(&copy.uses);
        contents.kept.extend(copy.keepers());
        self.change(CALL, node, contents, |exec, node| {
            // SAFETY: `change` says that both are alive, and that the node is a copy's. The driver copies `copy`, whose sides are memory of as many
            // bytes (`PlannedCopy`); the contents keep it.
            unsafe {
                call!(cuGraphExecMemcpyNodeSetParams(
                    exec, node, &copy.copy, context
                ))
            }
        })
    }

    /// Gives a fill another value or other memory, from the next launch on: as [`set_kernel`](Self::set_kernel).
    ///
    /// Some drivers, and the simulator, do not do this for memory of a pool, which a [`DeviceBuffer`](crate::DeviceBuffer) is (driver 580.159.04 does): a
    /// program that is to run with all of them puts such a fill into a child graph, and changes that ([`set_child`](Self::set_child)).
    ///
    /// # Errors
    ///
    /// The driver refuses memory of a pool, or it is empty; the value is wider than 4 bytes and no repetition of a narrower pattern; and those of
    /// [`set_kernel`](Self::set_kernel).
    // covers: GRAPH-50, GRAPH-53
    pub fn set_fill<D: DeviceWrite + ?Sized>(
        &mut self,
        node: FillNode,
        to: &mut D,
        value: D::Item,
    ) -> Result<()> {
        const CALL: &str = "cuGraphExecMemsetNodeSetParams";
        let to = to.raw_view();
        let part = self.part(CALL, node)?;
        let PartKind::Fill(shape) = part.kind else {
            return Err(wrong_kind(CALL, node.into(), &part.kind));
        };
        let Some(used) = fill_use(to) else {
            return Err(no_bytes(CALL, node.into()));
        };
        used.check()?;
        if used.shape() != shape {
            let message = "would fill memory of another device";
            return Err(other_device(CALL, node.into(), message));
        }
        let gpu = used.gpu().clone();
        self.include_device(&gpu);
        let context = gpu.context().raw();
        let parameters = fill_pattern(&value)?.parameters(to);
        self.change(CALL, node, of_uses(&[used.memory]), |exec, node| {
            // SAFETY: `change` says that both are alive, and that the node is a fill's. The driver copies `parameters`, whose range is the
            // view's; the contents keep its memory.
            unsafe {
                call!(cuGraphExecMemsetNodeSetParams(
                    exec,
                    node,
                    &parameters,
                    context
                ))
            }
            .map_err(|error| {
                error.with_hint_for(Code::INVALID_VALUE, || {
                    "drivers refuse to change a fill to memory of a pool (a `DeviceBuffer`): put the fill into a child graph and use `set_child`"
                        .into()
                })
            })
        })
    }
}

fn of_uses(uses: &[MemoryUse]) -> Contents {
    let mut contents = Contents::default();
    uses.iter().for_each(|used| contents.add_use(used));
    contents
}

fn no_bytes(call: &'static str, node: Node) -> Error {
    refused(
        call,
        node,
        "is to copy or fill memory of no bytes, which no driver does",
        "switch it off: `set_enabled(node, false)`",
    )
}
