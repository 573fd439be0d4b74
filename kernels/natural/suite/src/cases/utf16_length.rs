//! UTF-16 as UTF-8.

use super::prelude::*;

case!(utf16_length: "how long lines of UTF-16 are as UTF-8", "lines", simulator [200, 1], gpu 1 << 19);

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    let lengths = below(1, n, 60);
    let kinds = below(2, 60 * n, 100);
    let (mut text, mut starts) = (Vec::new(), vec![0u32]);
    let mut want = Vec::new();
    for (line, &length) in lengths.iter().enumerate() {
        let start = text.len();
        for &kind in &kinds[60 * line..][..length as usize] {
            match kind {
                0..60 => text.push(0x20 + kind as u16),
                60..75 => text.push(0x400 + kind as u16),
                75..90 => text.push(0x4e00 + kind as u16),
                90..97 => text.extend([0xd83d, 0xde00 + kind as u16]),
                97..99 => text.push(0xd83d),
                _ => text.push(0xdc01),
            }
        }
        starts.push(text.len() as u32);
        want.push(String::from_utf16_lossy(&text[start..]).len() as u32);
    }
    let kernel = session.pair(kernels::utf16_length::utf16_length, "utf16_length")?;
    let text = session.stream.upload(&text)?;
    let starts = session.stream.upload(&starts)?;
    problem(
        session,
        format!("{n} lines, {} words", text.len()),
        &vec![u32::MAX; n],
        move |session, side, lengths| {
            let grid = Grid::cover(n, 256);
            launch_pair!(session, side, kernel, grid, (&text, &starts, lengths));
            Ok(())
        },
        exactly(want),
    )
}
