//! Integer arithmetic: `add sub mul mad div rem min max abs neg sad mul24 mad24`, and on pairs of 16 bits `add min max`.

use super::family::Family;
use std::marker::PhantomData;

use super::lowering::{by_flags, by_type, emit};
use super::{carry, lanewise};
use crate::engine::dataflow::Dataflow;
use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::level::Level;
use crate::engine::exec::op::{Code, Op, scalar, vector};
use crate::engine::exec::operand::{Binary, LANES, Value, lanes_of};
use crate::engine::exec::warp::{Flow, Warp};
use crate::engine::lower::form::FormReader;
use crate::engine::lower::lowerings::Lowering;
use crate::engine::lower::types::{ScalarKind, Ty};
use crate::numerics::integer as numeric;

/// The instructions of this file.
pub(super) const FAMILY: Family = Family {
    opcodes: &["mul24", "mad24", "sad"],
    read,
};

/// Integers with wrapping arithmetic.
pub(crate) trait Int: Value + Default + Ord {
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    fn mul_hi(self, other: Self) -> Self;
    fn div(self, other: Self) -> Self;
    fn rem(self, other: Self) -> Self;
    fn neg(self) -> Self;
    fn abs(self) -> Self;
    fn add_sat(self, other: Self) -> Self;
    fn sub_sat(self, other: Self) -> Self;
}

macro_rules! int {
    ($($ty:ty, $wide:ty;)*) => { $(impl Int for $ty {
        #[inline(always)]
        fn add(self, other: $ty) -> $ty { self.wrapping_add(other) }
        #[inline(always)]
        fn sub(self, other: $ty) -> $ty { self.wrapping_sub(other) }
        #[inline(always)]
        fn mul(self, other: $ty) -> $ty { self.wrapping_mul(other) }
        #[inline(always)]
        fn mul_hi(self, other: $ty) -> $ty {
            ((<$wide>::from(self) * <$wide>::from(other)) >> <$ty>::BITS) as $ty
        }
        // Division by zero gives all ones, quotient and remainder, as on the hardware.
        #[inline(always)]
        fn div(self, other: $ty) -> $ty { if other == 0 { !0 } else { self.wrapping_div(other) } }
        #[inline(always)]
        fn rem(self, other: $ty) -> $ty { if other == 0 { !0 } else { self.wrapping_rem(other) } }
        #[inline(always)]
        fn neg(self) -> $ty { (0 as $ty).wrapping_sub(self) }
        #[inline(always)]
        #[allow(unused_comparisons)]
        fn abs(self) -> $ty { if self < 0 { self.neg() } else { self } }
        #[inline(always)]
        fn add_sat(self, other: $ty) -> $ty { self.saturating_add(other) }
        #[inline(always)]
        fn sub_sat(self, other: $ty) -> $ty { self.saturating_sub(other) }
    })* };
}
int! { u16, u32; i16, i32; u32, u64; i32, i64; u64, u128; i64, i128; }

/// Integers with a product of twice their width.
pub(crate) trait WideInt: Int {
    /// The integer of twice the width.
    type Double: Int;
    fn mul_wide(self, other: Self) -> Self::Double;
}

macro_rules! wide_int {
    ($($ty:ty, $double:ty;)*) => { $(impl WideInt for $ty {
        type Double = $double;
        #[inline(always)]
        fn mul_wide(self, other: $ty) -> $double { <$double>::from(self) * <$double>::from(other) }
    })* };
}
wide_int! { u16, u32; i16, i32; u32, u64; i32, i64; }

lanewise! {
    Add<T: Int>(a: T, b: T) -> T { a.add(b) }
    Sub<T: Int>(a: T, b: T) -> T { a.sub(b) }
    AddSat<T: Int>(a: T, b: T) -> T { a.add_sat(b) }
    SubSat<T: Int>(a: T, b: T) -> T { a.sub_sat(b) }
    MulLo<T: Int>(a: T, b: T) -> T { a.mul(b) }
    MulHi<T: Int>(a: T, b: T) -> T { a.mul_hi(b) }
    MulWide<T: WideInt>(a: T, b: T) -> T::Double { a.mul_wide(b) }
    MadLo<T: Int>(a: T, b: T, c: T) -> T { a.mul(b).add(c) }
    MadHi<T: Int>(a: T, b: T, c: T) -> T { a.mul_hi(b).add(c) }
    MadHiSat<T: Int>(a: T, b: T, c: T) -> T { a.mul_hi(b).add_sat(c) }
    MadWide<T: WideInt>(a: T, b: T, c: T::Double) -> T::Double { a.mul_wide(b).add(c) }
    Min<T: Int>(a: T, b: T) -> T { a.min(b) }
    Max<T: Int>(a: T, b: T) -> T { a.max(b) }
    MinRelu<T: Int>(a: T, b: T) -> T { a.min(b).max(T::default()) }
    MaxRelu<T: Int>(a: T, b: T) -> T { a.max(b).max(T::default()) }
    Abs<T: Int>(a: T) -> T { a.abs() }
    Neg<T: Int>(a: T) -> T { a.neg() }
    Sad<T: Int>(a: T, b: T, c: T) -> T { (if a > b { a.sub(b) } else { b.sub(a) }).add(c) }
    Mul24[SIGNED, HIGH](a: u32, b: u32) -> u32 { numeric::mul24(a, b, SIGNED, HIGH) }
    Mad24[SIGNED, HIGH](a: u32, b: u32, c: u32) -> u32 { numeric::mul24(a, b, SIGNED, HIGH).wrapping_add(c) }
    Mad24HiSat(a: u32, b: u32, c: u32) -> u32 {
        numeric::add_saturating(numeric::mul24(a, b, true, true), c)
    }
    AddPair(a: u32, b: u32) -> u32 { pair(a, b, u16::wrapping_add) }
    MinPair<T: PairElement>(a: u32, b: u32) -> u32 { pair(a, b, T::min) }
    MaxPair<T: PairElement>(a: u32, b: u32) -> u32 { pair(a, b, T::max) }
    MinPairRelu(a: u32, b: u32) -> u32 { pair(a, b, |a: i16, b| a.min(b).max(0)) }
    MaxPairRelu(a: u32, b: u32) -> u32 { pair(a, b, |a: i16, b| a.max(b).max(0)) }
}

/// An element of a pair in 32 bits.
pub(crate) trait PairElement: Ord {
    fn from_bits(bits: u16) -> Self;
    fn bits(self) -> u16;
}

macro_rules! pair_element {
    ($($ty:ty)*) => { $(impl PairElement for $ty {
        #[inline(always)]
        fn from_bits(bits: u16) -> $ty { bits as $ty }
        #[inline(always)]
        fn bits(self) -> u16 { self as u16 }
    })* };
}
pair_element! { u16 i16 }

/// Applies an operation to each half.
#[inline(always)]
fn pair<T: PairElement>(a: u32, b: u32, f: impl Fn(T, T) -> T) -> u32 {
    let half = |shift: u32| {
        let (a, b) = ((a >> shift) as u16, (b >> shift) as u16);
        u32::from(f(T::from_bits(a), T::from_bits(b)).bits()) << shift
    };
    half(0) | half(16)
}

/// `div` and, with `REMAINDER`, `rem`: only for the lanes that execute it.
struct Divide<T, const REMAINDER: bool>(PhantomData<T>);

impl<T: Int, const REMAINDER: bool> Op for Divide<T, REMAINDER> {
    type Operands = Binary<T, T, T>;
    const DATAFLOW: Dataflow = Dataflow::Lanewise;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, _: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        let (a, b) = (o.a.lanes(warp), o.b.lanes(warp));
        let mut result = [T::default(); LANES];
        for lane in lanes_of(warp.mask) {
            result[lane] = if REMAINDER {
                a[lane].rem(b[lane])
            } else {
                a[lane].div(b[lane])
            };
        }
        o.d.put(warp, &result);
        Flow::Next
    }
}

/// The modifiers of an instruction, besides its type.
struct Mode {
    /// `.lo`, `.hi` or `.wide`.
    part: Option<&'static str>,
    sat: bool,
    relu: bool,
}

pub(super) fn read(form: &FormReader<'_>) -> Option<Lowering> {
    if form.has("cc") {
        return carry::read(form);
    }
    let mode = Mode {
        part: form.one_of(&["lo", "hi", "wide"]),
        sat: form.has("sat"),
        relu: form.has("relu"),
    };
    let (opcode, ty) = (form.opcode(), form.ty()?);
    let code = if ty.packed == 1 {
        code(opcode, &mode, ty)
    } else {
        pair_code(opcode, &mode, ty)
    };
    let result = match mode.part {
        Some("wide") => Ty::new(ty.kind, ty.bits * 2),
        _ => ty,
    };
    let sources = match opcode {
        "abs" | "neg" => 1,
        "mad" | "mad24" | "sad" => 3,
        _ => 2,
    };
    Some(emit(code?, result, &[ty, ty, result][..sources]))
}

/// The operation on one integer.
fn code(opcode: &str, mode: &Mode, ty: Ty) -> Option<Code> {
    let signed = ty.kind == ScalarKind::Signed;
    let high = mode.part == Some("hi");
    macro_rules! wide {
        ($op:ident) => {
            match (signed, ty.bits) {
                (false, 16) => Some(vector::<$op<u16>>()),
                (true, 16) => Some(vector::<$op<i16>>()),
                (false, 32) => Some(vector::<$op<u32>>()),
                (true, 32) => Some(vector::<$op<i32>>()),
                _ => None,
            }
        };
    }
    if mode.sat || mode.relu {
        return match opcode {
            _ if !signed || ty.bits != 32 => None,
            "add" => Some(vector::<AddSat<i32>>()),
            "sub" => Some(vector::<SubSat<i32>>()),
            "mad" if high => Some(vector::<MadHiSat<i32>>()),
            "mad24" if high => Some(vector::<Mad24HiSat>()),
            "min" => Some(vector::<MinRelu<i32>>()),
            "max" => Some(vector::<MaxRelu<i32>>()),
            _ => None,
        };
    }
    match (opcode, mode.part) {
        ("add", None) => by_type!(vector, Add, ty),
        ("sub", None) => by_type!(vector, Sub, ty),
        ("mul", Some("lo")) => by_type!(vector, MulLo, ty),
        ("mul", Some("hi")) => by_type!(vector, MulHi, ty),
        ("mul", Some("wide")) => wide!(MulWide),
        ("mad", Some("lo")) => by_type!(vector, MadLo, ty),
        ("mad", Some("hi")) => by_type!(vector, MadHi, ty),
        ("mad", Some("wide")) => wide!(MadWide),
        ("mul24", Some(_)) => Some(by_flags!(vector, Mul24[] signed, high)),
        ("mad24", Some(_)) => Some(by_flags!(vector, Mad24[] signed, high)),
        ("div", None) => by_type!(scalar, Divide[false], ty),
        ("rem", None) => by_type!(scalar, Divide[true], ty),
        ("min", None) => by_type!(vector, Min, ty),
        ("max", None) => by_type!(vector, Max, ty),
        ("abs", None) => by_type!(vector, Abs, ty),
        ("neg", None) => by_type!(vector, Neg, ty),
        ("sad", None) => by_type!(vector, Sad, ty),
        _ => None,
    }
}

/// The operation on two integers of 16 bits.
fn pair_code(opcode: &str, mode: &Mode, ty: Ty) -> Option<Code> {
    let signed = ty.kind == ScalarKind::Signed;
    Some(match (opcode, signed, mode.relu) {
        _ if mode.sat || ty.bits != 16 => return None,
        ("add", _, false) => vector::<AddPair>(),
        ("min", false, false) => vector::<MinPair<u16>>(),
        ("max", false, false) => vector::<MaxPair<u16>>(),
        ("min", true, false) => vector::<MinPair<i16>>(),
        ("max", true, false) => vector::<MaxPair<i16>>(),
        ("min", true, true) => vector::<MinPairRelu>(),
        ("max", true, true) => vector::<MaxPairRelu>(),
        _ => return None,
    })
}
