//! `ld ldu st prefetch`: loads and stores of all widths, scalar and vector.

use super::family::Family;
use std::marker::PhantomData;

use warpsmith_isa::effect::{AccessKind, Effect, Space};

use super::addresses::{address, declared};
use super::async_store;
use super::control::nothing;
use super::elements::{Narrow, Widen, pick_load, pick_store, register_width, value_type};
use super::parameters;
use super::vector_memory::{LoadVector, LoadVectorOperands, StoreVector, StoreVectorOperands};
use crate::engine::access::bytes::Bytes;
use crate::engine::access::declared::Declared;
use crate::engine::access::locate::Extent;
use crate::engine::access::path::{access, access_global, access_range};
use crate::engine::access::values::{self, Stored};
use crate::engine::dataflow::Dataflow;
use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::guest::{self, GuestWord};
use crate::engine::exec::level::Level;
use crate::engine::exec::op::{Code, Op, scalar, vector};
use crate::engine::exec::operand::{Address, FULL, LANES, Value, lanes_of, operands};
use crate::engine::exec::operand::{Read, Write};
use crate::engine::exec::warp::{Flow, Warp};
use crate::engine::lower::form::FormReader;
use crate::engine::lower::lowerings::{Lowering, unsupported};
use crate::engine::lower::types::Ty;
use crate::engine::lower::{Base, Builder, Width};
use crate::ptx::ast::{Instruction, Operand};
use crate::ptx::{Error, Result};

/// The instructions of this file.
pub(super) const FAMILY: Family = Family {
    opcodes: &[
        "ld",
        "ldu",
        "st",
        "prefetch",
        "prefetchu",
        "applypriority",
        "discard",
    ],
    read,
};

operands! {
    pub(crate) struct LoadOperands<R: Value> { d: Write<R>, from: Address }
    pub(crate) struct DiscardOperands { at: Address }
    pub(crate) struct StoreOperands<R: Value> { to: Address, value: Read<R> }
}

/// A load of `M` into a register of `R`; `IN_PLACE` for global memory, where it is worth the code.
struct Load<M, R, const IN_PLACE: bool>(PhantomData<(M, R)>);

impl<M: GuestWord + Widen<R>, R: Value, const IN_PLACE: bool> Op for Load<M, R, IN_PLACE> {
    type Operands = LoadOperands<R>;
    const DATAFLOW: Dataflow = Dataflow::Memory;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        let size = size_of::<M>() as u32;
        let perform = |warp: &mut Warp, _: &mut Cluster<'_>, bytes: Bytes| {
            load::<L, M, R>(warp, o.d, bytes);
            Flow::Next
        };
        if IN_PLACE {
            access_global(warp, cluster, o.from, size, Stored::Unknown, perform)
        } else {
            access::<L>(warp, cluster, o.from, size, Stored::Unknown, perform)
        }
    }
}

#[inline(always)]
fn load<L: Level, M: GuestWord + Widen<R>, R: Value>(warp: &mut Warp, d: Write<R>, bytes: Bytes) {
    match bytes {
        Bytes::Row(start) => {
            // SAFETY: the access path found a row of this many elements.
            let row = unsafe { guest::load_row::<L, M>(start.cast()) };
            let target = d.lanes_mut(warp);
            for lane in 0..LANES {
                target[lane] = row[lane].widen();
            }
        }
        Bytes::Lanes => {
            let target: *mut [R; LANES] = d.lanes_mut(warp);
            let pointers = &warp.pointers;
            let one = |lane: usize| {
                // SAFETY: the access path found these bytes for the lanes of the mask; registers lie in an allocation of
                // their own, to which no other reference lives here.
                unsafe { (*target)[lane] = M::load(pointers[lane].cast()).widen() };
            };
            if warp.mask == FULL {
                (0..LANES).for_each(one);
            } else {
                lanes_of(warp.mask).for_each(one);
            }
        }
    }
}

/// A store of `M` from a register of `R`; `IN_PLACE` for global memory, where it is worth the code.
struct Store<M, R, const IN_PLACE: bool>(PhantomData<(M, R)>);

impl<M: GuestWord, R: Value + Narrow<M>, const IN_PLACE: bool> Op for Store<M, R, IN_PLACE> {
    type Operands = StoreOperands<R>;
    const DATAFLOW: Dataflow = Dataflow::Memory;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        let size = size_of::<M>() as u32;
        let stored = |warp: &Warp, lane: usize| values::one::<M, R>(warp, o.value, lane);
        let stored = Stored::Lanes(&stored);
        let perform = |warp: &mut Warp, _: &mut Cluster<'_>, bytes: Bytes| {
            let values = o.value.lanes(warp);
            match bytes {
                Bytes::Row(start) => {
                    let mut row = [M::default(); LANES];
                    for lane in 0..LANES {
                        row[lane] = values[lane].narrow();
                    }
                    // SAFETY: the access path found a row of this many elements.
                    unsafe { guest::store_row::<L, M>(start.cast(), &row) };
                }
                Bytes::Lanes => {
                    for lane in lanes_of(warp.mask) {
                        // SAFETY: the access path found these bytes for the lanes of the mask.
                        unsafe { M::store(warp.pointers[lane].cast(), values[lane].narrow()) };
                    }
                }
            }
            Flow::Next
        };
        if IN_PLACE {
            access_global(warp, cluster, o.to, size, stored, perform)
        } else {
            access::<L>(warp, cluster, o.to, size, stored, perform)
        }
    }
}

/// Accesses of whole words of global memory are compiled with their address checks in place.
fn is_in_place(ty: Ty, width: Width, space: Space) -> bool {
    matches!(space, Space::Global | Space::Const) && ty.bits >= 32 && Width::of(ty) == width
}

fn load_code(ty: Ty, width: Width, space: Space) -> Option<Code> {
    if is_in_place(ty, width, space) && ty.bits == 32 {
        return Some(vector::<Load<u32, u32, true>>());
    }
    if is_in_place(ty, width, space) && ty.bits == 64 {
        return Some(vector::<Load<u64, u64, true>>());
    }
    macro_rules! make {
        ($m:ty, $r:ty) => {
            vector::<Load<$m, $r, false>>()
        };
    }
    pick_load!(ty, width, make)
}

fn store_code(ty: Ty, width: Width, space: Space) -> Option<Code> {
    if is_in_place(ty, width, space) && ty.bits == 32 {
        return Some(vector::<Store<u32, u32, true>>());
    }
    if is_in_place(ty, width, space) && ty.bits == 64 {
        return Some(vector::<Store<u64, u64, true>>());
    }
    macro_rules! make {
        ($m:ty, $r:ty) => {
            vector::<Store<$m, $r, false>>()
        };
    }
    pick_store!(ty, width, make)
}

/// The elements that a load or store moves for each lane.
#[derive(Clone, Copy)]
struct Elements {
    ty: Ty,
    count: usize,
}

impl Elements {
    fn read(form: &FormReader<'_>) -> Option<Elements> {
        let ty = form.ty()?;
        let count = match form.slot("vec") {
            None => 1,
            Some("v2") => 2,
            Some("v4") => 4,
            Some(_) => 8,
        };
        if ty.width() as usize * count > 256 {
            return None;
        }
        let ty = Ty::new(ty.kind, ty.width());
        Some(Elements { ty, count })
    }
}

fn read(form: &FormReader<'_>) -> Option<Lowering> {
    let (registers, address) = match form.opcode() {
        "prefetch" | "prefetchu" | "applypriority" => return Some(nothing(form)),
        "discard" => return Some(discard(form)),
        "st" => (1, 0),
        _ => (0, 1),
    };
    if !form.is_synchronous() {
        return async_store::read(form);
    }
    // What says how the caches are used.
    form.ignore(&[
        "cop",
        "level1::eviction_priority",
        "level2::eviction_priority",
        "level::cache_hint",
        "prefetch_size",
    ]);
    let elements = Elements::read(form)?;
    let moved = Moved {
        elements,
        registers,
        address,
        effect: form.effect(address),
    };
    Some(Lowering::new(move |cx, inst| moved.lower(cx, inst)))
}

/// The bytes that `discard` takes, from a multiple of as many.
const DISCARDED: u32 = 128;

/// `discard`: the bytes keep their values, which is one of the things that may become of them.
struct Discard;

impl Op for Discard {
    type Operands = DiscardOperands;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        let extent = Extent::value(DISCARDED);
        for lane in lanes_of(warp.mask) {
            if let Err(failed) = access_range(warp, cluster, o.at, lane, extent) {
                return failed;
            }
        }
        Flow::Next
    }
}

fn discard(form: &FormReader<'_>) -> Lowering {
    form.has("L2");
    let effect = form.effect(0);
    Lowering::new(move |cx, inst| {
        let at = address(cx, &inst.operands[0], effect)?;
        cx.emit(scalar::<Discard>(), DiscardOperands { at });
        Ok(())
    })
}

/// What the modifiers of a load or store say.
#[derive(Clone, Copy)]
struct Moved {
    elements: Elements,
    /// The number of the operand with the registers.
    registers: usize,
    /// The number of the operand with the address.
    address: usize,
    effect: Effect,
}

impl Moved {
    fn lower<'a>(self, cx: &mut Builder<'a, '_>, inst: &'a Instruction<'a>) -> Result<()> {
        let Elements { ty, count } = self.elements;
        let kind = self.effect.kind;
        let operand = &inst.operands[self.registers];
        let list = cx.parts(operand);
        let registers: &[Operand<'a>] = &list;
        if registers.len() != count {
            let what = match kind {
                AccessKind::Read => "destinations",
                _ => "values",
            };
            let message = format!("expected {count} {what}");
            return Err(Error::new(operand.at, message));
        }
        let address = cx.address(&inst.operands[self.address])?;
        if self.effect.space == Space::Parameter
            && let Base::Symbol(name, symbol) = address.base
        {
            let passing = parameters::Passing {
                ty,
                operands: registers,
                name,
                symbol,
                offset: address.offset,
                kind,
            };
            return parameters::lower(cx, inst, passing);
        }
        let width = register_width(cx, registers, ty)?;
        let mut address = declared(cx, address, self.effect)?;
        address.access = Declared::of(address).followed().word();
        match kind {
            AccessKind::Read => self.load(cx, inst, registers, width, address),
            _ => self.store(cx, inst, registers, width, address),
        }
    }

    fn load<'a>(
        self,
        cx: &mut Builder<'a, '_>,
        inst: &'a Instruction<'a>,
        targets: &[Operand<'a>],
        width: Width,
        from: Address,
    ) -> Result<()> {
        let Elements { ty, count } = self.elements;
        if count == 1 {
            let code = load_code(ty, width, self.effect.space).ok_or_else(|| unsupported(inst))?;
            let d = cx.dst(&targets[0], width)?;
            cx.emit_access(code, &[d], from, &[]);
            return Ok(());
        }
        let mut fields = Vec::new();
        for target in targets {
            fields.push(cx.dst(target, width)?);
        }
        macro_rules! make {
            ($m:ty, $r:ty) => {{
                let d = cx.write_list::<$r>(&fields);
                cx.emit(
                    vector::<LoadVector<$m, $r>>(),
                    LoadVectorOperands { d, from },
                );
            }};
        }
        pick_load!(ty, width, make).ok_or_else(|| unsupported(inst))
    }

    fn store<'a>(
        self,
        cx: &mut Builder<'a, '_>,
        inst: &'a Instruction<'a>,
        sources: &[Operand<'a>],
        width: Width,
        to: Address,
    ) -> Result<()> {
        let Elements { ty, count } = self.elements;
        let value_type = value_type(ty, width);
        if count == 1 {
            let code = store_code(ty, width, self.effect.space).ok_or_else(|| unsupported(inst))?;
            let value = cx.src(&sources[0], value_type)?;
            cx.emit_access(code, &[], to, &[value]);
            return Ok(());
        }
        let mut fields = Vec::new();
        for source in sources {
            fields.push(cx.src(source, value_type)?);
        }
        macro_rules! make {
            ($m:ty, $r:ty) => {{
                let values = cx.read_list::<$r>(&fields);
                cx.emit(
                    vector::<StoreVector<$m, $r>>(),
                    StoreVectorOperands { to, values },
                );
            }};
        }
        pick_store!(ty, width, make).ok_or_else(|| unsupported(inst))
    }
}
