//! Special registers.

use std::marker::PhantomData;
use std::sync::OnceLock;
use std::time::Instant;

use crate::engine::dataflow::Dataflow;
use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::lanes::unary;
use crate::engine::exec::level::Level;
use crate::engine::exec::op::{Code, Op, scalar, vector};
use crate::engine::exec::operand::{LANES, Unary, Value, Write, WritePredicate, operands};
use crate::engine::exec::warp::{Flow, Warp};
use crate::engine::lower::types::Ty;
use crate::engine::lower::{Builder, Field, Register, Width};
use crate::ptx::ast::Position;
use crate::ptx::{Error, Result};

/// The special registers, in the order of their numbers. All have 32 bits but those of [`WIDE`].
const NAMES: [&str; 58] = [
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
    "%current_graph_exec",
];

/// The numbers of those that have 64 bits.
const WIDE: [usize; 4] = [51, 52, 53, 57];
const EXPLICIT_CLUSTER: usize = 49;

/// Nanoseconds that pass with each reading of a clock where a run is to be repeatable.
const READING: u64 = 64;

/// Nanoseconds since the process first asked; with a seed, by the warp's instructions and readings, so that a run can be repeated.
fn nanoseconds(warp: &mut Warp, cluster: &Cluster<'_>) -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    let passed = match cluster.grid.seed {
        0 => START.get_or_init(Instant::now).elapsed().as_nanos() as u64,
        _ => {
            warp.clock_readings += 1;
            warp.count + warp.clock_readings * READING
        }
    };
    // An arbitrary origin that is not zero, as on a device.
    1_000_000_000 + passed
}

/// A clock that never stands still: instructions so far, and time.
fn clock(warp: &mut Warp, cluster: &Cluster<'_>) -> u64 {
    nanoseconds(warp, cluster) * 2 + warp.count
}

operands! {
    /// `number` says which register, or which of its axes.
    pub(crate) struct SpecialOperands<T: Value> { d: Write<T>, number: u32 }
    pub(crate) struct SpecialPredicateOperands { d: WritePredicate }
}

/// Three numbers of 32 bits, one for each axis, that the threads of a block have in common.
trait Extent {
    fn of(cluster: &Cluster<'_>, warp: &Warp) -> [u32; 3];
}

/// `%ntid`
struct BlockSize;

impl Extent for BlockSize {
    #[inline(always)]
    fn of(cluster: &Cluster<'_>, _: &Warp) -> [u32; 3] {
        cluster.grid.block
    }
}

/// `%ctaid`
struct BlockIndex;

impl Extent for BlockIndex {
    #[inline(always)]
    fn of(cluster: &Cluster<'_>, warp: &Warp) -> [u32; 3] {
        cluster.blocks[warp.block as usize].index
    }
}

/// `%nctaid`
struct GridSize;

impl Extent for GridSize {
    #[inline(always)]
    fn of(cluster: &Cluster<'_>, _: &Warp) -> [u32; 3] {
        cluster.grid.grid
    }
}

/// Reads one of three numbers of the block; `number`: which axis.
struct ReadExtent<E>(PhantomData<E>);

impl<E: Extent> Op for ReadExtent<E> {
    type Operands = SpecialOperands<u32>;
    const DATAFLOW: Dataflow = Dataflow::Lanewise;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        let value = E::of(cluster, warp)[o.number as usize];
        o.d.put(warp, &[value; LANES]);
        Flow::Next
    }
}

/// Reads `%tid`; `number`: which axis.
struct ReadThreadIndex;

impl Op for ReadThreadIndex {
    type Operands = SpecialOperands<u32>;
    const DATAFLOW: Dataflow = Dataflow::Lanewise;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        let indices = &cluster.grid.thread_indices[warp.index as usize];
        o.d.put(warp, &indices[o.number as usize]);
        Flow::Next
    }
}

/// Reads `%laneid` or a mask of lanes; `number`: that of the special register in [`NAMES`].
struct ReadLane;

impl Op for ReadLane {
    type Operands = SpecialOperands<u32>;
    const DATAFLOW: Dataflow = Dataflow::Lanewise;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, _: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        let lanes = std::array::from_fn(|lane| {
            let bit = 1u32 << lane;
            match o.number {
                12 => lane as u32,
                17 => bit,
                18 => bit | (bit - 1),
                19 => bit - 1,
                20 => !(bit - 1),
                _ => !(bit | (bit - 1)),
            }
        });
        o.d.put(warp, &lanes);
        Flow::Next
    }
}

/// Reads a special register of 32 bits that is the same for all lanes; `number`: its number in [`NAMES`].
struct ReadWord;

impl Op for ReadWord {
    type Operands = SpecialOperands<u32>;
    const DATAFLOW: Dataflow = Dataflow::Lanewise;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        let grid = cluster.grid;
        let block = &cluster.blocks[warp.block as usize];
        let number = o.number as usize;
        let value = match number {
            13 => warp.index,
            14 => 64,
            15 => (block.index[0] + block.index[1] * grid.grid[0]) % 132,
            16 => 132,
            22 => clock(warp, cluster) as u32,
            23 => (clock(warp, cluster) >> 32) as u32,
            24 => grid.dynamic_shared,
            25 | 26 => grid.shared_total,
            27..=29 => cluster.index[number - 27],
            30..=32 => grid.clusters[number - 30],
            33..=35 => block.index[number - 33] % grid.cluster[number - 33],
            36..=38 => grid.cluster[number - 36],
            39 => block.rank,
            40 => grid.cluster_blocks,
            41 => nanoseconds(warp, cluster) as u32,
            42 => (nanoseconds(warp, cluster) >> 32) as u32,
            50 => grid.number as u32,
            54 => 32,
            // The address of a cooperative launch's workspace.
            55 => (grid.workspace >> 32) as u32,
            56 => grid.workspace as u32,
            _ => 0,
        };
        o.d.put(warp, &[value; LANES]);
        Flow::Next
    }
}

/// The operation that reads a special register of 32 bits, and the number that it takes.
fn read_word(number: u32) -> (Code, u32) {
    match number {
        0..=2 => (vector::<ReadThreadIndex>(), number),
        3..=5 => (vector::<ReadExtent<BlockSize>>(), number - 3),
        6..=8 => (vector::<ReadExtent<BlockIndex>>(), number - 6),
        9..=11 => (vector::<ReadExtent<GridSize>>(), number - 9),
        12 | 17..=21 => (vector::<ReadLane>(), number),
        _ => (scalar::<ReadWord>(), number),
    }
}

/// Reads a special register of 64 bits.
struct ReadWide;

impl Op for ReadWide {
    type Operands = SpecialOperands<u64>;
    const DATAFLOW: Dataflow = Dataflow::Lanewise;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        let value = match o.number {
            51 => clock(warp, cluster),
            52 => nanoseconds(warp, cluster),
            57 => cluster.grid.runtime.current_graph(),
            _ => cluster.grid.number,
        };
        o.d.put(warp, &[value; LANES]);
        Flow::Next
    }
}

/// A 32-bit value read into 64 bits, or 16.
struct ReadAs<T>(PhantomData<T>);

impl<T: Value + Default + Truncate> Op for ReadAs<T> {
    type Operands = Unary<u32, T>;
    const DATAFLOW: Dataflow = Dataflow::Lanewise;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, _: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        unary(warp, o, T::truncate)
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

/// `%is_explicit_cluster`
struct IsExplicitCluster;

impl Op for IsExplicitCluster {
    type Operands = SpecialPredicateOperands;
    const DATAFLOW: Dataflow = Dataflow::Lanewise;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        let explicit = cluster.grid.cluster_blocks > 1;
        o.d.put(warp, if explicit { u32::MAX } else { 0 });
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
    let width = Width::of(ty);
    if number == EXPLICIT_CLUSTER {
        if width != Width::Pred {
            return Err(Error::new(at, format!("`{name}` is a predicate")));
        }
        cx.emit_fields(scalar::<IsExplicitCluster>(), &[d]);
        return Ok(());
    }
    let number = number as u32;
    match (wide, width) {
        (false, Width::W32) => {
            let (code, number) = read_word(number);
            cx.emit_fields_with(code, &[d], &[number]);
        }
        (true, Width::W64) => {
            cx.emit_fields_with(scalar::<ReadWide>(), &[d], &[number]);
        }
        (false, Width::W64 | Width::W16) => {
            let temporary = Field::Register(cx.new_register(Width::W32));
            let (code, number) = read_word(number);
            cx.emit_fields_with(code, &[temporary], &[number]);
            let code = if width == Width::W16 {
                scalar::<ReadAs<u16>>()
            } else {
                scalar::<ReadAs<u64>>()
            };
            cx.emit_fields(code, &[d, temporary]);
        }
        (true, Width::W32) if name == "%gridid" => {
            cx.emit_fields_with(scalar::<ReadWord>(), &[d], &[50]);
        }
        _ => return Err(Error::new(at, format!("`{name}` has another width"))),
    }
    Ok(())
}
