//! Where the largest value of each row of a matrix is, a warp a row.

use bytemuck::{Pod, Zeroable};
use warpsmith_device::prelude::*;

/// A value and where it is.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct Candidate {
    value: f32,
    column: u32,
}

impl Candidate {
    /// The larger of two; of equal ones the first.
    fn better(self, other: Candidate) -> Candidate {
        if other.value > self.value || (other.value == self.value && other.column < self.column) {
            other
        } else {
            self
        }
    }
}

/// `places` = the column of the first largest value of each row of `x`.
#[kernel]
pub fn argmax(x: Matrix<f32>, mut places: PerWarp<[u32]>) {
    let (row, lane) = (places.index(), warp::lane() as usize);
    let mut best = Candidate {
        value: f32::NEG_INFINITY,
        column: u32::MAX,
    };
    if row < x.rows() {
        for (column, &value) in x.row(row).iter().enumerate().skip(lane).step_by(32) {
            if value > best.value {
                best = Candidate {
                    value,
                    column: column as u32,
                };
            }
        }
    }
    let best = warp::reduce(best, Candidate::better);
    if let Some(place) = places.leader() {
        *place = best.column;
    }
}
