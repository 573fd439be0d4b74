//! The loss of a classifier.

use super::prelude::*;

case!(cross_entropy: "the loss of rows of 1000 logits, a warp a row", "rows", simulator [9, 1], gpu 1 << 15);

const CLASSES: usize = 1000;
const IGNORED: u32 = u32::MAX;

fn prepare(session: &Session, rows: usize) -> Result<Box<dyn Problem>> {
    let logits: Vec<f32> = draw::<f32>(1, rows * CLASSES)
        .iter()
        .map(|x| x * 8.0)
        .collect();
    let mut labels = below(2, rows, CLASSES as u32);
    for label in labels.iter_mut().skip(3).step_by(7) {
        *label = IGNORED;
    }
    let loss = |(row, &label): (&[f32], &u32)| {
        if label == IGNORED {
            return 0.0;
        }
        let sum: f64 = row.iter().map(|&x| f64::from(x).exp()).sum();
        sum.ln() - f64::from(row[label as usize])
    };
    let want = logits
        .chunks_exact(CLASSES)
        .zip(&labels)
        .map(loss)
        .collect();
    let kernel = session.pair(kernels::cross_entropy::cross_entropy, "cross_entropy")?;
    let logits = session.stream.upload(&logits)?;
    let labels = session.stream.upload(&labels)?;
    problem(
        session,
        format!("{rows} rows of {CLASSES}"),
        &vec![f32::NAN; rows],
        move |session, side, losses| {
            let grid = Grid::cover(rows * 32, 256);
            let logits = logits.matrix(rows, CLASSES)?;
            launch_pair!(
                session,
                side,
                kernel,
                grid,
                (logits, &labels, IGNORED, losses)
            );
            Ok(())
        },
        nearly(want, 1e-4),
    )
}
