//! `setp set selp slct`.

use super::family::Family;
use std::marker::PhantomData;

use super::float::Fast;
use super::lanewise;
use super::lowering::{by_type, by_width, emit};
use crate::engine::dataflow::Dataflow;
use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::lanes::test;
use crate::engine::exec::level::Level;
use crate::engine::exec::op::{Code, Op, vector};
use crate::engine::exec::operand::{
    LANES, Read, ReadPredicate, Value, Write, WritePredicate, WritePredicateOptional, operands,
};
use crate::engine::exec::warp::{Flow, Warp};
use crate::engine::lower::form::FormReader;
use crate::engine::lower::lowerings::{Lowering, unsupported};
use crate::engine::lower::types::{ScalarKind, Ty};
use crate::engine::lower::{Builder, Field, Width};
use crate::numerics::compare::Comparison;
use crate::ptx::Result;
use crate::ptx::ast::{Instruction, OperandKind};

/// The instructions of this file.
pub(super) const FAMILY: Family = Family {
    opcodes: &["selp", "slct"],
    read,
};

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

operands! {
    pub(crate) struct CompareOperands<T: Value> { d: WritePredicate, a: Read<T>, b: Read<T> }
    /// `p` and `q`: the destinations. `test`: the comparison's result. `c`: what it is combined with.
    pub(crate) struct CombineOperands {
        p: WritePredicateOptional, q: WritePredicateOptional, test: ReadPredicate, c: ReadPredicate,
    }
    pub(crate) struct SelectOperands<T: Value> { d: Write<T>, a: Read<T>, b: Read<T>, first: ReadPredicate }
}

/// `setp` with one destination and no further predicate.
pub(crate) struct SetPredicate<T, C, const FTZ: bool>(PhantomData<(T, C)>);

impl<T: Flush, C: Test<T>, const FTZ: bool> Op for SetPredicate<T, C, FTZ> {
    type Operands = CompareOperands<T>;
    const DATAFLOW: Dataflow = Dataflow::Lanewise;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, _: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        let bits = test::<L, T, T>(
            warp,
            o.a,
            o.b,
            #[inline(always)]
            |a, b| {
                if FTZ {
                    C::test(a.flush(), b.flush())
                } else {
                    C::test(a, b)
                }
            },
        );
        o.d.put(warp, bits);
        Flow::Next
    }
}

/// `.and`, `.or` or `.xor`.
trait Boolean {
    const DATAFLOW: Dataflow;
    fn combine(a: u32, b: u32) -> u32;
}

macro_rules! booleans {
    ($($name:ident $dataflow:ident |$a:ident, $b:ident| $body:expr;)*) => { $(
        struct $name;
        impl Boolean for $name {
            const DATAFLOW: Dataflow = Dataflow::$dataflow;
            #[inline(always)]
            fn combine($a: u32, $b: u32) -> u32 { $body }
        }
    )* };
}
booleans! {
    And And |a, b| a & b;
    Or Or |a, b| a | b;
    Xor Lanewise |a, b| a ^ b;
}

/// `setp p|q, a, b, [!]c` behind the comparison: `p = test B c`, `q = !test B c`.
struct Combine<B>(PhantomData<B>);

impl<B: Boolean> Op for Combine<B> {
    type Operands = CombineOperands;
    const DATAFLOW: Dataflow = B::DATAFLOW;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, _: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        let (test, c) = (o.test.bits(warp), o.c.bits(warp));
        o.p.put(warp, B::combine(test, c));
        o.q.put(warp, B::combine(!test, c));
        Flow::Next
    }
}

/// What can be selected.
pub(crate) trait Selectable: Value + Default {}

impl<T: Value + Default> Selectable for T {}

/// `selp`: `a` in the lanes whose bit is set.
struct Select<T>(PhantomData<T>);

impl<T: Selectable> Op for Select<T> {
    type Operands = SelectOperands<T>;
    const DATAFLOW: Dataflow = Dataflow::Select;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, _: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        let (a, b, first) = (o.a.lanes(warp), o.b.lanes(warp), o.first.bits(warp));
        let mut result = [T::default(); LANES];
        for lane in 0..LANES {
            result[lane] = if first >> lane & 1 != 0 {
                a[lane]
            } else {
                b[lane]
            };
        }
        o.d.put(warp, &result);
        Flow::Next
    }
}

lanewise! {
    SelectBySign<T: Selectable>(a: T, b: T, c: i32) -> T { if c >= 0 { a } else { b } }
    SelectByFloat<T: Selectable>(a: T, b: T, c: f32) -> T { if c >= 0.0 { a } else { b } }
    SelectByFlushed<T: Selectable>(a: T, b: T, c: f32) -> T { if c.flushed() >= 0.0 { a } else { b } }
}

fn integer_test(comparison: Comparison, ty: Ty) -> Option<Code> {
    use Comparison as C;
    match comparison {
        C::Eq => by_width!(vector, SetPredicate[Eq, false], ty.bits),
        C::Ne => by_width!(vector, SetPredicate[Neu, false], ty.bits),
        C::Lt => by_type!(vector, SetPredicate[Lt, false], ty),
        C::Le => by_type!(vector, SetPredicate[Le, false], ty),
        C::Gt => by_type!(vector, SetPredicate[Gt, false], ty),
        C::Ge => by_type!(vector, SetPredicate[Ge, false], ty),
        C::Lo => by_width!(vector, SetPredicate[Lt, false], ty.bits),
        C::Ls => by_width!(vector, SetPredicate[Le, false], ty.bits),
        C::Hi => by_width!(vector, SetPredicate[Gt, false], ty.bits),
        C::Hs => by_width!(vector, SetPredicate[Ge, false], ty.bits),
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

fn read(form: &FormReader<'_>) -> Option<Lowering> {
    let ftz = form.has("ftz");
    let ty = form.ty()?;
    if form.opcode() == "selp" {
        let code = by_width!(vector, Select, ty.bits).filter(|_| !ftz)?;
        return Some(emit(code, ty, &[ty, ty, Ty::PRED]));
    }
    let by = form.ty()?;
    let code = match (by.is_f32(), ftz) {
        (false, _) => by_width!(vector, SelectBySign, ty.bits),
        (true, false) => by_width!(vector, SelectByFloat, ty.bits),
        (true, true) => by_width!(vector, SelectByFlushed, ty.bits),
    };
    Some(emit(code?, ty, &[ty, ty, by]))
}

/// What combines a comparison with a predicate, by the modifier: of [`CombineOperands`].
pub(super) fn combination(modifier: &str) -> Code {
    match modifier {
        "and" => vector::<Combine<And>>(),
        "or" => vector::<Combine<Or>>(),
        _ => vector::<Combine<Xor>>(),
    }
}

/// What tells the lanes whose 32-bit operands differ: of [`CompareOperands`].
pub(super) fn differs() -> Code {
    vector::<SetPredicate<u32, Neu, false>>()
}

/// The modifiers of `setp` and `set`.
#[derive(Clone, Copy)]
pub(crate) struct CompareModifiers {
    pub comparison: Comparison,
    /// What combines the comparison with a predicate, if the instruction does.
    pub combine: Option<Code>,
    pub ftz: bool,
    /// The type that `set` writes.
    pub result: Option<Ty>,
    /// The type that is compared.
    pub ty: Ty,
}

impl CompareModifiers {
    /// Those of a form.
    pub fn read(form: &FormReader<'_>) -> Option<CompareModifiers> {
        let comparison = form.next(Comparison::parse)?;
        let combine = form.slot("BoolOp").map(combination);
        let ftz = form.has("ftz");
        let result = match form.opcode() {
            "set" => Some(form.ty()?),
            _ => None,
        };
        Some(CompareModifiers {
            comparison,
            combine,
            ftz,
            result,
            ty: form.ty()?,
        })
    }
}

/// `setp` and `set` of integers, f32 and f64.
pub(super) fn compare_and_set(modifiers: CompareModifiers) -> Option<Lowering> {
    let CompareModifiers {
        comparison,
        ftz,
        ty,
        ..
    } = modifiers;
    let code = match ty.kind {
        ScalarKind::Float => float_test(comparison, ty, ftz),
        _ => integer_test(comparison, ty).filter(|_| !ftz),
    }?;
    Some(Lowering::new(move |cx, inst| {
        let (a, b) = (
            cx.src(&inst.operands[1], ty)?,
            cx.src(&inst.operands[2], ty)?,
        );
        finish(cx, inst, &modifiers, |cx, d| {
            cx.emit_fields(code, &[d, a, b]);
        })
    }))
}

/// The rest of `setp` and `set`, around the comparison that `emit` writes to a predicate.
pub(super) fn finish<'a>(
    cx: &mut Builder<'a, '_>,
    inst: &'a Instruction<'a>,
    modifiers: &CompareModifiers,
    emit: impl FnOnce(&mut Builder<'a, '_>, Field),
) -> Result<()> {
    let CompareModifiers {
        combine, result, ..
    } = *modifiers;
    let target = &inst.operands[0];
    let is_pair = matches!(target.kind, OperandKind::Pair(..));
    if combine.is_none() && result.is_none() && !is_pair {
        let d = cx.dst(target, Width::Pred)?;
        emit(cx, d);
        return Ok(());
    }
    let test = Field::Register(cx.new_register(Width::Pred));
    emit(cx, test);
    let c = match combine {
        Some(_) => cx.src(&inst.operands[3], Ty::PRED)?,
        None => cx.constant(1, Width::Pred),
    };
    let (p, q) = match (result, &target.kind) {
        (Some(_), _) => (Field::Register(cx.new_register(Width::Pred)), Field::Sink),
        (None, OperandKind::Pair(first, second)) => {
            (cx.dst(first, Width::Pred)?, cx.dst(second, Width::Pred)?)
        }
        _ => (cx.dst(target, Width::Pred)?, Field::Sink),
    };
    let combine = combine.unwrap_or_else(vector::<Combine<And>>);
    cx.emit_fields(combine, &[p, q, test, c]);
    if let Some(ty) = result {
        let truth = match (ty.kind, ty.bits) {
            (ScalarKind::Float, 32) => 1f32.to_bits(),
            (ScalarKind::Float, _) => 0x3C00,
            (ScalarKind::Brain, _) => 0x3F80,
            _ => u32::MAX,
        };
        let code = by_width!(vector, Select, ty.bits).ok_or_else(|| unsupported(inst))?;
        let width = Width::of(ty);
        let d = cx.dst(target, width)?;
        let (yes, no) = (cx.constant(truth.into(), width), cx.constant(0, width));
        cx.emit_fields(code, &[d, yes, no, p]);
    }
    Ok(())
}
