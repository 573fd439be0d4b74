//! Two sorted lists merged, each thread eight elements.

use warpsmith_device::prelude::*;

/// Elements of a thread.
pub const ITEMS: usize = 8;

/// The elements of `a` and `b` in order; behind the last one is `u32::MAX`.
#[kernel]
pub fn merge_path(a: &[u32], b: &[u32], mut merged: PerThread<[[u32; ITEMS]]>) {
    if let Some(own) = merged.mine() {
        let before = (thread::index() * ITEMS).min(a.len() + b.len());
        let (from_a, from_b) = split(a, b, before);
        let mut left = a[from_a..].iter().peekable();
        let mut right = b[from_b..].iter().peekable();
        for to in own {
            let next = match (left.peek(), right.peek()) {
                (Some(x), Some(y)) if x <= y => left.next(),
                (Some(_), None) => left.next(),
                _ => right.next(),
            };
            *to = next.copied().unwrap_or(u32::MAX);
        }
    }
}

/// How many of the first `count` elements come from `a`, and how many from `b`.
fn split(a: &[u32], b: &[u32], count: usize) -> (usize, usize) {
    let mut low = count.saturating_sub(b.len());
    let mut high = count.min(a.len());
    while low < high {
        let middle = (low + high) / 2;
        if a[middle] <= b[count - 1 - middle] {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    (low, count - low)
}
