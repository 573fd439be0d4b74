//! `mov`: registers, constants, addresses, special registers, and packing of vectors into scalars and back.

use super::family::Family;
use std::marker::PhantomData;

use super::lanewise;
use crate::engine::dataflow::Dataflow;
use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::level::Level;
use crate::engine::exec::op::{Code, Op, scalar, vector};
use crate::engine::exec::operand::{
    LANES, Read, ReadList, ReadPredicate, Value, Width, Write, WriteList, WritePredicate, operands,
};
use crate::engine::exec::warp::{Flow, Warp};
use crate::engine::lower::form::FormReader;
use crate::engine::lower::lowerings::Lowering;
use crate::engine::lower::types::{ScalarKind, Ty};
use crate::engine::lower::{Builder, Field};
use crate::ptx::ast::{Instruction, Operand, OperandKind};
use crate::ptx::{Error, Result};

/// The instructions of this file.
pub(super) const FAMILY: Family = Family {
    opcodes: &["mov"],
    read,
};

/// What can be moved.
pub(crate) trait Movable: Value + Default {}
impl Movable for u16 {}
impl Movable for u32 {}
impl Movable for u64 {}
impl Movable for u128 {}

lanewise! {
    Move<T: Movable>(a: T) -> T { a }
}

operands! {
    pub(crate) struct MovePredicateOperands { d: WritePredicate, a: ReadPredicate }
    pub(crate) struct PackOperands<E: Value, R: Value> { d: Write<R>, parts: ReadList<E> }
    pub(crate) struct UnpackOperands<E: Value, R: Value> { parts: WriteList<E>, a: Read<R> }
}

struct MovePredicate;

impl Op for MovePredicate {
    type Operands = MovePredicateOperands;
    const DATAFLOW: Dataflow = Dataflow::Lanewise;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, _: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        let bits = o.a.bits(warp);
        o.d.put(warp, bits);
        Flow::Next
    }
}

/// A scalar made of parts.
pub(crate) trait Parts<E>: Value + Default {
    fn with(self, index: usize, part: E) -> Self;
    fn part(self, index: usize) -> E;
}

macro_rules! parts {
    ($($e:ty => $r:ty;)*) => { $(impl Parts<$e> for $r {
        #[inline(always)]
        fn with(self, index: usize, part: $e) -> $r { self | (part as $r) << (index as u32 * <$e>::BITS) }
        #[inline(always)]
        fn part(self, index: usize) -> $e { (self >> (index as u32 * <$e>::BITS)) as $e }
    })* };
}
parts! { u16 => u32; u16 => u64; u32 => u64; u32 => u128; u64 => u128; }

/// A byte, in a register of 16 bits: there are no smaller ones.
#[derive(Clone, Copy, Default)]
#[repr(transparent)]
pub(crate) struct Byte(u16);

impl Value for Byte {
    const WIDTH: Width = Width::W16;
}

macro_rules! byte_parts {
    ($($r:ty)*) => { $(impl Parts<Byte> for $r {
        #[inline(always)]
        fn with(self, index: usize, part: Byte) -> $r { self | <$r>::from(part.0 as u8) << (index as u32 * 8) }
        #[inline(always)]
        fn part(self, index: usize) -> Byte { Byte(u16::from((self >> (index as u32 * 8)) as u8)) }
    })* };
}
byte_parts! { u16 u32 }

/// `d = {list}`: the parts of type `E` become one `R`, the first lowest.
struct Pack<E, R>(PhantomData<(E, R)>);

impl<E: Value, R: Parts<E>> Op for Pack<E, R> {
    type Operands = PackOperands<E, R>;
    const DATAFLOW: Dataflow = Dataflow::Lanewise;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, _: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        let mut result = [R::default(); LANES];
        for index in 0..o.parts.len() {
            let part = o.parts.get(warp, index).lanes(warp);
            for lane in 0..LANES {
                result[lane] = result[lane].with(index, part[lane]);
            }
        }
        o.d.put(warp, &result);
        Flow::Next
    }
}

/// `{list} = a`
struct Unpack<E, R>(PhantomData<(E, R)>);

impl<E: Value + Default, R: Parts<E>> Op for Unpack<E, R> {
    type Operands = UnpackOperands<E, R>;
    const DATAFLOW: Dataflow = Dataflow::Lanewise;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, _: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        let whole = *o.a.lanes(warp);
        for index in 0..o.parts.len() {
            let mut result = [E::default(); LANES];
            for lane in 0..LANES {
                result[lane] = whole[lane].part(index);
            }
            o.parts.get(warp, index).put(warp, &result);
        }
        Flow::Next
    }
}

/// The move of this width.
pub(crate) fn code(width: Width) -> Option<Code> {
    Some(match width {
        Width::Pred => scalar::<MovePredicate>(),
        Width::W16 => vector::<Move<u16>>(),
        Width::W32 => vector::<Move<u32>>(),
        Width::W64 => vector::<Move<u64>>(),
        Width::W128 => vector::<Move<u128>>(),
        Width::Area(_) => return None,
    })
}

fn read(form: &FormReader<'_>) -> Option<Lowering> {
    let ty = form.ty().filter(|ty| ty.bits != 8)?;
    let code = code(Width::of(ty))?;
    Some(Lowering::new(move |cx, inst| lower(cx, inst, ty, code)))
}

fn lower<'a>(
    cx: &mut Builder<'a, '_>,
    inst: &'a Instruction<'a>,
    ty: Ty,
    code: Code,
) -> Result<()> {
    let (target, source) = (&inst.operands[0], &inst.operands[1]);
    if let OperandKind::Vector(list) = &target.kind
        && list.len() > 1
    {
        return unpack(cx, inst, ty, list, source);
    }
    if let OperandKind::Vector(list) = &source.kind
        && list.len() > 1
    {
        return pack(cx, inst, ty, list, target);
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
    cx.emit_fields(code, &[d, a]);
    Ok(())
}

/// The type of the parts.
fn part_type(inst: &Instruction, ty: Ty, list: &[Operand]) -> Result<Ty> {
    let known = [
        (16, 2),
        (32, 4),
        (32, 2),
        (64, 4),
        (64, 2),
        (128, 4),
        (128, 2),
    ];
    if !known.contains(&(ty.width(), list.len())) {
        let message = format!(
            "`{}` of {} parts is not supported by the simulator",
            inst.name(),
            list.len()
        );
        return Err(Error::new(inst.at, message));
    }
    let bits = ty.width() / list.len() as u32;
    Ok(Ty::new(ScalarKind::Bits, bits))
}

/// `d = {list}`
fn pack<'a>(
    cx: &mut Builder<'a, '_>,
    inst: &'a Instruction<'a>,
    ty: Ty,
    list: &[Operand<'a>],
    whole: &Operand<'a>,
) -> Result<()> {
    let part = part_type(inst, ty, list)?;
    let mut fields = Vec::new();
    for operand in list {
        fields.push(cx.src(operand, part)?);
    }
    let d = cx.dst(whole, Width::of(ty))?;
    macro_rules! emit {
        ($e:ty, $r:ty) => {{
            let parts = cx.read_list::<$e>(&fields);
            cx.emit(
                vector::<Pack<$e, $r>>(),
                PackOperands::<$e, $r> { d: d.into(), parts },
            )
        }};
    }
    match (ty.width(), part.bits) {
        (16, _) => emit!(Byte, u16),
        (32, 8) => emit!(Byte, u32),
        (32, _) => emit!(u16, u32),
        (64, 16) => emit!(u16, u64),
        (64, _) => emit!(u32, u64),
        (_, 32) => emit!(u32, u128),
        _ => emit!(u64, u128),
    };
    Ok(())
}

/// `{list} = a`
fn unpack<'a>(
    cx: &mut Builder<'a, '_>,
    inst: &'a Instruction<'a>,
    ty: Ty,
    list: &[Operand<'a>],
    whole: &Operand<'a>,
) -> Result<()> {
    let part = part_type(inst, ty, list)?;
    let mut fields = Vec::new();
    for operand in list {
        fields.push(cx.dst(operand, Width::of(part))?);
    }
    let a = cx.src(whole, ty)?;
    macro_rules! emit {
        ($e:ty, $r:ty) => {{
            let parts = cx.write_list::<$e>(&fields);
            cx.emit(
                vector::<Unpack<$e, $r>>(),
                UnpackOperands::<$e, $r> { parts, a: a.into() },
            )
        }};
    }
    match (ty.width(), part.bits) {
        (16, _) => emit!(Byte, u16),
        (32, 8) => emit!(Byte, u32),
        (32, _) => emit!(u16, u32),
        (64, 16) => emit!(u16, u64),
        (64, _) => emit!(u32, u64),
        (_, 32) => emit!(u32, u128),
        _ => emit!(u64, u128),
    };
    Ok(())
}
