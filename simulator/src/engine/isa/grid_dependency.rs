//! `griddepcontrol`: the order of grids that overlap.

use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::level::Level;
use crate::engine::exec::op::{Op, scalar};
use crate::engine::exec::warp::{Flow, Warp};
use crate::engine::fault::FaultKind;
use crate::engine::lower::form::FormReader;
use crate::engine::lower::lowerings::Lowering;

use super::family::Family;

/// The instructions of this file.
pub(super) const FAMILY: Family = Family {
    opcodes: &["griddepcontrol"],
    read,
};

/// `griddepcontrol.launch_dependents`
struct LaunchDependents;

impl Op for LaunchDependents {
    type Operands = ();

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, (): ()) -> Flow {
        cluster.signal_dependents(warp.block);
        Flow::Next
    }
}

/// `griddepcontrol.wait`. The worker waits with the warp: no other warp can end the wait, and until it ends none has to go on.
struct Wait;

impl Op for Wait {
    type Operands = ();

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, (): ()) -> Flow {
        let goes_on = match &cluster.grid.progress {
            Some(progress) => progress.wait(),
            None => true,
        };
        if !goes_on {
            let lane = warp.mask.trailing_zeros() as usize;
            let message = "a grid that this one depends on has failed";
            return warp.fail(FaultKind::Cancelled, lane, message);
        }
        warp.waited = true;
        Flow::Next
    }
}

fn read(form: &FormReader<'_>) -> Option<Lowering> {
    if form.has("wait") {
        return Some(Lowering::new(|cx, _| {
            cx.emit(scalar::<Wait>(), ());
            Ok(())
        }));
    }
    form.has("launch_dependents").then(|| {
        Lowering::new(|cx, _| {
            cx.emit(scalar::<LaunchDependents>(), ());
            Ok(())
        })
    })
}
