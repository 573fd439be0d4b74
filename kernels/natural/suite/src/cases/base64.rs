//! Bytes as letters.

use super::prelude::*;
use kernels::base64::encode;

case!(base64: "three bytes as four letters, a thread", "threads", simulator [300, 1], gpu 1 << 25);

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    assert_eq!(&encode(b"Man"), b"TWFu");
    let bytes: Vec<[u8; 3]> = draw::<u8>(1, 3 * n).as_chunks().0.to_vec();
    let check = exactly::<u8>(bytes.iter().flat_map(encode).collect());
    let kernel = session.pair(kernels::base64::base64, "base64")?;
    let bytes = session.stream.upload(&bytes)?;
    problem(
        session,
        format!("{} bytes", 3 * n),
        &vec![[0u8; 4]; n],
        move |session, side, out| {
            launch_pair!(session, side, kernel, Grid::cover(n, 256), (&bytes, out));
            Ok(())
        },
        move |got| check(got.as_flattened()),
    )
}
