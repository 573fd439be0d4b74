//! Arithmetic on f16 and bf16, single and packed by two: `add sub mul fma neg abs min max`, comparisons, `ex2`, `tanh`.

use std::marker::PhantomData;

use half::{bf16, f16};

use super::compare::CompareModifiers;
use super::lowering::emit_with;
use super::{compare, lanewise, lanewise_with};
use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::level::Level;
use crate::engine::exec::op::{Op, scalar};
use crate::engine::exec::operand::{
    Encode, Encoded, LANES, Read, ReadPredicate, Value, Write, WritePredicate, operands,
};
use crate::engine::exec::warp::{Flow, Warp};
use crate::engine::lower::modifiers::{Kind, Modifiers, Ty, unknown};
use crate::engine::lower::{Builder, Field, Width, expect_operands};
use crate::numerics::Rounding;
use crate::numerics::approx::Function;
use crate::numerics::compare::{Comparison, Selection, max, min};
use crate::numerics::float::{self as numeric, Float, Mode, packed};
use crate::ptx::Result;
use crate::ptx::ast::{Instruction, OperandKind};

/// f16 and bf16.
pub(crate) trait Half: Float + Value + Default {
    fn function(self, function: Function, ftz: bool) -> Self;
}
impl Half for f16 {
    fn function(self, function: Function, ftz: bool) -> f16 {
        function.f16(self, ftz)
    }
}
impl Half for bf16 {
    fn function(self, function: Function, ftz: bool) -> bf16 {
        function.bf16(self, ftz)
    }
}

/// How a register holds values of these types.
pub(crate) trait Held {
    type Register: Value + Default;
    type Element: Half;

    /// Applies an operation to each element.
    fn map<const N: usize>(
        registers: [Self::Register; N],
        operation: impl Fn([Self::Element; N]) -> Self::Element,
    ) -> Self::Register;
}

/// One value.
pub(crate) struct Single<F>(PhantomData<F>);

impl<F: Half> Held for Single<F> {
    type Register = F;
    type Element = F;

    #[inline(always)]
    fn map<const N: usize>(values: [F; N], operation: impl Fn([F; N]) -> F) -> F {
        operation(values)
    }
}

/// Two values.
pub(crate) struct Packed<F>(PhantomData<F>);

impl<F: Half> Held for Packed<F> {
    type Register = u32;
    type Element = F;

    #[inline(always)]
    fn map<const N: usize>(registers: [u32; N], operation: impl Fn([F; N]) -> F) -> u32 {
        packed(registers, operation)
    }
}

/// The options of arithmetic on these types. It always rounds to nearest: the direction is a constant here, so that the
/// general rounding is not compiled into the loops.
#[derive(Clone, Copy)]
pub(crate) struct Nearest {
    ftz: bool,
    sat: bool,
}

impl Nearest {
    #[inline(always)]
    fn mode(self) -> Mode {
        Mode {
            rounding: Rounding::NearestEven,
            ftz: self.ftz,
            sat: self.sat,
        }
    }
}

impl Encode for Nearest {
    #[inline(always)]
    fn encode(self) -> u32 {
        u32::from(self.ftz) | u32::from(self.sat) << 1
    }

    #[inline(always)]
    fn decode(word: u32) -> Nearest {
        Nearest {
            ftz: word & 1 != 0,
            sat: word & 1 << 1 != 0,
        }
    }
}

lanewise_with! {
    Add<H: Held>(a: H::Register, b: H::Register; nearest: Nearest) -> H::Register {
        H::map([a, b], |[a, b]| numeric::add(a, b, nearest.mode()))
    }
    Sub<H: Held>(a: H::Register, b: H::Register; nearest: Nearest) -> H::Register {
        H::map([a, b], |[a, b]| numeric::sub(a, b, nearest.mode()))
    }
    Mul<H: Held>(a: H::Register, b: H::Register; nearest: Nearest) -> H::Register {
        H::map([a, b], |[a, b]| numeric::mul(a, b, nearest.mode()))
    }
    Fma<H: Held>(a: H::Register, b: H::Register, c: H::Register; nearest: Nearest) -> H::Register {
        H::map([a, b, c], |[a, b, c]| numeric::fma(a, b, c, nearest.mode()))
    }
    FmaRelu<H: Held>(a: H::Register, b: H::Register, c: H::Register; nearest: Nearest) -> H::Register {
        H::map([a, b, c], |[a, b, c]| relu(numeric::fma(a, b, c, nearest.mode())))
    }
    Neg<H: Held>(a: H::Register; ftz: bool) -> H::Register { H::map([a], |[a]| numeric::neg(a, ftz)) }
    Abs<H: Held>(a: H::Register; ftz: bool) -> H::Register { H::map([a], |[a]| numeric::abs(a, ftz)) }
    Min<H: Held>(a: H::Register, b: H::Register; how: Selection) -> H::Register {
        H::map([a, b], |[a, b]| min(a, b, how))
    }
    Max<H: Held>(a: H::Register, b: H::Register; how: Selection) -> H::Register {
        H::map([a, b], |[a, b]| max(a, b, how))
    }
    Exp2<H: Held>(a: H::Register; ftz: bool) -> H::Register {
        H::map([a], |[a]| a.function(Function::Exp2, ftz))
    }
    Tanh<H: Held>(a: H::Register; ftz: bool) -> H::Register {
        H::map([a], |[a]| a.function(Function::Tanh, ftz))
    }
}

/// `.relu`: NaN stays; -0 becomes +0 like all that is negative.
#[inline(always)]
fn relu<F: Float>(value: F) -> F {
    if value.nan() || value > F::from_raw(0) {
        value
    } else {
        F::from_raw(0)
    }
}

lanewise! {
    LowHalf(a: u32) -> u16 { a as u16 }
    HighHalf(a: u32) -> u16 { (a >> 16) as u16 }
}

operands! {
    pub(crate) struct TestOperands<F: Value> {
        d: WritePredicate, a: Read<F>, b: Read<F>, comparison: Encoded<Comparison>, ftz: Encoded<bool>,
    }
    /// `yes`: what stands for true in a half.
    pub(crate) struct JoinOperands { d: Write<u32>, low: ReadPredicate, high: ReadPredicate, yes: u32 }
}

impl Encode for Comparison {
    #[inline(always)]
    fn encode(self) -> u32 {
        self as u32
    }

    #[inline(always)]
    fn decode(word: u32) -> Comparison {
        Comparison::ALL[word as usize]
    }
}

/// A comparison of one value.
struct Test<F>(PhantomData<F>);

impl<F: Half> Op for Test<F> {
    type Operands = TestOperands<F>;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, _: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        let (comparison, ftz) = (o.comparison.get(), o.ftz.get());
        let (a, b) = (o.a.lanes(warp), o.b.lanes(warp));
        let mut bits = 0;
        for lane in 0..LANES {
            bits |= u32::from(comparison.floats(a[lane], b[lane], ftz)) << lane;
        }
        o.d.put(warp, bits);
        Flow::Next
    }
}

/// Two predicates become two halves.
struct Join;

impl Op for Join {
    type Operands = JoinOperands;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, _: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        let (low, high) = (o.low.bits(warp), o.high.bits(warp));
        let half = |bits: u32, lane: usize| if bits >> lane & 1 != 0 { o.yes } else { 0 };
        let result = std::array::from_fn(|lane| half(low, lane) | half(high, lane) << 16);
        o.d.put(warp, &result);
        Flow::Next
    }
}

/// Whether the type is one of this file's.
pub(crate) fn is_half(ty: Ty) -> bool {
    ty.bits == 16 && matches!(ty.kind, Kind::Float | Kind::Brain) && ty.packed <= 2
}

pub(crate) fn lower<'a>(cx: &mut Builder<'a, '_>, inst: &'a Instruction<'a>) -> Result<()> {
    let mut modifiers = Modifiers::new(inst);
    let ty = modifiers
        .ty()
        .filter(|&ty| is_half(ty))
        .ok_or_else(|| unknown(inst))?;
    let brain = ty.kind == Kind::Brain;
    let rounded = modifiers.flag("rn");
    let ftz = modifiers.flag("ftz");
    macro_rules! pick {
        ($operation:ident) => {
            match (brain, ty.packed == 2) {
                (false, false) => scalar::<$operation<Single<f16>>>(),
                (true, false) => scalar::<$operation<Single<bf16>>>(),
                (false, true) => scalar::<$operation<Packed<f16>>>(),
                (true, true) => scalar::<$operation<Packed<bf16>>>(),
            }
        };
    }
    let relu = inst.opcode == "fma" && modifiers.flag("relu");
    let (code, sources) = match inst.opcode {
        "add" => (pick!(Add), 2),
        "sub" => (pick!(Sub), 2),
        "mul" => (pick!(Mul), 2),
        "fma" if relu => (pick!(FmaRelu), 3),
        "fma" => (pick!(Fma), 3),
        "neg" => (pick!(Neg), 1),
        "abs" => (pick!(Abs), 1),
        "min" => (pick!(Min), 2),
        "max" => (pick!(Max), 2),
        "ex2" if modifiers.flag("approx") => (pick!(Exp2), 1),
        "tanh" if modifiers.flag("approx") => (pick!(Tanh), 1),
        _ => return Err(unknown(inst)),
    };
    let arithmetic = matches!(inst.opcode, "add" | "sub" | "mul" | "fma");
    let option = match inst.opcode {
        "min" | "max" => Selection {
            ftz,
            propagate_nan: modifiers.flag("NaN"),
            xorsign_abs: modifiers.flag("xorsign") & modifiers.flag("abs"),
        }
        .encode(),
        _ if arithmetic => Nearest {
            ftz,
            sat: !relu && !brain && modifiers.flag("sat"),
        }
        .encode(),
        _ => ftz.encode(),
    };
    modifiers.finish(inst)?;
    if rounded && !arithmetic
        || inst.opcode == "fma" && !rounded
        || brain && ftz && inst.opcode != "ex2"
    {
        return Err(unknown(inst));
    }
    expect_operands(inst, &[sources + 1])?;
    emit_with(cx, inst, code, ty, &[ty; 3][..sources], &[option])
}

/// `setp` and `set` on these types.
pub(crate) fn compare<'a>(
    cx: &mut Builder<'a, '_>,
    inst: &'a Instruction<'a>,
    modifiers: CompareModifiers,
) -> Result<()> {
    let CompareModifiers {
        comparison,
        boolean,
        ftz,
        result,
        ty,
    } = modifiers;
    expect_operands(inst, &[if boolean.is_some() { 4 } else { 3 }])?;
    let test = if ty.kind == Kind::Brain {
        scalar::<Test<bf16>>()
    } else {
        scalar::<Test<f16>>()
    };
    let options = [comparison.encode(), ftz.encode()];
    let (a, b) = (
        cx.src(&inst.operands[1], ty)?,
        cx.src(&inst.operands[2], ty)?,
    );
    if ty.packed == 1 {
        return compare::finish(cx, inst, boolean, result, |cx, d| {
            cx.emit_fields_with(test, &[d, a, b], &options);
        });
    }
    if boolean.is_some() {
        return Err(unknown(inst));
    }
    // Packed: each half on its own, into two predicates, or joined into the halves of the result.
    let halves = [scalar::<LowHalf>(), scalar::<HighHalf>()].map(|extract| {
        [a, b].map(|packed| {
            let half = Field::Register(cx.new_register(Width::W16));
            cx.emit_fields(extract, &[half, packed]);
            half
        })
    });
    let targets = match (inst.opcode, &inst.operands[0].kind) {
        ("setp", OperandKind::Pair(low, high)) => {
            [cx.dst(low, Width::Pred)?, cx.dst(high, Width::Pred)?]
        }
        ("set", _) => [(); 2].map(|()| Field::Register(cx.new_register(Width::Pred))),
        _ => return Err(unknown(inst)),
    };
    for (target, [a, b]) in targets.into_iter().zip(halves) {
        cx.emit_fields_with(test, &[target, a, b], &options);
    }
    if let Some(result) = result {
        let yes = match (result.kind, result.width()) {
            (Kind::Float, 32) if result.packed == 2 => 0x3C00,
            (Kind::Brain, 32) => 0x3F80,
            (Kind::Unsigned | Kind::Signed, 32) => 0xFFFF,
            _ => return Err(unknown(inst)),
        };
        let d = cx.dst(&inst.operands[0], Width::W32)?;
        cx.emit_fields_with(scalar::<Join>(), &[d, targets[0], targets[1]], &[yes]);
    }
    Ok(())
}
