//! The nearest centre of each point.

use super::prelude::*;
use warpsmith_suite::check::{Mismatch, Verified, close};

case!(kmeans: "the nearest of 64 centres", "points", simulator [300, 1], gpu 1 << 22);

const CENTRES: usize = 64;

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    let (points, centres) = (draw::<f32>(1, 4 * n), draw::<f32>(2, 4 * CENTRES));
    let (points, centres) = (
        points.as_chunks().0.to_vec(),
        centres.as_chunks().0.to_vec(),
    );
    let kernel = session.pair(kernels::kmeans::kmeans, "kmeans")?;
    let (on_device, on_device_too) = (
        session.stream.upload(&points)?,
        session.stream.upload(&centres)?,
    );
    problem(
        session,
        format!("{n} points"),
        &vec![u32::MAX; n],
        move |session, side, nearest| {
            let arguments = (&on_device, &on_device_too, nearest);
            launch_pair!(session, side, kernel, Grid::cover(n, 256), arguments);
            Ok(())
        },
        move |got| are_nearest(got, &points, &centres),
    )
}

/// Two centres may be equally near but for rounding, so distances are compared.
fn are_nearest(
    got: &[u32],
    points: &[[f32; 4]],
    centres: &[[f32; 4]],
) -> Result<Verified, Mismatch> {
    let distance = |point: &[f32; 4], centre: &[f32; 4]| -> f64 {
        let squares = point
            .iter()
            .zip(centre)
            .map(|(a, b)| f64::from(a - b) * f64::from(a - b));
        squares.sum()
    };
    let found: Vec<f64> = points
        .iter()
        .zip(got)
        .map(|(point, &number)| {
            centres
                .get(number as usize)
                .map_or(f64::NAN, |centre| distance(point, centre))
        })
        .collect();
    let least = |i: usize| {
        let distances = centres.iter().map(|centre| distance(&points[i], centre));
        (distances.fold(f64::INFINITY, f64::min), 1e-5)
    };
    close(&found, least, |i| i.to_string())
}
