//! `ld.param` and `st.param` of named parameters: those of the kernel, and the memory that calls pass things in.

use std::marker::PhantomData;

use warpsmith_isa::effect::AccessKind;

use super::elements::{Narrow, Widen, pick_load, pick_store, register_width, value_type};
use super::moves;
use crate::engine::dataflow::Dataflow;
use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::guest::GuestWord;
use crate::engine::exec::level::Level;
use crate::engine::exec::op::{Op, scalar, vector};
use crate::engine::exec::operand::{
    LANES, Read, ReadArea, Value, Write, WriteArea, lanes_of, operands,
};
use crate::engine::exec::warp::{Flow, Warp};
use crate::engine::lower::lowerings::unsupported;
use crate::engine::lower::types::Ty;
use crate::engine::lower::{Builder, Field, Register, Symbol, Width};
use crate::ptx::ast::{Instruction, Operand};
use crate::ptx::{Error, Result};

operands! {
    /// `at`: the offset in the kernel's parameters.
    pub(crate) struct LoadParameterOperands<R: Value> { d: Write<R>, at: u32 }
    /// `bytes`: those of the area for each lane; `at`: the offset in a lane's.
    pub(crate) struct LoadAreaOperands<R: Value> { d: Write<R>, area: ReadArea, bytes: u32, at: u32 }
    /// `bytes`: those of the area for each lane; `at`: the offset in a lane's.
    pub(crate) struct StoreAreaOperands<R: Value> { area: WriteArea, value: Read<R>, bytes: u32, at: u32 }
}

/// A kernel parameter: the same in all lanes.
struct LoadParameter<M, R>(PhantomData<(M, R)>);

impl<M: GuestWord + Widen<R>, R: Value> Op for LoadParameter<M, R> {
    type Operands = LoadParameterOperands<R>;
    const DATAFLOW: Dataflow = Dataflow::Lanewise;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        let (params, at) = (&cluster.grid.params, o.at as usize);
        debug_assert!(at + size_of::<M>() <= params.len());
        // SAFETY: the lowering checked the offset against the parameters' size (`lower`), the launch that the buffer is not
        // smaller (`launch::prepare`). The buffer belongs to the launch, and nobody changes it.
        let value = unsafe { params.as_ptr().add(at).cast::<M>().read_unaligned() };
        o.d.put(warp, &[value.widen(); LANES]);
        Flow::Next
    }
}

/// Memory of each lane in the frame.
struct LoadArea<M, R>(PhantomData<(M, R)>);

impl<M: GuestWord + Widen<R>, R: Value + Default> Op for LoadArea<M, R> {
    type Operands = LoadAreaOperands<R>;
    const DATAFLOW: Dataflow = Dataflow::Area;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, _: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        let start = o.area.start(warp).wrapping_add(o.at as usize);
        let mut result = [R::default(); LANES];
        for lane in 0..LANES {
            let from = start.wrapping_add(lane * o.bytes as usize).cast::<M>();
            // SAFETY: the area has `bytes` for each of 32 lanes, and the lowering checked the offset against them (`lower`).
            result[lane] = unsafe { from.read_unaligned() }.widen();
        }
        o.d.put(warp, &result);
        Flow::Next
    }
}

/// Memory of each lane in the frame.
struct StoreArea<M, R>(PhantomData<(M, R)>);

impl<M: GuestWord, R: Value + Narrow<M>> Op for StoreArea<M, R> {
    type Operands = StoreAreaOperands<R>;
    const DATAFLOW: Dataflow = Dataflow::Area;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, _: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        let start = o.area.start(warp).wrapping_add(o.at as usize);
        let values = o.value.lanes(warp);
        for lane in lanes_of(warp.mask) {
            let to = start.wrapping_add(lane * o.bytes as usize).cast::<M>();
            // SAFETY: the area has `bytes` for each of 32 lanes, and the lowering checked the offset against them (`lower`).
            // Registers of the frame do not overlap (`allocate`), so the values are not among these bytes.
            unsafe { to.write_unaligned(values[lane].narrow()) };
        }
        Flow::Next
    }
}

/// An access to a named parameter.
pub(crate) struct Passing<'a, 'o> {
    /// The type in memory.
    pub ty: Ty,
    /// The registers.
    pub operands: &'o [Operand<'a>],
    pub name: &'a str,
    pub symbol: Symbol<'a>,
    /// The offset in the parameter.
    pub offset: i64,
    /// A load or a store.
    pub kind: AccessKind,
}

/// `ld.param` and `st.param` of named parameters.
pub(crate) fn lower<'a>(
    cx: &mut Builder<'a, '_>,
    inst: &'a Instruction<'a>,
    passing: Passing<'a, '_>,
) -> Result<()> {
    let Passing {
        ty,
        operands,
        name,
        symbol,
        kind,
        ..
    } = &passing;
    let (ty, kind) = (*ty, *kind);
    let bytes = ty.bits / 8;
    let width = register_width(cx, operands, ty)?;
    for (index, operand) in operands.iter().enumerate() {
        let offset = passing
            .offset
            .saturating_add(i64::from(bytes) * index as i64);
        let size = match symbol {
            Symbol::Parameter { size, .. } | Symbol::Area { size, .. } => *size,
            Symbol::Register { .. } => bytes,
            _ => return Err(Error::new(inst.at, format!("`{name}` is not a parameter"))),
        };
        if offset < 0 || offset.saturating_add(bytes.into()) > i64::from(size) {
            let message = format!(
                "an access of {bytes} bytes at offset {offset} of `{name}`, which has {size} bytes"
            );
            return Err(Error::new(inst.at, message));
        }
        let offset = offset as u32;
        match symbol {
            Symbol::Parameter { offset: base, .. } if kind == AccessKind::Read => {
                let d = cx.dst(operand, width)?;
                if d != Field::Sink {
                    macro_rules! make {
                        ($m:ty, $r:ty) => {
                            vector::<LoadParameter<$m, $r>>()
                        };
                    }
                    let code = pick_load!(ty, width, make).ok_or_else(|| unsupported(inst))?;
                    cx.emit_fields_with(code, &[d], &[base + offset]);
                }
            }
            Symbol::Area { register, size, .. } => {
                let area = Area {
                    register: *register,
                    size: *size,
                    offset,
                };
                match kind {
                    AccessKind::Read => load_area(cx, inst, ty, width, operand, area)?,
                    _ => store_area(cx, inst, ty, width, operand, area)?,
                }
            }
            _ => return Err(Error::new(inst.at, format!("`{name}` cannot be written"))),
        }
    }
    Ok(())
}

/// A part of an area in the frame.
#[derive(Clone, Copy)]
struct Area {
    register: Register,
    /// Bytes of the area for each lane.
    size: u32,
    offset: u32,
}

impl Area {
    /// Whether the access is of all of it, so that it has the layout of a register.
    fn is_register(self, ty: Ty, width: Width) -> bool {
        self.size * 8 == ty.bits && self.offset == 0 && Width::of(ty) == width && ty.bits >= 16
    }
}

fn load_area<'a>(
    cx: &mut Builder<'a, '_>,
    inst: &'a Instruction<'a>,
    ty: Ty,
    width: Width,
    operand: &Operand<'a>,
    area: Area,
) -> Result<()> {
    let d = cx.dst(operand, width)?;
    if d == Field::Sink {
        return Ok(());
    }
    let field = Field::Register(area.register);
    if area.is_register(ty, width) {
        let code = moves::code(width).ok_or_else(|| unsupported(inst))?;
        cx.emit_fields(code, &[d, field]);
        return Ok(());
    }
    macro_rules! make {
        ($m:ty, $r:ty) => {
            scalar::<LoadArea<$m, $r>>()
        };
    }
    let code = pick_load!(ty, width, make).ok_or_else(|| unsupported(inst))?;
    cx.emit_fields_with(code, &[d, field], &[area.size, area.offset]);
    Ok(())
}

fn store_area<'a>(
    cx: &mut Builder<'a, '_>,
    inst: &'a Instruction<'a>,
    ty: Ty,
    width: Width,
    operand: &Operand<'a>,
    area: Area,
) -> Result<()> {
    let value = cx.src(operand, value_type(ty, width))?;
    let field = Field::Register(area.register);
    if area.is_register(ty, width) {
        let code = moves::code(width).ok_or_else(|| unsupported(inst))?;
        cx.emit_fields(code, &[field, value]);
        return Ok(());
    }
    macro_rules! make {
        ($m:ty, $r:ty) => {
            scalar::<StoreArea<$m, $r>>()
        };
    }
    let code = pick_store!(ty, width, make).ok_or_else(|| unsupported(inst))?;
    cx.emit_fields_with(code, &[field, value], &[area.size, area.offset]);
    Ok(())
}
