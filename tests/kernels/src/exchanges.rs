//! Local arrays that are exchanged or assigned as wholes, at indices that only the data decide. What each kernel computes the host computes by the
//! same function.

use core::mem::swap;
use warpsmith_device::prelude::*;

/// How many words a row has.
const ROW: usize = 33;

/// A row and the one above, which are exchanged in each round, and in some a second time.
pub fn exchanged(values: &[u32; 32], rounds: u32) -> u32 {
    let (mut above, mut row) = ([7_u32; ROW], [1_u32; ROW]);
    for (round, value) in (0..rounds).zip(values.iter().cycle()) {
        let first = *value as usize % ROW;
        for j in first..ROW {
            row[j] = above[j].wrapping_mul(31).wrapping_add(row[j - first]) ^ round;
        }
        swap(&mut above, &mut row);
        if value & 4 == 0 {
            row[first] = row[first].wrapping_add(1);
            swap(&mut row, &mut above);
        }
    }
    sum(&above).wrapping_mul(3) ^ sum(&row)
}

/// Three rows in turns.
pub fn in_turns(values: &[u32; 32], rounds: u32) -> u32 {
    let (mut oldest, mut old, mut new) = ([1_u32; ROW], [2_u32; ROW], [3_u32; ROW]);
    for (round, value) in (0..rounds).zip(values.iter().cycle()) {
        let first = *value as usize % ROW;
        for j in first..ROW {
            new[j] = oldest[j] ^ old[j - first].rotate_left(round);
        }
        swap(&mut oldest, &mut old);
        swap(&mut old, &mut new);
    }
    sum(&oldest) ^ sum(&old).rotate_left(7) ^ sum(&new).rotate_left(13)
}

/// A row that each round makes anew from the last one.
pub fn assigned(values: &[u32; 32], rounds: u32) -> u32 {
    let mut row = [5_u32; ROW];
    for (round, value) in (0..rounds).zip(values.iter().cycle()) {
        let first = *value as usize % ROW;
        let mut next = [round; ROW];
        for j in first..ROW {
            next[j] = row[j - first].wrapping_mul(31) ^ next[j / 2];
        }
        if value & 2 == 0 {
            row = next;
        }
    }
    sum(&row)
}

/// A row that is copied and read again: both live on.
pub fn copied(values: &[u32; 32], rounds: u32) -> u32 {
    let (mut row, mut next) = ([5_u32; ROW], [9_u32; ROW]);
    for (round, value) in (0..rounds).zip(values.iter().cycle()) {
        let first = *value as usize % ROW;
        for j in first..ROW {
            next[j] = next[j].wrapping_add(row[j - first]) ^ round;
        }
        row = next;
    }
    sum(&row) ^ sum(&next).rotate_left(3)
}

/// An address in one of two rows, which is used behind exchanges: it leads to the same variable, whatever that holds.
#[expect(
    clippy::swap_ptr_to_ref,
    reason = "`mem::swap` is what is exchanged by address"
)]
pub fn behind(values: &[u32; 32], rounds: u32) -> u32 {
    let (mut one, mut other) = ([7_u32; ROW], [1_u32; ROW]);
    let (of_one, of_other) = (&raw mut one, &raw mut other);
    let mut found = 0_u32;
    let mut at = if values[0] & 1 == 0 { of_one } else { of_other };
    for (round, value) in (0..rounds).zip(values.iter().cycle()) {
        let place = *value as usize % ROW;
        // SAFETY: both addresses are those of local variables, to which nothing else has a reference here; `place` is below their length.
        unsafe {
            swap(&mut *of_one, &mut *of_other);
            (*at)[place] = (*at)[place].wrapping_mul(31) ^ round;
            found = found.rotate_left(1) ^ (*of_one)[(place + 1) % ROW];
        }
        if value & 8 == 0 {
            at = if at == of_one { of_other } else { of_one };
        }
    }
    found ^ sum(&one) ^ sum(&other).rotate_left(11)
}

/// The sum of all words, each turned by its index.
fn sum(row: &[u32; ROW]) -> u32 {
    let turned = row.iter().enumerate().map(|(i, x)| x.rotate_left(i as u32));
    turned.fold(0, u32::wrapping_add)
}

macro_rules! of_threads {
    ($($kernel:ident: $function:ident),*) => {
        $(
            #[doc = concat!("See [`", stringify!($function), "`].")]
            #[kernel]
            pub fn $kernel(values: &[[u32; 32]], rounds: u32, mut out: PerThread<[u32]>) {
                if let (Some(values), Some(out)) = (values.get(thread::index()), out.mine()) {
                    *out = $function(values, rounds);
                }
            }
        )*
    };
}

of_threads!(
    exchanged_rows: exchanged,
    rows_in_turns: in_turns,
    assigned_rows: assigned,
    rows_copied_and_kept: copied,
    rows_behind_exchanges: behind
);
