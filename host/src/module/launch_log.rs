//! Which kernels a module has launched lately, in which shape: a panic's record knows the shape alone.

use std::sync::atomic::{AtomicU64, Ordering};

const REMEMBERED: usize = 64;

/// The last launches of a module: a ring without a lock. A torn entry could at worst name a wrong candidate.
pub(crate) struct LaunchLog {
    next: AtomicU64,
    entries: [[AtomicU64; 4]; REMEMBERED],
}

impl Default for LaunchLog {
    fn default() -> Self {
        LaunchLog {
            next: AtomicU64::new(0),
            entries: std::array::from_fn(|_| std::array::from_fn(|_| AtomicU64::new(0))),
        }
    }
}

/// One launch in four words; no word of a launch is 0 in its first half, so an empty entry matches nothing.
fn encode(kernel: u32, grid: [u32; 3], block: [u32; 3]) -> [u64; 4] {
    let pair = |a: u32, b: u32| u64::from(a) | u64::from(b) << 32;
    [
        pair(kernel.wrapping_add(1), grid[0]),
        pair(grid[1], grid[2]),
        pair(block[0], block[1]),
        u64::from(block[2]),
    ]
}

impl LaunchLog {
    #[inline]
    pub(crate) fn note(&self, kernel: u32, grid: [u32; 3], block: [u32; 3]) {
        let entry = &self.entries[self.next.fetch_add(1, Ordering::Relaxed) as usize % REMEMBERED];
        for (cell, word) in entry.iter().zip(encode(kernel, grid, block)) {
            cell.store(word, Ordering::Relaxed);
        }
    }

    /// The kernels launched in this shape, the last one first.
    pub(crate) fn matching(&self, grid: [u32; 3], block: [u32; 3]) -> Vec<u32> {
        let next = self.next.load(Ordering::Relaxed);
        let mut kernels = Vec::new();
        for back in 1..=(next.min(REMEMBERED as u64)) {
            let entry = &self.entries[(next - back) as usize % REMEMBERED];
            let words: [u64; 4] = std::array::from_fn(|i| entry[i].load(Ordering::Relaxed));
            let kernel = (words[0] as u32).wrapping_sub(1);
            if words == encode(kernel, grid, block) && !kernels.contains(&kernel) {
                kernels.push(kernel);
            }
        }
        kernels
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_is_told_by_the_shape_of_its_launch() {
        let launches = LaunchLog::default();
        for _ in 0..100 {
            launches.note(0, [1, 1, 1], [32, 1, 1]);
        }
        launches.note(1, [9, 1, 1], [64, 1, 1]);
        launches.note(2, [9, 1, 1], [64, 1, 1]);
        assert_eq!(launches.matching([1, 1, 1], [32, 1, 1]), [0]);
        assert_eq!(launches.matching([9, 1, 1], [64, 1, 1]), [2, 1]);
        assert!(launches.matching([9, 1, 1], [65, 1, 1]).is_empty());
    }
}
