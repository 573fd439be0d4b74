//! A picture as brightness and colour.

use super::prelude::*;
use kernels::rgb_to_yuv::convert;

case!(rgb_to_yuv: "pixels of three bytes as Y, U and V", "pixels", simulator [3000, 300], gpu 1 << 25);

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    let pixels: Vec<[u8; 3]> = draw::<u8>(1, 3 * n).as_chunks().0.to_vec();
    let want: Vec<u8> = pixels.iter().flat_map(|&pixel| convert(pixel)).collect();
    let check = exactly(want);
    let kernel = session.pair(kernels::rgb_to_yuv::rgb_to_yuv, "rgb_to_yuv")?;
    let pixels = session.stream.upload(&pixels)?;
    problem(
        session,
        format!("{n} pixels"),
        &vec![[0u8; 3]; n],
        move |session, side, out| {
            let grid = Grid::new(n.div_ceil(1024).min(2048) as u32, 256);
            launch_pair!(session, side, kernel, grid, (&pixels, out));
            Ok(())
        },
        move |got| check(got.as_flattened()),
    )
}
