//! Hashes in a field.

use super::prelude::*;
use crate::problem::draw_long;
use kernels::goldilocks::{Element, MIX, PRIME, WIDTH};

case!(goldilocks: "a hash by seventh powers in a field of 64 bits", "states", simulator [40, 1], gpu 1 << 18);

const ROUNDS: usize = 15;

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    let all = |seed, n| -> Vec<[Element; WIDTH]> {
        let elements = draw_long(seed, n * WIDTH);
        let elements = elements.as_chunks::<WIDTH>().0.iter();
        elements.map(|state| state.map(Element)).collect()
    };
    let (states, rounds) = (all(1, n), all(2, ROUNDS));
    let step = n.div_ceil(500);
    let want: Vec<[u64; 4]> = states
        .iter()
        .step_by(step)
        .map(|state| hash(state.map(|element| u128::from(element.0)), &rounds))
        .collect();
    let check = exactly(want.as_flattened().to_vec());
    let kernel = session.pair(kernels::goldilocks::goldilocks, "goldilocks")?;
    let states = session.stream.upload(&states)?;
    let rounds = session.stream.upload(&rounds)?;
    problem(
        session,
        format!("{n} states, {ROUNDS} rounds"),
        &vec![[u64::MAX; 4]; n],
        move |session, side, hashes| {
            let grid = Grid::cover(n, 128);
            launch_pair!(session, side, kernel, grid, (&states, &rounds, hashes));
            Ok(())
        },
        every_array(step, check),
    )
}

/// The hash by remainders.
fn hash(mut state: [u128; WIDTH], rounds: &[[Element; WIDTH]]) -> [u64; 4] {
    let prime = u128::from(PRIME);
    for constants in rounds {
        let powers: Vec<u128> = state
            .iter()
            .zip(constants)
            .map(|(x, constant)| {
                let x = (x + u128::from(constant.0)) % prime;
                (0..6).fold(x, |power, _| power * x % prime)
            })
            .collect();
        for (row, to) in state.iter_mut().enumerate() {
            let weighted = (0..WIDTH).map(|i| powers[(i + row) % WIDTH] * u128::from(MIX[i]));
            *to = weighted.sum::<u128>() % prime;
        }
    }
    [0, 1, 2, 3].map(|i| state[i] as u64)
}
