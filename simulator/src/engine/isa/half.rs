//! Arithmetic on f16 and bf16, single and packed by two: `add sub mul fma neg abs min max`, comparisons, `ex2`, `tanh`.

use std::marker::PhantomData;

use half::{bf16, f16};

use super::compare::CompareModifiers;
use super::lowering::emit_with;
use super::selection::selection;
use super::{compare, lanewise, lanewise_with};
use crate::engine::dataflow::Dataflow;
use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::level::Level;
use crate::engine::exec::op::{Code, Op, scalar};
use crate::engine::exec::operand::{
    Encode, Encoded, LANES, Read, ReadPredicate, Value, Write, WritePredicate, operands,
};
use crate::engine::exec::warp::{Flow, Warp};
use crate::engine::lower::form::FormReader;
use crate::engine::lower::lowerings::{Lowering, unsupported};
use crate::engine::lower::types::{ScalarKind, Ty};
use crate::engine::lower::{Builder, Field, Width};
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
    FmaOob<H: Held>(a: H::Register, b: H::Register, c: H::Register; nearest: Nearest) -> H::Register {
        H::map([a, b, c], |[a, b, c]| numeric::fma_oob(a, b, c, nearest.mode()))
    }
    FmaOobRelu<H: Held>(a: H::Register, b: H::Register, c: H::Register; nearest: Nearest) -> H::Register {
        H::map([a, b, c], |[a, b, c]| relu(numeric::fma_oob(a, b, c, nearest.mode())))
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
    const DATAFLOW: Dataflow = Dataflow::Lanewise;

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
    const DATAFLOW: Dataflow = Dataflow::Lanewise;

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
    ty.bits == 16 && matches!(ty.kind, ScalarKind::Float | ScalarKind::Brain) && ty.packed <= 2
}

pub(super) fn read(form: &FormReader<'_>) -> Option<Lowering> {
    let opcode = form.opcode();
    let ty = form.ty().filter(|&ty| is_half(ty))?;
    let brain = ty.kind == ScalarKind::Brain;
    let rounded = form.has("rn");
    let ftz = form.has("ftz");
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
    let relu = opcode == "fma" && form.has("relu");
    let oob = opcode == "fma" && form.has("oob");
    let (code, sources) = match opcode {
        "add" => (pick!(Add), 2),
        "sub" => (pick!(Sub), 2),
        "mul" => (pick!(Mul), 2),
        "fma" if oob && relu => (pick!(FmaOobRelu), 3),
        "fma" if oob => (pick!(FmaOob), 3),
        "fma" if relu => (pick!(FmaRelu), 3),
        "fma" => (pick!(Fma), 3),
        "neg" => (pick!(Neg), 1),
        "abs" => (pick!(Abs), 1),
        "min" => (pick!(Min), 2),
        "max" => (pick!(Max), 2),
        "ex2" if form.has("approx") => (pick!(Exp2), 1),
        "tanh" if form.has("approx") => (pick!(Tanh), 1),
        _ => return None,
    };
    let arithmetic = matches!(opcode, "add" | "sub" | "mul" | "fma");
    let option = match opcode {
        "min" | "max" => selection(form, ftz).encode(),
        _ if arithmetic => Nearest {
            ftz,
            sat: !relu && !brain && form.has("sat"),
        }
        .encode(),
        _ => ftz.encode(),
    };
    if rounded && !arithmetic || opcode == "fma" && !rounded || brain && ftz && opcode != "ex2" {
        return None;
    }
    Some(emit_with(code, ty, &[ty; 3][..sources], &[option]))
}

/// `setp` and `set` on these types.
pub(super) fn compare(modifiers: CompareModifiers) -> Option<Lowering> {
    let CompareModifiers {
        comparison,
        combine,
        ftz,
        result,
        ty,
    } = modifiers;
    let code = if ty.kind == ScalarKind::Brain {
        scalar::<Test<bf16>>()
    } else {
        scalar::<Test<f16>>()
    };
    let test = TestCode {
        code,
        options: [comparison.encode(), ftz.encode()],
    };
    if ty.packed == 1 {
        return Some(Lowering::new(move |cx, inst| {
            let (a, b) = (
                cx.src(&inst.operands[1], ty)?,
                cx.src(&inst.operands[2], ty)?,
            );
            compare::finish(cx, inst, &modifiers, |cx, d| test.emit(cx, d, [a, b]))
        }));
    }
    // What stands for true in a half.
    let yes = match result.map(|result| (result.kind, result.width())) {
        None => None,
        Some((ScalarKind::Float, 32)) if result?.packed == 2 => Some(0x3C00),
        Some((ScalarKind::Brain, 32)) => Some(0x3F80),
        Some((ScalarKind::Unsigned | ScalarKind::Signed, 32)) => Some(0xFFFF),
        Some(_) => return None,
    };
    Some(Lowering::new(move |cx, inst| {
        compare_packed(cx, inst, ty, test, combine, yes)
    }))
}

/// A comparison of one value, with its options.
#[derive(Clone, Copy)]
struct TestCode {
    code: Code,
    options: [u32; 2],
}

impl TestCode {
    fn emit(&self, cx: &mut Builder<'_, '_>, d: Field, [a, b]: [Field; 2]) {
        cx.emit_fields_with(self.code, &[d, a, b], &self.options);
    }
}

/// Compares each half on its own, combined with a predicate if the instruction has one, into two predicates, or joined into the
/// halves of the result, where `yes` stands for true.
fn compare_packed<'a>(
    cx: &mut Builder<'a, '_>,
    inst: &'a Instruction<'a>,
    ty: Ty,
    test: TestCode,
    combine: Option<Code>,
    yes: Option<u32>,
) -> Result<()> {
    let (a, b) = (
        cx.src(&inst.operands[1], ty)?,
        cx.src(&inst.operands[2], ty)?,
    );
    let halves = [scalar::<LowHalf>(), scalar::<HighHalf>()].map(|extract| {
        [a, b].map(|packed| {
            let half = Field::Register(cx.new_register(Width::W16));
            cx.emit_fields(extract, &[half, packed]);
            half
        })
    });
    let targets = match (yes, &inst.operands[0].kind) {
        (None, OperandKind::Pair(low, high)) => {
            [cx.dst(low, Width::Pred)?, cx.dst(high, Width::Pred)?]
        }
        (Some(_), _) => [(); 2].map(|()| Field::Register(cx.new_register(Width::Pred))),
        _ => return Err(unsupported(inst)),
    };
    for (target, halves) in targets.into_iter().zip(halves) {
        let Some(combine) = combine else {
            test.emit(cx, target, halves);
            continue;
        };
        let result = Field::Register(cx.new_register(Width::Pred));
        test.emit(cx, result, halves);
        let c = cx.src(&inst.operands[3], Ty::PRED)?;
        cx.emit_fields(combine, &[target, Field::Sink, result, c]);
    }
    if let Some(yes) = yes {
        let d = cx.dst(&inst.operands[0], Width::W32)?;
        cx.emit_fields_with(scalar::<Join>(), &[d, targets[0], targets[1]], &[yes]);
    }
    Ok(())
}
