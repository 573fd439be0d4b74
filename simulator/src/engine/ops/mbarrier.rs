//! `mbarrier`: barriers in shared memory that count arrivals and bytes.
//!
//! The object is 64 bits: pending arrivals (bits 0 to 19), arrivals expected in each phase (20 to 39), outstanding bytes plus
//! 2^20 (40 to 61), a mark of initialisation (62), the parity of the current phase (63). A state token is the object as
//! it was before the arrival.

use super::memory::base;
use super::resolve::{Access, Found, GENERIC, ORDERED, SHARED_SPACE, STRONG};
use crate::engine::exec::level::{Level, scalar};
use crate::engine::exec::lanes::{LANES, SINK, dst, lanes_of, put_predicate, src};
use crate::engine::exec::warp::{Flow, Warp};
use crate::engine::fault::FaultKind;
use crate::engine::lower::modifiers::{Kind, Modifiers, Ty, unknown};
use crate::engine::lower::{Builder, Field, Link, Width, expect_operands};
use crate::ptx::ast::{Instruction, Operand, OperandKind};
use crate::ptx::{Error, Result};

const COUNT: u64 = (1 << 20) - 1;
const INITIALISED: u64 = 1 << 62;
const NO_BYTES: u64 = 1 << 20;
const BYTES: u64 = (1 << 22) - 1;

/// A barrier object, unpacked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Object {
    pending: u64,
    expected: u64,
    bytes: i64,
    parity: bool,
}

impl Object {
    fn unpack(bits: u64) -> Option<Object> {
        if bits & INITIALISED == 0 {
            return None;
        }
        Some(Object {
            pending: bits & COUNT,
            expected: bits >> 20 & COUNT,
            bytes: (bits >> 40 & BYTES) as i64 - NO_BYTES as i64,
            parity: bits >> 63 != 0,
        })
    }

    fn pack(self) -> u64 {
        let bytes = (self.bytes + NO_BYTES as i64) as u64 & BYTES;
        self.pending
            | self.expected << 20
            | bytes << 40
            | INITIALISED
            | u64::from(self.parity) << 63
    }

    fn settle(&mut self) {
        if self.pending == 0 && self.bytes == 0 {
            self.pending = self.expected;
            self.parity = !self.parity;
        }
    }
}

const INIT: u32 = 0;
const INVALIDATE: u32 = 1;
const ARRIVE: u32 = 2;
const DROP: u32 = 3;
const EXPECT: u32 = 4;
const COMPLETE: u32 = 5;
const TEST: u32 = 6;
const TEST_PARITY: u32 = 7;

/// `a` address, `c` offset, `b` a list: operation, count or bytes or state or parity, flags, destination.
struct Barrier;

/// The arrival also expects bytes: the operand counts bytes, not arrivals.
const EXPECTS: u32 = 1;

impl WordsOp for Barrier {
    #[inline(always)]
    unsafe fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, inst: &Words) -> Flow {
        // SAFETY: the lowering made a memory instruction with a list of four; resolved pointers are valid and aligned.
        unsafe {
            let list = warp.list(inst.b, 4);
            let operation = list[0];
            let access = if operation == INIT {
                Access::Write
            } else {
                Access::Atomic
            };
            let pointers: [*mut u8; LANES] = match L::find(warp, inst, 8, access) {
                Found::Contiguous(start) => {
                    std::array::from_fn(|lane| start.wrapping_add(lane * 8))
                }
                Found::Scattered => warp.pointers,
                Found::Failed => return Flow::Fault,
            };
            let wide = matches!(operation, TEST);
            let mut bits = 0u32;
            let mut waits = false;
            for lane in lanes_of(warp.mask) {
                let object = pointers[lane].cast::<u64>();
                let argument = if wide {
                    src::<u64>(warp, list[1])[lane]
                } else {
                    src::<u32>(warp, list[1])[lane].into()
                };
                if !in_shared(warp, pointers[lane]) {
                    let message = "mbarrier operation on an object that is not in shared memory";
                    return warp.fail(FaultKind::InvalidAddressSpace, lane, message);
                }
                warp.changes += 1;
                if operation == INIT {
                    if argument == 0 || argument > COUNT {
                        let message =
                            format!("mbarrier.init with a count of {argument}: it is 1 to {COUNT}");
                        return warp.fail(FaultKind::IllegalInstruction, lane, message);
                    }
                    let new = Object {
                        pending: argument,
                        expected: argument,
                        bytes: 0,
                        parity: false,
                    };
                    object.write(new.pack());
                    continue;
                }
                let old = object.read();
                let Some(mut now) = Object::unpack(old) else {
                    let name = warp.instruction_name();
                    let message = format!("{name} on an object that is not initialised");
                    return warp.fail(FaultKind::IllegalInstruction, lane, message);
                };
                match operation {
                    INVALIDATE => {
                        object.write(0);
                        continue;
                    }
                    ARRIVE | DROP => {
                        let (count, bytes) = if list[2] & EXPECTS != 0 {
                            (1, argument)
                        } else {
                            (argument, 0)
                        };
                        if count == 0 || count > now.pending {
                            let message = format!(
                                "{count} arrivals at an mbarrier that expects {} more",
                                now.pending
                            );
                            return warp.fail(FaultKind::IllegalInstruction, lane, message);
                        }
                        now.bytes += bytes as i64;
                        now.pending -= count;
                        if operation == DROP {
                            now.expected -= count.min(now.expected);
                        }
                        if list[3] != SINK {
                            dst::<u64>(warp, list[3])[lane] = old;
                        }
                    }
                    EXPECT => now.bytes += argument as i64,
                    COMPLETE => now.bytes -= argument as i64,
                    _ => {
                        warp.changes -= 1;
                        let parity = if operation == TEST {
                            argument >> 63 != 0
                        } else {
                            argument & 1 != 0
                        };
                        bits |= u32::from(now.parity != parity) << lane;
                        waits |= now.parity == parity;
                        continue;
                    }
                }
                now.settle();
                object.write(now.pack());
            }
            if matches!(operation, TEST | TEST_PARITY) {
                put_predicate(warp, list[3], bits);
                if waits {
                    warp.polls();
                }
            }
        }
        Flow::Next
    }
}

/// Whether a resolved pointer is into the shared memory of the cluster.
fn in_shared(warp: &Warp, pointer: *mut u8) -> bool {
    let block = warp.block();
    block
        .cluster()
        .blocks
        .iter()
        .any(|other| pointer.addr().wrapping_sub(other.shared.addr()) < other.shared_size as usize)
}

/// `mbarrier.pending_count`: arrivals that were pending in a state.
struct Pending;

impl WordsOp for Pending {
    #[inline(always)]
    unsafe fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, inst: &Words) -> Flow {
        // SAFETY: the lowering gave the operands these widths.
        unsafe {
            crate::engine::exec::lanes::map1::<u64, u32>(warp, inst, |state| (state & COUNT) as u32)
        }
    }
}

const U32: Ty = Ty {
    kind: Kind::Unsigned,
    bits: 32,
    packed: 1,
};
const B64: Ty = Ty {
    kind: Kind::Bits,
    bits: 64,
    packed: 1,
};

pub(crate) fn lower<'a>(cx: &mut Builder<'a, '_>, inst: &'a Instruction<'a>) -> Result<()> {
    let mut modifiers = Modifiers::new(inst);
    let operations = [
        "init",
        "inval",
        "arrive",
        "arrive_drop",
        "expect_tx",
        "complete_tx",
        "test_wait",
        "try_wait",
        "pending_count",
    ];
    let operation = modifiers
        .next_if(|m| operations.iter().copied().find(|&o| o == m))
        .ok_or_else(|| unknown(inst))?;
    let mut flags =
        u32::from(matches!(operation, "arrive" | "arrive_drop") && modifiers.flag("expect_tx"));
    modifiers.flag("noComplete");
    let parity = modifiers.flag("parity");
    modifiers.any(&["relaxed", "acquire", "release"]);
    modifiers.any(&["cta", "cluster"]);
    let space = modifiers
        .any(&["shared", "shared::cta", "shared::cluster"])
        .map_or(GENERIC, |_| SHARED_SPACE);
    if modifiers.ty() != Some(B64) {
        return Err(unknown(inst));
    }
    modifiers.finish(inst)?;
    let operands = inst.operands.as_slice();
    if operation == "pending_count" {
        expect_operands(inst, &[2])?;
        let (d, a) = (
            cx.dst(&operands[0], Width::W32)?,
            cx.src(&operands[1], B64)?,
        );
        cx.emit_untyped(scalar::<Pending>(), d, a, Field::NONE, Field::NONE);
        return Ok(());
    }
    let wait = matches!(operation, "test_wait" | "try_wait");
    let arrives = matches!(operation, "arrive" | "arrive_drop");
    let mut target: Option<&Operand> = None;
    let mut rest = operands;
    if wait
        || arrives
            && rest
                .first()
                .is_some_and(|o| !matches!(o.kind, OperandKind::Address { .. }))
    {
        let (first, others) = rest.split_first().ok_or_else(|| unknown(inst))?;
        target = Some(first);
        rest = others;
    }
    let (place, rest) = rest.split_first().ok_or_else(|| unknown(inst))?;
    let d = match target {
        Some(target) => cx.dst(target, if wait { Width::Pred } else { Width::W64 })?,
        None => Field::Sink,
    };
    let argument = match (operation, rest) {
        ("inval", []) => cx.constant(0, Width::W32),
        ("arrive" | "arrive_drop", []) if flags == 0 => cx.constant(1, Width::W32),
        ("test_wait", [state]) | ("try_wait", [state] | [state, _]) => {
            cx.src(state, if parity { U32 } else { B64 })?
        }
        (_, [count]) if !wait && operation != "inval" => cx.src(count, U32)?,
        _ => {
            return Err(Error::new(
                inst.at,
                format!("`{}` has the wrong number of operands", inst.name()),
            ));
        }
    };
    let code = match operation {
        "init" => INIT,
        "inval" => INVALIDATE,
        "arrive" => ARRIVE,
        "arrive_drop" => DROP,
        "expect_tx" => EXPECT,
        "complete_tx" => COMPLETE,
        _ if parity => TEST_PARITY,
        _ => TEST,
    };
    flags &= EXPECTS;
    let address = cx.address(place)?;
    let (a, offset, x) = base(cx, address, space)?;
    let list = cx.list(&[
        (Field::Raw(code), false),
        (argument, false),
        (Field::Raw(flags), false),
        (d, true),
    ]);
    let lowered = cx.emit_untyped(
        scalar::<Barrier>(),
        Field::NONE,
        a,
        Field::Raw(list.0),
        offset,
    );
    // Arrivals release and waits acquire.
    lowered.x = Link::Raw(x | STRONG | ORDERED);
    lowered.list = list;
    Ok(())
}

/// An arrival on behalf of copies that are done: `noinc` arrivals are among those expected, others add one first.
///
/// # Safety
/// The pointer was resolved.
pub(crate) unsafe fn arrive_for_copies(
    warp: &mut Warp,
    lane: usize,
    pointer: *mut u8,
    counted: bool,
) -> Flow {
    let object = pointer.cast::<u64>();
    // SAFETY: the caller's promise.
    let Some(mut now) = Object::unpack(unsafe { object.read() }) else {
        return warp.fail(
            FaultKind::IllegalInstruction,
            lane,
            "an arrival at an mbarrier that is not initialised",
        );
    };
    if counted {
        if now.pending == 0 {
            return warp.fail(
                FaultKind::IllegalInstruction,
                lane,
                "an arrival at an mbarrier that expects none",
            );
        }
        now.pending -= 1;
        now.settle();
    }
    warp.changes += 1;
    // SAFETY: the caller's promise.
    unsafe { object.write(now.pack()) }
    Flow::Next
}
