//! Checksums of messages.

use super::prelude::*;
use kernels::crc32::checksum;

case!(crc32: "CRC-32 of messages of 256 bytes, by a table", "messages", simulator [30, 1], gpu 1 << 18);

/// Bytes of a message.
const LENGTH: usize = 256;

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    let text = draw::<u8>(1, n * LENGTH);
    let table: Vec<u32> = (0..256u32).map(changed_by).collect();
    assert_eq!(checksum(b"123456789", &table), 0xcbf4_3926);
    let want = text
        .chunks_exact(LENGTH)
        .map(|message| checksum(message, &table))
        .collect();
    let kernel = session.pair(kernels::crc32::crc32, "crc32")?;
    let text = session.stream.upload(&text)?;
    let table = session.stream.upload(&table)?;
    problem(
        session,
        format!("{n} messages of {LENGTH}"),
        &vec![0u32; n],
        move |session, side, sums| {
            let arguments = (&text, LENGTH, &table, sums);
            launch_pair!(session, side, kernel, Grid::cover(n, 256), arguments);
            Ok(())
        },
        exactly(want),
    )
}

/// What a byte changes, bit by bit.
fn changed_by(byte: u32) -> u32 {
    (0..8).fold(byte, |crc, _| {
        (crc >> 1) ^ if crc & 1 == 1 { 0xedb8_8320 } else { 0 }
    })
}
