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
use crate::engine::texels::Texels;

/// A question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Query {
    Width,
    Height,
    Depth,
    Layers,
    Normalised,
}

const QUERIES: [Query; 5] = [
    Query::Width,
    Query::Height,
    Query::Depth,
    Query::Layers,
    Query::Normalised,
];

impl Encode for Query {
    fn encode(self) -> u32 {
        self as u32
    }

    fn decode(word: u32) -> Query {
        QUERIES[word as usize]
    }
}

impl Query {
    /// Reads the modifier; `None` for questions that the simulator does not answer: the encodings of formats.
    fn read(form: &FormReader<'_>) -> Option<Query> {
        Some(match form.slot("query")? {
            "width" => Query::Width,
            "height" => Query::Height,
            "depth" => Query::Depth,
            "array_size" => Query::Layers,
            "normalized_coords" => Query::Normalised,
            _ => return None,
        })
    }

    /// What is answered: 0 for an extent that there is not.
    fn answer(self, texels: &Texels, normalised: bool) -> u32 {
        let extent = |axis: usize| match axis < texels.dimensions {
            true => texels.extents[axis],
            false => 0,
        };
        match self {
            Query::Width => extent(0),
            Query::Height => extent(1),
            Query::Depth => extent(2),
            Query::Layers => texels.layers.unwrap_or(0),
            Query::Normalised => normalised.into(),
        }
    }
}

/// The kind of object that is asked.
pub(super) trait Asked: 'static {
    /// The texels of an object, and whether its coordinates are normalised; `Err`: a fault was recorded.
    fn look_up(
        warp: &mut Warp,
        cluster: &Cluster<'_>,
        lane: usize,
        number: u64,
    ) -> Result<(Texels, bool), Flow>;
}

operands! {
    struct AskOperands { d: Write<u32>, object: Read<u64>, query: Encoded<Query> }
}

struct Ask<A>(PhantomData<A>);

impl<A: Asked> Op for Ask<A> {
    type Operands = AskOperands;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        let (query, objects) = (o.query.get(), *o.object.lanes(warp));
        let mut result = [0; LANES];
        for lane in lanes_of(warp.mask) {
            match A::look_up(warp, cluster, lane, objects[lane]) {
                Ok((texels, normalised)) => result[lane] = query.answer(&texels, normalised),
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
    let query = Query::read(form)?;
    Some(Lowering::new(move |cx, inst| {
        let d = cx.dst(&inst.operands[0], Width::W32)?;
        let object = object(cx, &inst.operands[1])?;
        cx.emit_fields_with(vector::<Ask<A>>(), &[d, object], &[query.encode()]);
        Ok(())
    }))
}
