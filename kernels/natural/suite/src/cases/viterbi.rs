//! The likeliest states of sequences.

use super::prelude::*;
use kernels::viterbi::{STATES, STEPS, SYMBOLS};

case!(viterbi: "the likeliest states behind symbols", "sequences", simulator [40, 1], gpu 1 << 17);

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    let symbols = below(1, n * STEPS, SYMBOLS as u32);
    let symbols: Vec<u8> = symbols.iter().map(|&symbol| symbol as u8).collect();
    let sequences: &[[u8; STEPS]] = symbols.as_chunks().0;
    let weights = |seed, n| -> Vec<i32> {
        let weights = below(seed, n, 1000).into_iter();
        weights.map(|weight| weight as i32 - 1000).collect()
    };
    let changes: Vec<[i32; STATES]> = weights(2, STATES * STATES).as_chunks().0.to_vec();
    let of_symbols: Vec<[i32; SYMBOLS]> = weights(3, STATES * SYMBOLS).as_chunks().0.to_vec();
    let step = n.div_ceil(1000);
    let want: Vec<[u8; STEPS]> = sequences
        .iter()
        .step_by(step)
        .map(|sequence| likeliest(sequence, &changes, &of_symbols))
        .collect();
    let check = exactly(want.as_flattened().to_vec());
    let kernel = session.pair(kernels::viterbi::viterbi, "viterbi")?;
    let sequences = session.stream.upload(sequences)?;
    let changes = session.stream.upload(&changes)?;
    let of_symbols = session.stream.upload(&of_symbols)?;
    problem(
        session,
        format!("{n} sequences of {STEPS}"),
        &vec![[u8::MAX; STEPS]; n],
        move |session, side, states| {
            let grid = Grid::cover(n, 128);
            let arguments = (&sequences, &changes, &of_symbols, states);
            launch_pair!(session, side, kernel, grid, arguments);
            Ok(())
        },
        every_array(step, check),
    )
}

/// The likeliest states, with the whole way kept for each state.
fn likeliest(
    sequence: &[u8; STEPS],
    changes: &[[i32; STATES]],
    symbols: &[[i32; SYMBOLS]],
) -> [u8; STEPS] {
    let mut ways = vec![(0, Vec::new()); STATES];
    for (step, &symbol) in sequence.iter().enumerate() {
        let next = |state: usize| {
            let weight = |from: usize| {
                // Before the first step there is no state, though a change is weighed.
                let (weight, _): &(i32, Vec<u8>) = &ways[from];
                weight + changes[from][state]
            };
            let mut best = 0;
            for from in 1..STATES {
                if weight(from) >= weight(best) {
                    best = from;
                }
            }
            let mut way = ways[best].1.clone();
            if step > 0 {
                way.push(best as u8);
            }
            (weight(best) + symbols[state][usize::from(symbol)], way)
        };
        ways = (0..STATES).map(next).collect();
    }
    let last = (0..STATES).max_by_key(|&state| ways[state].0).unwrap_or(0);
    let mut way = ways[last].1.clone();
    way.push(last as u8);
    way.try_into().expect("a state a step")
}
