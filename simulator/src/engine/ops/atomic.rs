//! `atom red`: host atomics on real memory, lane by lane, so that blocks on several cores see them whole.

use std::marker::PhantomData;
use std::sync::atomic::{AtomicU16, AtomicU32, AtomicU64, Ordering};

use super::logic::by_width;
use super::memory::{cache_hints, space, strength};
use super::resolve::{Access, COUNT_SHIFT, Found, GENERIC, GLOBAL, LOCAL_SPACE, PARAMETER_SPACE};
use crate::engine::exec::level::{Level, scalar};
use crate::engine::exec::lanes::{LANES, SINK, dst, lanes_of, src};
use crate::engine::exec::warp::{Flow, Warp};
use crate::engine::lower::modifiers::{Kind, Modifiers, Ty, unknown};
use crate::engine::lower::{Builder, Field, Link, Width, expect_operands};
use crate::numerics::float::{Float, atomic_add};
use crate::ptx::Result;
use crate::ptx::ast::Instruction;
use half::{bf16, f16};

/// A word with host atomics.
pub(crate) trait Word: Copy + Default + Eq {
    /// Replaces the word by `f` of it; the old one. Sequentially consistent.
    unsafe fn update(pointer: *mut Self, f: impl Fn(Self) -> Self) -> Self;
    /// Compare and swap; the old one.
    unsafe fn swap_if(pointer: *mut Self, compare: Self, value: Self) -> Self;
}

macro_rules! word {
    ($($ty:ty, $atomic:ty;)*) => { $(impl Word for $ty {
        #[inline(always)]
        unsafe fn update(pointer: *mut $ty, f: impl Fn($ty) -> $ty) -> $ty {
            // SAFETY: the pointer was resolved: valid and aligned.
            let word = unsafe { &*pointer.cast::<$atomic>() };
            let mut old = word.load(Ordering::Relaxed);
            loop {
                match word.compare_exchange_weak(old, f(old), Ordering::SeqCst, Ordering::Relaxed) {
                    Ok(_) => return old,
                    Err(now) => old = now,
                }
            }
        }
        #[inline(always)]
        unsafe fn swap_if(pointer: *mut $ty, compare: $ty, value: $ty) -> $ty {
            // SAFETY: the pointer was resolved: valid and aligned.
            let word = unsafe { &*pointer.cast::<$atomic>() };
            match word.compare_exchange(compare, value, Ordering::SeqCst, Ordering::SeqCst) {
                Ok(old) | Err(old) => old,
            }
        }
    })* };
}
word! { u16, AtomicU16; u32, AtomicU32; u64, AtomicU64; }

impl Word for u128 {
    unsafe fn update(pointer: *mut u128, f: impl Fn(u128) -> u128) -> u128 {
        let _guard = wide_lock();
        // SAFETY: the pointer was resolved; all 128-bit atomics hold the lock.
        unsafe {
            let old = pointer.read();
            pointer.write(f(old));
            old
        }
    }
    unsafe fn swap_if(pointer: *mut u128, compare: u128, value: u128) -> u128 {
        // SAFETY: the caller's promise.
        unsafe { Self::update(pointer, |old| if old == compare { value } else { old }) }
    }
}

/// 128-bit atomics exclude one another; the host has none that stable Rust offers.
fn wide_lock() -> std::sync::MutexGuard<'static, ()> {
    static LOCK: std::sync::Mutex<()> = std::sync::Mutex::new(());
    LOCK.lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// An operation: what becomes of the old word. The flag says whether the memory is global.
pub(crate) trait Update<T> {
    fn update(old: T, value: T, global: bool) -> T;
}

macro_rules! updates {
    ($($name:ident: $($ty:ty)* => |$old:ident, $value:ident, $global:ident| $body:expr;)*) => { $(
        struct $name;
        $(impl Update<$ty> for $name {
            #[inline(always)]
            fn update($old: $ty, $value: $ty, $global: bool) -> $ty { let _ = $global; $body }
        })*
    )* };
}
updates! {
    Exchange: u32 u64 u128 => |_old, value, _g| value;
    And: u32 u64 => |old, value, _g| old & value;
    Or: u32 u64 => |old, value, _g| old | value;
    Xor: u32 u64 => |old, value, _g| old ^ value;
    Add: u32 u64 => |old, value, _g| old.wrapping_add(value);
    Inc: u32 => |old, value, _g| if old >= value { 0 } else { old + 1 };
    Dec: u32 => |old, value, _g| if old == 0 || old > value { value } else { old - 1 };
    MinU: u32 u64 => |old, value, _g| old.min(value);
    MaxU: u32 u64 => |old, value, _g| old.max(value);
    MinS32: u32 => |old, value, _g| (old as i32).min(value as i32) as u32;
    MaxS32: u32 => |old, value, _g| (old as i32).max(value as i32) as u32;
    MinS64: u64 => |old, value, _g| (old as i64).min(value as i64) as u64;
    MaxS64: u64 => |old, value, _g| (old as i64).max(value as i64) as u64;
    AddF32: u32 => |old, value, global| atomic_add(f32::from_bits(old), f32::from_bits(value), global).to_bits();
    AddF64: u64 => |old, value, global| atomic_add(f64::from_bits(old), f64::from_bits(value), global).to_bits();
    AddF16: u16 => |old, value, global| atomic_add(f16::from_bits(old), f16::from_bits(value), global).to_bits();
    AddBf16: u16 => |old, value, global| atomic_add(bf16::from_bits(old), bf16::from_bits(value), global).to_bits();
    AddF16x2: u32 => |old, value, global| halves::<f16>(old, value, global);
    AddBf16x2: u32 => |old, value, global| halves::<bf16>(old, value, global);
}

fn halves<F: Float>(old: u32, value: u32, global: bool) -> u32 {
    let part = |shift: u32| {
        let (a, b) = (
            F::from_raw(u64::from(old >> shift & 0xFFFF)),
            F::from_raw(u64::from(value >> shift & 0xFFFF)),
        );
        (atomic_add(a, b, global).bits() as u32) << shift
    };
    part(0) | part(16)
}

/// `d` (or the sink) old value, `a` base, `b` value, `c` offset.
struct Atomic<T, U>(PhantomData<(T, U)>);

impl<T: Word, U: Update<T>> WordsOp for Atomic<T, U> {
    #[inline(always)]
    unsafe fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, inst: &Words) -> Flow {
        // SAFETY: the lowering made a memory instruction of these widths; resolved pointers are valid and aligned.
        unsafe {
            let Some(pointers) = pointers::<L>(warp, inst, size_of::<T>() as u32) else {
                return Flow::Fault;
            };
            let global = !is_shared(warp, pointers[warp.mask.trailing_zeros() as usize & 31]);
            let values = *src::<T>(warp, inst.b);
            let mut result = [T::default(); LANES];
            for lane in lanes_of(warp.mask) {
                let update = |old| U::update(old, values[lane], global);
                let old = T::update(pointers[lane].cast(), update);
                warp.changes += u64::from(update(old) != old);
                result[lane] = old;
            }
            finish(warp, inst, &result);
        }
        Flow::Next
    }
}

/// The operation of `Atomic` for each part of a vector of floats: `d` and `b` are lists.
struct AtomicVector<T, U>(PhantomData<(T, U)>);

impl<T: Word, U: Update<T>> WordsOp for AtomicVector<T, U> {
    #[inline(always)]
    unsafe fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, inst: &Words) -> Flow {
        let count = (inst.x >> COUNT_SHIFT & 15) as usize;
        // SAFETY: as for `Atomic`; the lists have `count` entries.
        unsafe {
            let size = (size_of::<T>() * count) as u32;
            let Some(pointers) = pointers::<L>(warp, inst, size) else {
                return Flow::Fault;
            };
            let (values, targets) = (warp.list(inst.b, count), warp.list(inst.d, count));
            for part in 0..count {
                let values = *src::<T>(warp, values[part]);
                for lane in lanes_of(warp.mask) {
                    let pointer = pointers[lane].cast::<T>().add(part);
                    let old = T::update(pointer, |old| U::update(old, values[lane], true));
                    warp.changes += 1;
                    if targets[part] != SINK {
                        dst::<T>(warp, targets[part])[lane] = old;
                    }
                }
            }
            warp.polls();
        }
        Flow::Next
    }
}

/// `atom.cas`: `d` a list of destination and compare value.
struct CompareSwap<T>(PhantomData<T>);

impl<T: Word> WordsOp for CompareSwap<T> {
    #[inline(always)]
    unsafe fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, inst: &Words) -> Flow {
        // SAFETY: as for `Atomic`; `d` is a list of two.
        unsafe {
            let Some(pointers) = pointers::<L>(warp, inst, size_of::<T>() as u32) else {
                return Flow::Fault;
            };
            let list = warp.list(inst.d, 2);
            let (compare, values) = (*src::<T>(warp, list[1]), *src::<T>(warp, inst.b));
            for lane in lanes_of(warp.mask) {
                let old = T::swap_if(pointers[lane].cast(), compare[lane], values[lane]);
                warp.changes += u64::from(old == compare[lane] && old != values[lane]);
                if list[0] != SINK {
                    dst::<T>(warp, list[0])[lane] = old;
                }
            }
            warp.polls();
        }
        Flow::Next
    }
}

/// The lanes' addresses.
#[inline(always)]
unsafe fn pointers<L: Level>(warp: &mut Warp, inst: &Words, size: u32) -> Option<[*mut u8; LANES]> {
    // SAFETY: the caller's promise.
    match unsafe { L::find(warp, inst, size, Access::Atomic) } {
        Found::Contiguous(start) => {
            warp.pointers = std::array::from_fn(|lane| start.wrapping_add(lane * size as usize));
        }
        Found::Scattered => {}
        Found::Failed => return None,
    }
    if warp.watched {
        super::watch::global(warp, inst, Access::Atomic);
    }
    Some(warp.pointers)
}

/// Whether the memory is shared, of this block or of another one of the cluster.
fn is_shared(warp: &Warp, pointer: *mut u8) -> bool {
    warp.block().cluster().holds(pointer)
}

#[inline(always)]
unsafe fn finish<T: Copy>(warp: &mut Warp, inst: &Words, result: &[T; LANES]) {
    if inst.d != SINK {
        // SAFETY: the destination has this width.
        unsafe { crate::engine::exec::lanes::put(warp, inst.d, result) }
    }
    warp.polls();
}

fn exec(operation: &str, ty: Ty) -> Option<Code> {
    macro_rules! by {
        ($op:ident) => {
            by_width(
                ty.width(),
                UNSUPPORTED,
                scalar::<Atomic<u32, $op>>(),
                scalar::<Atomic<u64, $op>>(),
            )
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

/// Stands for a width that is refused before.
const UNSUPPORTED: Code = unsupported;

unsafe fn unsupported(warp: &mut Warp, cluster: &mut Cluster<'_>, _: &Words) -> Flow {
    warp.fail(
        crate::engine::fault::FaultKind::IllegalInstruction,
        0,
        "an atomic operation of this width",
    )
}

pub(crate) fn lower<'a>(cx: &mut Builder<'a, '_>, inst: &'a Instruction<'a>) -> Result<()> {
    let mut modifiers = Modifiers::new(inst);
    let flags = strength(&mut modifiers);
    let space = space(&mut modifiers).map_or(GENERIC, |s| s.1);
    if matches!(space, LOCAL_SPACE | PARAMETER_SPACE) || inst.modifiers.contains(&"const") {
        return Err(unknown(inst));
    }
    let operations = [
        "exch", "cas", "and", "or", "xor", "add", "inc", "dec", "min", "max",
    ];
    let operation = modifiers.any(&operations).ok_or_else(|| unknown(inst))?;
    modifiers.flag("noftz");
    let hints = cache_hints(&mut modifiers);
    let vector = modifiers.any(&["v2", "v4", "v8"]);
    let ty = modifiers.ty().ok_or_else(|| unknown(inst))?;
    modifiers.finish(inst)?;
    let atom = inst.opcode == "atom";
    let width = Width::of(ty);
    let operands = &inst.operands[usize::from(atom && !inst.operands.is_empty())..];
    let cas = operation == "cas";
    expect_operands(inst, &[usize::from(atom) + 2 + usize::from(cas) + hints])?;
    if !atom && matches!(operation, "exch" | "cas") {
        return Err(unknown(inst));
    }
    let address = cx.address(&operands[0])?;
    let (a, offset, place) = super::memory::base(cx, address, space)?;
    let x = flags | place;
    if let Some(vector) = vector {
        return lower_vector(cx, inst, (operation, ty, vector, space), (a, offset, x));
    }
    if cas {
        let exec = match ty.width() {
            16 => scalar::<CompareSwap<u16>>(),
            32 => scalar::<CompareSwap<u32>>(),
            64 => scalar::<CompareSwap<u64>>(),
            _ => scalar::<CompareSwap<u128>>(),
        };
        if ty.kind != Kind::Bits || ty.bits == 8 {
            return Err(unknown(inst));
        }
        let d = cx.dst(&inst.operands[0], width)?;
        let (compare, value) = (cx.src(&operands[1], ty)?, cx.src(&operands[2], ty)?);
        let list = cx.list(&[(d, true), (compare, false)]);
        let lowered = cx.emit_untyped(exec, Field::Raw(list.0), a, value, offset);
        lowered.x = Link::Raw(x);
        lowered.list = list;
        return Ok(());
    }
    let exec = exec(operation, ty).ok_or_else(|| unknown(inst))?;
    let d = if atom {
        cx.dst(&inst.operands[0], width)?
    } else {
        Field::Sink
    };
    let value = cx.src(&operands[1], ty)?;
    cx.emit_untyped(exec, d, a, value, offset).x = Link::Raw(x);
    Ok(())
}

fn lower_vector<'a>(
    cx: &mut Builder<'a, '_>,
    inst: &'a Instruction<'a>,
    (operation, ty, vector, space): (&str, Ty, &str, u8),
    (a, offset, x): (Field, Field, u32),
) -> Result<()> {
    let count: usize = vector[1..].parse().unwrap_or(0);
    let atom = inst.opcode == "atom";
    let exec = match (ty.kind, ty.bits, ty.packed) {
        (Kind::Float, 32, 1) => scalar::<AtomicVector<u32, AddF32>>(),
        (Kind::Float, 16, 1) => scalar::<AtomicVector<u16, AddF16>>(),
        (Kind::Brain, 16, 1) => scalar::<AtomicVector<u16, AddBf16>>(),
        (Kind::Float, 16, 2) => scalar::<AtomicVector<u32, AddF16x2>>(),
        (Kind::Brain, 16, 2) => scalar::<AtomicVector<u32, AddBf16x2>>(),
        _ => return Err(unknown(inst)),
    };
    if space != GLOBAL || operation != "add" || ty.width() as usize * count > 128 {
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
        return Err(crate::ptx::Error::new(
            inst.at,
            format!("expected vectors of {count} parts"),
        ));
    }
    let mut fields = Vec::new();
    for source in &sources {
        fields.push((cx.src(source, ty)?, false));
    }
    for target in &targets {
        fields.push((cx.dst(target, Width::of(ty))?, true));
    }
    fields.resize(2 * count, (Field::Sink, false));
    let list = cx.list(&fields);
    let lowered = cx.emit_untyped(
        exec,
        Field::Raw(list.0 + count as u32),
        a,
        Field::Raw(list.0),
        offset,
    );
    lowered.x = Link::Raw(x | (count as u32) << COUNT_SHIFT);
    lowered.list = list;
    Ok(())
}
