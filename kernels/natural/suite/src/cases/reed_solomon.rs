//! Syndromes of code words.

use super::prelude::*;
use kernels::reed_solomon::{SYNDROMES, WORD};

case!(reed_solomon: "syndromes of words over the field of bytes", "words", simulator [40, 1], gpu 1 << 18);

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    let bytes = below(1, n * WORD, 256);
    let bytes: Vec<u8> = bytes.iter().map(|&byte| byte as u8).collect();
    let words: &[[u8; WORD]] = bytes.as_chunks().0;
    let mut powers = [1u8; 255];
    for i in 1..255 {
        let twice = powers[i - 1] << 1;
        powers[i] = twice ^ if powers[i - 1] < 128 { 0 } else { 0x1d };
    }
    let mut logarithms = [0; 256];
    for (i, &power) in powers.iter().enumerate() {
        logarithms[usize::from(power)] = i;
    }
    let step = n.div_ceil(10_000);
    let of_word = |word: &[u8; WORD]| -> [u8; SYNDROMES] {
        std::array::from_fn(|j| {
            word.iter().rev().enumerate().fold(0, |sum, (k, &byte)| {
                let logarithm = logarithms[usize::from(byte)] + (j + 1) * k;
                sum ^ if byte == 0 {
                    0
                } else {
                    powers[logarithm % 255]
                }
            })
        })
    };
    let want: Vec<[u8; SYNDROMES]> = words.iter().step_by(step).map(of_word).collect();
    let check = exactly(want.as_flattened().to_vec());
    let kernel = session.pair(kernels::reed_solomon::reed_solomon, "reed_solomon")?;
    let words = session.stream.upload(words)?;
    problem(
        session,
        format!("{n} words of {WORD} bytes"),
        &vec![[0u8; SYNDROMES]; n],
        move |session, side, syndromes| {
            let grid = Grid::cover(n, 128);
            launch_pair!(session, side, kernel, grid, (&words, syndromes));
            Ok(())
        },
        every_array(step, check),
    )
}
