//! `multimem.ld_reduce multimem.st multimem.red`: a load, a store or a reduction in the memory of all devices that are bound to a multicast
//! object, one after the other.

use std::marker::PhantomData;

use half::{bf16, f16};

use super::addresses::address;
use super::elements::parts;
use super::family::Family;
use super::update::{
    Add, AddBf16, AddBf16x2, AddF16, AddF16x2, AddF32, AddF64, And, AtomicWord, MaxHalf, MaxS32,
    MaxS64, MaxU, MinHalf, MinS32, MinS64, MinU, Or, Update, Xor,
};
use crate::engine::access::path::access_replicas;
use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::level::Level;
use crate::engine::exec::op::{Op, scalar};
use crate::engine::exec::operand::{
    Address, LANES, ReadList, Value, WriteList, lanes_of, operands,
};
use crate::engine::exec::warp::{Flow, Warp};
use crate::engine::lower::form::FormReader;
use crate::engine::lower::lowerings::{Lowering, unsupported};
use crate::engine::lower::types::{ScalarKind, Ty};
use crate::engine::lower::{Builder, Field, Width};
use crate::numerics::float::Float;
use crate::ptx::Result;
use crate::ptx::ast::{Instruction, Operand};

/// The instructions of this file.
pub(super) const FAMILY: Family = Family {
    opcodes: &["multimem"],
    read,
};

operands! {
    pub(crate) struct LoadReduceOperands<T: Value> { d: WriteList<T>, at: Address }
    pub(crate) struct ReplicaStoreOperands<T: Value> { at: Address, values: ReadList<T> }
}

/// How the values of all devices become one.
trait Reduction<T> {
    /// What is kept between two devices.
    type Sum: Copy + Default;
    fn first(value: T) -> Self::Sum;
    fn next(sum: Self::Sum, value: T) -> Self::Sum;
    fn last(sum: Self::Sum) -> T;
}

/// Each step has the type's precision.
struct Stepwise<U>(PhantomData<U>);

impl<T: AtomicWord, U: Update<T>> Reduction<T> for Stepwise<U> {
    type Sum = T;
    fn first(value: T) -> T {
        value
    }
    fn next(sum: T, value: T) -> T {
        U::update(sum, value, true)
    }
    fn last(sum: T) -> T {
        sum
    }
}

/// A half, whichever.
trait Half: Float {
    fn from_single(value: f32) -> Self;
}

impl Half for f16 {
    fn from_single(value: f32) -> f16 {
        f16::from_f32(value)
    }
}

impl Half for bf16 {
    fn from_single(value: f32) -> bf16 {
        bf16::from_f32(value)
    }
}

/// `.acc::f32`: sums of halves are rounded once, at the end.
struct InSingle<F>(PhantomData<F>);

impl<F: Half> Reduction<u16> for InSingle<F> {
    type Sum = f32;
    fn first(value: u16) -> f32 {
        F::from_raw(value.into()).widen() as f32
    }
    fn next(sum: f32, value: u16) -> f32 {
        sum + <Self as Reduction<u16>>::first(value)
    }
    fn last(sum: f32) -> u16 {
        F::from_single(sum).bits() as u16
    }
}

impl<F: Half> Reduction<u32> for InSingle<F> {
    type Sum = [f32; 2];
    fn first(value: u32) -> [f32; 2] {
        [value as u16, (value >> 16) as u16].map(<Self as Reduction<u16>>::first)
    }
    fn next(sum: [f32; 2], value: u32) -> [f32; 2] {
        let [low, high] = <Self as Reduction<u32>>::first(value);
        [sum[0] + low, sum[1] + high]
    }
    fn last(sum: [f32; 2]) -> u32 {
        let [low, high] = sum.map(<Self as Reduction<u16>>::last);
        u32::from(high) << 16 | u32::from(low)
    }
}

/// The most elements of a vector.
const MOST: usize = 8;

/// `multimem.ld_reduce`
struct LoadReduce<T, R>(PhantomData<(T, R)>);

impl<T: AtomicWord, R: Reduction<T>> Op for LoadReduce<T, R> {
    type Operands = LoadReduceOperands<T>;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        let count = o.d.len();
        let size = (size_of::<T>() * count) as u32;
        let mut sums = [[R::Sum::default(); LANES]; MOST];
        let flow = access_replicas(warp, cluster, o.at, size, |warp, _, device, bytes| {
            let pointers = bytes.pointers(warp, size);
            for lane in lanes_of(warp.mask) {
                for (part, sums) in sums[..count].iter_mut().enumerate() {
                    let pointer = pointers[lane].cast::<T>().wrapping_add(part);
                    // SAFETY: the access path found `count` words there, aligned to the size of all.
                    let value = unsafe { T::load(pointer) };
                    sums[lane] = match device {
                        0 => R::first(value),
                        _ => R::next(sums[lane], value),
                    };
                }
            }
            Flow::Next
        });
        if flow == Flow::Next {
            for (part, sums) in sums[..count].iter().enumerate() {
                o.d.get(warp, part).put(warp, &sums.map(R::last));
            }
        }
        flow
    }
}

/// `multimem.red`
struct Reduce<T, U>(PhantomData<(T, U)>);

impl<T: AtomicWord, U: Update<T>> Op for Reduce<T, U> {
    type Operands = ReplicaStoreOperands<T>;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        let count = o.values.len();
        let size = (size_of::<T>() * count) as u32;
        access_replicas(warp, cluster, o.at, size, |warp, _, _, bytes| {
            let pointers = bytes.pointers(warp, size);
            for part in 0..count {
                let values = *o.values.get(warp, part).lanes(warp);
                for lane in lanes_of(warp.mask) {
                    let pointer = pointers[lane].cast::<T>().wrapping_add(part);
                    // SAFETY: the access path found `count` words there, aligned to the size of all.
                    unsafe { T::update(pointer, |old| U::update(old, values[lane], true)) };
                    warp.changes += 1;
                }
            }
            Flow::Next
        })
    }
}

/// `multimem.st`
struct ReplicaStore<T>(PhantomData<T>);

impl<T: AtomicWord> Op for ReplicaStore<T> {
    type Operands = ReplicaStoreOperands<T>;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        let count = o.values.len();
        let size = (size_of::<T>() * count) as u32;
        access_replicas(warp, cluster, o.at, size, |warp, _, _, bytes| {
            let pointers = bytes.pointers(warp, size);
            for part in 0..count {
                let values = *o.values.get(warp, part).lanes(warp);
                for lane in lanes_of(warp.mask) {
                    let pointer = pointers[lane].cast::<T>().wrapping_add(part);
                    // SAFETY: the access path found `count` words there, aligned to the size of all.
                    unsafe { T::store(pointer, values[lane]) };
                }
            }
            Flow::Next
        })
    }
}

fn read(form: &FormReader<'_>) -> Option<Lowering> {
    let ty = form.ty()?;
    let operation = form.one_of(&["add", "min", "max", "and", "or", "xor"]);
    let in_single = form.slot("acc").is_some();
    let count = match form.slot("vec") {
        None => 1,
        Some("v2") => 2,
        Some("v4") => 4,
        Some(_) => 8,
    };
    let loads = form.one_of(&["ld_reduce", "st", "red"])? == "ld_reduce";
    let effect = form.effect(usize::from(loads));
    Some(Lowering::new(move |cx, inst| {
        let (values, place) = match loads {
            true => (&inst.operands[0], &inst.operands[1]),
            false => (&inst.operands[1], &inst.operands[0]),
        };
        let at = address(cx, place, effect)?;
        let fields = fields(cx, values, ty, count, loads)?;
        let words = Words {
            fields: &fields,
            at,
            loads,
        };
        match operation {
            None => words.store(cx, inst, ty),
            Some("add") if in_single => words.add_in_single(cx, inst, ty),
            Some(operation) => words.reduce(cx, inst, ty, operation),
        }
    }))
}

/// The registers of a value or of all values of a vector.
fn fields<'a>(
    cx: &mut Builder<'a, '_>,
    values: &Operand<'a>,
    ty: Ty,
    count: usize,
    are_written: bool,
) -> Result<Vec<Field>> {
    let all = match count {
        1 => std::borrow::Cow::Borrowed(std::slice::from_ref(values)),
        _ => parts(cx, values, count)?,
    };
    let one = |value: &Operand<'a>| match are_written {
        true => cx.dst(value, Width::of(ty)),
        false => cx.src(value, ty),
    };
    all.iter().map(one).collect()
}

/// What an instruction is emitted of: registers, and the address.
struct Words<'f> {
    fields: &'f [Field],
    at: Address,
    loads: bool,
}

impl Words<'_> {
    fn store<'a>(&self, cx: &mut Builder<'a, '_>, inst: &Instruction<'a>, ty: Ty) -> Result<()> {
        macro_rules! emit {
            ($word:ty) => {{
                let (at, values) = (self.at, cx.read_list::<$word>(self.fields));
                cx.emit(
                    scalar::<ReplicaStore<$word>>(),
                    ReplicaStoreOperands { at, values },
                );
            }};
        }
        match ty.width() {
            16 => emit!(u16),
            32 => emit!(u32),
            64 => emit!(u64),
            _ => return Err(unsupported(inst)),
        }
        Ok(())
    }

    fn load_reduce<T: AtomicWord, R: Reduction<T>>(&self, cx: &mut Builder<'_, '_>) {
        let (d, at) = (cx.write_list::<T>(self.fields), self.at);
        cx.emit(scalar::<LoadReduce<T, R>>(), LoadReduceOperands { d, at });
    }

    fn by<T: AtomicWord, U: Update<T>>(&self, cx: &mut Builder<'_, '_>) {
        if self.loads {
            return self.load_reduce::<T, Stepwise<U>>(cx);
        }
        let (at, values) = (self.at, cx.read_list::<T>(self.fields));
        cx.emit(
            scalar::<Reduce<T, U>>(),
            ReplicaStoreOperands { at, values },
        );
    }

    fn add_in_single<'a>(
        &self,
        cx: &mut Builder<'a, '_>,
        inst: &Instruction<'a>,
        ty: Ty,
    ) -> Result<()> {
        match (ty.kind, ty.packed) {
            (ScalarKind::Float, 1) => self.load_reduce::<u16, InSingle<f16>>(cx),
            (ScalarKind::Float, 2) => self.load_reduce::<u32, InSingle<f16>>(cx),
            (ScalarKind::Brain, 1) => self.load_reduce::<u16, InSingle<bf16>>(cx),
            (ScalarKind::Brain, 2) => self.load_reduce::<u32, InSingle<bf16>>(cx),
            _ => return Err(unsupported(inst)),
        }
        Ok(())
    }

    fn reduce<'a>(
        &self,
        cx: &mut Builder<'a, '_>,
        inst: &Instruction<'a>,
        ty: Ty,
        operation: &str,
    ) -> Result<()> {
        match (operation, ty.kind, ty.bits, ty.packed) {
            ("and", ScalarKind::Bits, 32, 1) => self.by::<u32, And>(cx),
            ("and", ScalarKind::Bits, 64, 1) => self.by::<u64, And>(cx),
            ("or", ScalarKind::Bits, 32, 1) => self.by::<u32, Or>(cx),
            ("or", ScalarKind::Bits, 64, 1) => self.by::<u64, Or>(cx),
            ("xor", ScalarKind::Bits, 32, 1) => self.by::<u32, Xor>(cx),
            ("xor", ScalarKind::Bits, 64, 1) => self.by::<u64, Xor>(cx),
            ("add", ScalarKind::Unsigned | ScalarKind::Signed, 32, 1) => self.by::<u32, Add>(cx),
            ("add", ScalarKind::Unsigned, 64, 1) => self.by::<u64, Add>(cx),
            ("min", ScalarKind::Unsigned, 32, 1) => self.by::<u32, MinU>(cx),
            ("min", ScalarKind::Unsigned, 64, 1) => self.by::<u64, MinU>(cx),
            ("min", ScalarKind::Signed, 32, 1) => self.by::<u32, MinS32>(cx),
            ("min", ScalarKind::Signed, 64, 1) => self.by::<u64, MinS64>(cx),
            ("max", ScalarKind::Unsigned, 32, 1) => self.by::<u32, MaxU>(cx),
            ("max", ScalarKind::Unsigned, 64, 1) => self.by::<u64, MaxU>(cx),
            ("max", ScalarKind::Signed, 32, 1) => self.by::<u32, MaxS32>(cx),
            ("max", ScalarKind::Signed, 64, 1) => self.by::<u64, MaxS64>(cx),
            ("add", ScalarKind::Float, 32, 1) => self.by::<u32, AddF32>(cx),
            ("add", ScalarKind::Float, 64, 1) => self.by::<u64, AddF64>(cx),
            ("add", ScalarKind::Float, 16, 1) => self.by::<u16, AddF16>(cx),
            ("add", ScalarKind::Brain, 16, 1) => self.by::<u16, AddBf16>(cx),
            ("add", ScalarKind::Float, 16, 2) => self.by::<u32, AddF16x2>(cx),
            ("add", ScalarKind::Brain, 16, 2) => self.by::<u32, AddBf16x2>(cx),
            ("min", ScalarKind::Float, 16, 1) => self.by::<u16, MinHalf<f16>>(cx),
            ("min", ScalarKind::Brain, 16, 1) => self.by::<u16, MinHalf<bf16>>(cx),
            ("min", ScalarKind::Float, 16, 2) => self.by::<u32, MinHalf<f16>>(cx),
            ("min", ScalarKind::Brain, 16, 2) => self.by::<u32, MinHalf<bf16>>(cx),
            ("max", ScalarKind::Float, 16, 1) => self.by::<u16, MaxHalf<f16>>(cx),
            ("max", ScalarKind::Brain, 16, 1) => self.by::<u16, MaxHalf<bf16>>(cx),
            ("max", ScalarKind::Float, 16, 2) => self.by::<u32, MaxHalf<f16>>(cx),
            ("max", ScalarKind::Brain, 16, 2) => self.by::<u32, MaxHalf<bf16>>(cx),
            _ => return Err(unsupported(inst)),
        }
        Ok(())
    }
}
