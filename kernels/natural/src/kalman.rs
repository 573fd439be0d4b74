//! Tracks of moving points smoothed by a filter (Kalman), a thread a track.

use core::array::from_fn;
use core::ops::{Add, Mul, Sub};
use warpsmith_device::prelude::*;

/// A matrix of `R` rows and `C` columns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Small<const R: usize, const C: usize>(pub [[f32; C]; R]);

impl<const R: usize, const C: usize> Small<R, C> {
    fn transposed(self) -> Small<C, R> {
        Small(from_fn(|i| from_fn(|j| self.0[j][i])))
    }
}

impl<const N: usize> Small<N, N> {
    fn diagonal(x: f32) -> Self {
        Small(from_fn(|i| from_fn(|j| if i == j { x } else { 0.0 })))
    }
}

impl Small<2, 2> {
    fn inverse(self) -> Self {
        let [[a, b], [c, d]] = self.0;
        let scale = 1.0 / (a * d - b * c);
        Small([[d * scale, -b * scale], [-c * scale, a * scale]])
    }
}

impl<const R: usize, const K: usize, const C: usize> Mul<Small<K, C>> for Small<R, K> {
    type Output = Small<R, C>;

    fn mul(self, other: Small<K, C>) -> Small<R, C> {
        Small(from_fn(|i| {
            from_fn(|j| (0..K).map(|k| self.0[i][k] * other.0[k][j]).sum())
        }))
    }
}

impl<const R: usize, const C: usize> Add for Small<R, C> {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Small(from_fn(|i| from_fn(|j| self.0[i][j] + other.0[i][j])))
    }
}

impl<const R: usize, const C: usize> Sub for Small<R, C> {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Small(from_fn(|i| from_fn(|j| self.0[i][j] - other.0[i][j])))
    }
}

/// What is known of a point.
pub struct Filter {
    /// Its place and its speed.
    pub state: Small<4, 1>,
    /// How unsure they are.
    pub covariance: Small<4, 4>,
}

impl Filter {
    /// Nothing is known but where the point was seen first.
    pub fn new([x, y]: [f32; 2]) -> Filter {
        Filter {
            state: Small([[x], [y], [0.0], [0.0]]),
            covariance: Small::diagonal(1.0),
        }
    }

    /// A step of time, and where the point was seen then.
    pub fn step(&mut self, dt: f32, noise: f32, [x, y]: [f32; 2]) {
        let mut motion = Small::<4, 4>::diagonal(1.0);
        motion.0[0][2] = dt;
        motion.0[1][3] = dt;
        let seen = Small([[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]]);

        let state = motion * self.state;
        let covariance = motion * self.covariance * motion.transposed() + Small::diagonal(0.01);
        let surprise = Small([[x], [y]]) - seen * state;
        let spread = seen * covariance * seen.transposed() + Small::diagonal(noise);
        let gain = covariance * seen.transposed() * spread.inverse();
        self.state = state + gain * surprise;
        self.covariance = (Small::diagonal(1.0) - gain * seen) * covariance;
    }
}

/// The last place and speed of each track. A row of `seen` has the points of one moment, `dt` after the row before.
#[kernel]
pub fn kalman(seen: Matrix<[f32; 2]>, dt: f32, noise: f32, mut states: PerThread<[[f32; 4]]>) {
    let track = thread::index();
    if let Some(to) = states.mine() {
        let mut filter = Filter::new(seen[(0, track)]);
        for time in 1..seen.rows() {
            filter.step(dt, noise, seen[(time, track)]);
        }
        *to = filter.state.0.map(|[x]| x);
    }
}
