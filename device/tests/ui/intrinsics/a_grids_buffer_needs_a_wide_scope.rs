// Blocks do not see each other's block-scope operations as atomic.
use warpsmith_device::atomic::{AtomicSlice, scope};

fn length(words: AtomicSlice<'_, u32, scope::Block>) -> usize {
    words.as_slice().len()
}

fn main() {
    let _ = length;
}
