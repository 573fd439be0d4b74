//! Groups of channels normalised.

use super::prelude::*;
use kernels::group_norm::THREADS;

case!(group_norm: "groups of 4 channels normalised, a block a group", "pictures", simulator [2, 1], gpu 1 << 10);

/// Channels of a group.
const CHANNELS: usize = 4;
const GROUPS: usize = 3;
/// Pixels of a plane.
const PLANE: usize = 900;

fn prepare(session: &Session, pictures: usize) -> Result<Box<dyn Problem>> {
    let (rows, columns) = (pictures * GROUPS, CHANNELS * PLANE);
    let x = draw::<f32>(1, rows * columns);
    let scales = draw::<f32>(2, GROUPS * CHANNELS);
    let offsets = draw::<f32>(3, GROUPS * CHANNELS);
    let mut want = Vec::new();
    for (number, row) in x.chunks_exact(columns).enumerate() {
        let mean = row.iter().map(|&x| f64::from(x)).sum::<f64>() / columns as f64;
        let square = |&x: &f32| (f64::from(x) - mean).powi(2);
        let variance = row.iter().map(square).sum::<f64>() / columns as f64;
        let inverse = 1.0 / (variance + 1e-5).sqrt();
        for (i, &x) in row.iter().enumerate() {
            let channel = number % GROUPS * CHANNELS + i / PLANE;
            let (scale, offset) = (f64::from(scales[channel]), f64::from(offsets[channel]));
            want.push((f64::from(x) - mean) * inverse * scale + offset);
        }
    }
    let kernel = session.pair(kernels::group_norm::group_norm, "group_norm")?;
    let start = vec![f32::NAN; x.len()];
    let x = session.stream.upload(&x)?;
    let scales = session.stream.upload(&scales)?;
    let offsets = session.stream.upload(&offsets)?;
    problem(
        session,
        format!("{pictures} pictures of {GROUPS} x {CHANNELS} x {PLANE}"),
        &start,
        move |session, side, out| {
            let grid = Grid::new(rows as u32, THREADS as u32);
            let x = x.matrix(rows, columns)?;
            let out = out.matrix_mut(rows, columns)?;
            let arguments = (x, CHANNELS, &scales, &offsets, out);
            launch_pair!(session, side, kernel, grid, arguments);
            Ok(())
        },
        nearly(want, 1e-4),
    )
}
