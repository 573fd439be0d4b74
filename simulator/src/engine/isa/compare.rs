//! `setp set selp slct`.

use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::lanes::{Words, WordsOp};
use crate::engine::exec::level::Code;
use crate::engine::exec::operand::Value;
use std::marker::PhantomData;

use super::float::Fast;
use super::lanewise;
use crate::engine::exec::lanes::{LANES, predicate, put, put_predicate, src, test};
use crate::engine::exec::level::{Level, vector};
use crate::engine::exec::warp::{Flow, Warp};
use crate::engine::lower::modifiers::{Kind, Modifiers, Ty, unknown};
use crate::engine::lower::{Builder, Field, Link, Width, expect_operands};
use crate::numerics::compare::Comparison;
use crate::ptx::Result;
use crate::ptx::ast::{Instruction, Operand, OperandKind};

/// A comparison, one type each so that every loop is compiled for its own.
pub(crate) trait Test<T> {
    fn test(a: T, b: T) -> bool;
}

macro_rules! tests {
    ($($name:ident |$a:ident, $b:ident| $body:expr;)*) => { $(
        pub(crate) struct $name;
        impl<T: PartialOrd + Copy> Test<T> for $name {
            #[inline(always)]
            #[allow(clippy::eq_op, clippy::neg_cmp_op_on_partial_ord, clippy::nonminimal_bool, clippy::double_comparisons, reason = "NaN is not like numbers")]
            fn test($a: T, $b: T) -> bool { $body }
        }
    )* };
}
tests! {
    Eq |a, b| a == b;
    // False when an operand is NaN, unlike the host's.
    Ne |a, b| a < b || a > b;
    Lt |a, b| a < b;
    Le |a, b| a <= b;
    Gt |a, b| a > b;
    Ge |a, b| a >= b;
    Equ |a, b| !(a < b || a > b);
    Neu |a, b| !(a == b);
    Ltu |a, b| !(a >= b);
    Leu |a, b| !(a > b);
    Gtu |a, b| !(a <= b);
    Geu |a, b| !(a < b);
    Num |a, b| a == a && b == b;
    Nan |a, b| !(a == a && b == b);
}

/// Flushes where the type has subnormals and the instruction says so.
pub(crate) trait Flush: PartialOrd + Value {
    fn flush(self) -> Self;
}

macro_rules! plain {
    ($($ty:ty),*) => { $(impl Flush for $ty {
        #[inline(always)]
        fn flush(self) -> $ty { self }
    })* };
}
plain!(u16, u32, u64, i16, i32, i64, f64);
impl Flush for f32 {
    #[inline(always)]
    fn flush(self) -> f32 {
        self.flushed()
    }
}

/// Compares, giving bits.
#[inline(always)]
unsafe fn compare<L: Level, T: Flush, C: Test<T>, const FTZ: bool>(
    warp: &Warp,
    inst: &Words,
) -> u32 {
    // SAFETY: the lowering gave the operands this width.
    unsafe {
        test::<L, T, T>(
            warp,
            crate::engine::exec::operand::Read::from_word(inst.a),
            crate::engine::exec::operand::Read::from_word(inst.b),
            #[inline(always)]
            |a, b| {
                if FTZ {
                    C::test(a.flush(), b.flush())
                } else {
                    C::test(a, b)
                }
            },
        )
    }
}

/// `setp` with one destination and no further predicate.
pub(crate) struct SetPredicate<T, C, const FTZ: bool>(PhantomData<(T, C)>);

impl<T: Flush, C: Test<T>, const FTZ: bool> WordsOp for SetPredicate<T, C, FTZ> {
    #[inline(always)]
    unsafe fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, inst: &Words) -> Flow {
        // SAFETY: the lowering gave the operands these widths.
        unsafe {
            let bits = compare::<L, T, C, FTZ>(warp, inst);
            put_predicate(warp, inst.d, bits);
        }
        Flow::Next
    }
}

/// `setp p|q, a, b, [!]c` in full: the comparison is in a temporary `a`, the other predicate `b`; `c` is the second
/// destination; `x`: 0 and, 1 or, 2 xor, and bit 2 negates `b`.
struct Combine;

impl WordsOp for Combine {
    #[inline(always)]
    unsafe fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, inst: &Words) -> Flow {
        // SAFETY: all operands are predicates, and the list has the second destination.
        unsafe {
            let (test, mut other) = (predicate(warp, inst.a), predicate(warp, inst.b));
            if inst.c & 4 != 0 {
                other = !other;
            }
            let combine = |test: u32| match inst.c & 3 {
                0 => test & other,
                1 => test | other,
                _ => test ^ other,
            };
            let (first, second) = (combine(test), combine(!test));
            put_predicate(warp, inst.d, first);
            put_predicate(warp, warp.list(inst.x, 1)[0], second);
        }
        Flow::Next
    }
}

/// `selp`.
struct Select<T>(PhantomData<T>);

impl<T: Copy + Default> WordsOp for Select<T> {
    #[inline(always)]
    unsafe fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, inst: &Words) -> Flow {
        // SAFETY: the lowering gave the operands these widths.
        unsafe {
            let (a, b, bits) = (
                src::<T>(warp, inst.a),
                src::<T>(warp, inst.b),
                predicate(warp, inst.c),
            );
            let mut result = [T::default(); LANES];
            for lane in 0..LANES {
                result[lane] = if bits >> lane & 1 != 0 {
                    a[lane]
                } else {
                    b[lane]
                };
            }
            put(warp, inst.d, &result);
        }
        Flow::Next
    }
}

lanewise! {
    SelectBySign16(a: u16, b: u16, c: i32) -> u16 { if c >= 0 { a } else { b } }
    SelectBySign32(a: u32, b: u32, c: i32) -> u32 { if c >= 0 { a } else { b } }
    SelectBySign64(a: u64, b: u64, c: i32) -> u64 { if c >= 0 { a } else { b } }
    SelectByFloat16(a: u16, b: u16, c: f32) -> u16 { if c >= 0.0 { a } else { b } }
    SelectByFloat32(a: u32, b: u32, c: f32) -> u32 { if c >= 0.0 { a } else { b } }
    SelectByFloat64(a: u64, b: u64, c: f32) -> u64 { if c >= 0.0 { a } else { b } }
    SelectByFlushed16(a: u16, b: u16, c: f32) -> u16 { if c.flushed() >= 0.0 { a } else { b } }
    SelectByFlushed32(a: u32, b: u32, c: f32) -> u32 { if c.flushed() >= 0.0 { a } else { b } }
    SelectByFlushed64(a: u64, b: u64, c: f32) -> u64 { if c.flushed() >= 0.0 { a } else { b } }
}

fn integer_test(comparison: Comparison, ty: Ty) -> Option<Code> {
    use Comparison as C;
    macro_rules! typed {
        ($test:ident, $($bits:literal $signed:ty, $unsigned:ty;)*) => {
            match (ty.kind == Kind::Signed, ty.bits) {
                $((true, $bits) => Some(vector::<SetPredicate<$signed, $test, false>>()),
                  (false, $bits) => Some(vector::<SetPredicate<$unsigned, $test, false>>()),)*
                _ => None,
            }
        };
    }
    macro_rules! all {
        ($test:ident) => { typed!($test, 16 i16, u16; 32 i32, u32; 64 i64, u64;) };
    }
    macro_rules! unsigned {
        ($test:ident) => { typed!($test, 16 u16, u16; 32 u32, u32; 64 u64, u64;) };
    }
    match comparison {
        C::Eq => unsigned!(Eq),
        C::Ne => unsigned!(Neu),
        _ if ty.kind == Kind::Bits => None,
        C::Lt => all!(Lt),
        C::Le => all!(Le),
        C::Gt => all!(Gt),
        C::Ge => all!(Ge),
        C::Lo => unsigned!(Lt),
        C::Ls => unsigned!(Le),
        C::Hi => unsigned!(Gt),
        C::Hs => unsigned!(Ge),
        _ => None,
    }
}

fn float_test(comparison: Comparison, ty: Ty, ftz: bool) -> Option<Code> {
    use Comparison as C;
    macro_rules! pick {
        ($($operator:ident)*) => {
            match (comparison, ty.bits, ftz) {
                $((C::$operator, 32, false) => Some(vector::<SetPredicate<f32, $operator, false>>()),
                  (C::$operator, 32, true) => Some(vector::<SetPredicate<f32, $operator, true>>()),
                  (C::$operator, 64, false) => Some(vector::<SetPredicate<f64, $operator, false>>()),)*
                _ => None,
            }
        };
    }
    pick!(Eq Ne Lt Le Gt Ge Equ Neu Ltu Leu Gtu Geu Num Nan)
}

const PRED: Ty = Ty {
    kind: Kind::Pred,
    bits: 1,
    packed: 1,
};
const S32: Ty = Ty {
    kind: Kind::Signed,
    bits: 32,
    packed: 1,
};
const F32: Ty = Ty {
    kind: Kind::Float,
    bits: 32,
    packed: 1,
};

pub(crate) fn lower<'a>(cx: &mut Builder<'a, '_>, inst: &'a Instruction<'a>) -> Result<()> {
    match inst.opcode {
        "selp" => select(cx, inst),
        "slct" => select_by_sign(cx, inst),
        _ => {
            let mut types = inst.modifiers.iter().filter_map(|name| Ty::named(name));
            match types.next_back() {
                Some(ty) if super::half::is_half(ty) => super::half::compare(cx, inst),
                _ => compare_and_set(cx, inst),
            }
        }
    }
}

fn select<'a>(cx: &mut Builder<'a, '_>, inst: &'a Instruction<'a>) -> Result<()> {
    let mut modifiers = Modifiers::new(inst);
    let ty = modifiers
        .ty()
        .filter(|t| t.packed == 1 && t.bits >= 16)
        .ok_or_else(|| unknown(inst))?;
    modifiers.finish(inst)?;
    expect_operands(inst, &[4])?;
    let exec = match ty.bits {
        16 => vector::<Select<u16>>(),
        32 => vector::<Select<u32>>(),
        64 => vector::<Select<u64>>(),
        _ => return Err(unknown(inst)),
    };
    let d = cx.dst(&inst.operands[0], Width::of(ty))?;
    let (a, b) = (
        cx.src(&inst.operands[1], ty)?,
        cx.src(&inst.operands[2], ty)?,
    );
    let c = cx.src(&inst.operands[3], PRED)?;
    cx.emit_untyped(exec, d, a, b, c);
    Ok(())
}

fn select_by_sign<'a>(cx: &mut Builder<'a, '_>, inst: &'a Instruction<'a>) -> Result<()> {
    let mut modifiers = Modifiers::new(inst);
    let ftz = modifiers.flag("ftz");
    let ty = modifiers
        .ty()
        .filter(|t| t.packed == 1)
        .ok_or_else(|| unknown(inst))?;
    let by = modifiers.ty().ok_or_else(|| unknown(inst))?;
    modifiers.finish(inst)?;
    expect_operands(inst, &[4])?;
    let exec = match (ty.bits, by == F32, ftz) {
        (16, false, false) => vector::<SelectBySign16>(),
        (32, false, false) => vector::<SelectBySign32>(),
        (64, false, false) => vector::<SelectBySign64>(),
        (16, true, false) => vector::<SelectByFloat16>(),
        (32, true, false) => vector::<SelectByFloat32>(),
        (64, true, false) => vector::<SelectByFloat64>(),
        (16, true, true) => vector::<SelectByFlushed16>(),
        (32, true, true) => vector::<SelectByFlushed32>(),
        (64, true, true) => vector::<SelectByFlushed64>(),
        _ => return Err(unknown(inst)),
    };
    if by != F32 && by != S32 {
        return Err(unknown(inst));
    }
    let d = cx.dst(&inst.operands[0], Width::of(ty))?;
    let (a, b) = (
        cx.src(&inst.operands[1], ty)?,
        cx.src(&inst.operands[2], ty)?,
    );
    let c = cx.src(&inst.operands[3], by)?;
    cx.emit_untyped(exec, d, a, b, c);
    Ok(())
}

fn compare_and_set<'a>(cx: &mut Builder<'a, '_>, inst: &'a Instruction<'a>) -> Result<()> {
    let mut modifiers = Modifiers::new(inst);
    let comparison = modifiers
        .next_if(Comparison::parse)
        .ok_or_else(|| unknown(inst))?;
    let boolean = modifiers.any(&["and", "or", "xor"]);
    let ftz = modifiers.flag("ftz");
    let result = if inst.opcode == "set" {
        modifiers.ty()
    } else {
        None
    };
    let ty = modifiers.ty().ok_or_else(|| unknown(inst))?;
    modifiers.finish(inst)?;
    let exec = match ty.kind {
        Kind::Float if ty.packed == 1 => float_test(comparison, ty, ftz),
        Kind::Bits | Kind::Signed | Kind::Unsigned if !ftz && ty.packed == 1 => {
            integer_test(comparison, ty)
        }
        _ => None,
    };
    let exec = exec.ok_or_else(|| unknown(inst))?;
    expect_operands(inst, &[if boolean.is_some() { 4 } else { 3 }])?;
    let (a, b) = (
        cx.src(&inst.operands[1], ty)?,
        cx.src(&inst.operands[2], ty)?,
    );
    finish(cx, inst, boolean, result, |cx, d| {
        cx.emit_untyped(exec, d, a, b, Field::NONE);
    })
}

/// The rest of `setp` and `set`, around the comparison that `emit` writes to a predicate.
pub(crate) fn finish<'a>(
    cx: &mut Builder<'a, '_>,
    inst: &'a Instruction<'a>,
    boolean: Option<&str>,
    result: Option<Ty>,
    emit: impl FnOnce(&mut Builder<'a, '_>, Field),
) -> Result<()> {
    let target = &inst.operands[0];
    let plain =
        boolean.is_none() && inst.opcode == "setp" && !matches!(target.kind, OperandKind::Pair(..));
    if plain {
        let d = cx.dst(target, Width::Pred)?;
        emit(cx, d);
        return Ok(());
    }
    let test = Field::Register(cx.new_register(Width::Pred));
    emit(cx, test);
    let (mode, other) = match boolean {
        None => (0, cx.constant(1, Width::Pred)),
        Some(name) => {
            let other: &Operand = &inst.operands[3];
            let mode = match name {
                "and" => 0,
                "or" => 1,
                _ => 2,
            };
            (mode, cx.src(other, PRED)?)
        }
    };
    let (first, second) = match (inst.opcode, &target.kind) {
        ("set", _) => (Field::Register(cx.new_register(Width::Pred)), Field::Sink),
        (_, OperandKind::Pair(first, second)) => {
            (cx.dst(first, Width::Pred)?, cx.dst(second, Width::Pred)?)
        }
        _ => (cx.dst(target, Width::Pred)?, Field::Sink),
    };
    let list = cx.list(&[(second, true)]);
    let lowered = cx.emit_untyped(vector::<Combine>(), first, test, other, Field::Raw(mode));
    lowered.x = Link::List(list.0);
    lowered.list = list;
    if let Some(ty) = result {
        let (yes, exec) = match (ty.kind, ty.bits) {
            (Kind::Float, 32) => (u64::from(1f32.to_bits()), vector::<Select<u32>>()),
            (Kind::Signed | Kind::Unsigned, 32) => (0xFFFF_FFFF, vector::<Select<u32>>()),
            (Kind::Float, 16) => (0x3C00, vector::<Select<u16>>()),
            (Kind::Brain, 16) => (0x3F80, vector::<Select<u16>>()),
            (Kind::Signed | Kind::Unsigned, 16) => (0xFFFF, vector::<Select<u16>>()),
            _ => return Err(unknown(inst)),
        };
        let d = cx.dst(target, Width::of(ty))?;
        let (yes, no) = (
            cx.constant(yes, Width::of(ty)),
            cx.constant(0, Width::of(ty)),
        );
        cx.emit_untyped(exec, d, yes, no, first);
    }
    Ok(())
}
