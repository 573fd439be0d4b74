//! Arithmetic on f16 and bf16, single and packed by two: `add sub mul fma neg abs min max`, comparisons, `ex2`, `tanh`.

use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::lanes::{Words, WordsOp};
use crate::engine::exec::level::Code;
use half::{bf16, f16};

use super::compare;
use crate::engine::exec::lanes::{LANES, lanes_of, put, put_predicate, src};
use crate::engine::exec::level::{Level, scalar};
use crate::engine::exec::warp::{Flow, Warp};
use crate::engine::lower::modifiers::{Kind, Modifiers, Ty, unknown};
use crate::engine::lower::{Builder, Field, Link, Width, expect_operands};
use crate::numerics::Rounding;
use crate::numerics::approx::Function;
use crate::numerics::compare::{Comparison, Selection, max, min};
use crate::numerics::float::{self as numeric, Float, Mode, packed};
use crate::ptx::Result;
use crate::ptx::ast::{Instruction, OperandKind};

/// f16 and bf16.
trait Half: Float {
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

/// The operations.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Operation {
    Add,
    Sub,
    Mul,
    Fma,
    FmaRelu,
    Neg,
    Abs,
    Min,
    Max,
    Exp2,
    Tanh,
}

const FTZ: u32 = 1;
const SAT: u32 = 2;
const NAN: u32 = 4;
const XORSIGN: u32 = 8;

#[inline(always)]
fn apply<F: Half>(operation: u8, flags: u32, [a, b, c]: [F; 3]) -> F {
    const ADD: u8 = Operation::Add as u8;
    const SUB: u8 = Operation::Sub as u8;
    const MUL: u8 = Operation::Mul as u8;
    const FMA: u8 = Operation::Fma as u8;
    const FMA_RELU: u8 = Operation::FmaRelu as u8;
    const NEG: u8 = Operation::Neg as u8;
    const ABS: u8 = Operation::Abs as u8;
    const MIN: u8 = Operation::Min as u8;
    const MAX: u8 = Operation::Max as u8;
    const EXP2: u8 = Operation::Exp2 as u8;
    let ftz = flags & FTZ != 0;
    let mode = Mode {
        rounding: Rounding::NearestEven,
        ftz,
        sat: flags & SAT != 0,
    };
    let how = Selection {
        ftz,
        propagate_nan: flags & NAN != 0,
        xorsign_abs: flags & XORSIGN != 0,
    };
    match operation {
        ADD => numeric::add(a, b, mode),
        SUB => numeric::sub(a, b, mode),
        MUL => numeric::mul(a, b, mode),
        FMA => numeric::fma(a, b, c, mode),
        FMA_RELU => {
            let value = numeric::fma(a, b, c, mode);
            // NaN stays; -0 becomes +0 like all that is negative.
            if value.nan() || value > F::from_raw(0) {
                value
            } else {
                F::from_raw(0)
            }
        }
        NEG => numeric::neg(a, ftz),
        ABS => numeric::abs(a, ftz),
        MIN => min(a, b, how),
        MAX => max(a, b, how),
        EXP2 => a.function(Function::Exp2, ftz),
        _ => a.function(Function::Tanh, ftz),
    }
}

/// One value: `x` holds the flags.
struct Single<F, const OPERATION: u8>(std::marker::PhantomData<F>);

impl<F: Half, const OPERATION: u8> WordsOp for Single<F, OPERATION> {
    #[inline(always)]
    unsafe fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, inst: &Words) -> Flow {
        // SAFETY: the lowering gave the operands 16 bits; unused ones repeat the first.
        unsafe {
            let operands = [inst.a, inst.b, inst.c].map(|operand| src::<u16>(warp, operand));
            let mut result = [0u16; LANES];
            for lane in lanes_of(warp.mask) {
                let values = operands.map(|lanes| F::from_raw(lanes[lane].into()));
                result[lane] = apply(OPERATION, inst.x, values).bits() as u16;
            }
            put(warp, inst.d, &result);
        }
        Flow::Next
    }
}

/// Two values in a register: `x` holds the flags.
struct Packed<F, const OPERATION: u8>(std::marker::PhantomData<F>);

impl<F: Half, const OPERATION: u8> WordsOp for Packed<F, OPERATION> {
    #[inline(always)]
    unsafe fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, inst: &Words) -> Flow {
        // SAFETY: the lowering gave the operands 32 bits; unused ones repeat the first.
        unsafe {
            let operands = [inst.a, inst.b, inst.c].map(|operand| src::<u32>(warp, operand));
            let mut result = [0u32; LANES];
            for lane in lanes_of(warp.mask) {
                let values = operands.map(|lanes| lanes[lane]);
                result[lane] = packed::<F, 3>(values, |values| apply(OPERATION, inst.x, values));
            }
            put(warp, inst.d, &result);
        }
        Flow::Next
    }
}

/// A comparison of one value: `x` holds the comparison and `.ftz`, `d` the predicate.
struct Test<F>(std::marker::PhantomData<F>);

impl<F: Half> WordsOp for Test<F> {
    #[inline(always)]
    unsafe fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, inst: &Words) -> Flow {
        let comparison = Comparison::ALL[(inst.x >> 1) as usize % Comparison::ALL.len()];
        // SAFETY: the lowering gave the operands 16 bits.
        unsafe {
            let (a, b) = (src::<u16>(warp, inst.a), src::<u16>(warp, inst.b));
            let mut bits = 0;
            for lane in 0..LANES {
                let (a, b) = (F::from_raw(a[lane].into()), F::from_raw(b[lane].into()));
                bits |= u32::from(comparison.floats(a, b, inst.x & 1 != 0)) << lane;
            }
            put_predicate(warp, inst.d, bits);
        }
        Flow::Next
    }
}

/// A half of each register (0 the lower), as a value of its own.
struct Extract<const HIGH: bool>;

impl<const HIGH: bool> WordsOp for Extract<HIGH> {
    #[inline(always)]
    unsafe fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, inst: &Words) -> Flow {
        // SAFETY: the lowering gave the operands these widths.
        unsafe {
            let a = src::<u32>(warp, inst.a);
            put(
                warp,
                inst.d,
                &a.map(|v| if HIGH { (v >> 16) as u16 } else { v as u16 }),
            );
        }
        Flow::Next
    }
}

/// Two predicates become two halves: `x` holds what stands for true in both.
struct Join;

impl WordsOp for Join {
    #[inline(always)]
    unsafe fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, inst: &Words) -> Flow {
        // SAFETY: the sources are predicates, the destination has 32 bits.
        unsafe {
            use crate::engine::exec::lanes::predicate;
            let (low, high) = (predicate(warp, inst.a), predicate(warp, inst.b));
            let half = |bits: u32, lane: usize| if bits >> lane & 1 != 0 { inst.x } else { 0 };
            let result: [u32; LANES] =
                std::array::from_fn(|lane| half(low, lane) | half(high, lane) << 16);
            put(warp, inst.d, &result);
        }
        Flow::Next
    }
}

fn exec(operation: Operation, brain: bool, packed: bool) -> Code {
    macro_rules! pick {
        ($($name:ident)*) => {
            match (operation, brain, packed) {
                $((Operation::$name, false, false) => scalar::<Single<f16, { Operation::$name as u8 }>>(),
                  (Operation::$name, true, false) => scalar::<Single<bf16, { Operation::$name as u8 }>>(),
                  (Operation::$name, false, true) => scalar::<Packed<f16, { Operation::$name as u8 }>>(),
                  (Operation::$name, true, true) => scalar::<Packed<bf16, { Operation::$name as u8 }>>(),)*
            }
        };
    }
    pick!(Add Sub Mul Fma FmaRelu Neg Abs Min Max Exp2 Tanh)
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
    let mut flags = if ftz { FTZ } else { 0 };
    let relu = inst.opcode == "fma" && modifiers.flag("relu");
    let (operation, count) = match inst.opcode {
        "add" => (Operation::Add, 2),
        "sub" => (Operation::Sub, 2),
        "mul" => (Operation::Mul, 2),
        "fma" if relu => (Operation::FmaRelu, 3),
        "fma" => (Operation::Fma, 3),
        "neg" => (Operation::Neg, 1),
        "abs" => (Operation::Abs, 1),
        "min" => (Operation::Min, 2),
        "max" => (Operation::Max, 2),
        "ex2" if modifiers.flag("approx") => (Operation::Exp2, 1),
        "tanh" if modifiers.flag("approx") => (Operation::Tanh, 1),
        _ => return Err(unknown(inst)),
    };
    match operation {
        Operation::Min | Operation::Max => {
            flags |= if modifiers.flag("NaN") { NAN } else { 0 };
            flags |= if modifiers.flag("xorsign") & modifiers.flag("abs") {
                XORSIGN
            } else {
                0
            };
        }
        Operation::Add | Operation::Sub | Operation::Mul | Operation::Fma if !brain => {
            flags |= if modifiers.flag("sat") { SAT } else { 0 };
        }
        _ => {}
    }
    modifiers.finish(inst)?;
    let arithmetic = matches!(inst.opcode, "add" | "sub" | "mul" | "fma");
    if rounded && !arithmetic
        || inst.opcode == "fma" && !rounded
        || brain && ftz && operation != Operation::Exp2
    {
        return Err(unknown(inst));
    }
    expect_operands(inst, &[count + 1])?;
    let d = cx.dst(&inst.operands[0], Width::of(ty))?;
    let first = cx.src(&inst.operands[1], ty)?;
    let mut fields = [first; 3];
    for index in 1..count {
        fields[index] = cx.src(&inst.operands[index + 1], ty)?;
    }
    cx.emit_untyped(
        exec(operation, brain, ty.packed == 2),
        d,
        fields[0],
        fields[1],
        fields[2],
    )
    .x = Link::Raw(flags);
    Ok(())
}

/// `setp` and `set` on these types.
pub(crate) fn compare<'a>(cx: &mut Builder<'a, '_>, inst: &'a Instruction<'a>) -> Result<()> {
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
    let ty = modifiers
        .ty()
        .filter(|&ty| is_half(ty))
        .ok_or_else(|| unknown(inst))?;
    modifiers.finish(inst)?;
    expect_operands(inst, &[if boolean.is_some() { 4 } else { 3 }])?;
    let test = if ty.kind == Kind::Brain {
        scalar::<Test<bf16>>()
    } else {
        scalar::<Test<f16>>()
    };
    let x = Link::Raw((comparison as u32) << 1 | u32::from(ftz));
    let (a, b) = (
        cx.src(&inst.operands[1], ty)?,
        cx.src(&inst.operands[2], ty)?,
    );
    if ty.packed == 1 {
        return compare::finish(cx, inst, boolean, result, |cx, d| {
            cx.emit_untyped(test, d, a, b, Field::NONE).x = x;
        });
    }
    if boolean.is_some() {
        return Err(unknown(inst));
    }
    // Packed: each half on its own, into two predicates, or joined into the halves of the result.
    let mut halves = [Field::NONE; 4];
    for (index, extract) in [scalar::<Extract<false>>(), scalar::<Extract<true>>()]
        .into_iter()
        .enumerate()
    {
        for (operand, field) in [(0, a), (1, b)] {
            let half = Field::Register(cx.new_register(Width::W16));
            cx.emit_untyped(extract, half, field, Field::NONE, Field::NONE);
            halves[index * 2 + operand] = half;
        }
    }
    let targets = match (inst.opcode, &inst.operands[0].kind) {
        ("setp", OperandKind::Pair(low, high)) => {
            [cx.dst(low, Width::Pred)?, cx.dst(high, Width::Pred)?]
        }
        ("set", _) => [(); 2].map(|()| Field::Register(cx.new_register(Width::Pred))),
        _ => return Err(unknown(inst)),
    };
    for (index, &target) in targets.iter().enumerate() {
        cx.emit_untyped(
            test,
            target,
            halves[index * 2],
            halves[index * 2 + 1],
            Field::NONE,
        )
        .x = x;
    }
    if let Some(result) = result {
        let yes = match (result.kind, result.width()) {
            (Kind::Float, 32) if result.packed == 2 => 0x3C00,
            (Kind::Brain, 32) => 0x3F80,
            (Kind::Unsigned | Kind::Signed, 32) => 0xFFFF,
            _ => return Err(unknown(inst)),
        };
        let d = cx.dst(&inst.operands[0], Width::W32)?;
        cx.emit_untyped(scalar::<Join>(), d, targets[0], targets[1], Field::NONE)
            .x = Link::Raw(yes);
    }
    Ok(())
}
