//! `and or xor not cnot shl shr`, on registers and predicates.

use super::lanewise;
use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::lanes::{Words, WordsOp};
use crate::engine::exec::lanes::{predicate, put_predicate};
use crate::engine::exec::level::Code;
use crate::engine::exec::level::{Level, scalar, vector};
use crate::engine::exec::operand::Value;
use crate::engine::exec::warp::{Flow, Warp};
use crate::engine::lower::modifiers::{Kind, Modifiers, Ty, unknown};
use crate::engine::lower::{Builder, Field, Register, Width, expect_operands};
use crate::ptx::Result;
use crate::ptx::ast::Instruction;

/// Integers of the register widths.
pub(crate) trait Bits:
    Value
    + Default
    + Eq
    + std::ops::BitAnd<Output = Self>
    + std::ops::BitOr<Output = Self>
    + std::ops::BitXor<Output = Self>
    + std::ops::Not<Output = Self>
{
    fn shl(self, amount: u32) -> Self;
    fn shr(self, amount: u32) -> Self;
    fn is_zero(self) -> Self;
}

macro_rules! bits {
    ($($ty:ty),*) => { $(impl Bits for $ty {
        #[inline(always)]
        fn shl(self, amount: u32) -> $ty {
            if amount < <$ty>::BITS { self << (amount & (<$ty>::BITS - 1)) } else { 0 }
        }
        #[inline(always)]
        fn shr(self, amount: u32) -> $ty {
            #[allow(unused_comparisons)]
            let fill = if self < 0 { !0 } else { 0 };
            if amount < <$ty>::BITS { self >> (amount & (<$ty>::BITS - 1)) } else { fill }
        }
        #[inline(always)]
        fn is_zero(self) -> $ty {
            <$ty>::from(self == 0)
        }
    })* };
}
bits!(u16, u32, u64, i16, i32, i64);

lanewise! {
    And<T: Bits>(a: T, b: T) -> T { a & b }
    Or<T: Bits>(a: T, b: T) -> T { a | b }
    Xor<T: Bits>(a: T, b: T) -> T { a ^ b }
    Not<T: Bits>(a: T) -> T { !a }
    Cnot<T: Bits>(a: T) -> T { a.is_zero() }
    Shl<T: Bits>(a: T, b: u32) -> T { a.shl(b) }
    Shr<T: Bits>(a: T, b: u32) -> T { a.shr(b) }
}

macro_rules! predicate_op {
    ($($name:ident |$a:ident, $b:ident| $body:expr;)*) => { $(
        struct $name;
        impl WordsOp for $name {
            #[inline(always)]
            unsafe fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, inst: &Words) -> Flow {
                // SAFETY: the operands are predicates.
                unsafe {
                    let ($a, $b) = (predicate(warp, inst.a), predicate(warp, inst.b));
                    put_predicate(warp, inst.d, $body);
                }
                Flow::Next
            }
        }
    )* };
}
predicate_op! {
    AndPred |a, b| a & b;
    OrPred |a, b| a | b;
    XorPred |a, b| a ^ b;
    NotPred |a, b| { let _ = b; !a };
}

/// The operation for the width.
pub(crate) fn by_width(width: u32, w16: Code, w32: Code, w64: Code) -> Option<Code> {
    match width {
        16 => Some(w16),
        32 => Some(w32),
        64 => Some(w64),
        _ => None,
    }
}

pub(crate) fn lower<'a>(cx: &mut Builder<'a, '_>, inst: &'a Instruction<'a>) -> Result<()> {
    let mut modifiers = Modifiers::new(inst);
    let ty = modifiers.ty().ok_or_else(|| unknown(inst))?;
    modifiers.finish(inst)?;
    let unary = matches!(inst.opcode, "not" | "cnot");
    expect_operands(inst, &[if unary { 2 } else { 3 }])?;
    if ty.kind == Kind::Pred {
        let exec = match inst.opcode {
            "and" => scalar::<AndPred>(),
            "or" => scalar::<OrPred>(),
            "xor" => scalar::<XorPred>(),
            "not" => scalar::<NotPred>(),
            _ => return Err(unknown(inst)),
        };
        let d = cx.dst(&inst.operands[0], Width::Pred)?;
        let a = cx.src(&inst.operands[1], ty)?;
        let b = if unary {
            a
        } else {
            cx.src(&inst.operands[2], ty)?
        };
        cx.emit_untyped(exec, d, a, b, Field::NONE);
        return Ok(());
    }
    let shift = matches!(inst.opcode, "shl" | "shr");
    let right_type = match inst.opcode {
        "shr" => ty.is_int(),
        _ => ty.kind == Kind::Bits,
    };
    if !right_type || ty.bits == 8 {
        return Err(unknown(inst));
    }
    macro_rules! pick {
        ($op:ident) => {
            by_width(
                ty.bits,
                vector::<$op<u16>>(),
                vector::<$op<u32>>(),
                vector::<$op<u64>>(),
            )
        };
    }
    let exec = match (inst.opcode, ty.kind) {
        ("and", _) => pick!(And),
        ("or", _) => pick!(Or),
        ("xor", _) => pick!(Xor),
        ("not", _) => pick!(Not),
        ("cnot", _) => pick!(Cnot),
        ("shl", _) => pick!(Shl),
        (_, Kind::Signed) => by_width(
            ty.bits,
            vector::<Shr<i16>>(),
            vector::<Shr<i32>>(),
            vector::<Shr<i64>>(),
        ),
        _ => pick!(Shr),
    };
    let exec = exec.ok_or_else(|| unknown(inst))?;
    let d = cx.dst(&inst.operands[0], Width::of(ty))?;
    let a = cx.src(&inst.operands[1], ty)?;
    let b = match (unary, shift) {
        (true, _) => Field::NONE,
        (_, true) => cx.src(
            &inst.operands[2],
            Ty {
                kind: Kind::Unsigned,
                bits: 32,
                packed: 1,
            },
        )?,
        _ => cx.src(&inst.operands[2], ty)?,
    };
    cx.emit_untyped(exec, d, a, b, Field::NONE);
    Ok(())
}

/// A temporary that holds the opposite of a predicate.
pub(crate) fn negated(cx: &mut Builder<'_, '_>, register: Register) -> Field {
    let result = Field::Register(cx.new_register(Width::Pred));
    let guard = cx.guard();
    cx.set_guard(None);
    cx.emit_untyped(
        scalar::<NotPred>(),
        result,
        Field::Register(register),
        Field::Register(register),
        Field::NONE,
    );
    cx.set_guard(guard);
    result
}
