//! The likeliest states behind sequences of symbols (Viterbi), a thread a sequence.

use core::array::from_fn;
use warpsmith_device::prelude::*;

/// States.
pub const STATES: usize = 6;
/// Symbols.
pub const SYMBOLS: usize = 10;
/// Steps of a sequence.
pub const STEPS: usize = 64;

/// The likeliest states of each sequence: `changes[from][to]` and `symbols[state][symbol]` weigh what may happen.
#[kernel]
pub fn viterbi(
    sequences: &[[u8; STEPS]],
    changes: &[[i32; STATES]],
    symbols: &[[i32; SYMBOLS]],
    mut states: PerThread<[[u8; STEPS]]>,
) {
    if let (Some(sequence), Some(to)) = (sequences.get(thread::index()), states.mine()) {
        let mut weights = [0; STATES];
        let mut before = [[0u8; STATES]; STEPS];
        for (&symbol, before) in sequence.iter().zip(&mut before) {
            let best: [(i32, usize); STATES] = from_fn(|state| {
                (0..STATES)
                    .map(|from| (weights[from] + changes[from][state], from))
                    .max_by_key(|&(weight, _)| weight)
                    .unwrap_or_default()
            });
            *before = best.map(|(_, from)| from as u8);
            weights = from_fn(|state| best[state].0 + symbols[state][usize::from(symbol)]);
        }
        let last = (0..STATES).max_by_key(|&state| weights[state]);
        let mut state = last.unwrap_or_default();
        for (to, before) in to.iter_mut().zip(&before).rev() {
            *to = state as u8;
            state = usize::from(before[state]);
        }
    }
}
