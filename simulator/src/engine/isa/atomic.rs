//! `atom red`: host atomics on real memory, lane by lane, so that blocks on several cores see them whole.

use super::family::Family;
use std::marker::PhantomData;

use super::memory::{address, synchronous};
use super::update::{
    Add, AddBf16, AddBf16x2, AddF16, AddF16x2, AddF32, AddF64, And, AtomicWord, Dec, Exchange, Inc,
    MaxS32, MaxS64, MaxU, MinS32, MinS64, MinU, Or, Update, Xor,
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
use crate::engine::lower::modifiers::{Kind, Ty, unknown};
use crate::engine::lower::{Builder, Field, Width};
use crate::ptx::ast::Instruction;
use crate::ptx::{Error, Result};

/// The instructions of this file.
pub(super) const FAMILY: Family = Family {
    opcodes: &["atom", "red"],
    lower,
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
            ("add", Kind::Float) => Some(scalar::<Atomic<u16, AddF16>>()),
            ("add", Kind::Brain) => Some(scalar::<Atomic<u16, AddBf16>>()),
            _ => None,
        };
    }
    match (operation, ty.kind, ty.bits, ty.packed) {
        ("exch", Kind::Bits, 128, 1) => Some(scalar::<Atomic<u128, Exchange>>()),
        ("exch", Kind::Bits, ..) => by!(Exchange),
        ("and", Kind::Bits, ..) => by!(And),
        ("or", Kind::Bits, ..) => by!(Or),
        ("xor", Kind::Bits, ..) => by!(Xor),
        ("add", Kind::Unsigned, ..) | ("add", Kind::Signed, 32, 1) => by!(Add),
        ("add", Kind::Float, 32, 1) => Some(scalar::<Atomic<u32, AddF32>>()),
        ("add", Kind::Float, 64, 1) => Some(scalar::<Atomic<u64, AddF64>>()),
        ("add", Kind::Float, 16, 2) => Some(scalar::<Atomic<u32, AddF16x2>>()),
        ("add", Kind::Brain, 16, 2) => Some(scalar::<Atomic<u32, AddBf16x2>>()),
        ("inc", Kind::Unsigned, 32, 1) => Some(scalar::<Atomic<u32, Inc>>()),
        ("dec", Kind::Unsigned, 32, 1) => Some(scalar::<Atomic<u32, Dec>>()),
        ("min", Kind::Unsigned, ..) => by!(MinU),
        ("max", Kind::Unsigned, ..) => by!(MaxU),
        ("min", Kind::Signed, 32, 1) => Some(scalar::<Atomic<u32, MinS32>>()),
        ("max", Kind::Signed, 32, 1) => Some(scalar::<Atomic<u32, MaxS32>>()),
        ("min", Kind::Signed, 64, 1) => Some(scalar::<Atomic<u64, MinS64>>()),
        ("max", Kind::Signed, 64, 1) => Some(scalar::<Atomic<u64, MaxS64>>()),
        _ => None,
    }
}

pub(crate) fn lower<'a>(cx: &mut Builder<'a, '_>, inst: &'a Instruction<'a>) -> Result<()> {
    let operations = [
        "exch", "cas", "and", "or", "xor", "add", "inc", "dec", "min", "max",
    ];
    synchronous(cx, inst)?;
    let form = cx.form();
    let operation = operations.into_iter().find(|&name| form.has(name));
    let vector = ["v2", "v4", "v8"].into_iter().find(|&name| form.has(name));
    let ty = Ty::named(form.main_type());
    let (operation, ty) = operation.zip(ty).ok_or_else(|| unknown(inst))?;
    let atom = inst.opcode == "atom";
    let width = Width::of(ty);
    let operands = &inst.operands[usize::from(atom && !inst.operands.is_empty())..];
    let cas = operation == "cas";
    let at = address(cx, inst, usize::from(atom))?;
    if let Some(vector) = vector {
        return lower_vector(cx, inst, (operation, ty, vector), at);
    }
    if cas {
        let code = match ty.width() {
            16 => scalar::<CompareSwap<u16>>(),
            32 => scalar::<CompareSwap<u32>>(),
            64 => scalar::<CompareSwap<u64>>(),
            _ => scalar::<CompareSwap<u128>>(),
        };
        if ty.kind != Kind::Bits || ty.bits == 8 {
            return Err(unknown(inst));
        }
        let old = cx.dst(&inst.operands[0], width)?;
        let (compare, value) = (cx.src(&operands[1], ty)?, cx.src(&operands[2], ty)?);
        cx.emit_access(code, &[old], at, &[compare, value]);
        return Ok(());
    }
    let code = code(operation, ty).ok_or_else(|| unknown(inst))?;
    let old = if atom {
        cx.dst(&inst.operands[0], width)?
    } else {
        Field::Sink
    };
    let value = cx.src(&operands[1], ty)?;
    cx.emit_access(code, &[old], at, &[value]);
    Ok(())
}

fn lower_vector<'a>(
    cx: &mut Builder<'a, '_>,
    inst: &'a Instruction<'a>,
    (operation, ty, vector): (&str, Ty, &str),
    at: Address,
) -> Result<()> {
    let count: usize = vector[1..].parse().unwrap_or(0);
    let atom = inst.opcode == "atom";
    if operation != "add" || ty.width() as usize * count > 128 {
        return Err(unknown(inst));
    }
    let operands = &inst.operands[usize::from(atom)..];
    let sources: Vec<_> = cx
        .parts(&operands[1])
        .into_iter()
        .map(std::borrow::Cow::into_owned)
        .collect();
    let targets: Vec<_> = match atom {
        true => cx
            .parts(&inst.operands[0])
            .into_iter()
            .map(std::borrow::Cow::into_owned)
            .collect(),
        false => Vec::new(),
    };
    if sources.len() != count || atom && targets.len() != count {
        return Err(Error::new(
            inst.at,
            format!("expected vectors of {count} parts"),
        ));
    }
    let (mut values, mut olds) = (Vec::new(), Vec::new());
    for source in &sources {
        values.push(cx.src(source, ty)?);
    }
    for target in &targets {
        olds.push(cx.dst(target, Width::of(ty))?);
    }
    macro_rules! emit {
        ($word:ty, $update:ident) => {{
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
    match (ty.kind, ty.bits, ty.packed) {
        (Kind::Float, 32, 1) => emit!(u32, AddF32),
        (Kind::Float, 16, 1) => emit!(u16, AddF16),
        (Kind::Brain, 16, 1) => emit!(u16, AddBf16),
        (Kind::Float, 16, 2) => emit!(u32, AddF16x2),
        (Kind::Brain, 16, 2) => emit!(u32, AddBf16x2),
        _ => return Err(unknown(inst)),
    }
    Ok(())
}
