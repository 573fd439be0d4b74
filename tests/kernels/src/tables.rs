//! Local arrays that are filled before something is read of them, wholly or in part. What each kernel computes the host computes by the same function.

use crate::stacks;
use warpsmith_device::prelude::*;

/// A number of those that a table is filled with.
fn next(x: u32, column: usize) -> u32 {
    x.wrapping_mul(1664525).rotate_left(column as u32) ^ 0x9e37
}

/// A table of which these rows are filled, without the first one.
#[inline(always)]
fn table(seed: u32, rows: usize) -> [[u32; 9]; 24] {
    let mut table = [[0; 9]; 24];
    let mut x = seed;
    for row in &mut table[1..rows] {
        for (column, word) in row.iter_mut().enumerate() {
            x = next(x, column);
            *word = x;
        }
    }
    table
}

/// The word at a place.
fn at(table: &[[u32; 9]; 24], place: u32) -> u32 {
    let place = place as usize % 216;
    table[place / 9][place % 9]
}

/// All rows but the first one are filled.
pub fn all_rows(seed: u32, place: u32) -> u32 {
    at(&table(seed, 24), place)
}

/// The last ones are not.
pub fn some_rows(seed: u32, place: u32) -> u32 {
    at(&table(seed, 20), place)
}

/// As many are as the seed says.
pub fn any_rows(seed: u32, place: u32) -> u32 {
    at(&table(seed, 1 + seed as usize % 24), place)
}

/// Bytes are written side by side by 6, from a place on.
pub fn bytes_by_six(seed: u32, place: u32) -> u32 {
    let mut bytes = [[0_u8; 6]; 64];
    let mut x = seed;
    for row in &mut bytes[3..] {
        x = next(x, 1);
        *row = core::array::from_fn(|i| (x >> i) as u8);
    }
    let place = place as usize % 384;
    bytes[place / 6][place % 6].into()
}

/// Filling ends where a number is found.
pub fn until_found(seed: u32, place: u32) -> u32 {
    let mut words = [0; 96];
    let mut x = seed;
    for word in &mut words {
        x = next(x, 3);
        if x % 64 == seed % 64 {
            break;
        }
        *word = x;
    }
    words[place as usize % 96]
}

/// Each word is made of one that may not be written yet.
pub fn of_its_own(seed: u32, place: u32) -> u32 {
    let mut words = [0_u32; 96];
    let mut x = seed;
    for n in 0..96 {
        x = next(x, 5);
        words[n] = words[x as usize % 96].wrapping_add(x);
    }
    words[place as usize % 96]
}

/// Some words are left out.
pub fn by_seven(seed: u32, place: u32) -> u32 {
    let mut words = [0_u32; 96];
    for n in 0..13 {
        words[7 * n] = next(seed, n);
        words[7 * n + 2] = next(seed, n + 1);
        if seed % 3 == 0 {
            words[7 * n + 1] = next(seed, n + 2);
        }
    }
    words[place as usize % 96]
}

macro_rules! kernels {
    ($($(#[$doc:meta])* $kernel:ident $function:path)*) => ($(
        $(#[$doc])*
        #[kernel]
        pub fn $kernel(seeds: &[u32], places: &[u32], mut out: PerThread<[u32]>) {
            let i = thread::index();
            if let Some(out) = out.mine() {
                *out = $function(seeds[i], places[i]);
            }
        }
    )*)
}

kernels! {
    /// [`all_rows`]
    filled_all_rows all_rows
    /// [`some_rows`]
    filled_some_rows some_rows
    /// [`any_rows`]
    filled_any_rows any_rows
    /// [`bytes_by_six`]
    filled_bytes_by_six bytes_by_six
    /// [`until_found`]
    filled_until_found until_found
    /// [`of_its_own`]
    filled_of_its_own of_its_own
    /// [`by_seven`]
    filled_by_seven by_seven
    /// [`stacks::by_one`]
    stack_by_one stacks::by_one
    /// [`stacks::of_tree`]
    stack_of_tree stacks::of_tree
    /// [`stacks::by_last`]
    stack_by_last stacks::by_last
    /// [`stacks::with_gaps`]
    stack_with_gaps stacks::with_gaps
    /// [`stacks::of_places`]
    stack_of_places stacks::of_places
}
