//! Bytes as digits of base 58.

use super::prelude::*;
use kernels::base58::{DIGITS, PAYLOAD, encode};

case!(base58: "bytes as digits of base 58", "payloads", simulator [60, 1], gpu 1 << 19);

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    let mut bytes: Vec<u8> = below(1, n * PAYLOAD, 256)
        .iter()
        .map(|&byte| byte as u8)
        .collect();
    let payloads: &mut [[u8; PAYLOAD]] = bytes.as_chunks_mut().0;
    // A few begin with zeros.
    for (i, payload) in payloads.iter_mut().enumerate() {
        payload[..[0, 0, 1, 5][i % 4]].fill(0);
    }
    let step = n.div_ceil(1000);
    let want: Vec<[u8; DIGITS]> = payloads.iter().step_by(step).map(encode).collect();
    let check = exactly(want.as_flattened().to_vec());
    let kernel = session.pair(kernels::base58::base58, "base58")?;
    let payloads = session.stream.upload(payloads)?;
    problem(
        session,
        format!("{n} payloads of {PAYLOAD} bytes"),
        &vec![[0u8; DIGITS]; n],
        move |session, side, texts| {
            let grid = Grid::cover(n, 128);
            launch_pair!(session, side, kernel, grid, (&payloads, texts));
            Ok(())
        },
        every_array(step, check),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_and_zeros_before_it() {
        let mut payload = [0; PAYLOAD];
        payload[PAYLOAD - 2..].copy_from_slice(&[1, 2]);
        let text = encode(&payload);
        assert_eq!(text[..PAYLOAD - 2], [b'1'; PAYLOAD - 2]);
        // 258 = 4 * 58 + 26
        assert_eq!(&text[PAYLOAD - 2..PAYLOAD + 1], b"5T ");
    }
}
