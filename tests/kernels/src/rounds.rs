//! Loops whose rounds the linker, or the device's `core`, makes in another way than they are written. What each kernel computes the host computes by the
//! same function.

use warpsmith_device::half::{Nearest, RoundFrom, f16};
use warpsmith_device::prelude::*;

/// The elements below `n` but that of the thread itself.
pub fn others(values: &[u32], i: usize, n: usize) -> u32 {
    let mut found = 0_u32;
    for j in 0..n {
        let difference = values[j].wrapping_sub(values[i % values.len()]);
        if j != i && difference.wrapping_mul(difference) > 1 << 20 {
            found = found.wrapping_add(difference);
        }
    }
    found
}

/// How many of them are below the thread's own, and the first of these.
pub fn others_below(values: &[u32], i: usize, n: usize) -> u32 {
    let own = values[i % values.len()];
    let mut first = u32::MAX;
    let mut count = 0;
    let mut j = 0;
    while j < n {
        let other = values[j];
        if i != j {
            count += u32::from(other < own);
            if other < own && first == u32::MAX {
                first = other;
            }
        }
        j += 1;
    }
    first ^ count
}

/// Ranges that include their ends, inside each other, forwards and backwards, some of them empty.
pub fn inclusive(values: &[u32], i: usize, n: usize) -> u32 {
    let near = (i.saturating_sub(1)..=i + 1)
        .filter(|row| row % 3 != 2)
        .flat_map(|row| (row..=n).map(move |column| row * 7 + column));
    let forwards = near.fold(1_u32, |sum, at| {
        sum.rotate_left(3) ^ values[at % values.len()]
    });
    let backwards = (n..=i)
        .rev()
        .fold(5_u32, |sum, at| sum.wrapping_mul(31) ^ at as u32);
    let found = (i..=n).try_fold(0, |sum, at| match values[at % values.len()] & 15 {
        0 => Err(sum),
        value => Ok(sum + value),
    });
    forwards ^ backwards.rotate_left(9) ^ found.unwrap_or_else(|sum| sum << 16)
}

/// Arrays side by side, of which the first pairs are left out; one of them may be shorter.
pub fn zipped(values: &[u32], i: usize, n: usize) -> u32 {
    let row: [u32; 6] = core::array::from_fn(|j| values[(i + j) % values.len()]);
    let mut sum = 0_u32;
    for (a, b) in row.iter().zip(row.map(|x| x ^ 3)).skip(n % 9) {
        sum = sum.wrapping_mul(5).wrapping_add(a ^ b.rotate_left(1));
    }
    let mut pairs = row.into_iter().zip([1, 2, 3_u32]);
    while let Some((a, b)) = pairs.nth(n % 3) {
        sum = sum.rotate_left(1) ^ a.wrapping_mul(b);
    }
    sum
}

/// Reductions in which the first element is searched for; their order counts.
pub fn searched(values: &[u32], i: usize, n: usize) -> u32 {
    let values = &values[i % 7..(i % 7 + n).min(values.len())];
    let odd = values.iter().filter(|x| *x & 1 == 1);
    let mixed = odd.clone().copied().reduce(|a, b| a.rotate_left(1) ^ b);
    let greatest = odd.max().copied();
    let squares = values
        .chunks(3)
        .flat_map(|part| part.iter().map(|x| x.wrapping_mul(*x)));
    let last = squares.clone().max_by_key(|x| x & 7);
    let first = squares.min_by_key(|x| x & 7);
    let small = values.iter().filter_map(|x| x.checked_sub(1 << 31));
    let least = small.min_by(|a, b| (a & 63).cmp(&(b & 63)));
    let all = [mixed, greatest, last, first, least];
    let all = all.into_iter().map(|x| x.unwrap_or(77));
    all.fold(0, |sum, x| sum.wrapping_mul(31) ^ x)
}

/// The order of the words in each round.
const ORDER: [[usize; 8]; 5] = [
    [0, 1, 2, 3, 4, 5, 6, 7],
    [6, 2, 5, 1, 7, 0, 3, 4],
    [3, 7, 0, 4, 2, 6, 1, 5],
    [5, 0, 6, 3, 1, 7, 4, 2],
    [7, 4, 1, 6, 0, 3, 2, 5],
];

/// The words in an order that a constant tells; its copies are read, and one is changed.
pub fn ordered(values: &[u32], i: usize, n: usize) -> u32 {
    let words: [u32; 8] = core::array::from_fn(|j| values[(i + j) % values.len()]);
    let mut state = words;
    for order in ORDER {
        let turned = order.map(|at| words[at]);
        for (state, word) in state.iter_mut().zip(turned) {
            *state = state.rotate_left(5).wrapping_add(word);
        }
    }
    let mut order = ORDER;
    order[n % 5][i % 8] = n % 8;
    for row in order {
        state[row[i % 8]] ^= words[row[n % 8]];
    }
    state.iter().fold(0, |sum, x| sum.wrapping_mul(31) ^ x)
}

/// What other elements are the numbers of.
pub fn gathered(values: &[u32], i: usize, n: usize) -> u32 {
    let mut sum = 0_u32;
    for at in &values[i % 5..(i % 5 + n).min(values.len())] {
        sum = sum.rotate_left(1) ^ values[(at % 70) as usize];
    }
    sum
}

/// The same up to one that ends it; some are the numbers of none.
pub fn gathered_until(values: &[u32], i: usize, n: usize) -> u32 {
    let mut sum = 0_u32;
    for at in &values[i % 5..(i % 5 + n).min(values.len())] {
        let Some(other) = values.get((at % 73) as usize) else {
            sum ^= 1 << 31;
            continue;
        };
        if other & 31 == 3 {
            return sum.wrapping_mul(5);
        }
        sum = sum.rotate_left(1) ^ other;
    }
    sum
}

/// Those of every third element, by an index.
pub fn gathered_by_steps(values: &[u32], i: usize, n: usize) -> u32 {
    let mut sum = 0_u32;
    let mut j = i % 5;
    while j < n.min(values.len()) {
        let at = (values[j] % 64) as usize + j % 4;
        sum = sum.rotate_left(1) ^ values[at];
        j += 3;
    }
    sum
}

/// One element of each chunk, the last of which may be shorter, and the lengths of all.
pub fn chunked(values: &[u32], i: usize, n: usize) -> u32 {
    let values = &values[..n.min(values.len())];
    let mut sum = 1_u32;
    for part in values.chunks(8) {
        let own = part.get(i % 8).copied().unwrap_or(part.len() as u32);
        sum = sum.rotate_left(3) ^ own;
    }
    for part in values.chunks(i % 9 + 1) {
        sum = sum.wrapping_mul(31).wrapping_add(part.len() as u32) ^ part[i % part.len()];
    }
    sum
}

macro_rules! of_threads {
    ($($kernel:ident: $function:ident),*) => {
        $(
            #[doc = concat!("See [`", stringify!($function), "`].")]
            #[kernel]
            pub fn $kernel(values: &[u32], n: u32, mut out: PerThread<[u32]>) {
                if let Some(out) = out.mine() {
                    *out = $function(values, thread::index(), n as usize);
                }
            }
        )*
    };
}

of_threads!(
    rounds_of_others: others,
    rounds_of_others_below: others_below,
    rounds_to_the_end: inclusive,
    rounds_of_pairs: zipped,
    rounds_of_searches: searched,
    rounds_in_order: ordered,
    rounds_of_numbers: gathered,
    rounds_until_a_number: gathered_until,
    rounds_of_steps: gathered_by_steps,
    rounds_of_chunks: chunked
);

/// The sums up to each element, by whole warps and what is left.
#[kernel]
pub fn rounds_of_warps(values: &[u32], mut out: RowPerWarp<u32>) {
    let lane = warp::lane() as usize;
    if let Some(mut own) = out.mine() {
        let mut places = own.strided();
        let mut carry = 0_u32;
        for part in values.chunks(32) {
            let value = part.get(lane).copied().unwrap_or(0);
            let sum = carry.wrapping_add(warp::inclusive_scan(value, u32::wrapping_add));
            if let Some((_, to)) = places.next() {
                *to = sum;
            }
            carry = warp::shuffle(warp::FULL, sum, 31);
        }
    }
}

/// Two results, of which the second one needs what the first one was and is.
#[kernel]
pub fn rounds_of_moments(
    values: &[u32],
    mut sums: PerThread<[u32]>,
    mut products: PerThread<[[u32; 2]]>,
) {
    let value = values.get(thread::index());
    if let (Some(value), Some(sum), Some(product)) = (value, sums.mine(), products.mine()) {
        *sum = sum.wrapping_add(*value);
        product[0] = product[0].wrapping_mul(*sum);
        product[1] ^= product[0].wrapping_add(*sum);
        *sum = sum.rotate_left(1);
    }
}

/// Numbers that are rounded to halves side by side.
#[kernel]
pub fn rounds_to_halves(x: &[[f32; 2]], mut out: PerThread<[[f16; 2]]>) {
    if let (Some(x), Some(out)) = (x.get(thread::index()), out.mine()) {
        *out = x.map(|x| f16::round_from(x, Nearest));
    }
}
