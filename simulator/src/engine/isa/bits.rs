//! Bits and bytes of a register: `popc clz brev bfind bfe bfi bmsk szext fns lop3 shf prmt`.

use super::family::Family;
use std::marker::PhantomData;

use super::lowering::{Word, by_flags, emit};
use super::{compare, lanewise};
use crate::engine::dataflow::Dataflow;
use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::level::Level;
use crate::engine::exec::op::{Code, Op, scalar, vector};
use crate::engine::exec::operand::{LANES, Quaternary, TernaryWith};
use crate::engine::exec::warp::{Flow, Warp};
use crate::engine::lower::form::FormReader;
use crate::engine::lower::lowerings::Lowering;
use crate::engine::lower::types::{ScalarKind, Ty};
use crate::engine::lower::{Builder, Field, Width};
use crate::numerics::integer::{self as numeric, Permute};
use crate::ptx::ast::{Instruction, OperandKind};
use crate::ptx::{Error, Result};

/// The instructions of this file.
pub(super) const FAMILY: Family = Family {
    opcodes: &[
        "popc", "clz", "bfind", "brev", "bfe", "bfi", "bmsk", "szext", "fns", "lop3", "shf", "prmt",
    ],
    read,
};

/// Words of 32 or 64 bits whose bits are counted in their own width.
pub(crate) trait Countable: Word {
    fn ones(self) -> u32;
    fn leading_zeros(self) -> u32;
    fn reversed(self) -> Self;
}

macro_rules! countable {
    ($($ty:ty)*) => { $(impl Countable for $ty {
        #[inline(always)]
        fn ones(self) -> u32 { self.count_ones() }
        #[inline(always)]
        fn leading_zeros(self) -> u32 { <$ty>::leading_zeros(self) }
        #[inline(always)]
        fn reversed(self) -> $ty { self.reverse_bits() }
    })* };
}
countable! { u32 u64 }

lanewise! {
    Popc<T: Countable>(a: T) -> u32 { a.ones() }
    Clz<T: Countable>(a: T) -> u32 { a.leading_zeros() }
    Brev<T: Countable>(a: T) -> T { a.reversed() }
    Bfind<T: Word>[SIGNED, SHIFT](a: T) -> u32 { numeric::bfind(a, SIGNED, SHIFT) }
    Bfe<T: Word>[SIGNED](a: T, b: u32, c: u32) -> T { numeric::bfe(a, b, c, SIGNED) }
    Bmsk[WRAP](a: u32, b: u32) -> u32 { numeric::bmsk(a, b, WRAP) }
    Szext[SIGNED, WRAP](a: u32, b: u32) -> u32 { numeric::szext(a, b, SIGNED, WRAP) }
    Fns(a: u32, b: u32, c: i32) -> u32 { numeric::fns(a, b, c) }
    Shf[LEFT, WRAP](a: u32, b: u32, c: u32) -> u32 { numeric::shf(a, b, c, LEFT, WRAP) }
    Prmt(a: u32, b: u32, c: u32) -> u32 { numeric::prmt(a, b, c, Permute::Generic) }
    PrmtForward4(a: u32, b: u32, c: u32) -> u32 { numeric::prmt(a, b, c, Permute::Forward4) }
    PrmtBackward4(a: u32, b: u32, c: u32) -> u32 { numeric::prmt(a, b, c, Permute::Backward4) }
    PrmtReplicate8(a: u32, b: u32, c: u32) -> u32 { numeric::prmt(a, b, c, Permute::Replicate8) }
    PrmtEdgeLeft(a: u32, b: u32, c: u32) -> u32 { numeric::prmt(a, b, c, Permute::EdgeLeft) }
    PrmtEdgeRight(a: u32, b: u32, c: u32) -> u32 { numeric::prmt(a, b, c, Permute::EdgeRight) }
    PrmtReplicate16(a: u32, b: u32, c: u32) -> u32 { numeric::prmt(a, b, c, Permute::Replicate16) }
}

/// `bfi`: `a` goes into `b`, at bit `c`, with a length of `e` bits.
struct Bfi<T>(PhantomData<T>);

impl<T: Word> Op for Bfi<T> {
    type Operands = Quaternary<T, T, u32, u32, T>;
    const DATAFLOW: Dataflow = Dataflow::Lanewise;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, _: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        let (a, b) = (o.a.lanes(warp), o.b.lanes(warp));
        let (start, length) = (o.c.lanes(warp), o.e.lanes(warp));
        let mut result = [T::default(); LANES];
        for lane in 0..LANES {
            result[lane] = numeric::bfi(a[lane], b[lane], start[lane], length[lane]);
        }
        o.d.put(warp, &result);
        Flow::Next
    }
}

/// `lop3`, whose truth table is the option.
struct Lop3;

impl Op for Lop3 {
    type Operands = TernaryWith<u32, u32, u32, u32, u8>;
    const DATAFLOW: Dataflow = Dataflow::Lanewise;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, _: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        let (a, b, c) = (o.a.lanes(warp), o.b.lanes(warp), o.c.lanes(warp));
        let table = o.option.get();
        let mut result = [0; LANES];
        for lane in 0..LANES {
            result[lane] = numeric::lop3(a[lane], b[lane], c[lane], table);
        }
        o.d.put(warp, &result);
        Flow::Next
    }
}

fn read(form: &FormReader<'_>) -> Option<Lowering> {
    let left = form.one_of(&["l", "r"]) == Some("l");
    let wrap = form.one_of(&["clamp", "wrap"]) == Some("wrap");
    let shift = form.has("shiftamt");
    let ty = form.ty()?;
    let permute = form.next(Permute::parse);
    let signed = ty.kind == ScalarKind::Signed;
    macro_rules! code {
        ($op:ident $(, $flag:expr)*) => {
            match ty.bits {
                32 => by_flags!(vector, $op[u32,] $($flag),*),
                64 => by_flags!(vector, $op[u64,] $($flag),*),
                _ => return None,
            }
        };
    }
    Some(match form.opcode() {
        "popc" => emit(code!(Popc), Ty::U32, &[ty]),
        "clz" => emit(code!(Clz), Ty::U32, &[ty]),
        "brev" => emit(code!(Brev), ty, &[ty]),
        "bfind" => emit(code!(Bfind, signed, shift), Ty::U32, &[ty]),
        "bfe" => emit(code!(Bfe, signed), ty, &[ty, Ty::U32, Ty::U32]),
        "bfi" => emit(code!(Bfi), ty, &[ty, ty, Ty::U32, Ty::U32]),
        "bmsk" => emit(by_flags!(scalar, Bmsk[] wrap), Ty::U32, &[Ty::U32; 2]),
        "szext" => {
            let code = by_flags!(scalar, Szext[] signed, wrap);
            emit(code, ty, &[ty, Ty::U32])
        }
        "fns" => emit(scalar::<Fns>(), Ty::U32, &[Ty::U32; 3]),
        "shf" => {
            let code = by_flags!(vector, Shf[] left, wrap);
            emit(code, Ty::U32, &[Ty::U32; 3])
        }
        "prmt" => {
            let code = match permute {
                None | Some(Permute::Generic) => vector::<Prmt>(),
                Some(Permute::Forward4) => scalar::<PrmtForward4>(),
                Some(Permute::Backward4) => scalar::<PrmtBackward4>(),
                Some(Permute::Replicate8) => scalar::<PrmtReplicate8>(),
                Some(Permute::EdgeLeft) => scalar::<PrmtEdgeLeft>(),
                Some(Permute::EdgeRight) => scalar::<PrmtEdgeRight>(),
                Some(Permute::Replicate16) => scalar::<PrmtReplicate16>(),
            };
            emit(code, Ty::U32, &[Ty::U32; 3])
        }
        "lop3" => {
            let combine = form.slot("BoolOp").map(compare::combination);
            Lowering::new(move |cx, inst| lop3(cx, inst, combine))
        }
        _ => return None,
    })
}

/// `combine`: what joins a predicate with whether the result is not zero.
fn lop3<'a>(
    cx: &mut Builder<'a, '_>,
    inst: &'a Instruction<'a>,
    combine: Option<Code>,
) -> Result<()> {
    let table = &inst.operands[4];
    let OperandKind::Int(number @ 0..=255) = table.kind else {
        let message = "expected a truth table from 0 to 255";
        return Err(Error::new(table.at, message));
    };
    let (d, p) = match (&inst.operands[0].kind, combine) {
        (OperandKind::Pair(d, p), Some(_)) => (&**d, Some(&**p)),
        _ => (&inst.operands[0], None),
    };
    // The predicate tells of the result, which then has to be somewhere.
    let result = match (&d.kind, p) {
        (OperandKind::Sink, Some(_)) => Field::Register(cx.new_register(Width::W32)),
        _ => cx.dst(d, Width::W32)?,
    };
    let sources = [
        cx.src(&inst.operands[1], Ty::U32)?,
        cx.src(&inst.operands[2], Ty::U32)?,
        cx.src(&inst.operands[3], Ty::U32)?,
    ];
    let [a, b, c] = sources;
    cx.emit_fields_with(vector::<Lop3>(), &[result, a, b, c], &[number as u32]);
    if let (Some(p), Some(combine)) = (p, combine) {
        let test = Field::Register(cx.new_register(Width::Pred));
        let zero = cx.constant(0, Width::W32);
        cx.emit_fields(compare::differs(), &[test, result, zero]);
        let (p, q) = (
            cx.dst(p, Width::Pred)?,
            cx.src(&inst.operands[5], Ty::PRED)?,
        );
        cx.emit_fields(combine, &[p, Field::Sink, test, q]);
    }
    Ok(())
}
