//! What lanes of a warp do together: on the device by its instructions, on the host by threads (`oracle.rs`).

/// A lane. Masks name lanes of its warp; all of them, and they alone, come to the same call with the same mask.
pub trait Lanes {
    fn lane(&self) -> u32;
    fn shuffle(&mut self, mask: u32, value: u32, source: u32) -> u32;
    /// For full warps, as `down` and `butterfly`.
    fn up(&mut self, mask: u32, value: u32, delta: u32) -> u32;
    fn down(&mut self, mask: u32, value: u32, delta: u32) -> u32;
    fn butterfly(&mut self, mask: u32, value: u32, bits: u32) -> u32;
    fn ballot(&mut self, mask: u32, predicate: bool) -> u32;
    fn any(&mut self, mask: u32, predicate: bool) -> bool;
    fn all(&mut self, mask: u32, predicate: bool) -> bool;
    fn uniform(&mut self, mask: u32, predicate: bool) -> bool;
    fn match_any(&mut self, mask: u32, value: u32) -> u32;
    fn match_all(&mut self, mask: u32, value: u32) -> u32;
    fn sum(&mut self, mask: u32, value: u32) -> u32;
    fn least(&mut self, mask: u32, value: u32) -> u32;
    fn greatest_signed(&mut self, mask: u32, value: u32) -> u32;
    fn parity(&mut self, mask: u32, value: u32) -> u32;
    fn sync(&mut self, mask: u32);
    /// How many lanes are elected: one, but any of them.
    fn elected(&mut self, mask: u32) -> u32;
    /// All threads of the block that have not ended come to these.
    fn block_sync(&mut self);
    fn block_count(&mut self, predicate: bool) -> u32;
    fn block_all(&mut self, predicate: bool) -> bool;
    fn block_any(&mut self, predicate: bool) -> bool;
    /// The value that the thread of this number passes, taken modulo the number of threads. None of them has ended.
    fn exchange(&mut self, value: u32, from: u32) -> u32;
}

/// The lane of `mask` that comes after `k` others, counted around.
#[inline(always)]
pub fn select(mask: u32, k: u32) -> u32 {
    let mut rest = mask;
    for _ in 0..k % mask.count_ones() {
        rest &= rest - 1;
    }
    rest.trailing_zeros()
}

/// Computes without other lanes.
#[inline(never)]
pub fn alone(x: u32) -> u32 {
    if x % 3 == 0 { x / 3 } else { x.wrapping_mul(5).rotate_left(3) }
}
