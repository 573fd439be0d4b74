//! Set bits before places of a bitmap.

use super::prelude::*;
use crate::problem::draw_long;
use kernels::bitmap_rank::BLOCK;

case!(bitmap_rank: "set bits before places of a bitmap", "places", simulator [300, 1], gpu 1 << 22);

/// Blocks of the bitmap.
const BLOCKS: usize = 1 << 12;

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    let words = draw_long(1, BLOCK * BLOCKS);
    let places = below(2, n, (64 * words.len()) as u32);
    let before_words: Vec<u32> = words
        .iter()
        .scan(0, |sum, word| {
            let before = *sum;
            *sum += word.count_ones();
            Some(before)
        })
        .collect();
    let before: Vec<u32> = before_words.iter().copied().step_by(BLOCK).collect();
    let want = places
        .iter()
        .map(|&place| {
            let (word, bit) = (place as usize / 64, place % 64);
            let set = (0..bit).filter(|bit| words[word] >> bit & 1 == 1).count();
            before_words[word] + set as u32
        })
        .collect();
    let kernel = session.pair(kernels::bitmap_rank::bitmap_rank, "bitmap_rank")?;
    let words = session.stream.upload(&words)?;
    let before = session.stream.upload(&before)?;
    let places = session.stream.upload(&places)?;
    problem(
        session,
        format!("{n} places of {}", 64 * words.len()),
        &vec![u32::MAX; n],
        move |session, side, ranks| {
            let grid = Grid::cover(n, 256);
            launch_pair!(
                session,
                side,
                kernel,
                grid,
                (&words, &before, &places, ranks)
            );
            Ok(())
        },
        exactly(want),
    )
}
