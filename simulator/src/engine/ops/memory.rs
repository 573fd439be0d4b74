//! `ld ldu st prefetch`: loads and stores of all widths, scalar and vector.

use std::marker::PhantomData;

use super::parameters;
use super::resolve::{
    Access, COUNT_SHIFT, EXTENT_SHIFT, Found, GENERIC, GLOBAL, LOCAL_SPACE, ORDERED,
    PARAMETER_SPACE, REGISTER_SHIFT, SHARED_SPACE, SPACE_SHIFT, STRONG, WIDE_BASE, resolve,
};
use crate::engine::exec::level::{Level, vector};
use crate::engine::exec::lanes::{FULL, LANES, dst, lanes_of, put_or_sink, src};
use crate::engine::exec::warp::{EXTENTS, Code, Flow, Warp};
use crate::engine::lower::modifiers::{Kind, Modifiers, Ty, unknown};
use crate::engine::lower::{Address, Base, Builder, Field, Link, Symbol, Width, expect_operands};
use crate::ptx::ast::{Instruction, Operand};
use crate::ptx::{Error, Result};
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering, fence};

/// A type in memory: how strong accesses are made.
pub(crate) trait Memory: Copy + Default {
    /// A single access, relaxed.
    unsafe fn load(pointer: *const Self) -> Self;
    /// A single access, relaxed.
    unsafe fn store(pointer: *mut Self, value: Self);
}

macro_rules! memory {
    ($($ty:ty, $atomic:ty;)*) => { $(impl Memory for $ty {
        #[inline(always)]
        unsafe fn load(pointer: *const $ty) -> $ty {
            // SAFETY: the pointer was resolved: valid and aligned.
            unsafe { (*pointer.cast::<$atomic>()).load(Ordering::Relaxed) as $ty }
        }
        #[inline(always)]
        unsafe fn store(pointer: *mut $ty, value: $ty) {
            // SAFETY: the pointer was resolved: valid and aligned.
            unsafe { (*pointer.cast::<$atomic>()).store(value as _, Ordering::Relaxed) }
        }
    })* };
}
memory! { u8, AtomicU8; i8, AtomicU8; u16, AtomicU16; i16, AtomicU16; u32, AtomicU32; i32, AtomicU32; u64, AtomicU64; }

impl Memory for u128 {
    #[inline(always)]
    unsafe fn load(pointer: *const u128) -> u128 {
        let halves = pointer.cast::<u64>();
        // SAFETY: the pointer was resolved; 16 bytes are two accesses of 8, as the hardware may do it.
        unsafe { u128::from(u64::load(halves)) | u128::from(u64::load(halves.add(1))) << 64 }
    }
    #[inline(always)]
    unsafe fn store(pointer: *mut u128, value: u128) {
        let halves = pointer.cast::<u64>();
        // SAFETY: as above.
        unsafe {
            u64::store(halves, value as u64);
            u64::store(halves.add(1), (value >> 64) as u64);
        }
    }
}

/// Widening from memory to a register.
pub(crate) trait Widen<R> {
    fn widen(self) -> R;
}

macro_rules! widen {
    ($($m:ty => $($r:ty),*;)*) => { $($(impl Widen<$r> for $m {
        #[inline(always)]
        fn widen(self) -> $r { self as $r }
    })*)* };
}
widen! {
    u8 => u16, u32, u64; i8 => u16, u32, u64; u16 => u16, u32, u64; i16 => u32, u64; u32 => u32, u64; i32 => u64;
    u64 => u64; u128 => u128; i16 => u16; i32 => u32;
}

/// A load of `M` into a register of `R`. `d` destination, `a` base, `c` offset, `x` see [`super::resolve`].
struct Load<M, R, const INLINE: bool>(PhantomData<(M, R)>);

impl<M: Memory + Widen<R>, R: Copy + Default, const INLINE: bool> WordsOp for Load<M, R, INLINE> {
    #[inline(always)]
    unsafe fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, inst: &Words) -> Flow {
        // SAFETY: the lowering made a memory instruction of this space and these widths; resolved pointers can be read.
        unsafe {
            match found::<L, INLINE>(warp, inst, size_of::<M>() as u32, Access::Read) {
                Found::Contiguous(start) => {
                    let values = &*start.cast::<[M; LANES]>();
                    let target = dst::<R>(warp, inst.d);
                    for lane in 0..LANES {
                        target[lane] = values[lane].widen();
                    }
                }
                Found::Scattered if warp.mask == FULL => {
                    let target = dst::<R>(warp, inst.d);
                    for lane in 0..LANES {
                        target[lane] = M::load(warp.pointers[lane].cast()).widen();
                    }
                }
                Found::Scattered => {
                    let target = dst::<R>(warp, inst.d);
                    for lane in lanes_of(warp.mask) {
                        target[lane] = M::load(warp.pointers[lane].cast()).widen();
                    }
                }
                Found::Failed => return Flow::Fault,
            }
            strong(warp, inst, fence_after_load);
        }
        Flow::Next
    }
}

#[inline(always)]
fn strong(warp: &mut Warp, inst: &Words, order: fn()) {
    if inst.x & STRONG != 0 {
        warp.polls();
        if warp.watched {
            super::watch::global(warp, inst, Access::Read);
        }
        if inst.x & ORDERED != 0 {
            order();
        }
    }
}

fn fence_after_load() {
    fence(Ordering::Acquire);
}

/// A vector load; `d` is a list.
struct LoadVector<M, R>(PhantomData<(M, R)>);

impl<M: Memory + Widen<R>, R: Copy + Default> WordsOp for LoadVector<M, R> {
    #[inline(always)]
    unsafe fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, inst: &Words) -> Flow {
        let count = (inst.x >> COUNT_SHIFT & 15) as usize;
        let size = (size_of::<M>() * count) as u32;
        // SAFETY: as for `Load`; `d` is a list of `count` registers or sinks.
        unsafe {
            let list = warp.list(inst.d, count);
            match L::find(warp, inst, size, Access::Read) {
                Found::Contiguous(start) => {
                    let start = start.cast::<M>();
                    for (part, &operand) in list.iter().enumerate() {
                        let mut result = [R::default(); LANES];
                        for lane in 0..LANES {
                            result[lane] = start.add(lane * count + part).read().widen();
                        }
                        put_or_sink(warp, operand, &result);
                    }
                }
                Found::Scattered => {
                    let pointers = warp.pointers;
                    for (part, &operand) in list.iter().enumerate() {
                        let mut result = [R::default(); LANES];
                        for lane in lanes_of(warp.mask) {
                            result[lane] = M::load(pointers[lane].cast::<M>().add(part)).widen();
                        }
                        put_or_sink(warp, operand, &result);
                    }
                }
                Found::Failed => return Flow::Fault,
            }
        }
        strong(warp, inst, fence_after_load);
        Flow::Next
    }
}

/// Resolves: in place for global memory, where it is worth the code.
#[inline(always)]
unsafe fn found<L: Level, const INLINE: bool>(
    warp: &mut Warp,
    inst: &Words,
    size: u32,
    access: Access,
) -> Found {
    // SAFETY: the caller's promise is that of `resolve`.
    unsafe {
        if INLINE {
            resolve::<GLOBAL>(warp, inst, size, access)
        } else {
            L::find(warp, inst, size, access)
        }
    }
}

/// Resolves with the space from `x`.
#[inline(always)]
pub(crate) unsafe fn by_space(warp: &mut Warp, inst: &Words, size: u32, access: Access) -> Found {
    // SAFETY: the caller's promise is that of `resolve`.
    unsafe {
        match (inst.x >> SPACE_SHIFT & 15) as u8 {
            GENERIC => resolve::<GENERIC>(warp, inst, size, access),
            GLOBAL => resolve::<GLOBAL>(warp, inst, size, access),
            SHARED_SPACE => resolve::<SHARED_SPACE>(warp, inst, size, access),
            LOCAL_SPACE => resolve::<LOCAL_SPACE>(warp, inst, size, access),
            _ => resolve::<PARAMETER_SPACE>(warp, inst, size, access),
        }
    }
}

/// Narrowing from a register to memory.
pub(crate) trait Narrow<M> {
    fn narrow(self) -> M;
}

macro_rules! narrow {
    ($($r:ty => $($m:ty),*;)*) => { $($(impl Narrow<$m> for $r {
        #[inline(always)]
        fn narrow(self) -> $m { self as $m }
    })*)* };
}
narrow! { u16 => u8, u16; u32 => u8, u16, u32; u64 => u8, u16, u32, u64; u128 => u128; }

/// A store of `M` from a register of `R`. `b` value, `a` base, `c` offset.
struct Store<M, R, const INLINE: bool>(PhantomData<(M, R)>);

impl<M: Memory, R: Copy + Narrow<M>, const INLINE: bool> WordsOp for Store<M, R, INLINE> {
    #[inline(always)]
    unsafe fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, inst: &Words) -> Flow {
        warp.changes += 1;
        if inst.x & ORDERED != 0 {
            fence(Ordering::Release);
        }
        // SAFETY: the lowering made a memory instruction of this space and these widths; resolved pointers can be written.
        unsafe {
            match found::<L, INLINE>(warp, inst, size_of::<M>() as u32, Access::Write) {
                Found::Contiguous(start) => {
                    let values = src::<R>(warp, inst.b);
                    let mut result = [M::default(); LANES];
                    for lane in 0..LANES {
                        result[lane] = values[lane].narrow();
                    }
                    start.cast::<[M; LANES]>().write(result);
                }
                Found::Scattered => {
                    let values = src::<R>(warp, inst.b);
                    for lane in lanes_of(warp.mask) {
                        M::store(warp.pointers[lane].cast(), values[lane].narrow());
                    }
                }
                Found::Failed => return Flow::Fault,
            }
        }
        if warp.watched && inst.x & STRONG != 0 {
            super::watch::global(warp, inst, Access::Write);
        }
        Flow::Next
    }
}

/// A vector store; `b` is a list.
struct StoreVector<M, R>(PhantomData<(M, R)>);

impl<M: Memory, R: Copy + Narrow<M>> WordsOp for StoreVector<M, R> {
    #[inline(always)]
    unsafe fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, inst: &Words) -> Flow {
        warp.changes += 1;
        if inst.x & ORDERED != 0 {
            fence(Ordering::Release);
        }
        let count = (inst.x >> COUNT_SHIFT & 15) as usize;
        let size = (size_of::<M>() * count) as u32;
        // SAFETY: as for `Store`; `b` is a list of `count` sources.
        unsafe {
            let list = warp.list(inst.b, count);
            let found = L::find(warp, inst, size, Access::Write);
            let pointers = warp.pointers;
            for (part, &operand) in list.iter().enumerate() {
                let values = src::<R>(warp, operand);
                match found {
                    Found::Contiguous(start) => {
                        let start = start.cast::<M>();
                        for lane in 0..LANES {
                            start.add(lane * count + part).write(values[lane].narrow());
                        }
                    }
                    Found::Scattered => {
                        for lane in lanes_of(warp.mask) {
                            M::store(pointers[lane].cast::<M>().add(part), values[lane].narrow());
                        }
                    }
                    Found::Failed => return Flow::Fault,
                }
            }
        }
        Flow::Next
    }
}

/// Picks a load by the type in memory and the register's width.
macro_rules! pick_load {
    ($ty:expr, $width:expr, $make:ident) => {
        match ($ty.kind == Kind::Signed, $ty.bits, $width) {
            (false, 8, Width::W16) => Some($make!(u8, u16)),
            (false, 8, Width::W32) => Some($make!(u8, u32)),
            (false, 8, Width::W64) => Some($make!(u8, u64)),
            (true, 8, Width::W16) => Some($make!(i8, u16)),
            (true, 8, Width::W32) => Some($make!(i8, u32)),
            (true, 8, Width::W64) => Some($make!(i8, u64)),
            (_, 16, Width::W16) => Some($make!(u16, u16)),
            (false, 16, Width::W32) => Some($make!(u16, u32)),
            (false, 16, Width::W64) => Some($make!(u16, u64)),
            (true, 16, Width::W32) => Some($make!(i16, u32)),
            (true, 16, Width::W64) => Some($make!(i16, u64)),
            (_, 32, Width::W32) => Some($make!(u32, u32)),
            (false, 32, Width::W64) => Some($make!(u32, u64)),
            (true, 32, Width::W64) => Some($make!(i32, u64)),
            (_, 64, Width::W64) => Some($make!(u64, u64)),
            (_, 128, Width::W128) => Some($make!(u128, u128)),
            _ => None,
        }
    };
}

/// Picks a store likewise.
macro_rules! pick_store {
    ($ty:expr, $width:expr, $make:ident) => {
        match ($ty.bits, $width) {
            (8, Width::W16) => Some($make!(u8, u16)),
            (8, Width::W32) => Some($make!(u8, u32)),
            (8, Width::W64) => Some($make!(u8, u64)),
            (16, Width::W16) => Some($make!(u16, u16)),
            (16, Width::W32) => Some($make!(u16, u32)),
            (16, Width::W64) => Some($make!(u16, u64)),
            (32, Width::W32) => Some($make!(u32, u32)),
            (32, Width::W64) => Some($make!(u32, u64)),
            (64, Width::W64) => Some($make!(u64, u64)),
            (128, Width::W128) => Some($make!(u128, u128)),
            _ => None,
        }
    };
}

pub(crate) use {pick_load, pick_store};

/// Accesses of whole words of global memory are compiled with their address checks in place.
fn is_inline(ty: Ty, width: Width, space: u8) -> bool {
    space == GLOBAL && ty.bits >= 32 && Width::of(ty) == width
}

fn load_exec(ty: Ty, width: Width, space: u8) -> Option<Code> {
    if is_inline(ty, width, space) && ty.bits == 32 {
        return Some(vector::<Load<u32, u32, true>>());
    }
    if is_inline(ty, width, space) && ty.bits == 64 {
        return Some(vector::<Load<u64, u64, true>>());
    }
    macro_rules! make {
        ($m:ty, $r:ty) => {
            vector::<Load<$m, $r, false>>()
        };
    }
    pick_load!(ty, width, make)
}

fn store_exec(ty: Ty, width: Width, space: u8) -> Option<Code> {
    if is_inline(ty, width, space) && ty.bits == 32 {
        return Some(vector::<Store<u32, u32, true>>());
    }
    if is_inline(ty, width, space) && ty.bits == 64 {
        return Some(vector::<Store<u64, u64, true>>());
    }
    macro_rules! make {
        ($m:ty, $r:ty) => {
            vector::<Store<$m, $r, false>>()
        };
    }
    pick_store!(ty, width, make)
}

/// What a memory instruction's modifiers say.
pub(crate) struct Shape {
    pub space: u8,
    /// `.const`: stores are refused.
    pub constant: bool,
    /// `.param` of a function.
    pub parameter: bool,
    pub flags: u32,
    pub count: usize,
    pub ty: Ty,
    pub extra_operands: usize,
}

const SPACES: [(&str, u8); 9] = [
    ("global", GLOBAL),
    ("const", GLOBAL),
    ("shared", SHARED_SPACE),
    ("shared::cta", SHARED_SPACE),
    ("shared::cluster", SHARED_SPACE),
    ("local", LOCAL_SPACE),
    ("param", PARAMETER_SPACE),
    ("param::entry", PARAMETER_SPACE),
    ("param::func", PARAMETER_SPACE),
];

/// Takes a state space.
pub(crate) fn space(modifiers: &mut Modifiers) -> Option<(&'static str, u8)> {
    SPACES
        .iter()
        .copied()
        .find(|(name, _)| modifiers.flag(name))
}

/// Takes what says how strong an access is; the bits for `x`.
pub(crate) fn strength(modifiers: &mut Modifiers) -> u32 {
    let semantics = modifiers.any(&[
        "weak", "volatile", "relaxed", "acquire", "release", "acq_rel", "mmio",
    ]);
    let mmio = semantics != Some("mmio") && modifiers.flag("mmio");
    modifiers.any(&["cta", "cluster", "gpu", "sys"]);
    match semantics {
        Some("volatile" | "relaxed" | "mmio") => STRONG,
        Some("acquire" | "release" | "acq_rel") => STRONG | ORDERED,
        _ if mmio => STRONG,
        _ => 0,
    }
}

/// Takes hints about caches; the number of operands that belong to them.
pub(crate) fn cache_hints(modifiers: &mut Modifiers) -> usize {
    let mut operands = 0;
    let mut clone = modifiers.clone();
    while let Some(&name) = clone.rest().first() {
        let known = matches!(
            name,
            "ca" | "cg" | "cs" | "lu" | "cv" | "wb" | "wt" | "nc" | "unified"
        ) || name.starts_with("L1::")
            || name.starts_with("L2::");
        if known {
            modifiers.flag(name);
            operands += usize::from(name == "L2::cache_hint");
        }
        clone.flag(name);
    }
    operands
}

fn shape(inst: &Wordsruction) -> Result<Shape> {
    let mut modifiers = Modifiers::new(inst);
    let flags = strength(&mut modifiers);
    let space = space(&mut modifiers);
    let count = match modifiers.any(&["v2", "v4", "v8"]) {
        Some("v2") => 2,
        Some("v4") => 4,
        Some("v8") => 8,
        _ => 1,
    };
    let extra_operands = cache_hints(&mut modifiers);
    let ty = modifiers
        .ty()
        .filter(|t| t.kind != Kind::Pred)
        .ok_or_else(|| unknown(inst))?;
    let ty = Ty {
        kind: ty.kind,
        bits: ty.width(),
        packed: 1,
    };
    modifiers.finish(inst)?;
    if ty.bits as usize * count > 256 || count == 8 && ty.bits != 32 {
        return Err(unknown(inst));
    }
    Ok(Shape {
        space: space.map_or(GENERIC, |s| s.1),
        constant: space.is_some_and(|s| s.0 == "const"),
        parameter: space.is_some_and(|s| s.1 == PARAMETER_SPACE),
        flags,
        count,
        ty,
        extra_operands,
    })
}

/// The base, offset and flags of an address that is computed at run time.
pub(crate) fn base<'a>(
    cx: &mut Builder<'a, '_>,
    address: Address<'a>,
    space: u8,
) -> Result<(Field, Field, u32)> {
    let mut flags = u32::from(space) << SPACE_SHIFT | next_extent(cx) << EXTENT_SHIFT;
    let mut offset = address.offset;
    let field = match address.base {
        Base::Register(register, wide) => {
            if !wide && matches!(space, GLOBAL | GENERIC) {
                return Err(Error::new(
                    address.at,
                    "a global or generic address has 64 bits",
                ));
            }
            flags |= if wide { WIDE_BASE } else { 0 };
            Field::Register(register)
        }
        Base::Absolute => {
            flags |= WIDE_BASE;
            let field = cx.constant(offset as u64, Width::W64);
            offset = 0;
            field
        }
        Base::Symbol(name, symbol) => {
            flags |= WIDE_BASE;
            let field = cx.address_of(name, &symbol, offset, address.at)?;
            offset = 0;
            match (space, &symbol) {
                (
                    GENERIC,
                    Symbol::Shared { .. } | Symbol::Local { .. } | Symbol::Parameter { .. },
                ) => {
                    return Err(Error::new(
                        address.at,
                        format!("`{name}` needs its state space in the instruction"),
                    ));
                }
                _ => field,
            }
        }
    };
    if let Ok(offset) = i32::try_from(offset) {
        return Ok((field, Field::Raw(offset as u32), flags));
    }
    // An offset beyond 32 bits is added beforehand.
    let sum = Field::Register(cx.new_register(Width::W64));
    let constant = cx.constant(offset as u64, Width::W64);
    cx.emit_untyped(
        vector::<super::integer::Add<u64>>(),
        sum,
        field,
        constant,
        Field::NONE,
    );
    Ok((sum, Field::Raw(0), flags))
}

/// Each memory instruction remembers one of the extents.
fn next_extent(cx: &Builder<'_, '_>) -> u32 {
    cx.code.len() as u32 % EXTENTS as u32
}

pub(crate) fn lower<'a>(cx: &mut Builder<'a, '_>, inst: &'a Instruction<'a>) -> Result<()> {
    match inst.opcode {
        "prefetch" | "prefetchu" | "applypriority" | "discard" => {
            super::control::emit_nothing(cx);
            Ok(())
        }
        "st" => store(cx, inst),
        _ => load(cx, inst),
    }
}

fn load<'a>(cx: &mut Builder<'a, '_>, inst: &'a Instruction<'a>) -> Result<()> {
    let shape = shape(inst)?;
    expect_operands(inst, &[2 + shape.extra_operands])?;
    let targets: Vec<_> = cx
        .parts(&inst.operands[0])
        .into_iter()
        .map(std::borrow::Cow::into_owned)
        .collect();
    if targets.len() != shape.count {
        return Err(Error::new(
            inst.operands[0].at,
            format!("expected {} destinations", shape.count),
        ));
    }
    let address = cx.address(&inst.operands[1])?;
    if shape.parameter
        && let Base::Symbol(name, symbol) = &address.base
    {
        let name = (*name).to_owned();
        return parameters::lower(
            cx,
            inst,
            &shape,
            &targets,
            &name,
            symbol.clone(),
            address.offset,
            true,
        );
    }
    let width = register_width(cx, &targets, shape.ty)?;
    let (field, offset, flags) = base(cx, address, shape.space)?;
    let flags = flags | shape.flags | (shape.count as u32) << COUNT_SHIFT;
    if shape.count == 1 {
        let exec = load_exec(shape.ty, width, shape.space).ok_or_else(|| unknown(inst))?;
        let mut d = cx.dst(&targets[0], width)?;
        if d == Field::Sink {
            d = Field::Register(cx.new_register(width));
        }
        cx.emit_untyped(exec, d, field, Field::NONE, offset).x = Link::Raw(flags);
        return Ok(());
    }
    macro_rules! make {
        ($m:ty, $r:ty) => {
            vector::<LoadVector<$m, $r>>()
        };
    }
    let exec = pick_load!(shape.ty, width, make).ok_or_else(|| unknown(inst))?;
    let mut list = Vec::new();
    for target in &targets {
        list.push((cx.dst(target, width)?, true));
    }
    let list = cx.list(&list);
    let lowered = cx.emit_untyped(exec, Field::Raw(list.0), field, Field::NONE, offset);
    lowered.x = Link::Raw(flags);
    lowered.list = list;
    Ok(())
}

/// The width of the registers of a load or store: at least that of the type, the same for all.
pub(crate) fn register_width<'a>(
    cx: &mut Builder<'a, '_>,
    operands: &[Operand<'a>],
    ty: Ty,
) -> Result<Width> {
    let mut width = None;
    for operand in operands {
        let Some(found) = cx.width_of(operand) else {
            continue;
        };
        if width.is_some_and(|w| w != found) {
            return Err(Error::new(
                operand.at,
                "the registers of a vector have one width",
            ));
        }
        width = Some(found);
    }
    Ok(width.unwrap_or(Width::of(ty)))
}

fn store<'a>(cx: &mut Builder<'a, '_>, inst: &'a Instruction<'a>) -> Result<()> {
    let shape = shape(inst)?;
    expect_operands(inst, &[2 + shape.extra_operands])?;
    if shape.constant {
        return Err(Error::new(inst.at, "constant memory cannot be stored to"));
    }
    let sources: Vec<_> = cx
        .parts(&inst.operands[1])
        .into_iter()
        .map(std::borrow::Cow::into_owned)
        .collect();
    if sources.len() != shape.count {
        return Err(Error::new(
            inst.operands[1].at,
            format!("expected {} values", shape.count),
        ));
    }
    let address = cx.address(&inst.operands[0])?;
    if shape.parameter
        && let Base::Symbol(name, symbol) = &address.base
    {
        let name = (*name).to_owned();
        return parameters::lower(
            cx,
            inst,
            &shape,
            &sources,
            &name,
            symbol.clone(),
            address.offset,
            false,
        );
    }
    let width = register_width(cx, &sources, shape.ty)?;
    let (field, offset, flags) = base(cx, address, shape.space)?;
    let register = width.lane_bytes().max(1).trailing_zeros();
    let flags =
        flags | shape.flags | (shape.count as u32) << COUNT_SHIFT | register << REGISTER_SHIFT;
    let value_type = value_type(shape.ty, width);
    if shape.count == 1 {
        let exec = store_exec(shape.ty, width, shape.space).ok_or_else(|| unknown(inst))?;
        let value = cx.src(&sources[0], value_type)?;
        let lowered = cx.emit_untyped(exec, Field::NONE, field, value, offset);
        lowered.x = Link::Raw(flags);
        return Ok(());
    }
    macro_rules! make {
        ($m:ty, $r:ty) => {
            vector::<StoreVector<$m, $r>>()
        };
    }
    let exec = pick_store!(shape.ty, width, make).ok_or_else(|| unknown(inst))?;
    let mut list = Vec::new();
    for source in &sources {
        list.push((cx.src(source, value_type)?, false));
    }
    let list = cx.list(&list);
    let lowered = cx.emit_untyped(exec, Field::NONE, field, Field::Raw(list.0), offset);
    lowered.x = Link::Raw(flags);
    lowered.list = list;
    Ok(())
}

/// The type a value operand is read as: the memory type, in a register of this width.
pub(crate) fn value_type(ty: Ty, width: Width) -> Ty {
    if Width::of(ty) == width {
        ty
    } else {
        Ty {
            kind: Kind::Bits,
            bits: width.lane_bytes() * 8,
            packed: 1,
        }
    }
}
