//! `rcp sqrt rsqrt sin cos lg2 ex2 tanh`, `div.approx` and `div.full`, `copysign`, `testp`, and the special forms of `min` and
//! `max` on f32: lane by lane, through [`numerics`](crate::numerics).

use super::family::Family;
use std::marker::PhantomData;

use super::float::{self, Fast};
use super::lowering::emit_with;
use super::selection::selection;
use super::{half, lanewise, lanewise_with};
use crate::engine::dataflow::Dataflow;
use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::level::Level;
use crate::engine::exec::op::{Code, Op, scalar};
use crate::engine::exec::operand::{Encode, Encoded, LANES, Read, Value, WritePredicate, operands};
use crate::engine::exec::warp::{Flow, Warp};
use crate::engine::lower::form::FormReader;
use crate::engine::lower::lowerings::Lowering;
use crate::engine::lower::types::Ty;
use crate::numerics::approx::{self, Function};
use crate::numerics::compare::{Property, Selection, max, min};
use crate::numerics::float::{self as numeric, Mode};

/// The instructions of this file.
pub(super) const FAMILY: Family = Family {
    opcodes: &[
        "rcp", "sqrt", "rsqrt", "sin", "cos", "lg2", "ex2", "tanh", "copysign", "testp",
    ],
    read,
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
    const DATAFLOW: Dataflow = Dataflow::Lanewise;

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

/// Whether this form of `div min max` is one of this file's.
pub(super) fn is_special(form: &FormReader<'_>) -> bool {
    match form.opcode() {
        "div" => form.one_of(&["approx", "full"]).is_some(),
        "min" | "max" => form.one_of(&["NaN", "xorsign"]).is_some() || form.operands() == 4,
        _ => false,
    }
}

pub(super) fn read(form: &FormReader<'_>) -> Option<Lowering> {
    if form.any_type(half::is_half) {
        return half::read(form);
    }
    if form.opcode() == "testp" {
        return test(form);
    }
    let ty = form.ty().filter(|ty| ty.is_f32() || ty.is_f64())?;
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
    let ftz = form.has("ftz");
    let approximate = form.has("approx");
    let flush = Some(ftz.encode());
    let (code, sources, option): (Code, usize, Option<u32>) = match form.opcode() {
        "copysign" if !ftz && !approximate => (pick!(CopySign), 2, None),
        "div" if single && approximate => (scalar::<ApproximateQuotient>(), 2, flush),
        "div" if single && form.has("full") => (scalar::<FullQuotient>(), 2, flush),
        "min" | "max" if single && !approximate => {
            let sources = form.operands() - 1;
            let code = match (form.opcode(), sources) {
                ("min", 2) => scalar::<Min<f32>>(),
                ("min", _) => scalar::<MinOfThree<f32>>(),
                (_, 2) => scalar::<Max<f32>>(),
                _ => scalar::<MaxOfThree<f32>>(),
            };
            (code, sources, Some(selection(form, ftz).encode()))
        }
        "rcp" if approximate && (single || ftz) => (pick!(ApproximateReciprocal), 1, flush),
        "sqrt" if approximate && single => (scalar::<ApproximateRoot<f32>>(), 1, flush),
        "rsqrt" if approximate => (pick!(ReciprocalRoot), 1, flush),
        "sin" if approximate && single => (scalar::<Sin<f32>>(), 1, flush),
        "cos" if approximate && single => (scalar::<Cos<f32>>(), 1, flush),
        "lg2" if approximate && single => (scalar::<Log2<f32>>(), 1, flush),
        "ex2" if approximate && single => (scalar::<Exp2<f32>>(), 1, flush),
        "tanh" if approximate && single && !ftz => (scalar::<Tanh<f32>>(), 1, flush),
        // The reciprocal of 64 bits is the same with `.ftz`.
        "rcp" | "sqrt" if !approximate && (single || !ftz || form.opcode() == "rcp") => {
            let mode = Mode {
                rounding: float::rounding(form)?,
                ftz: single && ftz,
                sat: false,
            };
            let code = match form.opcode() {
                "rcp" => pick!(Reciprocal),
                _ => pick!(Root),
            };
            (code, 1, Some(mode.encode()))
        }
        _ => return None,
    };
    Some(emit_with(code, ty, &[ty; 3][..sources], option.as_slice()))
}

fn test(form: &FormReader<'_>) -> Option<Lowering> {
    let property = form.next(Property::parse)?;
    let ty = form.ty().filter(|ty| ty.is_f32() || ty.is_f64())?;
    let code = if ty.is_f32() {
        scalar::<Test<f32>>()
    } else {
        scalar::<Test<f64>>()
    };
    Some(emit_with(code, Ty::PRED, &[ty], &[property.encode()]))
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
