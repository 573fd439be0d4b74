//! A flow in two dimensions, by the lattice Boltzmann method with nine directions.

use warpsmith_device::prelude::*;

/// A direction in which a part of each cell's fluid moves: its step, and the weight of that part at rest.
pub const DIRECTIONS: [(i32, i32, f32); 9] = [
    (0, 0, 4.0 / 9.0),
    (1, 0, 1.0 / 9.0),
    (0, 1, 1.0 / 9.0),
    (-1, 0, 1.0 / 9.0),
    (0, -1, 1.0 / 9.0),
    (1, 1, 1.0 / 36.0),
    (-1, 1, 1.0 / 36.0),
    (-1, -1, 1.0 / 36.0),
    (1, -1, 1.0 / 36.0),
];

/// A step of the flow: each cell takes what its neighbours send, and relaxes. The parts of a direction lie one after another; the ends of the
/// area meet.
#[kernel]
pub fn lattice_boltzmann(from: &[f32], width: u32, height: u32, omega: f32, to: Scatter<[f32]>) {
    let (x, y) = thread::index_2d();
    if x >= width || y >= height {
        return;
    }
    let cells = (width * height) as usize;
    let mut parts = [0.0; 9];
    for (q, &(dx, dy, _)) in DIRECTIONS.iter().enumerate() {
        let column = (x + width).wrapping_add_signed(-dx) % width;
        let row = (y + height).wrapping_add_signed(-dy) % height;
        parts[q] = from[q * cells + (row * width + column) as usize];
    }
    let own = (y * width + x) as usize;
    for (q, part) in relaxed(&parts, omega).into_iter().enumerate() {
        to.write(q * cells + own, part);
    }
}

/// The parts of a cell after they have met.
pub fn relaxed(parts: &[f32; 9], omega: f32) -> [f32; 9] {
    let density: f32 = parts.iter().sum();
    let (mut ux, mut uy) = (0.0, 0.0);
    for (part, &(dx, dy, _)) in parts.iter().zip(&DIRECTIONS) {
        ux += dx as f32 * part;
        uy += dy as f32 * part;
    }
    ux /= density;
    uy /= density;
    let square = 1.5 * (ux * ux + uy * uy);
    core::array::from_fn(|q| {
        let (dx, dy, weight) = DIRECTIONS[q];
        let along = 3.0 * (dx as f32 * ux + dy as f32 * uy);
        let rest = weight * density * (1.0 + along + 0.5 * along * along - square);
        parts[q] + omega * (rest - parts[q])
    })
}
