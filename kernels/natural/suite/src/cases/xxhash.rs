//! XXH32 of short messages.

use super::prelude::*;
use kernels::xxhash::{WORDS, hash};

case!(xxhash: "XXH32 of 64 bytes, a thread a message", "messages", simulator [300, 1], gpu 1 << 22);

const SEED: u32 = 7;

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    let words = draw::<u32>(1, WORDS * n);
    let messages = words.chunks_exact(WORDS);
    let want = messages.map(|message| hash(message, SEED)).collect();
    let kernel = session.pair(kernels::xxhash::xxhash, "xxhash")?;
    let words = session.stream.upload(&words)?;
    problem(
        session,
        format!("{n} messages"),
        &vec![0u32; n],
        move |session, side, hashes| {
            launch_pair!(
                session,
                side,
                kernel,
                Grid::cover(n, 256),
                (&words, SEED, hashes)
            );
            Ok(())
        },
        exactly(want),
    )
}
