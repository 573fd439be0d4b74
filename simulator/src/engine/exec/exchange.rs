//! Exchange among the lanes of a warp that a member mask names: all that have not exited must come to the instruction, or to another one
//! like it ([`rendezvous`](super::rendezvous)), and those that are early wait.

use std::marker::PhantomData;

use super::cluster::Cluster;
use super::level::Level;
use super::op::{Code, Op, scalar};
use super::operand::{FULL, LANES, Operands, Read, lanes_of};
use super::wait::Wait;
use super::warp::{Flow, Warp};
use crate::engine::dataflow::Dataflow;
use crate::engine::fault::FaultKind;

/// What happens when the lanes of a member mask are together.
pub(crate) trait Exchange {
    /// Its operands, the member mask among them.
    type Operands: Operands;

    /// The member masks of the lanes.
    fn members(operands: &Self::Operands) -> Read<u32>;

    /// Whether the lanes of `warp.mask`, which are not all of a warp, may execute it; if not, a fault is recorded.
    #[inline(always)]
    fn check(_: &mut Warp, _: &Cluster<'_>, _: &Self::Operands, _members: u32) -> Flow {
        Flow::Next
    }

    /// For each lane, the lane whose value it gets, the first source; `None` if results depend on the sources of all members.
    fn sources(_: &Warp, _: &Self::Operands) -> Option<[usize; LANES]> {
        None
    }

    /// Executes it for the lanes of `warp.mask`, all of which have this member mask.
    fn exchange(warp: &mut Warp, operands: Self::Operands, members: u32);
}

/// The operation that brings the members together and lets them exchange.
pub(crate) fn exchange<E: Exchange>() -> Code {
    scalar::<Together<E>>()
}

struct Together<E>(PhantomData<E>);

impl<E: Exchange> Op for Together<E> {
    type Operands = E::Operands;
    const DATAFLOW: Dataflow = Dataflow::Exchange;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        let masks = E::members(&o).lanes(warp);
        let first = masks[warp.mask.trailing_zeros() as usize & 31];
        let uniform = masks
            .iter()
            .enumerate()
            .all(|(lane, &mask)| warp.mask >> lane & 1 == 0 || mask == first);
        if uniform && warp.mask & !first == 0 && warp.missing(first) == 0 {
            if warp.mask != FULL && E::check(warp, cluster, &o, first) == Flow::Fault {
                return Flow::Fault;
            }
            perform::<E>(warp, cluster, o, first);
            return Flow::Next;
        }
        apart::<E>(warp, cluster, o)
    }
}

/// The members are together.
#[inline(always)]
fn perform<E: Exchange>(warp: &mut Warp, cluster: &Cluster<'_>, o: E::Operands, members: u32) {
    if warp.poison.is_some() {
        let sources = E::sources(warp, &o);
        warp.follow_exchange(cluster.grid.program, &o, sources.as_ref());
    }
    E::exchange(warp, o, members);
}

/// As the operation, for lanes with different masks, or of which some are missing.
#[cold]
#[inline(never)]
fn apart<E: Exchange>(warp: &mut Warp, cluster: &Cluster<'_>, o: E::Operands) -> Flow {
    let pc = warp.pc;
    // Lanes that wait here already take part again.
    warp.join_waiting(cluster.grid.program);
    let all = warp.mask;
    let masks = *E::members(&o).lanes(warp);
    if let Some(lane) = lanes_of(all).find(|&lane| masks[lane] >> lane & 1 == 0) {
        let name = cluster
            .grid
            .program
            .instruction_name(warp.function, warp.pc);
        let message = format!(
            "{name} by lane {lane}, which its member mask {:#010x} does not name",
            masks[lane]
        );
        return warp.fail(FaultKind::IllegalInstruction, lane, message);
    }
    let (mut done, mut rest) = (0, all);
    while rest != 0 {
        let wanted = masks[rest.trailing_zeros() as usize];
        let same = lanes_of(rest)
            .filter(|&lane| masks[lane] == wanted)
            .fold(0, |mask, lane| mask | 1 << lane);
        rest &= !same;
        warp.mask = same;
        let execute = |warp: &mut Warp, o: E::Operands| {
            if E::check(warp, cluster, &o, wanted) == Flow::Fault {
                return Flow::Fault;
            }
            perform::<E>(warp, cluster, o, wanted);
            Flow::Next
        };
        let program = cluster.grid.program;
        let flow = if warp.missing(wanted) == 0 {
            execute(warp, o)
        } else if let Some(others) = warp.waiting_elsewhere(program, &o, E::members, wanted) {
            warp.meet(program, &o, others, execute)
        } else {
            continue;
        };
        if flow == Flow::Fault {
            return flow;
        }
        done |= same;
    }
    let waiting = all & !done;
    if waiting == 0 {
        warp.mask = all;
        return Flow::Next;
    }
    // Those who are done (and those the guard excludes) go on, the others wait.
    warp.mask = waiting;
    let wanted = masks[waiting.trailing_zeros() as usize];
    warp.wait(Wait::Lanes { members: wanted }, pc);
    Flow::Leave
}
