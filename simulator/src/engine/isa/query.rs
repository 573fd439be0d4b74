//! What `txq` and `suq` ask an object.

use std::marker::PhantomData;

use super::geometry::object;
use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::level::Level;
use crate::engine::exec::op::{Op, vector};
use crate::engine::exec::operand::{Encode, Encoded, LANES, Read, Write, lanes_of, operands};
use crate::engine::exec::warp::{Flow, Warp};
use crate::engine::lower::Width;
use crate::engine::lower::form::FormReader;
use crate::engine::lower::lowerings::Lowering;
use crate::engine::lower::types::{ScalarKind, Ty};
use crate::engine::texels::Texels;

/// A question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Query {
    Width,
    Height,
    Depth,
}

const QUERIES: [Query; 3] = [Query::Width, Query::Height, Query::Depth];

impl Encode for Query {
    fn encode(self) -> u32 {
        self as u32
    }

    fn decode(word: u32) -> Query {
        QUERIES[word as usize]
    }
}

impl Query {
    /// Reads the modifier; `None` for what a driver takes no module with, or finds no kernel of it that asks (13.0 on an H200): layers, levels,
    /// encodings, samples, and whether coordinates are normalised.
    fn read(form: &FormReader<'_>) -> Option<Query> {
        Some(match form.slot("query")? {
            "width" => Query::Width,
            "height" => Query::Height,
            "depth" => Query::Depth,
            _ => return None,
        })
    }

    /// What is answered: 0 for an extent, or a level, that there is not.
    fn answer(self, levels: &[Texels], level: u32) -> u32 {
        let Some(texels) = levels.get(level as usize) else {
            return 0;
        };
        let extent = |axis: usize| match axis < texels.dimensions {
            true => texels.extents[axis],
            false => 0,
        };
        match self {
            Query::Width => extent(0),
            Query::Height => extent(1),
            Query::Depth => extent(2),
        }
    }
}

/// The kind of object that is asked.
pub(super) trait Asked: 'static {
    /// The texels of each level of the object of a number; `Err`: a fault was recorded.
    fn look_up(
        warp: &mut Warp,
        cluster: &Cluster<'_>,
        lane: usize,
        number: u64,
    ) -> Result<Vec<Texels>, Flow>;
}

operands! {
    struct AskOperands { d: Write<u32>, object: Read<u64>, level: Read<u32>, query: Encoded<Query> }
}

struct Ask<A>(PhantomData<A>);

impl<A: Asked> Op for Ask<A> {
    type Operands = AskOperands;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        let (query, objects) = (o.query.get(), *o.object.lanes(warp));
        let levels = *o.level.lanes(warp);
        let mut result = [0; LANES];
        for lane in lanes_of(warp.mask) {
            match A::look_up(warp, cluster, lane, objects[lane]) {
                Ok(object) => result[lane] = query.answer(&object, levels[lane]),
                Err(failed) => return failed,
            }
        }
        o.d.put(warp, &result);
        Flow::Next
    }
}

/// `txq` or `suq`.
pub(super) fn read<A: Asked>(form: &FormReader<'_>) -> Option<Lowering> {
    form.has("b32");
    let of_level = form.has("level");
    let query = Query::read(form)?;
    Some(Lowering::new(move |cx, inst| {
        let d = cx.dst(&inst.operands[0], Width::W32)?;
        let object = object(cx, &inst.operands[1])?;
        let level = match of_level {
            true => cx.src(&inst.operands[2], Ty::new(ScalarKind::Bits, 32))?,
            false => cx.constant(0, Width::W32),
        };
        cx.emit_fields_with(vector::<Ask<A>>(), &[d, object, level], &[query.encode()]);
        Ok(())
    }))
}
