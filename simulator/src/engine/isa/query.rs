//! What `txq` and `suq` ask an object.

use crate::engine::exec::operand::Encode;
use crate::engine::lower::form::FormReader;
use crate::engine::texels::Texels;

/// A question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Query {
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
        self.number()
    }

    fn decode(word: u32) -> Query {
        QUERIES[word as usize]
    }
}

impl Query {
    /// Reads the modifier; `None` for questions that the simulator does not answer: the encodings of formats.
    pub fn read(form: &FormReader<'_>) -> Option<Query> {
        Some(match form.slot("query")? {
            "width" => Query::Width,
            "height" => Query::Height,
            "depth" => Query::Depth,
            "array_size" => Query::Layers,
            "normalized_coords" => Query::Normalised,
            _ => return None,
        })
    }

    /// Its place among the questions.
    pub fn number(self) -> u32 {
        self as u32
    }

    /// What is answered: 0 for an extent that there is not.
    pub fn answer(self, texels: &Texels, normalised: bool) -> u32 {
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
