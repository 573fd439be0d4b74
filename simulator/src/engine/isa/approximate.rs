//! `rcp sqrt rsqrt sin cos lg2 ex2 tanh`, `div.approx` and `div.full`, `copysign`, `testp`, and the special forms of `min` and
//! `max` on f32: lane by lane, through [`numerics`](crate::numerics).

use super::family::Family;
use std::marker::PhantomData;

use super::float::{self, Fast};
use super::lowering::emit_with;
use super::{half, lanewise, lanewise_with};
use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::level::Level;
use crate::engine::exec::op::{Code, Op, scalar};
use crate::engine::exec::operand::{Encode, Encoded, LANES, Read, Value, WritePredicate, operands};
use crate::engine::exec::warp::{Flow, Warp};
use crate::engine::lower::modifiers::{Modifiers, Ty, unknown};
use crate::engine::lower::{Builder, Width, expect_operands};
use crate::numerics::approx::{self, Function};
use crate::numerics::compare::{Property, Selection, max, min};
use crate::numerics::float::{self as numeric, Mode};
use crate::ptx::Result;
use crate::ptx::ast::Instruction;

/// The instructions of this file.
pub(super) const FAMILY: Family = Family {
    opcodes: &[
        "rcp", "sqrt", "rsqrt", "sin", "cos", "lg2", "ex2", "tanh", "copysign", "testp",
    ],
    lower,
};

/// f32 and f64.
pub(crate) trait Approximate: Fast {
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

lanewise! {
    CopySign<F: Fast>(a: F, b: F) -> F { numeric::copysign(a, b) }
}

lanewise_with! {
    ApproximateReciprocal<F: Approximate>(a: F; ftz: bool) -> F { a.function(Function::Reciprocal, ftz) }
    ApproximateRoot<F: Approximate>(a: F; ftz: bool) -> F { a.function(Function::Root, ftz) }
    ReciprocalRoot<F: Approximate>(a: F; ftz: bool) -> F { a.function(Function::ReciprocalRoot, ftz) }
    Sin<F: Approximate>(a: F; ftz: bool) -> F { a.function(Function::Sin, ftz) }
    Cos<F: Approximate>(a: F; ftz: bool) -> F { a.function(Function::Cos, ftz) }
    Log2<F: Approximate>(a: F; ftz: bool) -> F { a.function(Function::Log2, ftz) }
    Exp2<F: Approximate>(a: F; ftz: bool) -> F { a.function(Function::Exp2, ftz) }
    Tanh<F: Approximate>(a: F; ftz: bool) -> F { a.function(Function::Tanh, ftz) }
    Reciprocal<F: Fast>(a: F; mode: Mode) -> F { numeric::rcp(a, mode) }
    Root<F: Fast>(a: F; mode: Mode) -> F { numeric::sqrt(a, mode) }
    ApproximateQuotient(a: f32, b: f32; ftz: bool) -> f32 { approx::div_approx(a, b, ftz) }
    FullQuotient(a: f32, b: f32; ftz: bool) -> f32 { approx::div_full(a, b, ftz) }
    Min<F: Fast>(a: F, b: F; how: Selection) -> F { min(a, b, how) }
    Max<F: Fast>(a: F, b: F; how: Selection) -> F { max(a, b, how) }
    MinOfThree<F: Fast>(a: F, b: F, c: F; how: Selection) -> F { min(min(a, b, how), c, how) }
    MaxOfThree<F: Fast>(a: F, b: F, c: F; how: Selection) -> F { max(max(a, b, how), c, how) }
}

impl Encode for Selection {
    #[inline(always)]
    fn encode(self) -> u32 {
        u32::from(self.ftz) | u32::from(self.propagate_nan) << 1 | u32::from(self.xorsign_abs) << 2
    }

    #[inline(always)]
    fn decode(word: u32) -> Selection {
        Selection {
            ftz: word & 1 != 0,
            propagate_nan: word & 1 << 1 != 0,
            xorsign_abs: word & 1 << 2 != 0,
        }
    }
}

operands! {
    pub(crate) struct TestOperands<F: Value> { d: WritePredicate, a: Read<F>, property: Encoded<Property> }
}

const PROPERTIES: [Property; 6] = [
    Property::Finite,
    Property::Infinite,
    Property::Number,
    Property::NotANumber,
    Property::Normal,
    Property::Subnormal,
];

impl Encode for Property {
    #[inline(always)]
    fn encode(self) -> u32 {
        self as u32
    }

    #[inline(always)]
    fn decode(word: u32) -> Property {
        PROPERTIES[word as usize]
    }
}

/// `testp`
struct Test<F>(PhantomData<F>);

impl<F: Fast> Op for Test<F> {
    type Operands = TestOperands<F>;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, _: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        let property = o.property.get();
        let a = o.a.lanes(warp);
        let bits = (0..LANES).fold(0, |bits, lane| {
            bits | u32::from(property.test(a[lane])) << lane
        });
        o.d.put(warp, bits);
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
    let flush = Some(ftz.encode());
    let (code, sources, option): (Code, usize, Option<u32>) = match inst.opcode {
        "copysign" if !ftz && !approximate => (pick!(CopySign), 2, None),
        "div" if single && approximate => (scalar::<ApproximateQuotient>(), 2, flush),
        "div" if single && modifiers.flag("full") => (scalar::<FullQuotient>(), 2, flush),
        "min" | "max" if single && !approximate => {
            let sources = inst.operands.len().clamp(3, 4) - 1;
            let how = Selection {
                ftz,
                propagate_nan: modifiers.flag("NaN"),
                xorsign_abs: modifiers.flag("xorsign") & modifiers.flag("abs"),
            };
            let code = match (inst.opcode, sources) {
                ("min", 2) => scalar::<Min<f32>>(),
                ("min", _) => scalar::<MinOfThree<f32>>(),
                (_, 2) => scalar::<Max<f32>>(),
                _ => scalar::<MaxOfThree<f32>>(),
            };
            (code, sources, Some(how.encode()))
        }
        "rcp" if approximate && (single || ftz) => (pick!(ApproximateReciprocal), 1, flush),
        "sqrt" if approximate && single => (scalar::<ApproximateRoot<f32>>(), 1, flush),
        "rsqrt" if approximate => (pick!(ReciprocalRoot), 1, flush),
        "sin" if approximate && single => (scalar::<Sin<f32>>(), 1, flush),
        "cos" if approximate && single => (scalar::<Cos<f32>>(), 1, flush),
        "lg2" if approximate && single => (scalar::<Log2<f32>>(), 1, flush),
        "ex2" if approximate && single => (scalar::<Exp2<f32>>(), 1, flush),
        "tanh" if approximate && single && !ftz => (scalar::<Tanh<f32>>(), 1, flush),
        "rcp" | "sqrt" if !approximate && (single || !ftz) => {
            let rounding = float::rounding(&mut modifiers).ok_or_else(|| unknown(inst))?;
            let mode = Mode {
                rounding,
                ftz,
                sat: false,
            };
            let code = if inst.opcode == "rcp" {
                pick!(Reciprocal)
            } else {
                pick!(Root)
            };
            (code, 1, Some(mode.encode()))
        }
        _ => return Err(unknown(inst)),
    };
    modifiers.finish(inst)?;
    expect_operands(inst, &[sources + 1])?;
    emit_with(cx, inst, code, ty, &[ty; 3][..sources], option.as_slice())
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
    let code = if ty.is_f32() {
        scalar::<Test<f32>>()
    } else {
        scalar::<Test<f64>>()
    };
    let d = cx.dst(&inst.operands[0], Width::Pred)?;
    let a = cx.src(&inst.operands[1], ty)?;
    cx.emit_fields_with(code, &[d, a], &[property.encode()]);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_survive_their_encoding() {
        for property in PROPERTIES {
            assert_eq!(Property::decode(property.encode()), property);
        }
        for word in 0..8 {
            assert_eq!(Selection::decode(word).encode(), word);
        }
    }
}
