//! `membar fence`.

use super::family::Family;
use crate::engine::access::check;
use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::level::Level;
use crate::engine::exec::op::{Op, scalar};
use crate::engine::exec::warp::{Flow, Warp};
use crate::engine::lower::accepted::Lowering;
use crate::engine::lower::form::FormReader;

/// The instructions of this file.
pub(super) const FAMILY: Family = Family {
    opcodes: &["membar", "fence"],
    read,
};

/// `membar` and `fence`
struct Fence;

impl Op for Fence {
    type Operands = ();

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, (): ()) -> Flow {
        std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
        check::fence(warp, cluster);
        Flow::Next
    }
}

/// `membar.level` and `fence`: whatever order, scope or proxy the form names, the simulator's is the strongest.
fn read(form: &FormReader<'_>) -> Option<Lowering> {
    form.ignore_all();
    Some(Lowering::new(|cx, _| {
        cx.emit(scalar::<Fence>(), ());
        Ok(())
    }))
}
