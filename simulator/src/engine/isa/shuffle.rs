//! `shfl`: lanes read a register of other lanes.

use super::family::Family;
use std::marker::PhantomData;

use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::exchange::{Exchange, exchange};
use crate::engine::exec::operand::{
    LANES, Read, Write, WritePredicateOptional, lanes_of, operands,
};
use crate::engine::exec::warp::{Flow, Warp};
use crate::engine::fault::FaultKind;
use crate::engine::lower::form::FormReader;
use crate::engine::lower::lowerings::Lowering;
use crate::engine::lower::types::Ty;

/// The instructions of this file.
pub(super) const FAMILY: Family = Family {
    opcodes: &["shfl"],
    read,
};

operands! {
    /// `lane`: the second source, whose meaning is the mode's. `clamp`: the third, with the segment mask. `inside`: whether
    /// the lane that is read is one of the segment.
    pub(crate) struct ShuffleOperands {
        d: Write<u32>,
        inside: WritePredicateOptional,
        value: Read<u32>,
        lane: Read<u32>,
        clamp: Read<u32>,
        members: Read<u32>,
    }
}

/// The lanes among which a lane reads.
struct Segment {
    /// The bits of a lane's number that are the segment's.
    mask: i32,
    first: i32,
    /// The limit that the clamp value gives: the last lane, for `.up` the first.
    limit: i32,
}

/// A mode of `shfl`.
trait Mode {
    /// The lane that a lane reads by its second source, and whether it is inside the segment.
    fn source(lane: i32, by: i32, segment: Segment) -> (i32, bool);
}

macro_rules! modes {
    ($($name:ident($lane:ident, $by:ident, $segment:ident) $body:block)*) => { $(
        struct $name;

        impl Mode for $name {
            #[inline(always)]
            fn source($lane: i32, $by: i32, $segment: Segment) -> (i32, bool) $body
        }
    )* };
}
modes! {
    Up(lane, by, segment) { (lane - by, lane - by >= segment.limit) }
    Down(lane, by, segment) { (lane + by, lane + by <= segment.limit) }
    Butterfly(lane, by, segment) { (lane ^ by, lane ^ by <= segment.limit) }
    Index(_lane, by, segment) {
        let source = segment.first | by & !segment.mask;
        (source, source <= segment.limit)
    }
}

/// For each lane: the lane that it reads, and whether that is one of its segment. It reads itself if not.
#[inline(always)]
fn sources<M: Mode>(warp: &Warp, o: &ShuffleOperands) -> [(usize, bool); LANES] {
    let (by, clamps) = (o.lane.lanes(warp), o.clamp.lanes(warp));
    std::array::from_fn(|number| {
        let lane = number as i32;
        let clamp = clamps[number];
        let (limit, mask) = ((clamp & 31) as i32, (clamp >> 8 & 31) as i32);
        let segment = Segment {
            mask,
            first: lane & mask,
            limit: lane & mask | limit & !mask,
        };
        let (source, is_inside) = M::source(lane, (by[number] & 31) as i32, segment);
        (
            if is_inside {
                source as usize & 31
            } else {
                number
            },
            is_inside,
        )
    })
}

/// `shfl.sync`
struct Shuffle<M>(PhantomData<M>);

impl<M: Mode> Exchange for Shuffle<M> {
    type Operands = ShuffleOperands;

    #[inline(always)]
    fn members(o: &ShuffleOperands) -> Read<u32> {
        o.members
    }

    fn sources(warp: &Warp, o: &ShuffleOperands) -> Option<[usize; LANES]> {
        Some(sources::<M>(warp, o).map(|(lane, _)| lane))
    }

    fn check(warp: &mut Warp, cluster: &Cluster<'_>, o: &ShuffleOperands, members: u32) -> Flow {
        let sources = sources::<M>(warp, o);
        let reads_other = |lane: &usize| warp.mask >> sources[*lane].0 & 1 == 0;
        match lanes_of(warp.mask).find(reads_other) {
            Some(lane) if warp.checks.uninitialised => {
                undefined(warp, cluster, lane, sources[lane].0, members)
            }
            _ => Flow::Next,
        }
    }

    #[inline(always)]
    fn exchange(warp: &mut Warp, o: ShuffleOperands, _: u32) {
        let values = o.value.lanes(warp);
        let sources = sources::<M>(warp, &o);
        let mut result = [0u32; LANES];
        let mut inside = 0u32;
        for (lane, (source, is_inside)) in sources.into_iter().enumerate() {
            result[lane] = values[source];
            inside |= u32::from(is_inside) << lane;
        }
        o.d.put(warp, &result);
        o.inside.put(warp, inside);
    }
}

/// A lane reads one that takes no part: its value is undefined.
#[cold]
fn undefined(
    warp: &mut Warp,
    cluster: &Cluster<'_>,
    lane: usize,
    source: usize,
    members: u32,
) -> Flow {
    let grid = cluster.grid;
    let name = grid.program.instruction_name(warp.function, warp.pc);
    let why = if warp.exists >> source & 1 == 0 {
        format!(
            "which this warp of {} threads does not have",
            warp.exists.count_ones()
        )
    } else if warp.live >> source & 1 == 0 {
        "which has exited".to_owned()
    } else {
        format!("which the member mask {members:#010x} does not name")
    };
    let message = format!("{name} by lane {lane} reads the value of lane {source}, {why}");
    let mut notes = Vec::new();
    if warp.exists >> source & 1 != 0 {
        let [x, y, z] = grid.thread_index(warp.index, source as u32);
        notes.push(format!("lane {source} is thread ({x},{y},{z})"));
    }
    warp.fail_with(FaultKind::Uninitialised, lane, message, notes)
}

fn read(form: &FormReader<'_>) -> Option<Lowering> {
    if !form.has("sync") || form.ty() != Some(Ty::B32) {
        return None;
    }
    let code = match form.slot("mode")? {
        "up" => exchange::<Shuffle<Up>>(),
        "down" => exchange::<Shuffle<Down>>(),
        "bfly" => exchange::<Shuffle<Butterfly>>(),
        _ => exchange::<Shuffle<Index>>(),
    };
    Some(Lowering::new(move |cx, inst| {
        let (d, inside) = cx.dst_pair(&inst.operands[0])?;
        let operands = ShuffleOperands {
            d: d.into(),
            inside: inside.into(),
            value: cx.src(&inst.operands[1], Ty::B32)?.into(),
            lane: cx.src(&inst.operands[2], Ty::B32)?.into(),
            clamp: cx.src(&inst.operands[3], Ty::B32)?.into(),
            members: cx.src(&inst.operands[4], Ty::B32)?.into(),
        };
        cx.emit(code, operands);
        Ok(())
    }))
}
