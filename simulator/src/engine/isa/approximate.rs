//! `rcp sqrt rsqrt sin cos lg2 ex2 tanh`, `div.approx` and `div.full`, `copysign`, `testp`, and the special forms of `min` and
//! `max` on f32: lane by lane, through [`numerics`](crate::numerics).

use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::lanes::{LANES, lanes_of, put, put_predicate, src};
use crate::engine::exec::lanes::{Words, WordsOp};
use crate::engine::exec::level::{Level, scalar};
use crate::engine::exec::warp::{Flow, Warp};
use crate::engine::isa::{float, half};
use crate::engine::lower::modifiers::{Modifiers, Ty, unknown};
use crate::engine::lower::{Builder, Field, Link, Width, expect_operands};
use crate::numerics::approx::{self, Function};
use crate::numerics::compare::{Property, Selection, max, min};
use crate::numerics::float::{self as numeric, Float, Mode};
use crate::ptx::Result;
use crate::ptx::ast::Instruction;

/// Operations on lanes of a type `$t`, with `x`.
macro_rules! operations {
    ($($name:ident<$t:ident: $bound:path>($x:ident, $a:ident, $b:ident, $c:ident) $body:block)*) => { $(
        struct $name<$t>(std::marker::PhantomData<$t>);
        impl<$t: $bound> WordsOp for $name<$t> {
            #[inline(always)]
            unsafe fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, inst: &Words) -> Flow {
                let $x = inst.x;
                // SAFETY: the lowering gave the operands this type's width; unused ones repeat the first.
                unsafe {
                    let (a, b, c) = (src::<$t>(warp, inst.a), src::<$t>(warp, inst.b), src::<$t>(warp, inst.c));
                    let mut result = [$t::from_raw(0); LANES];
                    for lane in lanes_of(warp.mask) {
                        let ($a, $b, $c) = (a[lane], b[lane], c[lane]);
                        result[lane] = $body;
                    }
                    put(warp, inst.d, &result);
                }
                Flow::Next
            }
        }
    )* };
}

/// f32 and f64.
trait Approximate: Float {
    fn function(self, function: Function, ftz: bool) -> Self;
}
impl Approximate for f32 {
    fn function(self, function: Function, ftz: bool) -> f32 {
        function.f32(self, ftz)
    }
}
impl Approximate for f64 {
    fn function(self, function: Function, ftz: bool) -> f64 {
        function.f64(self, ftz)
    }
}

const FUNCTIONS: [Function; 8] = [
    Function::Exp2,
    Function::Log2,
    Function::Sin,
    Function::Cos,
    Function::Tanh,
    Function::ReciprocalRoot,
    Function::Reciprocal,
    Function::Root,
];

operations! {
    Call<F: Approximate>(x, a, _b, _c) { a.function(FUNCTIONS[(x >> 1) as usize % 8], x & 1 != 0) }
    Reciprocal<F: Float>(x, a, _b, _c) { numeric::rcp(a, float::decode(x)) }
    Root<F: Float>(x, a, _b, _c) { numeric::sqrt(a, float::decode(x)) }
    CopySign<F: Float>(_x, a, b, _c) { numeric::copysign(a, b) }
    Min<F: Float>(x, a, b, c) {
        let how = selection(x);
        let value = min(a, b, how);
        if x & THIRD != 0 { min(value, c, how) } else { value }
    }
    Max<F: Float>(x, a, b, c) {
        let how = selection(x);
        let value = max(a, b, how);
        if x & THIRD != 0 { max(value, c, how) } else { value }
    }
}

const THIRD: u32 = 8;

fn selection(x: u32) -> Selection {
    Selection {
        ftz: x & 1 != 0,
        propagate_nan: x & 2 != 0,
        xorsign_abs: x & 4 != 0,
    }
}

/// `div.approx` (`x` bit 0 clear) and `div.full` (set); bit 1 is `.ftz`.
struct Quotient;

impl WordsOp for Quotient {
    #[inline(always)]
    unsafe fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, inst: &Words) -> Flow {
        let divide = if inst.x & 1 != 0 {
            approx::div_full
        } else {
            approx::div_approx
        };
        // SAFETY: the lowering gave the operands 32 bits.
        unsafe {
            let (a, b) = (src::<f32>(warp, inst.a), src::<f32>(warp, inst.b));
            let result = std::array::from_fn(|lane| divide(a[lane], b[lane], inst.x & 2 != 0));
            put::<f32>(warp, inst.d, &result);
        }
        Flow::Next
    }
}

const PROPERTIES: [Property; 6] = [
    Property::Finite,
    Property::Infinite,
    Property::Number,
    Property::NotANumber,
    Property::Normal,
    Property::Subnormal,
];

/// `testp`: `x` is the property.
struct Test<F>(std::marker::PhantomData<F>);

impl<F: Float> WordsOp for Test<F> {
    #[inline(always)]
    unsafe fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, inst: &Words) -> Flow {
        // SAFETY: the lowering gave the operand this type's width, and the destination is a predicate.
        unsafe {
            let a = src::<F>(warp, inst.a);
            let property = PROPERTIES[inst.x as usize % 6];
            let bits = (0..LANES).fold(0, |bits, lane| {
                bits | u32::from(property.test(a[lane])) << lane
            });
            put_predicate(warp, inst.d, bits);
        }
        Flow::Next
    }
}

/// Whether this instruction of `div min max` is one of this file's.
pub(crate) fn is_special(inst: &Instruction) -> bool {
    let has = |name: &str| inst.modifiers.contains(&name);
    match inst.opcode {
        "div" => has("approx") || has("full"),
        "min" | "max" => has("NaN") || has("xorsign") || inst.operands.len() == 4,
        _ => false,
    }
}

pub(crate) fn lower<'a>(cx: &mut Builder<'a, '_>, inst: &'a Instruction<'a>) -> Result<()> {
    let mut modifiers = Modifiers::new(inst);
    if inst
        .modifiers
        .iter()
        .any(|name| Ty::named(name).is_some_and(half::is_half))
    {
        return half::lower(cx, inst);
    }
    if inst.opcode == "testp" {
        return test(cx, inst, modifiers);
    }
    let ty = modifiers
        .ty()
        .filter(|ty| ty.is_f32() || ty.is_f64())
        .ok_or_else(|| unknown(inst))?;
    let single = ty.is_f32();
    macro_rules! pick {
        ($op:ident) => {
            if single {
                scalar::<$op<f32>>()
            } else {
                scalar::<$op<f64>>()
            }
        };
    }
    let ftz = modifiers.flag("ftz");
    let approximate = modifiers.flag("approx");
    let function = |function: Function| (function as u32) << 1 | u32::from(ftz);
    let mut count = 1;
    let (exec, x) = match inst.opcode {
        "copysign" if !ftz && !approximate => {
            count = 2;
            (pick!(CopySign), 0)
        }
        "div" if single => {
            count = 2;
            let full = !approximate && modifiers.flag("full");
            if !approximate && !full {
                return Err(unknown(inst));
            }
            (scalar::<Quotient>(), u32::from(full) | u32::from(ftz) << 1)
        }
        "min" | "max" if single && !approximate => {
            count = inst.operands.len().clamp(3, 4) - 1;
            let nan = modifiers.flag("NaN");
            let xorsign = modifiers.flag("xorsign") & modifiers.flag("abs");
            let third = if count == 3 { THIRD } else { 0 };
            let exec = if inst.opcode == "min" {
                scalar::<Min<f32>>()
            } else {
                scalar::<Max<f32>>()
            };
            (
                exec,
                u32::from(ftz) | u32::from(nan) << 1 | u32::from(xorsign) << 2 | third,
            )
        }
        "rcp" if approximate && (single || ftz) => (pick!(Call), function(Function::Reciprocal)),
        "sqrt" if approximate && single => (pick!(Call), function(Function::Root)),
        "rsqrt" if approximate => (pick!(Call), function(Function::ReciprocalRoot)),
        "sin" if approximate && single => (pick!(Call), function(Function::Sin)),
        "cos" if approximate && single => (pick!(Call), function(Function::Cos)),
        "lg2" if approximate && single => (pick!(Call), function(Function::Log2)),
        "ex2" if approximate && single => (pick!(Call), function(Function::Exp2)),
        "tanh" if approximate && single && !ftz => (pick!(Call), function(Function::Tanh)),
        "rcp" | "sqrt" if !approximate && (single || !ftz) => {
            let rounding = float::rounding(&mut modifiers).ok_or_else(|| unknown(inst))?;
            let mode = float::encode(Mode {
                rounding,
                ftz,
                sat: false,
            });
            (
                if inst.opcode == "rcp" {
                    pick!(Reciprocal)
                } else {
                    pick!(Root)
                },
                mode,
            )
        }
        _ => return Err(unknown(inst)),
    };
    modifiers.finish(inst)?;
    expect_operands(inst, &[count + 1])?;
    let d = cx.dst(&inst.operands[0], Width::of(ty))?;
    let first = cx.src(&inst.operands[1], ty)?;
    let mut fields = [first; 3];
    for index in 1..count {
        fields[index] = cx.src(&inst.operands[index + 1], ty)?;
    }
    cx.emit_untyped(exec, d, fields[0], fields[1], fields[2]).x = Link::Raw(x);
    Ok(())
}

fn test<'a>(
    cx: &mut Builder<'a, '_>,
    inst: &'a Instruction<'a>,
    mut modifiers: Modifiers<'a>,
) -> Result<()> {
    let property = modifiers
        .next_if(Property::parse)
        .ok_or_else(|| unknown(inst))?;
    let ty = modifiers
        .ty()
        .filter(|ty| ty.is_f32() || ty.is_f64())
        .ok_or_else(|| unknown(inst))?;
    modifiers.finish(inst)?;
    expect_operands(inst, &[2])?;
    let exec = if ty.is_f32() {
        scalar::<Test<f32>>()
    } else {
        scalar::<Test<f64>>()
    };
    let d = cx.dst(&inst.operands[0], Width::Pred)?;
    let a = cx.src(&inst.operands[1], ty)?;
    cx.emit_untyped(exec, d, a, Field::NONE, Field::NONE).x = Link::Raw(property as u32);
    Ok(())
}
