//! Layer normalisation of rows of `bf16`.

use super::prelude::*;
use half::bf16;
use warpsmith_device::vector::Vector;

case!(layer_norm_bf16: "layer normalisation of bf16, a warp a row", "rows", simulator [9, 1], gpu 1 << 15);

/// Vectors of eight in a row.
const VECTORS: usize = 128;

fn prepare(session: &Session, rows: usize) -> Result<Box<dyn Problem>> {
    let vectors = |seed, count: usize| -> Vec<Vector<bf16>> {
        let values = draw::<f32>(seed, 8 * count);
        let vectors = values.chunks_exact(8);
        vectors
            .map(|v| Vector(std::array::from_fn(|i| bf16::from_f32(v[i]))))
            .collect()
    };
    let (x, gamma, beta) = (
        vectors(1, rows * VECTORS),
        vectors(2, VECTORS),
        vectors(3, VECTORS),
    );
    let want = x
        .chunks_exact(VECTORS)
        .flat_map(|row| normalised(row, &gamma, &beta))
        .collect();
    // Results are rounded to eight bits.
    let check = nearly::<f32>(want, 1.0 / 128.0);
    let kernel = session.pair(kernels::layer_norm_bf16::layer_norm_bf16, "layer_norm_bf16")?;
    let on_device = session.stream.upload(&x)?;
    let gamma = session.stream.upload(&gamma)?;
    let beta = session.stream.upload(&beta)?;
    problem(
        session,
        format!("{rows} rows of {}", 8 * VECTORS),
        &vec![Vector([bf16::NAN; 8]); x.len()],
        move |session, side, out| {
            let grid = Grid::cover(rows * 32, 256);
            let x = on_device.matrix(rows, VECTORS)?;
            let out = out.matrix_mut(rows, VECTORS)?;
            launch_pair!(session, side, kernel, grid, (x, &gamma, &beta, out));
            Ok(())
        },
        move |got| check(&flat(got).map(|x| x as f32).collect::<Vec<_>>()),
    )
}

fn flat(vectors: &[Vector<bf16>]) -> impl Iterator<Item = f64> + Clone {
    vectors.iter().flat_map(|v| v.0.map(|x| x.to_f64()))
}

fn normalised(row: &[Vector<bf16>], gamma: &[Vector<bf16>], beta: &[Vector<bf16>]) -> Vec<f64> {
    let count = 8.0 * row.len() as f64;
    let mean = flat(row).sum::<f64>() / count;
    let variance = flat(row).map(|x| (x - mean) * (x - mean)).sum::<f64>() / count;
    let deviation = (variance + 1e-5).sqrt();
    let scaled = flat(row).zip(flat(gamma)).zip(flat(beta));
    scaled
        .map(|((x, gamma), beta)| (x - mean) / deviation * gamma + beta)
        .collect()
}
