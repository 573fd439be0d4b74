//! Fourier transforms of 1024 points.

use super::prelude::*;
use kernels::fft_radix4::{POINTS, THREADS};
use std::f64::consts::PI;
use warpsmith_device::vector::Float2;

case!(fft_radix4: "FFT of 1024 points with radix 4, a block a transform", "transforms", simulator [2, 1], gpu 1 << 14);

fn prepare(session: &Session, transforms: usize) -> Result<Box<dyn Problem>> {
    let x: Vec<Float2> = draw::<f32>(1, 2 * transforms * POINTS)
        .chunks_exact(2)
        .map(|x| Float2::new(x[0], x[1]))
        .collect();
    let want = x.chunks_exact(POINTS).flat_map(transform).flatten();
    let check = nearly::<f32>(want.collect(), 2e-3);
    let kernel = session.pair(kernels::fft_radix4::fft_radix4, "fft_radix4")?;
    let on_device = session.stream.upload(&x)?;
    problem(
        session,
        format!("{transforms} transforms of {POINTS}"),
        &vec![Float2::splat(f32::NAN); x.len()],
        move |session, side, out| {
            let grid = Grid::new(transforms as u32, THREADS as u32);
            let x = on_device.matrix(transforms, POINTS)?;
            let out = out.matrix_mut(transforms, POINTS)?;
            launch_pair!(session, side, kernel, grid, (x, out));
            Ok(())
        },
        move |got| check(&got.iter().flat_map(|z| [z.x, z.y]).collect::<Vec<_>>()),
    )
}

/// The transform by halves.
fn transform(x: &[Float2]) -> Vec<[f64; 2]> {
    let values = x.iter().map(|x| [f64::from(x.x), f64::from(x.y)]);
    recurse(&values.collect::<Vec<_>>())
}

fn recurse(x: &[[f64; 2]]) -> Vec<[f64; 2]> {
    if let [one] = x {
        return vec![*one];
    }
    let half =
        |first: usize| recurse(&x.iter().skip(first).step_by(2).copied().collect::<Vec<_>>());
    let (even, odd) = (half(0), half(1));
    let mut all = vec![[0.0; 2]; x.len()];
    for (k, (a, b)) in even.iter().zip(&odd).enumerate() {
        let (sine, cosine) = (-2.0 * PI * k as f64 / x.len() as f64).sin_cos();
        let turned = [b[0] * cosine - b[1] * sine, b[0] * sine + b[1] * cosine];
        all[k] = [a[0] + turned[0], a[1] + turned[1]];
        all[k + even.len()] = [a[0] - turned[0], a[1] - turned[1]];
    }
    all
}
