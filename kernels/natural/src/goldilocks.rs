//! A hash for proofs: rounds of powers and sums in the field of 2^64 - 2^32 + 1 elements.

use bytemuck::{Pod, Zeroable};
use core::array::from_fn;
use core::ops::{Add, Mul};
use warpsmith_device::prelude::*;

/// How many elements there are.
pub const PRIME: u64 = 0xffff_ffff_0000_0001;
/// Elements of a state.
pub const WIDTH: usize = 8;
/// The first row of the matrix that mixes a state; each other one is the row before it, turned by one place.
pub const MIX: [u64; WIDTH] = [7, 1, 3, 8, 8, 3, 4, 9];

/// 2^64 in the field.
const EPSILON: u64 = 0xffff_ffff;

/// An element, below 2^64.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(transparent)]
pub struct Element(pub u64);

impl Element {
    fn reduce(x: u128) -> Element {
        let (low, high) = (x as u64, (x >> 64) as u64);
        let (mut difference, is_below) = low.overflowing_sub(high >> 32);
        if is_below {
            difference = difference.wrapping_sub(EPSILON);
        }
        let (sum, is_above) = difference.overflowing_add((high & EPSILON) * EPSILON);
        Element(if is_above {
            sum.wrapping_add(EPSILON)
        } else {
            sum
        })
    }

    fn seventh_power(self) -> Element {
        let square = self * self;
        let cube = square * self;
        square * square * cube
    }

    /// The element as a number below the prime.
    fn canonical(self) -> u64 {
        if self.0 >= PRIME {
            self.0 - PRIME
        } else {
            self.0
        }
    }
}

impl Add for Element {
    type Output = Element;

    fn add(self, other: Element) -> Element {
        Element::reduce(u128::from(self.0) + u128::from(other.0))
    }
}

impl Mul for Element {
    type Output = Element;

    fn mul(self, other: Element) -> Element {
        Element::reduce(u128::from(self.0) * u128::from(other.0))
    }
}

/// The first four elements of each state after all rounds.
#[kernel]
pub fn goldilocks(
    states: &[[Element; WIDTH]],
    rounds: &[[Element; WIDTH]],
    mut hashes: PerThread<[[u64; 4]]>,
) {
    if let (Some(&state), Some(hash)) = (states.get(thread::index()), hashes.mine()) {
        let last = rounds.iter().fold(state, round);
        for (to, element) in hash.iter_mut().zip(last) {
            *to = element.canonical();
        }
    }
}

/// A round: the constants are added, each element gets its seventh power, and the matrix mixes them.
fn round(state: [Element; WIDTH], constants: &[Element; WIDTH]) -> [Element; WIDTH] {
    let powers: [Element; WIDTH] = from_fn(|i| (state[i] + constants[i]).seventh_power());
    from_fn(|row| {
        let sum: u128 = powers
            .iter()
            .enumerate()
            .map(|(i, power)| u128::from(power.0) * u128::from(MIX[(i + WIDTH - row) % WIDTH]))
            .sum();
        Element::reduce(sum)
    })
}
