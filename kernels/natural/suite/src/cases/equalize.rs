//! A picture whose greys are spread.

use super::prelude::*;

case!(equalize: "the greys of a picture spread", "pixels", simulator [3000, 300], gpu 1 << 26);

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    let pixels: Vec<u8> = below(1, n, 100).iter().map(|&g| g as u8 + 60).collect();
    let mut cumulative = vec![0u32; 256];
    for &pixel in &pixels {
        cumulative[usize::from(pixel)] += 1;
    }
    for grey in 1..256 {
        cumulative[grey] += cumulative[grey - 1];
    }
    let darkest = cumulative[60];
    let spread = |pixel: &u8| {
        let rank = cumulative[usize::from(*pixel)] - darkest;
        (rank as f32 * 255.0 / (n as u32 - darkest) as f32) as u8
    };
    let want = pixels.iter().map(spread).collect();
    let kernel = session.pair(kernels::equalize::equalize, "equalize")?;
    let pixels = session.stream.upload(&pixels)?;
    let cumulative = session.stream.upload(&cumulative)?;
    problem(
        session,
        format!("{n} pixels"),
        &vec![0u8; n],
        move |session, side, out| {
            let grid = Grid::new(n.div_ceil(1024).min(2048) as u32, 256);
            let arguments = (&pixels, &cumulative, darkest, out);
            launch_pair!(session, side, kernel, grid, arguments);
            Ok(())
        },
        exactly(want),
    )
}
