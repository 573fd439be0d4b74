//! `SipHash` of messages.

use super::prelude::*;
use std::hash::Hasher;

case!(siphash: "SipHash of messages of up to 100 bytes", "messages", simulator [60, 1], gpu 1 << 20);

const KEY: [u64; 2] = [0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908];

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    let starts = starts_of(below(1, n, 101));
    let bytes = draw::<u8>(2, starts[n] as usize + 1);
    let of_message = |range: &[u32]| reference(&bytes[range[0] as usize..range[1] as usize]);
    let want = starts.windows(2).map(of_message).collect();
    let kernel = session.pair(kernels::siphash::siphash, "siphash")?;
    let bytes = session.stream.upload(&bytes)?;
    let starts = session.stream.upload(&starts)?;
    problem(
        session,
        format!("{n} messages, {} bytes", bytes.len()),
        &vec![0u64; n],
        move |session, side, hashes| {
            let grid = Grid::cover(n, 256);
            launch_pair!(session, side, kernel, grid, (&bytes, &starts, KEY, hashes));
            Ok(())
        },
        exactly(want),
    )
}

/// The hash of a message by std, whose hasher with two and four rounds is deprecated as others are better for tables.
#[allow(deprecated)]
fn reference(message: &[u8]) -> u64 {
    let mut hasher = std::hash::SipHasher::new_with_keys(KEY[0], KEY[1]);
    hasher.write(message);
    hasher.finish()
}
