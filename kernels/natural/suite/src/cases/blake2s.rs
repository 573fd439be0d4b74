//! `BLAKE2s` of messages.

use super::prelude::*;
use kernels::blake2s::digest_of;

case!(blake2s: "BLAKE2s of messages of up to 200 bytes", "messages", simulator [40, 1], gpu 1 << 19);

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    let starts = starts_of(below(1, n, 201));
    let bytes = draw::<u8>(2, starts[n] as usize + 1);
    let step = n.div_ceil(100_000);
    let want = starts
        .windows(2)
        .step_by(step)
        .flat_map(|range| digest_of(&bytes[range[0] as usize..range[1] as usize]))
        .collect();
    let kernel = session.pair(kernels::blake2s::blake2s, "blake2s")?;
    let bytes = session.stream.upload(&bytes)?;
    let starts = session.stream.upload(&starts)?;
    problem(
        session,
        format!("{n} messages, {} bytes", bytes.len() - 1),
        &vec![[0u32; 8]; n],
        move |session, side, digests| {
            let grid = Grid::cover(n, 256);
            launch_pair!(session, side, kernel, grid, (&bytes, &starts, digests));
            Ok(())
        },
        every_array(step, exactly::<u32>(want)),
    )
}

#[cfg(test)]
mod tests {
    use super::digest_of;

    #[test]
    fn digests_that_others_computed() {
        let text = |message: &[u8]| {
            let bytes = digest_of(message).map(u32::to_le_bytes);
            bytes
                .as_flattened()
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect::<String>()
        };
        let counted: Vec<u8> = (0..150).collect();
        assert_eq!(
            text(b""),
            "69217a3079908094e11121d042354a7c1f55b6482ca1a51e1b250dfd1ed0eef9"
        );
        assert_eq!(
            text(b"abc"),
            "508c5e8c327c14e2e1a72ba34eeb452f37458b209ed63a294d999b4c86675982"
        );
        assert_eq!(
            text(&counted[..64]),
            "56f34e8b96557e90c1f24b52d0c89d51086acf1b00f634cf1dde9233b8eaaa3e"
        );
        assert_eq!(
            text(&counted),
            "4ab8a3dd1ddf8ad43dab13a27f66a6544f290597fa96040e0e1db9263aa479f8"
        );
    }
}
