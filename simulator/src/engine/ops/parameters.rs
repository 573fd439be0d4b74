//! `ld.param` and `st.param` of named parameters: those of the kernel, and the memory that calls pass things in.

use std::marker::PhantomData;

use super::memory::{
    Memory, Narrow, Shape, Widen, pick_load, pick_store, register_width, value_type,
};
use super::moves;
use crate::engine::exec::level::{Level, scalar, vector};
use crate::engine::exec::lanes::{LANES, lanes_of, put, src};
use crate::engine::exec::warp::{Flow, Warp};
use crate::engine::lower::modifiers::{Kind, Ty, unknown};
use crate::engine::lower::{Builder, Field, Link, Register, Symbol, Width};
use crate::ptx::ast::{Instruction, Operand};
use crate::ptx::{Error, Result};

/// A kernel parameter: the same in all lanes. `x` is its offset, checked at the launch.
struct LoadParameter<M, R>(PhantomData<(M, R)>);

impl<M: Memory + Widen<R>, R: Copy + Default> WordsOp for LoadParameter<M, R> {
    #[inline(always)]
    unsafe fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, inst: &Words) -> Flow {
        let start = warp.grid().params.as_ptr();
        // SAFETY: the lowering checked the offset against the parameters' size, the launch that of the buffer.
        unsafe {
            let value = start
                .add(inst.x as usize)
                .cast::<M>()
                .read_unaligned()
                .widen();
            put(warp, inst.d, &[value; LANES]);
        }
        Flow::Next
    }
}

/// Memory of each lane in the frame: `a` the area, `b` its bytes a lane, `x` the offset.
struct LoadArea<M, R>(PhantomData<(M, R)>);

impl<M: Memory + Widen<R>, R: Copy + Default> WordsOp for LoadArea<M, R> {
    #[inline(always)]
    unsafe fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, inst: &Words) -> Flow {
        // SAFETY: the lowering checked the offset against the area's size.
        unsafe {
            let start = warp.bases[0].add((inst.a + inst.x) as usize);
            let mut result = [R::default(); LANES];
            for lane in 0..LANES {
                result[lane] = start
                    .add(lane * inst.b as usize)
                    .cast::<M>()
                    .read_unaligned()
                    .widen();
            }
            put(warp, inst.d, &result);
        }
        Flow::Next
    }
}

/// As [`LoadArea`]; `c` is the value.
struct StoreArea<M, R>(PhantomData<(M, R)>);

impl<M: Memory, R: Copy + Narrow<M>> WordsOp for StoreArea<M, R> {
    #[inline(always)]
    unsafe fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, inst: &Words) -> Flow {
        // SAFETY: the lowering checked the offset against the area's size.
        unsafe {
            let start = warp.bases[0].add((inst.a + inst.x) as usize);
            let values = src::<R>(warp, inst.c);
            for lane in lanes_of(warp.mask) {
                start
                    .add(lane * inst.b as usize)
                    .cast::<M>()
                    .write_unaligned(values[lane].narrow());
            }
        }
        Flow::Next
    }
}

/// `ld.param` and `st.param` of named parameters.
#[allow(clippy::too_many_arguments, reason = "the parts of one instruction")]
pub(crate) fn lower<'a>(
    cx: &mut Builder<'a, '_>,
    inst: &'a Instruction<'a>,
    shape: &Shape,
    operands: &[Operand<'a>],
    name: &str,
    symbol: Symbol<'a>,
    offset: i64,
    loads: bool,
) -> Result<()> {
    let bytes = shape.ty.bits / 8;
    let width = register_width(cx, operands, shape.ty)?;
    for (index, operand) in operands.iter().enumerate() {
        let offset = offset + i64::from(bytes) * index as i64;
        let size = match symbol {
            Symbol::Parameter { size, .. } | Symbol::Area { size, .. } => size,
            Symbol::Register { .. } => bytes,
            _ => return Err(Error::new(inst.at, format!("`{name}` is not a parameter"))),
        };
        if offset < 0 || offset + i64::from(bytes) > i64::from(size) {
            let message = format!(
                "an access of {bytes} bytes at offset {offset} of `{name}`, which has {size} bytes"
            );
            return Err(Error::new(inst.at, message));
        }
        let offset = offset as u32;
        match symbol {
            Symbol::Parameter { offset: base, .. } if loads => {
                let d = cx.dst(operand, width)?;
                if d != Field::Sink {
                    macro_rules! make {
                        ($m:ty, $r:ty) => {
                            vector::<LoadParameter<$m, $r>>()
                        };
                    }
                    let exec = pick_load!(shape.ty, width, make).ok_or_else(|| unknown(inst))?;
                    cx.emit_untyped(exec, d, Field::NONE, Field::NONE, Field::NONE).x =
                        Link::Raw(base + offset);
                }
            }
            Symbol::Area { register, size, .. } => {
                area_access(
                    cx,
                    inst,
                    shape.ty,
                    width,
                    operand,
                    (register, size, offset),
                    loads,
                )?;
            }
            _ => return Err(Error::new(inst.at, format!("`{name}` cannot be written"))),
        }
    }
    Ok(())
}

fn area_access<'a>(
    cx: &mut Builder<'a, '_>,
    inst: &'a Instruction<'a>,
    ty: Ty,
    width: Width,
    operand: &Operand<'a>,
    (register, size, offset): (Register, u32, u32),
    loads: bool,
) -> Result<()> {
    let whole = size * 8 == ty.bits && offset == 0 && Width::of(ty) == width && ty.bits >= 16;
    let area = Field::Register(register);
    if loads {
        let d = cx.dst(operand, width)?;
        if d == Field::Sink {
            return Ok(());
        }
        if whole {
            // The area has the layout of a register.
            let exec = moves::exec(width).ok_or_else(|| unknown(inst))?;
            cx.emit_untyped(exec, d, area, Field::NONE, Field::NONE);
            return Ok(());
        }
        macro_rules! make {
            ($m:ty, $r:ty) => {
                scalar::<LoadArea<$m, $r>>()
            };
        }
        let exec = pick_load!(ty, width, make).ok_or_else(|| unknown(inst))?;
        cx.emit_untyped(exec, d, area, Field::Raw(size), Field::NONE).x = Link::Raw(offset);
        return Ok(());
    }
    let value = cx.src(operand, value_type(ty, width))?;
    if whole {
        let exec = moves::exec(width).ok_or_else(|| unknown(inst))?;
        cx.emit_untyped(exec, area, value, Field::NONE, Field::NONE);
        return Ok(());
    }
    macro_rules! make {
        ($m:ty, $r:ty) => {
            scalar::<StoreArea<$m, $r>>()
        };
    }
    let exec = pick_store!(ty, width, make).ok_or_else(|| unknown(inst))?;
    cx.emit_untyped(exec, Field::NONE, area, Field::Raw(size), value).x = Link::Raw(offset);
    Ok(())
}
