//! `st.async`, `red.async`: stores and reductions in the shared memory of a block of the cluster, whose bytes an mbarrier of that
//! block counts. They are done as late as the rules allow: when some thread waits for the mbarrier.

use std::marker::PhantomData;

use super::addresses::address;
use super::elements::parts;
use super::reduction::{NO_REDUCTION, combine_of, reduction};
use crate::check::AsyncCompletion;
use crate::engine::access::check;
use crate::engine::access::declared::Declared;
use crate::engine::access::locate::Extent;
use crate::engine::access::path::access_range;
use crate::engine::access::values;
use crate::engine::exec::bulk_copy::{BulkCopy, Transaction};
use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::level::Level;
use crate::engine::exec::op::{Op, scalar};
use crate::engine::exec::operand::{Address, ReadList, Value, lanes_of, operands};
use crate::engine::exec::warp::{Flow, Warp};
use crate::engine::fault::FaultKind;
use crate::engine::lower::form::FormReader;
use crate::engine::lower::lowerings::{Lowering, unsupported};

operands! {
    /// `reduction`: its number ([`reduction`]), or [`NO_REDUCTION`] for a store.
    pub(crate) struct AsyncStoreOperands<R: Value> { to: Address, barrier: Address, values: ReadList<R>, reduction: u32 }
}

/// An asynchronous store or reduction of one lane.
#[derive(Clone, Copy)]
struct AsyncWrite<'b> {
    to: Address,
    barrier: Address,
    bytes: &'b [u8],
    reduction: u32,
}

impl AsyncWrite<'_> {
    /// Refuses what is undefined: a cluster of one block, an mbarrier in another block than the destination, a reduction in the
    /// block of the thread itself (PTX ISA, `st.async` and `red.async`).
    fn check_blocks(
        self,
        warp: &mut Warp,
        cluster: &Cluster<'_>,
        lane: usize,
        to: *mut u8,
        barrier: *mut u8,
    ) -> Result<(), Flow> {
        let (function, pc) = (warp.function, warp.pc);
        let name = || cluster.grid.program.instruction_name(function, pc);
        let message = match (cluster.place(to), cluster.place(barrier)) {
            (None, _) => format!("{} to memory that is not shared memory", name()),
            (_, None) => format!("{} with an mbarrier that is not in shared memory", name()),
            (Some(to), Some(at)) if to.block != at.block => {
                format!(
                    "{} with an mbarrier in another block than its destination",
                    name()
                )
            }
            _ if cluster.blocks.len() == 1 => {
                let message = format!("{} in a cluster of one block", name());
                return Err(warp.fail(FaultKind::IllegalInstruction, lane, message));
            }
            (Some(to), _) if self.reduction != NO_REDUCTION && to.block == warp.block => {
                format!("{} to shared memory of the thread's own block", name())
            }
            _ => return Ok(()),
        };
        Err(warp.fail(FaultKind::InvalidAddressSpace, lane, message))
    }

    fn issue(self, warp: &mut Warp, cluster: &mut Cluster<'_>, lane: usize) -> Result<(), Flow> {
        let size = self.bytes.len() as u32;
        let to = access_range(warp, cluster, self.to, lane, Extent::value(size))?;
        let barrier = access_range(warp, cluster, self.barrier, lane, Extent::value(8))?;
        self.check_blocks(warp, cluster, lane, to, barrier)?;
        let completion = AsyncCompletion::Mbarrier {
            offset: cluster.shared_offset(barrier),
        };
        let declared = Declared::of(self.to);
        let destination = check::issue(warp, cluster, lane, declared, (to, size), completion)?;
        let copy = BulkCopy {
            from: std::ptr::null_mut(),
            to,
            bytes: size,
            combine: combine_of(self.reduction),
            read: Some(self.bytes.into()),
            source: None,
            destination,
        };
        cluster.transactions.issue(Transaction { barrier, copy });
        Ok(())
    }
}

/// A store or reduction of values in registers of type `R`.
struct AsyncStore<R>(PhantomData<R>);

impl<R: Value> Op for AsyncStore<R> {
    type Operands = AsyncStoreOperands<R>;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        let size = size_of::<R>() * o.values.len();
        for lane in lanes_of(warp.mask) {
            let bytes = values::list::<R, R>(warp, o.values, lane);
            let write = AsyncWrite {
                to: o.to,
                barrier: o.barrier,
                bytes: &bytes[..size],
                reduction: o.reduction,
            };
            if let Err(flow) = write.issue(warp, cluster, lane) {
                return flow;
            }
        }
        Flow::Next
    }
}

/// Reads the modifiers of a store or reduction that is not done with its instruction.
pub(super) fn read(form: &FormReader<'_>) -> Option<Lowering> {
    if !form.has("async") {
        return None;
    }
    // There is no other one.
    form.ignore(&["completion_mechanism"]);
    let ty = form.first_type()?;
    let reduction = match form.opcode() {
        "red" => reduction(form)?,
        _ => {
            form.ty()?;
            NO_REDUCTION
        }
    };
    let count = match form.slot("vec") {
        None => 1,
        Some("v2") => 2,
        Some(_) => 4,
    };
    let (to, barrier) = (form.effect(0), form.effect(2));
    Some(Lowering::new(move |cx, inst| {
        let mut fields = Vec::new();
        for source in parts(cx, &inst.operands[1], count)?.iter() {
            fields.push(cx.src(source, ty)?);
        }
        let to = address(cx, &inst.operands[0], to)?;
        let barrier = address(cx, &inst.operands[2], barrier)?;
        macro_rules! emit {
            ($register:ty) => {{
                let values = cx.read_list::<$register>(&fields);
                let operands = AsyncStoreOperands {
                    to,
                    barrier,
                    values,
                    reduction,
                };
                cx.emit(scalar::<AsyncStore<$register>>(), operands);
            }};
        }
        match ty.width() {
            32 => emit!(u32),
            64 => emit!(u64),
            128 => emit!(u128),
            _ => return Err(unsupported(inst)),
        }
        Ok(())
    }))
}
