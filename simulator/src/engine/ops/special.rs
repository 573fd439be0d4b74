//! Special registers.

use std::sync::OnceLock;
use std::time::Instant;

use crate::engine::exec::isa::{Isa, Op, scalar};
use crate::engine::exec::lanes::{LANES, put, put_predicate};
use crate::engine::exec::warp::{Flow, Inst, Warp};
use crate::engine::lower::modifiers::Ty;
use crate::engine::lower::{Builder, Field, Link, Register, Width};
use crate::ptx::ast::Position;
use crate::ptx::{Error, Result};

/// The special registers, in the order of their numbers. All have 32 bits but those of [`WIDE`].
const NAMES: [&str; 57] = [
    "%tid.x",
    "%tid.y",
    "%tid.z",
    "%ntid.x",
    "%ntid.y",
    "%ntid.z",
    "%ctaid.x",
    "%ctaid.y",
    "%ctaid.z",
    "%nctaid.x",
    "%nctaid.y",
    "%nctaid.z",
    "%laneid",
    "%warpid",
    "%nwarpid",
    "%smid",
    "%nsmid",
    "%lanemask_eq",
    "%lanemask_le",
    "%lanemask_lt",
    "%lanemask_ge",
    "%lanemask_gt",
    "%clock",
    "%clock_hi",
    "%dynamic_smem_size",
    "%total_smem_size",
    "%aggr_smem_size",
    "%clusterid.x",
    "%clusterid.y",
    "%clusterid.z",
    "%nclusterid.x",
    "%nclusterid.y",
    "%nclusterid.z",
    "%cluster_ctaid.x",
    "%cluster_ctaid.y",
    "%cluster_ctaid.z",
    "%cluster_nctaid.x",
    "%cluster_nctaid.y",
    "%cluster_nctaid.z",
    "%cluster_ctarank",
    "%cluster_nctarank",
    "%globaltimer_lo",
    "%globaltimer_hi",
    "%tid.w",
    "%ntid.w",
    "%ctaid.w",
    "%nctaid.w",
    "%reserved_smem_offset_begin",
    "%reserved_smem_offset_end",
    "%is_explicit_cluster",
    "%gridid32",
    "%clock64",
    "%globaltimer",
    "%gridid",
    "%warpsize",
    "%envreg1",
    "%envreg2",
];

/// The numbers of those that have 64 bits.
const WIDE: std::ops::Range<usize> = 51..54;
const EXPLICIT_CLUSTER: usize = 49;

/// Nanoseconds since the process first asked.
fn nanoseconds() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    // An arbitrary origin that is not zero, as on a device.
    1_000_000_000 + START.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

/// A clock that never stands still: instructions so far, and time.
fn clock(warp: &mut Warp) -> u64 {
    nanoseconds() * 2 + warp.count
}

struct Read;

impl Op for Read {
    #[inline(always)]
    unsafe fn run<I: Isa>(warp: &mut Warp, inst: &Inst) -> Flow {
        let grid = warp.grid();
        let block = warp.block();
        let number = inst.x as usize;
        let index = warp.index;
        let mut lanes = [0u32; LANES];
        let value = match number {
            0..=2 => {
                lanes = grid.thread_indices[index as usize][number];
                0
            }
            3..=5 => grid.block[number - 3],
            6..=8 => block.index[number - 6],
            9..=11 => grid.grid[number - 9],
            12 | 17..=21 => {
                for (lane, value) in lanes.iter_mut().enumerate() {
                    let bit = 1u32 << lane;
                    *value = match number {
                        12 => lane as u32,
                        17 => bit,
                        18 => bit | (bit - 1),
                        19 => bit - 1,
                        20 => !(bit - 1),
                        _ => !(bit | (bit - 1)),
                    };
                }
                0
            }
            13 => index,
            14 => 64,
            15 => (block.index[0] + block.index[1] * grid.grid[0]) % 132,
            16 => 132,
            22 => clock(warp) as u32,
            23 => (clock(warp) >> 32) as u32,
            24 => grid.dynamic_shared,
            25 => grid.shared_bytes,
            26 => grid.shared_bytes,
            27..=29 => block.cluster().index[number - 27],
            30..=32 => grid.clusters[number - 30],
            33..=35 => block.index[number - 33] % grid.cluster[number - 33],
            36..=38 => grid.cluster[number - 36],
            39 => block.rank,
            40 => grid.cluster_blocks,
            41 => nanoseconds() as u32,
            42 => (nanoseconds() >> 32) as u32,
            50 => grid.number as u32,
            54 => 32,
            // The address of a cooperative launch's workspace.
            55 => (grid.workspace >> 32) as u32,
            56 => grid.workspace as u32,
            _ => 0,
        };
        // SAFETY: the destination has 32 bits.
        unsafe {
            if matches!(number, 0..=2 | 12 | 17..=21) {
                put(warp, inst.d, &lanes);
            } else {
                put(warp, inst.d, &[value; LANES]);
            }
        }
        Flow::Next
    }
}

struct ReadWide;

impl Op for ReadWide {
    #[inline(always)]
    unsafe fn run<I: Isa>(warp: &mut Warp, inst: &Inst) -> Flow {
        let value = match inst.x {
            51 => clock(warp),
            52 => nanoseconds(),
            _ => warp.grid().number,
        };
        // SAFETY: the destination has 64 bits.
        unsafe { put(warp, inst.d, &[value; LANES]) }
        Flow::Next
    }
}

/// A 32-bit register read into 64 bits, or 16.
struct ReadAs<T>(std::marker::PhantomData<T>);

impl<T: Copy + From<u16> + Truncate> Op for ReadAs<T> {
    #[inline(always)]
    unsafe fn run<I: Isa>(warp: &mut Warp, inst: &Inst) -> Flow {
        // SAFETY: `a` is a 32-bit temporary, the destination has the width of `T`.
        unsafe {
            let value = crate::engine::exec::lanes::src::<u32>(warp, inst.a);
            let result: [T; LANES] = std::array::from_fn(|lane| T::truncate(value[lane]));
            put(warp, inst.d, &result);
        }
        Flow::Next
    }
}

/// From 32 bits.
pub(crate) trait Truncate {
    fn truncate(value: u32) -> Self;
}
impl Truncate for u16 {
    fn truncate(value: u32) -> u16 {
        value as u16
    }
}
impl Truncate for u64 {
    fn truncate(value: u32) -> u64 {
        value.into()
    }
}

struct IsExplicitCluster;

impl Op for IsExplicitCluster {
    #[inline(always)]
    unsafe fn run<I: Isa>(warp: &mut Warp, inst: &Inst) -> Flow {
        let explicit = warp.grid().cluster_blocks > 1;
        // SAFETY: the destination is a predicate.
        unsafe { put_predicate(warp, inst.d, if explicit { u32::MAX } else { 0 }) }
        Flow::Next
    }
}

/// Reads a special register into a register of the given type.
pub(crate) fn read(
    cx: &mut Builder<'_, '_>,
    name: &str,
    register: Register,
    ty: Ty,
    at: Position,
) -> Result<()> {
    let Some(number) = NAMES.iter().position(|&n| n == name) else {
        return Err(Error::new(
            at,
            format!("`{name}` is not supported by the simulator"),
        ));
    };
    let wide = WIDE.contains(&number);
    let d = Field::Register(register);
    let x = Link::Raw(number as u32);
    let width = Width::of(ty);
    let none = Field::NONE;
    if number == EXPLICIT_CLUSTER {
        if width != Width::Pred {
            return Err(Error::new(at, format!("`{name}` is a predicate")));
        }
        cx.emit(scalar::<IsExplicitCluster>(), d, none, none, none);
        return Ok(());
    }
    match (wide, width) {
        (false, Width::W32) => cx.emit(scalar::<Read>(), d, none, none, none).x = x,
        (true, Width::W64) => cx.emit(scalar::<ReadWide>(), d, none, none, none).x = x,
        (false, Width::W64 | Width::W16) => {
            let temporary = Field::Register(cx.new_register(Width::W32));
            cx.emit(scalar::<Read>(), temporary, none, none, none).x = x;
            let exec = if width == Width::W16 {
                scalar::<ReadAs<u16>>()
            } else {
                scalar::<ReadAs<u64>>()
            };
            cx.emit(exec, d, temporary, none, none);
        }
        (true, Width::W32) if name == "%gridid" => {
            cx.emit(scalar::<Read>(), d, none, none, none).x = Link::Raw(50);
        }
        _ => return Err(Error::new(at, format!("`{name}` has another width"))),
    }
    Ok(())
}
