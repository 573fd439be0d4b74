//! A text encrypted by ChaCha20.

use super::prelude::*;
use kernels::chacha20::{WORDS, stream};
use warpsmith_suite::check::equal;

case!(chacha20: "ChaCha20, a thread a block of 64 bytes", "blocks", simulator [60, 1], gpu 1 << 22);

const KEY: [u32; 8] = [1, 2, 3, 4, 5, 6, 7, 8];
const NONCE: [u32; 3] = [9, 10, 11];

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    let words = draw::<u32>(1, WORDS * n);
    let text: &[[u32; WORDS]] = words.as_chunks().0;
    let mut want = Vec::new();
    for (number, block) in (1..).zip(text) {
        let stream = stream(&KEY, &NONCE, number);
        want.extend(block.iter().zip(stream).map(|(word, key)| word ^ key));
    }
    let kernel = session.pair(kernels::chacha20::chacha20, "chacha20")?;
    problem(
        session,
        format!("{n} blocks"),
        text,
        move |session, side, text| {
            launch_pair!(
                session,
                side,
                kernel,
                Grid::cover(n, 256),
                (KEY, NONCE, text)
            );
            Ok(())
        },
        move |got| equal(got.as_flattened(), &want),
    )
}

#[cfg(test)]
mod tests {
    use super::stream;

    #[test]
    fn a_block_that_others_computed() {
        // From section 2.3.2 of RFC 8439.
        let key: [u32; 8] = std::array::from_fn(|i| 0x0302_0100 + 0x0404_0404 * i as u32);
        let block = stream(&key, &[0x0900_0000, 0x4a00_0000, 0], 1);
        assert_eq!(block[0], 0xe4e7_f110);
        assert_eq!(block[15], 0x4e3c_50a2);
    }
}
