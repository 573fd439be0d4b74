//! `and or xor not cnot shl shr`, on registers and predicates.

use std::marker::PhantomData;

use super::family::Family;
use super::lanewise;
use super::lowering::{by_type, by_width, emit};
use crate::engine::dataflow::Dataflow;
use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::lanes;
use crate::engine::exec::level::Level;
use crate::engine::exec::op::{Op, scalar, vector};
use crate::engine::exec::operand::{Binary, ReadPredicate, Value, WritePredicate, operands};
use crate::engine::exec::warp::{Flow, Warp};
use crate::engine::lower::form::FormReader;
use crate::engine::lower::lowerings::Lowering;
use crate::engine::lower::types::{ScalarKind, Ty};
use crate::engine::lower::{Builder, Field, Register, Width};

/// The instructions of this file.
pub(super) const FAMILY: Family = Family {
    opcodes: &["and", "or", "xor", "not", "cnot", "shl", "shr"],
    read,
};

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
    Xor<T: Bits>(a: T, b: T) -> T { a ^ b }
    Not<T: Bits>(a: T) -> T { !a }
    Cnot<T: Bits>(a: T) -> T { a.is_zero() }
    Shl<T: Bits>(a: T, b: u32) -> T { a.shl(b) }
    Shr<T: Bits>(a: T, b: u32) -> T { a.shr(b) }
}

/// Declares `d = f(a, b)` on registers, of which one source may absorb the other.
macro_rules! absorbing {
    ($($name:ident |$a:ident, $b:ident| $body:expr;)*) => { $(
        struct $name<T>(PhantomData<T>);

        impl<T: Bits> Op for $name<T> {
            type Operands = Binary<T, T, T>;
            const DATAFLOW: Dataflow = Dataflow::$name;

            #[inline(always)]
            fn run<L: Level>(warp: &mut Warp, _: &mut Cluster<'_>, o: Self::Operands) -> Flow {
                lanes::binary(warp, o, #[inline(always)] |$a, $b| $body)
            }
        }
    )* };
}
absorbing! {
    And |a, b| a & b;
    Or |a, b| a | b;
}

operands! {
    /// `d = f(a)`
    pub(crate) struct UnaryPredicate { d: WritePredicate, a: ReadPredicate }
    /// `d = f(a, b)`
    pub(crate) struct BinaryPredicate { d: WritePredicate, a: ReadPredicate, b: ReadPredicate }
}

/// Declares operations on the bits of predicates.
macro_rules! predicate_operations {
    ($($name:ident: $operands:ident $dataflow:ident |$($arg:ident),+| $body:expr;)*) => { $(
        struct $name;

        impl Op for $name {
            type Operands = $operands;
            const DATAFLOW: Dataflow = Dataflow::$dataflow;

            #[inline(always)]
            fn run<L: Level>(warp: &mut Warp, _: &mut Cluster<'_>, o: Self::Operands) -> Flow {
                $(let $arg = o.$arg.bits(warp);)+
                o.d.put(warp, $body);
                Flow::Next
            }
        }
    )* };
}
predicate_operations! {
    AndPredicate: BinaryPredicate And |a, b| a & b;
    OrPredicate: BinaryPredicate Or |a, b| a | b;
    XorPredicate: BinaryPredicate Lanewise |a, b| a ^ b;
    NotPredicate: UnaryPredicate Lanewise |a| !a;
}

fn read(form: &FormReader<'_>) -> Option<Lowering> {
    let ty = form.ty()?;
    let code = if ty.kind == ScalarKind::Pred {
        match form.opcode() {
            "and" => Some(scalar::<AndPredicate>()),
            "or" => Some(scalar::<OrPredicate>()),
            "xor" => Some(scalar::<XorPredicate>()),
            "not" => Some(scalar::<NotPredicate>()),
            _ => None,
        }
    } else {
        match form.opcode() {
            "and" => by_width!(vector, And, ty.bits),
            "or" => by_width!(vector, Or, ty.bits),
            "xor" => by_width!(vector, Xor, ty.bits),
            "not" => by_width!(vector, Not, ty.bits),
            "cnot" => by_width!(vector, Cnot, ty.bits),
            "shl" => by_width!(vector, Shl, ty.bits),
            "shr" => by_type!(vector, Shr, ty),
            _ => None,
        }
    };
    let sources = match form.opcode() {
        "not" | "cnot" => &[ty][..],
        "shl" | "shr" => &[ty, Ty::U32],
        _ => &[ty, ty],
    };
    Some(emit(code?, ty, sources))
}

/// A temporary that holds the opposite of a predicate.
pub(crate) fn negated(cx: &mut Builder<'_, '_>, register: Register) -> Field {
    let result = Field::Register(cx.new_register(Width::Pred));
    let guard = cx.guard();
    cx.set_guard(None);
    cx.emit_fields(
        scalar::<NotPredicate>(),
        &[result, Field::Register(register)],
    );
    cx.set_guard(guard);
    result
}
