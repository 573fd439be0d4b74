//! Arrays and slices that are copied and filled as a whole, by lengths of compile time and of run time.

use warpsmith_device::prelude::*;

/// A row that is copied to the thread's own memory, changed at a place, and copied back.
#[kernel]
pub fn rows_through_local_memory(rows: &[[u32; 41]], place: u32, mut out: PerThread<[[u32; 41]]>) {
    if let (Some(row), Some(out)) = (rows.get(thread::index()), out.mine()) {
        let mut own = *row;
        own[place as usize % 41] += 1;
        *out = own;
    }
}

/// How often each number below 67 is in a row.
#[kernel]
pub fn counts_in_local_memory(rows: &[[u32; 41]], mut out: PerThread<[[u16; 67]]>) {
    if let (Some(row), Some(out)) = (rows.get(thread::index()), out.mine()) {
        let mut counts = [0u16; 67];
        for x in row {
            counts[*x as usize % 67] += 1;
        }
        *out = counts;
    }
}

/// More than is copied without a loop, with a rest.
#[kernel]
pub fn large_rows(rows: &[[u64; 1003]], mut out: PerThread<[[u64; 1003]]>) {
    if let (Some(row), Some(out)) = (rows.get(thread::index()), out.mine()) {
        *out = *row;
    }
}

/// Elements of run-time numbers, from the thread's number on, over ones; then zeros over what is behind half of them. Some are moved to
/// where they may overlap themselves, to either side, and the last one goes to the front of those behind the thread's number.
macro_rules! parts {
    ($($name:ident $element:ty, $one:expr, $zero:expr;)*) => ($(
        #[kernel]
        pub fn $name(x: &[$element], mut out: PerThread<[[$element; 50]]>) {
            let n = thread::index();
            if let Some(out) = out.mine() {
                out.fill($one);
                for (to, from) in out[n..].iter_mut().zip(&x[n..]) {
                    *to = *from;
                }
                let half = (n + 50) / 2;
                out[half..].fill($zero);
                let copied = n.min(50 - half);
                out[half..half + copied].copy_from_slice(&x[..copied]);
                let moved = n / 2 + 3;
                let [from, to] = [7, 11].map(|by| n * by % (51 - moved));
                out.copy_within(from..from + moved, to);
                out[n..].rotate_right(1);
            }
        }
    )*)
}

parts! {
    parts_of_bytes u8, 1, 0;
    parts_of_halves u16, 0x0101, 0;
    parts_of_words u32, 0x0101_0101, 0;
    parts_of_longs u64, u64::MAX, 0;
    parts_of_triples [u32; 3], [1; 3], [0; 3];
}
