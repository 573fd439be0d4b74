//! The weather of Lorenz, by the method of Runge and Kutta.

use core::array::from_fn;
use warpsmith_device::prelude::*;

/// Where each point is after `steps` steps of `dt`; each has a constant of its own.
#[kernel]
pub fn lorenz(
    points: &[[f32; 3]],
    constants: &[f32],
    dt: f32,
    steps: u32,
    mut last: PerThread<[[f32; 3]]>,
) {
    let i = thread::index();
    if let Some(last) = last.mine() {
        let rho = constants[i];
        let slope =
            |[x, y, z]: [f32; 3]| [10.0 * (y - x), x * (rho - z) - y, x * y - 8.0 / 3.0 * z];
        *last = (0..steps).fold(points[i], |point, _| runge_kutta(point, dt, slope));
    }
}

/// A step of `dt` from `y`.
pub fn runge_kutta<const N: usize>(
    y: [f32; N],
    dt: f32,
    slope: impl Fn([f32; N]) -> [f32; N],
) -> [f32; N] {
    let along = |by: f32, slope: &[f32; N]| from_fn(|i| y[i] + by * slope[i]);
    let first = slope(y);
    let second = slope(along(dt / 2.0, &first));
    let third = slope(along(dt / 2.0, &second));
    let fourth = slope(along(dt, &third));
    from_fn(|i| y[i] + dt / 6.0 * (first[i] + 2.0 * second[i] + 2.0 * third[i] + fourth[i]))
}
