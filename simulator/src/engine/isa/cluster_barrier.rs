//! `barrier.cluster`: the barrier of a cluster.

use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::level::Level;
use crate::engine::exec::op::{Op, scalar};
use crate::engine::exec::operand::operands;
use crate::engine::exec::wait::Wait;
use crate::engine::exec::warp::{Flow, Warp};
use crate::engine::fault::FaultKind;
use crate::engine::lower::accepted::Lowering;
use crate::engine::lower::form::FormReader;
use crate::engine::observe;

operands! {
    pub(crate) struct ClusterArriveOperands { relaxed: u32 }
}

/// `barrier.cluster.arrive`
struct ClusterArrive;

impl Op for ClusterArrive {
    type Operands = ClusterArriveOperands;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
        let mask = warp.mask;
        if warp.cluster_phase != cluster.barrier_phase {
            warp.cluster_phase = cluster.barrier_phase;
            warp.cluster_arrived = 0;
        }
        if warp.cluster_arrived & mask != 0 {
            let lane = (warp.cluster_arrived & mask).trailing_zeros() as usize;
            let message = "barrier.cluster.arrive twice without a wait between";
            return warp.fail(FaultKind::IllegalInstruction, lane, message);
        }
        warp.cluster_arrived |= mask;
        cluster.arrived += mask.count_ones();
        if let Some(checker) = cluster.checker.as_deref_mut() {
            checker.cluster_arrive(warp.block, warp.index, mask, o.relaxed == 0);
        }
        let phase = cluster.barrier_phase;
        cluster.complete_barrier();
        if warp.observed {
            let arrival = observe::Arrival {
                barrier: observe::Barrier::Cluster,
                completes: cluster.barrier_phase != phase,
            };
            warp.observe(cluster, |observer, at| observer.barrier(at, &arrival));
        }
        Flow::Next
    }
}

/// `barrier.cluster.wait`
struct ClusterWait;

impl Op for ClusterWait {
    type Operands = ();

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, (): ()) -> Flow {
        if warp.cluster_arrived & warp.mask != warp.mask {
            let lane = (!warp.cluster_arrived & warp.mask).trailing_zeros() as usize;
            let message = "barrier.cluster.wait without an arrive before";
            return warp.fail(FaultKind::IllegalInstruction, lane, message);
        }
        let phase = warp.cluster_phase;
        let next = warp.pc + 1;
        if cluster.barrier_phase != phase {
            return Flow::Next;
        }
        warp.wait(Wait::Cluster { phase }, next);
        Flow::Leave
    }
}

/// Reads the modifiers behind `.cluster`.
pub(super) fn read(form: &FormReader<'_>) -> Option<Lowering> {
    // Whether all lanes come together changes nothing here: each arrives for itself.
    form.ignore(&["aligned"]);
    if form.has("wait") {
        form.ignore(&["acquire"]);
        return Some(Lowering::new(|cx, _| {
            cx.emit(scalar::<ClusterWait>(), ());
            Ok(())
        }));
    }
    let relaxed = u32::from(form.slot("sem") == Some("relaxed"));
    form.has("arrive").then(|| {
        Lowering::new(move |cx, _| {
            cx.emit(scalar::<ClusterArrive>(), ClusterArriveOperands { relaxed });
            Ok(())
        })
    })
}
