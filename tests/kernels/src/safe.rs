//! Kernels of a crate that forbids unsafe code: all that the macros of the library write counts as the library's.
#![forbid(unsafe_code)]

use warpsmith_device::prelude::*;

// A kernel may be re-exported like any item, under another name, too.
pub use nested::{counted as counted_elements, scaled};

warpsmith_device::constant! {
    /// A factor.
    pub static SAFE_FACTOR: u32 = 3;
}

warpsmith_device::device_static! {
    /// How many threads had an element.
    pub static SAFE_COUNT: Atomic<u32> = Atomic::new(0);
}

mod nested {
    use super::*;

    /// Counts the threads that have an element.
    #[kernel]
    pub fn counted(x: &[u32]) {
        if x.get(thread::index()).is_some() {
            SAFE_COUNT.add(1, Relaxed);
        }
    }

    /// Rows of a tile and neighbours of an array, for two types; the first thread prints.
    #[kernel(instantiate(u32, u64), launch_bounds(8, 8, 1, exact))]
    pub fn scaled<T: bytemuck::Pod + Send + Sync + core::ops::Add<Output = T>>(
        x: &[T],
        mut out: PerThread3d<[T]>,
    ) {
        let (column, row, _) = thread::idx();
        let own = thread::linear_in_block() as usize;
        let tile = shared!([[T; 8]; 8], padding = 1).fill_with(|row, column| x[row * 8 + column]);
        let array = shared!([T; 64]).write(x[own]);
        let (tile, array) = (tile.sync(), array.sync());
        gpu_assert!(x.len() == 64);
        if thread::is_first() {
            gpu_println!("{} elements, factor {}", x.len(), *SAFE_FACTOR);
        }
        if let Some(out) = out.mine() {
            *out = tile[(column as usize, row as usize)] + array[63 - own];
        }
    }
}
