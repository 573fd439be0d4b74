//! `atom red`: host atomics on real memory, lane by lane, so that blocks on several cores see them whole.

use super::family::Family;
use std::marker::PhantomData;

use half::{bf16, f16};
use warpsmith_isa::effect::Effect;

use super::addresses::address;
use super::async_store;
use super::elements::parts;
use super::update::{
    Add, AddBf16, AddBf16x2, AddF16, AddF16x2, AddF32, AddF64, And, AtomicWord, Dec, Exchange, Inc,
    MaxHalf, MaxS32, MaxS64, MaxU, MinHalf, MinS32, MinS64, MinU, Or, Update, Xor,
};
use crate::engine::access::path::access;
use crate::engine::access::values::Stored;
use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::level::Level;
use crate::engine::exec::op::{Code, Op, scalar};
use crate::engine::exec::operand::{
    Address, LANES, Read, ReadList, Value, WriteList, WriteOptional, lanes_of, operands,
};
use crate::engine::exec::warp::{Flow, Warp};
use crate::engine::lower::form::FormReader;
use crate::engine::lower::lowerings::{Lowering, unsupported};
use crate::engine::lower::types::{ScalarKind, Ty};
use crate::engine::lower::{Builder, Field, Width};
use crate::ptx::Result;
use crate::ptx::ast::Instruction;

/// The instructions of this file.
pub(super) const FAMILY: Family = Family {
    opcodes: &["atom", "red"],
    read,
};

operands! {
    pub(crate) struct AtomicOperands<T: Value> { old: WriteOptional<T>, at: Address, value: Read<T> }
    pub(crate) struct AtomicVectorOperands<T: Value> {
        old: WriteList<T>, at: Address, values: ReadList<T>,
    }
    pub(crate) struct CompareSwapOperands<T: Value> {
        old: WriteOptional<T>, at: Address, compare: Read<T>, value: Read<T>,
    }
}

/// A read-modify-write, whose old value may be dropped (`red`).
struct Atomic<T, U>(PhantomData<(T, U)>);

impl<T: AtomicWord, U: Update<T>> Op for Atomic<T, U> {
    type Operands = AtomicOperands<T>;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        let size = size_of::<T>() as u32;
        access::<L>(
            warp,
            cluster,
            o.at,
            size,
            Stored::Unknown,
            |warp, cluster, bytes| {
                let pointers = bytes.pointers(warp, size);
                let global = !cluster.holds(pointers[warp.mask.trailing_zeros() as usize & 31]);
                let values = *o.value.lanes(warp);
                let mut result = [T::default(); LANES];
                for lane in lanes_of(warp.mask) {
                    let update = |old| U::update(old, values[lane], global);
                    // SAFETY: the access path found these bytes for the lanes of the mask, aligned to their size.
                    let old = unsafe { T::update(pointers[lane].cast(), update) };
                    warp.changes += u64::from(update(old) != old);
                    result[lane] = old;
                }
                o.old.put(warp, &result);
                Flow::Next
            },
        )
    }
}

/// The operation of `Atomic` for each part of a vector of floats in global memory.
struct AtomicVector<T, U>(PhantomData<(T, U)>);

impl<T: AtomicWord, U: Update<T>> Op for AtomicVector<T, U> {
    type Operands = AtomicVectorOperands<T>;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        let count = o.values.len();
        let size = (size_of::<T>() * count) as u32;
        access::<L>(
            warp,
            cluster,
            o.at,
            size,
            Stored::Unknown,
            |warp, _, bytes| {
                let pointers = bytes.pointers(warp, size);
                for part in 0..count {
                    let values = *o.values.get(warp, part).lanes(warp);
                    let mut result = [T::default(); LANES];
                    for lane in lanes_of(warp.mask) {
                        let pointer = pointers[lane].cast::<T>().wrapping_add(part);
                        // SAFETY: the access path found `count` words there, aligned to the size of all.
                        let old =
                            unsafe { T::update(pointer, |old| U::update(old, values[lane], true)) };
                        warp.changes += 1;
                        result[lane] = old;
                    }
                    if part < o.old.len() {
                        o.old.get(warp, part).put(warp, &result);
                    }
                }
                Flow::Next
            },
        )
    }
}

/// `atom.cas`
struct CompareSwap<T>(PhantomData<T>);

impl<T: AtomicWord> Op for CompareSwap<T> {
    type Operands = CompareSwapOperands<T>;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        let size = size_of::<T>() as u32;
        access::<L>(
            warp,
            cluster,
            o.at,
            size,
            Stored::Unknown,
            |warp, _, bytes| {
                let pointers = bytes.pointers(warp, size);
                let (compare, values) = (*o.compare.lanes(warp), *o.value.lanes(warp));
                let mut result = [T::default(); LANES];
                for lane in lanes_of(warp.mask) {
                    // SAFETY: the access path found these bytes for the lanes of the mask, aligned to their size.
                    let old =
                        unsafe { T::swap_if(pointers[lane].cast(), compare[lane], values[lane]) };
                    warp.changes += u64::from(old == compare[lane] && old != values[lane]);
                    result[lane] = old;
                }
                o.old.put(warp, &result);
                Flow::Next
            },
        )
    }
}

fn code(operation: &str, ty: Ty) -> Option<Code> {
    macro_rules! by {
        ($op:ident) => {
            match ty.width() {
                32 => Some(scalar::<Atomic<u32, $op>>()),
                64 => Some(scalar::<Atomic<u64, $op>>()),
                _ => None,
            }
        };
    }
    if ty.width() == 16 {
        return match (operation, ty.kind) {
            ("add", ScalarKind::Float) => Some(scalar::<Atomic<u16, AddF16>>()),
            ("add", ScalarKind::Brain) => Some(scalar::<Atomic<u16, AddBf16>>()),
            _ => None,
        };
    }
    match (operation, ty.kind, ty.bits, ty.packed) {
        ("exch", ScalarKind::Bits, 128, 1) => Some(scalar::<Atomic<u128, Exchange>>()),
        ("exch", ScalarKind::Bits, ..) => by!(Exchange),
        ("and", ScalarKind::Bits, ..) => by!(And),
        ("or", ScalarKind::Bits, ..) => by!(Or),
        ("xor", ScalarKind::Bits, ..) => by!(Xor),
        ("add", ScalarKind::Unsigned, ..) | ("add", ScalarKind::Signed, 32, 1) => by!(Add),
        ("add", ScalarKind::Float, 32, 1) => Some(scalar::<Atomic<u32, AddF32>>()),
        ("add", ScalarKind::Float, 64, 1) => Some(scalar::<Atomic<u64, AddF64>>()),
        ("add", ScalarKind::Float, 16, 2) => Some(scalar::<Atomic<u32, AddF16x2>>()),
        ("add", ScalarKind::Brain, 16, 2) => Some(scalar::<Atomic<u32, AddBf16x2>>()),
        ("inc", ScalarKind::Unsigned, 32, 1) => Some(scalar::<Atomic<u32, Inc>>()),
        ("dec", ScalarKind::Unsigned, 32, 1) => Some(scalar::<Atomic<u32, Dec>>()),
        ("min", ScalarKind::Unsigned, ..) => by!(MinU),
        ("max", ScalarKind::Unsigned, ..) => by!(MaxU),
        ("min", ScalarKind::Signed, 32, 1) => Some(scalar::<Atomic<u32, MinS32>>()),
        ("max", ScalarKind::Signed, 32, 1) => Some(scalar::<Atomic<u32, MaxS32>>()),
        ("min", ScalarKind::Signed, 64, 1) => Some(scalar::<Atomic<u64, MinS64>>()),
        ("max", ScalarKind::Signed, 64, 1) => Some(scalar::<Atomic<u64, MaxS64>>()),
        _ => None,
    }
}

fn read(form: &FormReader<'_>) -> Option<Lowering> {
    if !form.is_synchronous() {
        return async_store::read(form);
    }
    let operation = form.one_of(&[
        "exch", "cas", "and", "or", "xor", "add", "inc", "dec", "min", "max",
    ])?;
    form.ignore(&["level::cache_hint"]);
    let ty = form.ty()?;
    // Additions of 16 bits keep subnormal numbers in any case; those of 32 bits that do are not executed.
    if ty.bits != 32 || ty.packed == 2 {
        form.ignore(&["noftz"]);
    }
    // `red` has no destination.
    let returns = form.opcode() == "atom";
    let effect = form.effect(usize::from(returns));
    if let Some(vector) = form.slot("vec") {
        let count = match vector {
            "v2" => 2,
            "v4" => 4,
            _ => 8,
        };
        let supported = matches!(operation, "add" | "min" | "max") && ty.width() * count <= 128;
        return supported.then(|| {
            Lowering::new(move |cx, inst| {
                lower_vector(cx, inst, operation, ty, count as usize, effect)
            })
        });
    }
    let code = match operation {
        "cas" if ty.kind == ScalarKind::Bits => match ty.width() {
            16 => scalar::<CompareSwap<u16>>(),
            32 => scalar::<CompareSwap<u32>>(),
            64 => scalar::<CompareSwap<u64>>(),
            128 => scalar::<CompareSwap<u128>>(),
            _ => return None,
        },
        _ => code(operation, ty)?,
    };
    let sources = if operation == "cas" { 2 } else { 1 };
    Some(Lowering::new(move |cx, inst| {
        let (old, operands) = match returns {
            true => (
                cx.dst(&inst.operands[0], Width::of(ty))?,
                &inst.operands[1..],
            ),
            false => (Field::Sink, &inst.operands[..]),
        };
        let at = address(cx, &operands[0], effect)?;
        let mut values = [Field::Sink; 2];
        for (value, operand) in values.iter_mut().zip(&operands[1..=sources]) {
            *value = cx.src(operand, ty)?;
        }
        cx.emit_access(code, &[old], at, &values[..sources]);
        Ok(())
    }))
}

fn lower_vector<'a>(
    cx: &mut Builder<'a, '_>,
    inst: &'a Instruction<'a>,
    operation: &str,
    ty: Ty,
    count: usize,
    effect: Effect,
) -> Result<()> {
    let (targets, operands) = match inst.opcode {
        "atom" => (Some(&inst.operands[0]), &inst.operands[1..]),
        _ => (None, &inst.operands[..]),
    };
    let at = address(cx, &operands[0], effect)?;
    let (mut values, mut olds) = (Vec::new(), Vec::new());
    for source in parts(cx, &operands[1], count)?.iter() {
        values.push(cx.src(source, ty)?);
    }
    if let Some(targets) = targets {
        for target in parts(cx, targets, count)?.iter() {
            olds.push(cx.dst(target, Width::of(ty))?);
        }
    }

    macro_rules! emit {
        ($word:ty, $update:ty) => {{
            let (old, values) = (
                cx.write_list::<$word>(&olds),
                cx.read_list::<$word>(&values),
            );
            cx.emit(
                scalar::<AtomicVector<$word, $update>>(),
                AtomicVectorOperands { old, at, values },
            );
        }};
    }
    match (operation, ty.kind, ty.bits, ty.packed) {
        ("add", ScalarKind::Float, 32, 1) => emit!(u32, AddF32),
        ("add", ScalarKind::Float, 16, 1) => emit!(u16, AddF16),
        ("add", ScalarKind::Brain, 16, 1) => emit!(u16, AddBf16),
        ("add", ScalarKind::Float, 16, 2) => emit!(u32, AddF16x2),
        ("add", ScalarKind::Brain, 16, 2) => emit!(u32, AddBf16x2),
        ("min", ScalarKind::Float, 16, 1) => emit!(u16, MinHalf<f16>),
        ("min", ScalarKind::Brain, 16, 1) => emit!(u16, MinHalf<bf16>),
        ("min", ScalarKind::Float, 16, 2) => emit!(u32, MinHalf<f16>),
        ("min", ScalarKind::Brain, 16, 2) => emit!(u32, MinHalf<bf16>),
        ("max", ScalarKind::Float, 16, 1) => emit!(u16, MaxHalf<f16>),
        ("max", ScalarKind::Brain, 16, 1) => emit!(u16, MaxHalf<bf16>),
        ("max", ScalarKind::Float, 16, 2) => emit!(u32, MaxHalf<f16>),
        ("max", ScalarKind::Brain, 16, 2) => emit!(u32, MaxHalf<bf16>),
        _ => return Err(unsupported(inst)),
    }
    Ok(())
}
