//! A word looked for in a text.

use super::prelude::*;

case!(string_match: "a word looked for in a text", "letters", simulator [3000, 1], gpu 1 << 25);

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    let letters = |seed, n| -> Vec<u8> { below(seed, n, 3).iter().map(|&l| l as u8).collect() };
    let (text, word) = (letters(1, n), letters(2, 6));
    let want = text.windows(word.len()).filter(|at| *at == word).count();
    let kernel = session.pair(kernels::string_match::string_match, "string_match")?;
    let (text, word) = (session.stream.upload(&text)?, session.stream.upload(&word)?);
    problem(
        session,
        format!("{n} letters"),
        &[0u32],
        move |session, side, count| {
            launch_pair!(
                session,
                side,
                kernel,
                Grid::cover(n, 256),
                (&text, &word, count)
            );
            Ok(())
        },
        exactly(vec![want as u32]),
    )
}
