//! `mov`: registers, constants, addresses, special registers, and packing of vectors into scalars and back.

use std::marker::PhantomData;

use super::lanewise;
use crate::engine::exec::isa::{Isa, Op, scalar, vector};
use crate::engine::exec::lanes::{LANES, predicate, put, put_or_sink, put_predicate, src};
use crate::engine::exec::warp::{Exec, Flow, Inst, Warp};
use crate::engine::lower::modifiers::{Kind, Modifiers, Ty, unknown};
use crate::engine::lower::{Builder, Field, Link, Width, expect_operands};
use crate::ptx::ast::{Instruction, Operand, OperandKind};
use crate::ptx::{Error, Result};

lanewise! {
    Move<T: Value>(a: T) -> T { a }
}

/// What can be moved.
pub(crate) trait Value: Copy + Default {}
impl Value for u16 {}
impl Value for u32 {}
impl Value for u64 {}
impl Value for u128 {}

struct MovePredicate;

impl Op for MovePredicate {
    #[inline(always)]
    unsafe fn run<I: Isa>(warp: &mut Warp, inst: &Inst) -> Flow {
        // SAFETY: both are predicates.
        unsafe {
            let bits = predicate(warp, inst.a);
            put_predicate(warp, inst.d, bits);
        }
        Flow::Next
    }
}

/// `d = {list}`: the parts of type `E` become one `R`, the first lowest.
struct Pack<E, R>(PhantomData<(E, R)>);

/// `{list} = a`.
struct Unpack<E, R>(PhantomData<(E, R)>);

/// A scalar made of parts.
pub(crate) trait Parts<E>: Copy + Default {
    const COUNT: usize;
    fn with(self, index: usize, part: E) -> Self;
    fn part(self, index: usize) -> E;
}

macro_rules! parts {
    ($($e:ty => $r:ty;)*) => { $(impl Parts<$e> for $r {
        const COUNT: usize = (<$r>::BITS / <$e>::BITS) as usize;
        #[inline(always)]
        fn with(self, index: usize, part: $e) -> $r { self | (part as $r) << (index as u32 * <$e>::BITS) }
        #[inline(always)]
        fn part(self, index: usize) -> $e { (self >> (index as u32 * <$e>::BITS)) as $e }
    })* };
}
parts! { u16 => u32; u16 => u64; u32 => u64; u32 => u128; u64 => u128; }

impl<E: Copy, R: Parts<E>> Op for Pack<E, R> {
    #[inline(always)]
    unsafe fn run<I: Isa>(warp: &mut Warp, inst: &Inst) -> Flow {
        // SAFETY: the lowering made a list of as many parts, of these widths.
        unsafe {
            let list = warp.list(inst.x, R::COUNT);
            let mut result = [R::default(); LANES];
            for (index, &operand) in list.iter().enumerate() {
                let part = src::<E>(warp, operand);
                for lane in 0..LANES {
                    result[lane] = result[lane].with(index, part[lane]);
                }
            }
            put(warp, inst.d, &result);
        }
        Flow::Next
    }
}

impl<E: Copy + Default, R: Parts<E>> Op for Unpack<E, R> {
    #[inline(always)]
    unsafe fn run<I: Isa>(warp: &mut Warp, inst: &Inst) -> Flow {
        // SAFETY: the lowering made a list of as many parts, of these widths.
        unsafe {
            let list = warp.list(inst.x, R::COUNT);
            let whole = *src::<R>(warp, inst.a);
            for (index, &operand) in list.iter().enumerate() {
                let mut result = [E::default(); LANES];
                for lane in 0..LANES {
                    result[lane] = whole[lane].part(index);
                }
                put_or_sink(warp, operand, &result);
            }
        }
        Flow::Next
    }
}

/// The move of this width.
pub(crate) fn exec(width: Width) -> Option<Exec> {
    Some(match width {
        Width::Pred => scalar::<MovePredicate>(),
        Width::W16 => vector::<Move<u16>>(),
        Width::W32 => vector::<Move<u32>>(),
        Width::W64 => vector::<Move<u64>>(),
        Width::W128 => vector::<Move<u128>>(),
        Width::Area(_) => return None,
    })
}

pub(crate) fn lower<'a>(cx: &mut Builder<'a, '_>, inst: &'a Instruction<'a>) -> Result<()> {
    let mut modifiers = Modifiers::new(inst);
    let ty = modifiers
        .ty()
        .filter(|t| t.bits != 8)
        .ok_or_else(|| unknown(inst))?;
    modifiers.finish(inst)?;
    expect_operands(inst, &[2])?;
    let (target, source) = (&inst.operands[0], &inst.operands[1]);
    if let OperandKind::Vector(list) = &target.kind
        && list.len() > 1
    {
        return pack(cx, inst, ty, list, source, false);
    }
    if let OperandKind::Vector(list) = &source.kind
        && list.len() > 1
    {
        return pack(cx, inst, ty, list, target, true);
    }
    let width = Width::of(ty);
    // Special registers are read straight into the destination.
    let special = match &source.kind {
        OperandKind::Name(name) if name.starts_with('%') && cx.find(name).is_none() => {
            Some((*name).to_owned())
        }
        OperandKind::Component(name, part) if name.starts_with('%') && cx.find(name).is_none() => {
            Some(format!("{name}.{part}"))
        }
        _ => None,
    };
    let d = cx.dst(target, width)?;
    if let (Some(name), Field::Register(register)) = (special, d) {
        return super::special::read(cx, &name, register, ty, source.at);
    }
    let a = cx.src(source, ty)?;
    if d == Field::Sink {
        return Ok(());
    }
    let exec = exec(width).ok_or_else(|| unknown(inst))?;
    cx.emit(exec, d, a, Field::NONE, Field::NONE);
    Ok(())
}

fn pack<'a>(
    cx: &mut Builder<'a, '_>,
    inst: &'a Instruction<'a>,
    ty: Ty,
    list: &[Operand<'a>],
    whole: &Operand<'a>,
    packs: bool,
) -> Result<()> {
    macro_rules! pick {
        ($e:ty, $r:ty) => {
            if packs {
                vector::<Pack<$e, $r>>()
            } else {
                vector::<Unpack<$e, $r>>()
            }
        };
    }
    let part = ty.width() / list.len() as u32;
    let exec = match (ty.width(), list.len()) {
        (32, 2) => pick!(u16, u32),
        (64, 4) => pick!(u16, u64),
        (64, 2) => pick!(u32, u64),
        (128, 4) => pick!(u32, u128),
        (128, 2) => pick!(u64, u128),
        _ => {
            let message = format!(
                "`{}` of {} parts is not supported by the simulator",
                inst.name(),
                list.len()
            );
            return Err(Error::new(inst.at, message));
        }
    };
    let part = Ty {
        kind: Kind::Bits,
        bits: part,
        packed: 1,
    };
    let mut fields = Vec::new();
    for operand in list {
        let field = if packs {
            cx.src(operand, part)?
        } else {
            cx.dst(operand, Width::of(part))?
        };
        fields.push((field, !packs));
    }
    let (d, a) = if packs {
        (cx.dst(whole, Width::of(ty))?, Field::NONE)
    } else {
        (Field::NONE, cx.src(whole, ty)?)
    };
    let list = cx.list(&fields);
    let lowered = cx.emit(exec, d, a, Field::NONE, Field::NONE);
    lowered.x = Link::List(list.0);
    lowered.list = list;
    Ok(())
}
