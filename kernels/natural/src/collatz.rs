//! How long it takes until a number gets to 1.

use warpsmith_device::prelude::*;

/// The steps of Collatz's sequence from each number on.
#[kernel]
pub fn collatz(first: u64, mut steps: PerThread<[u32]>) {
    let i = thread::index();
    if let Some(steps) = steps.mine() {
        *steps = count(first + i as u64);
    }
}

/// The steps from `n` to 1.
pub fn count(mut n: u64) -> u32 {
    let mut steps = 0;
    while n != 1 {
        n = if n.is_multiple_of(2) {
            n / 2
        } else {
            3 * n + 1
        };
        steps += 1;
    }
    steps
}
