//! The eigenvalues of many small matrices, by rotations.

use warpsmith_device::prelude::*;

/// The eigenvalues of each symmetric matrix, the least one first.
#[kernel]
pub fn jacobi_3x3(matrices: &[[[f64; 3]; 3]], mut eigenvalues: PerThread<[[f64; 3]]>) {
    let i = thread::index();
    if let Some(values) = eigenvalues.mine() {
        let mut a = matrices[i];
        for _sweep in 0..10 {
            let off = a[0][1] * a[0][1] + a[0][2] * a[0][2] + a[1][2] * a[1][2];
            if off < 1e-24 {
                break;
            }
            for (p, q) in [(0, 1), (0, 2), (1, 2)] {
                if a[p][q] != 0.0 {
                    rotate(&mut a, p, q);
                }
            }
        }
        *values = sorted([a[0][0], a[1][1], a[2][2]]);
    }
}

/// Rotates rows and columns `p` and `q` so that the element where they meet becomes 0.
fn rotate(a: &mut [[f64; 3]; 3], p: usize, q: usize) {
    let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
    let tangent = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
    let cosine = 1.0 / (tangent * tangent + 1.0).sqrt();
    let sine = tangent * cosine;
    let turned = |x: f64, y: f64| (cosine * x - sine * y, sine * x + cosine * y);
    for row in a.iter_mut() {
        (row[p], row[q]) = turned(row[p], row[q]);
    }
    let (mut first, mut second) = (a[p], a[q]);
    for (x, y) in first.iter_mut().zip(&mut second) {
        (*x, *y) = turned(*x, *y);
    }
    (a[p], a[q]) = (first, second);
}

fn sorted([a, b, c]: [f64; 3]) -> [f64; 3] {
    let (a, b) = if a <= b { (a, b) } else { (b, a) };
    if c < a {
        [c, a, b]
    } else if c < b {
        [a, c, b]
    } else {
        [a, b, c]
    }
}
