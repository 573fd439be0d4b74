//! SHA-256 of short messages.

use super::prelude::*;
use kernels::sha256::hash;
use warpsmith_suite::check::equal;

case!(sha256: "SHA-256 of 32 bytes, a thread a message", "messages", simulator [40, 1], gpu 1 << 20);

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    let words = draw::<u32>(1, 8 * n);
    let messages: &[[u32; 8]] = words.as_chunks().0;
    let want: Vec<u32> = messages.iter().flat_map(hash).collect();
    let kernel = session.pair(kernels::sha256::sha256, "sha256")?;
    let messages = session.stream.upload(messages)?;
    problem(
        session,
        format!("{n} messages"),
        &vec![[0u32; 8]; n],
        move |session, side, digests| {
            let grid = Grid::cover(n, 256);
            launch_pair!(session, side, kernel, grid, (&messages, digests));
            Ok(())
        },
        move |got| equal(got.as_flattened(), &want),
    )
}

#[cfg(test)]
mod tests {
    use super::hash;

    #[test]
    fn a_digest_that_others_computed() {
        let digest = hash(&[0; 8]).map(|word| format!("{word:08x}")).concat();
        assert_eq!(
            digest,
            "66687aadf862bd776c8fc18b8e9f8e20089714856ee233b3902a591d0d5f2925"
        );
    }
}
