//! `mbarrier`: barriers in shared memory that count arrivals and bytes.

use super::addresses::address;
use super::family::Family;
use super::lowering::{by_flags, emit};
use crate::engine::access::check;
use crate::engine::access::completion::settle;
use crate::engine::access::declared::Declared;
use crate::engine::access::path::access;
use crate::engine::access::values::Stored;
use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::guest::GuestWord;
use crate::engine::exec::lanes::unary;
use crate::engine::exec::level::Level;
use crate::engine::exec::mbarrier::{COUNT, Object};
use crate::engine::exec::op::{Op, scalar};
use crate::engine::exec::operand::{
    Address, LANES, Read, Unary, WriteOptional, WritePredicateOptional, lanes_of, operands,
};
use crate::engine::exec::warp::{Flow, Warp};
use crate::engine::fault::FaultKind;
use crate::engine::lower::Width;
use crate::engine::lower::form::FormReader;
use crate::engine::lower::lowerings::Lowering;
use crate::engine::lower::types::Ty;

/// The instructions of this file.
pub(super) const FAMILY: Family = Family {
    opcodes: &["mbarrier"],
    read,
};

operands! {
    pub(crate) struct CountOperands { barrier: Address, count: Read<u32> }
    pub(crate) struct InvalidateOperands { barrier: Address }
    pub(crate) struct ArriveOperands { state: WriteOptional<u64>, barrier: Address, count: Read<u32> }
    pub(crate) struct TestStateOperands { done: WritePredicateOptional, barrier: Address, state: Read<u64> }
    pub(crate) struct TestParityOperands { done: WritePredicateOptional, barrier: Address, parity: Read<u32> }
}

/// What a lane's operation makes of a barrier object, given the word it was unpacked from: the new word, or a fault that was
/// recorded.
type Step<'s> = dyn FnMut(&mut Warp, usize, Object, u64) -> std::result::Result<u64, Flow> + 's;

/// Changes the objects, lane after lane, and leaves their addresses in `warp.pointers`. Each has to be initialised.
fn update<L: Level>(
    warp: &mut Warp,
    cluster: &mut Cluster<'_>,
    barrier: Address,
    step: &mut Step<'_>,
) -> Flow {
    access::<L>(
        warp,
        cluster,
        barrier,
        8,
        Stored::Unknown,
        |warp, cluster, bytes| {
            let pointers = bytes.pointers(warp, 8);
            warp.pointers = pointers;
            for lane in lanes_of(warp.mask) {
                if !cluster.holds(pointers[lane]) {
                    return not_shared(warp, lane);
                }
                let object = pointers[lane].cast::<u64>();
                // SAFETY: the access path found these 8 bytes for the lanes of the mask.
                let before = unsafe { u64::load(object) };
                let Some(unpacked) = Object::unpack(before) else {
                    let name = cluster
                        .grid
                        .program
                        .instruction_name(warp.function, warp.pc);
                    let message = format!("{name} on an object that is not initialised");
                    return warp.fail(FaultKind::IllegalInstruction, lane, message);
                };
                let after = match step(warp, lane, unpacked, before) {
                    Ok(after) => after,
                    Err(flow) => return flow,
                };
                if after != before {
                    warp.changes += 1;
                    // SAFETY: the access path found these 8 bytes for the lanes of the mask, to be changed.
                    unsafe { u64::store(object, after) };
                }
            }
            Flow::Next
        },
    )
}

#[cold]
fn not_shared(warp: &mut Warp, lane: usize) -> Flow {
    let message = "mbarrier operation on an object that is not in shared memory";
    warp.fail(FaultKind::InvalidAddressSpace, lane, message)
}

/// `mbarrier.init`
struct Init;

impl Op for Init {
    type Operands = CountOperands;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        let counts = *o.count.lanes(warp);
        access::<L>(
            warp,
            cluster,
            o.barrier,
            8,
            Stored::Unknown,
            |warp, cluster, bytes| {
                let pointers = bytes.pointers(warp, 8);
                for lane in lanes_of(warp.mask) {
                    if !cluster.holds(pointers[lane]) {
                        return not_shared(warp, lane);
                    }
                    let count = u64::from(counts[lane]);
                    if count == 0 || count > COUNT {
                        let message =
                            format!("mbarrier.init with a count of {count}: it is 1 to {COUNT}");
                        return warp.fail(FaultKind::IllegalInstruction, lane, message);
                    }
                    let new = Object {
                        pending: count,
                        expected: count,
                        bytes: 0,
                        parity: false,
                    };
                    warp.changes += 1;
                    // SAFETY: the access path found these 8 bytes for the lanes of the mask, to be written.
                    unsafe { u64::store(pointers[lane].cast(), new.pack()) };
                }
                Flow::Next
            },
        )
    }
}

/// `mbarrier.inval`
struct Invalidate;

impl Op for Invalidate {
    type Operands = InvalidateOperands;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        update::<L>(warp, cluster, o.barrier, &mut |_, _, _, _| Ok(0))
    }
}

/// `mbarrier.arrive` and `arrive_drop`; with `EXPECTS` the operand counts bytes instead of arrivals.
struct Arrive<const DROPS: bool, const EXPECTS: bool>;

impl<const DROPS: bool, const EXPECTS: bool> Op for Arrive<DROPS, EXPECTS> {
    type Operands = ArriveOperands;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        let arguments = *o.count.lanes(warp);
        let mut states = [0u64; LANES];
        let flow = update::<L>(
            warp,
            cluster,
            o.barrier,
            &mut |warp, lane, mut now, before| {
                let argument = u64::from(arguments[lane]);
                let (count, bytes) = if EXPECTS {
                    (1, argument)
                } else {
                    (argument, 0)
                };
                if count == 0 || count > now.pending {
                    let message = format!(
                        "{count} arrivals at an mbarrier that expects {} more",
                        now.pending
                    );
                    return Err(warp.fail(FaultKind::IllegalInstruction, lane, message));
                }
                now.bytes += bytes as i64;
                now.pending -= count;
                if DROPS {
                    now.expected -= count.min(now.expected);
                }
                states[lane] = before;
                Ok(now.settled())
            },
        );
        o.state.put(warp, &states);
        flow
    }
}

/// `mbarrier.expect_tx` (`EXPECTS`) and `complete_tx`
struct CountBytes<const EXPECTS: bool>;

impl<const EXPECTS: bool> Op for CountBytes<EXPECTS> {
    type Operands = CountOperands;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        let counts = *o.count.lanes(warp);
        update::<L>(warp, cluster, o.barrier, &mut |_, lane, mut now, _| {
            let bytes = i64::from(counts[lane]);
            now.bytes += if EXPECTS { bytes } else { -bytes };
            Ok(now.settled())
        })
    }
}

/// Whether the phase with each lane's parity is over, as bits.
fn test<L: Level>(
    warp: &mut Warp,
    cluster: &mut Cluster<'_>,
    barrier: Address,
    parity: impl Fn(usize) -> bool,
) -> (Flow, u32) {
    let mut bits = 0;
    let flow = update::<L>(warp, cluster, barrier, &mut |_, lane, now, before| {
        bits |= u32::from(now.parity != parity(lane)) << lane;
        Ok(before)
    });
    let waiting = warp.mask & !bits;
    if flow == Flow::Next {
        // Only a phase that is over says what its arrivals have released.
        check::synchronise(warp, cluster, Declared::of(barrier), bits & warp.mask, 8);
    }
    if flow == Flow::Next && waiting != 0 && !cluster.transactions.is_empty() {
        wait(warp, cluster, waiting);
    }
    (flow, bits)
}

/// Brings the bytes that the barriers of these lanes, at `warp.pointers`, wait for; the next test sees them.
#[cold]
fn wait(warp: &mut Warp, cluster: &mut Cluster<'_>, lanes: u32) {
    for lane in lanes_of(lanes) {
        let barrier = warp.pointers[lane];
        // SAFETY: the access path found these 8 bytes for the lanes of the mask, and `update` left them in `warp.pointers`.
        unsafe { settle(warp, cluster, barrier) };
    }
}

/// `mbarrier.test_wait` and `try_wait` with a state.
struct TestState;

impl Op for TestState {
    type Operands = TestStateOperands;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        let states = *o.state.lanes(warp);
        let (flow, bits) = test::<L>(warp, cluster, o.barrier, |lane| states[lane] >> 63 != 0);
        o.done.put(warp, bits);
        flow
    }
}

/// `mbarrier.test_wait.parity` and `try_wait.parity`
struct TestParity;

impl Op for TestParity {
    type Operands = TestParityOperands;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        let parities = *o.parity.lanes(warp);
        let (flow, bits) = test::<L>(warp, cluster, o.barrier, |lane| parities[lane] & 1 != 0);
        o.done.put(warp, bits);
        flow
    }
}

/// `mbarrier.pending_count`: arrivals that were pending in a state.
struct PendingCount;

impl Op for PendingCount {
    type Operands = Unary<u64, u32>;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, _: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        unary(warp, o, |state| (state & COUNT) as u32)
    }
}

/// How an arrival on behalf of copies counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArrivalCount {
    /// It is among the arrivals that the barrier expects.
    Expected,
    /// The barrier expects one more first, so that nothing changes in the end.
    Added,
}

/// An arrival on behalf of copies that are done.
///
/// # Safety
/// The access path found the pointer's 8 bytes, to be changed.
pub(crate) unsafe fn arrive_for_copies(
    warp: &mut Warp,
    lane: usize,
    pointer: *mut u8,
    count: ArrivalCount,
) -> Flow {
    let object = pointer.cast::<u64>();
    // SAFETY: the caller's pointer is valid for 8 bytes.
    let Some(mut now) = Object::unpack(unsafe { u64::load(object) }) else {
        return warp.fail(
            FaultKind::IllegalInstruction,
            lane,
            "an arrival at an mbarrier that is not initialised",
        );
    };
    if count == ArrivalCount::Expected {
        if now.pending == 0 {
            return warp.fail(
                FaultKind::IllegalInstruction,
                lane,
                "an arrival at an mbarrier that expects none",
            );
        }
        now.pending -= 1;
    }
    warp.changes += 1;
    // SAFETY: the caller's pointer is valid for 8 bytes, to be changed.
    unsafe { u64::store(object, now.settled()) }
    Flow::Next
}

fn read(form: &FormReader<'_>) -> Option<Lowering> {
    let operation = form.one_of(&[
        "init",
        "inval",
        "arrive",
        "arrive_drop",
        "expect_tx",
        "complete_tx",
        "test_wait",
        "try_wait",
        "pending_count",
    ])?;
    form.ty().filter(|&ty| ty == Ty::B64)?;
    // An arrival that would complete the phase although it must not is undefined behaviour.
    form.ignore(&["noComplete"]);
    let parity = form.has("parity");
    let argument = match operation {
        "pending_count" => return Some(emit(scalar::<PendingCount>(), Ty::U32, &[Ty::B64])),
        "test_wait" | "try_wait" if parity => Ty::U32,
        "test_wait" | "try_wait" => Ty::B64,
        _ => Ty::U32,
    };
    let expects = operation.starts_with("arrive") && form.has("expect_tx");
    let (code, result) = match operation {
        "init" => (scalar::<Init>(), None),
        "inval" => (scalar::<Invalidate>(), None),
        "arrive" | "arrive_drop" => {
            let drops = operation == "arrive_drop";
            let code = by_flags!(scalar, Arrive[] drops, expects);
            (code, Some(Width::W64))
        }
        "expect_tx" => (scalar::<CountBytes<true>>(), None),
        "complete_tx" => (scalar::<CountBytes<false>>(), None),
        _ if parity => (scalar::<TestParity>(), Some(Width::Pred)),
        _ => (scalar::<TestState>(), Some(Width::Pred)),
    };
    let effect = form.effect(usize::from(result.is_some()));
    Some(Lowering::new(move |cx, inst| {
        let mut fields = Vec::new();
        let (result, rest) = match result {
            Some(width) => (Some((&inst.operands[0], width)), &inst.operands[1..]),
            None => (None, &inst.operands[..]),
        };
        if let Some((d, width)) = result {
            fields.push(cx.dst(d, width)?);
        }
        let argument = match rest.get(1) {
            Some(operand) => Some(cx.src(operand, argument)?),
            // One thread arrives.
            None if operation != "inval" => Some(cx.constant(1, Width::W32)),
            None => None,
        };
        let mut barrier = address(cx, &rest[0], effect)?;
        if matches!(operation, "test_wait" | "try_wait") {
            barrier.access = Declared::of(barrier).synchronised_by_operation().word();
        }
        cx.emit_access(code, &fields, barrier, argument.as_slice());
        Ok(())
    }))
}
