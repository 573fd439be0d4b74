//! `bar.warp.sync`: the barrier of the lanes of a warp that a mask names.

use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::level::Level;
use crate::engine::exec::op::{Op, scalar};
use crate::engine::exec::operand::{Read, lanes_of, operands};
use crate::engine::exec::wait::Wait;
use crate::engine::exec::warp::{Flow, Warp};
use crate::engine::fault::FaultKind;
use crate::engine::lower::accepted::Lowering;
use crate::engine::lower::form::FormReader;
use crate::engine::lower::types::Ty;

operands! {
    pub(crate) struct WarpSyncOperands { members: Read<u32> }
}

/// `bar.warp.sync`
struct WarpSync;

impl Op for WarpSync {
    type Operands = WarpSyncOperands;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        let masks = *o.members.lanes(warp);
        let first = warp.mask.trailing_zeros() as usize;
        let members = masks[first];
        if let Some(lane) = lanes_of(warp.mask).find(|&lane| masks[lane] >> lane & 1 == 0) {
            let message = format!(
                "bar.warp.sync by lane {lane}, which its mask {:#010x} does not name",
                masks[lane]
            );
            return warp.fail(FaultKind::IllegalInstruction, lane, message);
        }
        let same = lanes_of(warp.mask)
            .filter(|&lane| masks[lane] == members)
            .fold(0, |all, lane| all | 1 << lane);
        if same != warp.mask {
            // Several masks at once: one group for each.
            let (pc, frame, rest) = (warp.pc, warp.frame, warp.mask & !same);
            let others = warp.active & !warp.mask;
            if others != 0 {
                warp.add_ready(others, pc + 1, frame);
            }
            // The rest runs this instruction after the first have waited or passed.
            warp.active = same;
            warp.mask = same;
            warp.add_ready(rest, pc, frame);
            if warp.warp_barrier(cluster, members) {
                warp.pc = pc + 1;
                warp.park(Wait::Ready);
            }
            return Flow::Leave;
        }
        if warp.warp_barrier(cluster, members) {
            Flow::Next
        } else {
            Flow::Leave
        }
    }
}

/// Reads the modifiers behind `.warp`.
pub(super) fn read(form: &FormReader<'_>) -> Option<Lowering> {
    form.has("sync").then(|| {
        Lowering::new(|cx, inst| {
            let members = cx.src(&inst.operands[0], Ty::B32)?.into();
            cx.emit(scalar::<WarpSync>(), WarpSyncOperands { members });
            Ok(())
        })
    })
}
