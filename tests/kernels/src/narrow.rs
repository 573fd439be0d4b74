//! Remainders, divisions and conversions that the linker narrows.

use warpsmith_device::prelude::*;

/// Notes a value; in which order they are noted shows.
fn note(sum: u64, value: u64) -> u64 {
    sum.wrapping_mul(31).wrapping_add(value.wrapping_add(1))
}

/// Remainders of what a loop counts from `start` on, by a constant and by a number that may be 0 where nothing is divided.
#[kernel]
pub fn counted_remainders(starts: &[u64], rounds: u64, divisor: u64, mut out: PerThread<[u64]>) {
    let Some(out) = out.mine() else { return };
    let start = starts[thread::index()];
    let mut sum = 0;
    for i in start..start + rounds {
        sum = note(sum, i % 3);
        sum = note(sum, (i + 1) % 3);
        sum = note(sum, (i + 2) % 3);
        sum = note(sum, i % 1000);
        if divisor != 0 {
            sum = note(sum, i % divisor);
            sum = note(sum, (i + 1) % divisor);
        }
    }
    *out = sum;
}

/// What [`counted_remainders()`] gives.
pub fn counted_remainders_on_host(start: u64, rounds: u64, divisor: u64) -> u64 {
    (start..start + rounds).fold(0, |sum, i| {
        let divisors = [
            (0, 3),
            (1, 3),
            (2, 3),
            (0, 1000),
            (0, divisor),
            (1, divisor),
        ];
        let divisors = divisors.into_iter().filter(|(_, divisor)| *divisor != 0);
        divisors.fold(sum, |sum, (added, divisor)| {
            note(sum, (i + added) % divisor)
        })
    })
}

/// Places in a ring, one after the other, by numbers of 64 bits and of 32.
#[kernel]
pub fn places_around(starts: &[u64], rounds: u32, places: u64, mut out: PerThread<[u64]>) {
    let Some(out) = out.mine() else { return };
    let mut place = starts[thread::index()] % places;
    let mut short = starts[thread::index()] as u32 % places as u32;
    let mut sum = 0;
    for _ in 0..rounds {
        sum = note(note(sum, place), short.into());
        place = (place + 1) % places;
        short = (short + 1) % places as u32;
    }
    *out = sum;
}

/// The neighbours of a place on a ring.
#[kernel]
pub fn ring_neighbours(x: &[u32], places: u32, mut out: PerThread<[u64]>) {
    let Some(out) = out.mine() else { return };
    let x = x[thread::index()] as usize;
    let places = places as usize;
    if places == 0 {
        *out = 7;
        return;
    }
    let (before, here, after) = ((x + places - 1) % places, x % places, (x + 1) % places);
    let far = (x + places + 1) % places;
    *out = [before, here, after, far]
        .into_iter()
        .fold(0, |sum, n| note(sum, n as u64));
}

/// Quotients and remainders that wait for each other, and some that do not.
#[kernel]
pub fn quotients(a: &[u64], width: u64, height: u64, mut out: PerThread<[u64]>) {
    let i = thread::index();
    let Some(out) = out.mine() else { return };
    let area = width.wrapping_mul(height);
    let (column, row, layer) = (a[i] % width, a[i] / width % height, a[i] / area);
    let signed = note(
        (a[i] as i64).wrapping_div(height as i64) as u64 & !(1 << 63),
        (a[i] as i64).wrapping_rem(width as i64) as u64 & !(1 << 63),
    );
    *out = [column, row, layer, signed].into_iter().fold(0, note);
}

/// What [`quotients()`] gives.
pub fn quotients_on_host(a: u64, width: u64, height: u64) -> u64 {
    let signed = note(
        (a as i64).wrapping_div(height as i64) as u64 & !(1 << 63),
        (a as i64).wrapping_rem(width as i64) as u64 & !(1 << 63),
    );
    let area = width.wrapping_mul(height);
    [a % width, a / width % height, a / area, signed]
        .into_iter()
        .fold(0, note)
}

/// Whether there are numbers beside one, behind comparisons with the ends of what there is.
fn beside(a: u64, bound: u64) -> u64 {
    let half = (a & SHORT) >> 1;
    let mut sum = note(0, u64::from(half == bound.wrapping_sub(1)));
    sum = note(sum, u64::from(a & SHORT == bound.wrapping_sub(1)));
    if a != bound.wrapping_sub(1) {
        sum = note(sum, u64::from(a.wrapping_add(1) < bound));
        if a < bound {
            sum = note(sum, u64::from(a + 1 < bound) + u64::from(a < bound - 1));
        }
    }
    if a < bound && a + 1 != bound && a < bound - 1 {
        sum = note(sum, a);
    }
    if a != 0 && a != bound && a - 1 < bound && a < bound {
        sum = note(sum, a);
    }
    if a.wrapping_sub(1) < bound && a < bound && a.wrapping_add(1) < bound {
        sum = note(sum, a);
    }
    sum
}

/// Whether parts of sums and products are below what these are below: those that wrap around have parts that are not.
fn parts_below(a: u64, bound: u64, factor: u64) -> u64 {
    let (width, height) = (bound >> 20, factor >> 20);
    let area = width * height;
    let mut sum = 0;
    if area != 0 {
        sum = note(sum, u64::from(width != 0) + u64::from(height != 0));
    }
    if a.wrapping_add(area) < bound {
        sum = note(sum, u64::from(a.wrapping_add(width) < bound));
        sum = note(sum, u64::from(a < bound) + u64::from(width < bound));
    }
    if a < 1 << 31 && a + area < bound && height != 0 {
        sum = note(sum, u64::from(a + width < bound) + u64::from(a < bound));
    }
    if a.wrapping_mul(factor) < bound {
        sum = note(sum, u64::from(a < bound));
    }
    if a.wrapping_mul(factor) != 0 {
        sum = note(sum, u64::from(a != 0) + u64::from(factor != 0));
    }
    if a as u32 != 0 {
        sum = note(sum, u64::from(a != 0));
    }
    if a.wrapping_add(width) < bound && a < bound && a.wrapping_add(area) < bound {
        sum = note(sum, a);
    }
    sum
}

/// The highest number of 32 bits.
const SHORT: u64 = u32::MAX as u64;

/// What is computed behind comparisons that say how great its numbers are.
fn guarded(a: u64, bound: u32, factor: u32) -> u64 {
    let (bound, factor) = (u64::from(bound), u64::from(factor));
    let mut sum = note(a.min(bound), a.saturating_sub(factor).wrapping_mul(factor));
    sum = note(sum, beside(a, bound));
    sum = note(sum, parts_below(a, bound, factor));
    if a < bound {
        let after = (a + 1).min(bound - 1);
        sum = note(sum, after.wrapping_mul(factor));
        sum = note(
            sum,
            u64::from(after < bound) + u64::from(a.saturating_sub(1) < bound),
        );
        if a > 0 {
            sum = note(sum, (a - 1).wrapping_mul(factor));
        }
        if a + 1 < bound && a >= 3 {
            sum = note(sum, (a + 1).wrapping_mul(a - 3));
            sum = note(sum, u64::from(a - 3 < bound - 3));
        }
    } else if a > bound {
        sum = note(sum, (a - bound).wrapping_mul(factor));
        sum = note(sum, u64::from(a - 1 < bound));
    }
    if a != 0 && a <= 1 << 32 {
        sum = note(sum, (a - 1).wrapping_mul(a.wrapping_add(factor)));
    }
    sum
}

/// [`guarded_on_host()`] of numbers.
#[kernel]
pub fn guarded_products(a: &[u64], bound: u32, factor: u32, mut out: PerThread<[u64]>) {
    if let Some(out) = out.mine() {
        *out = guarded(a[thread::index()], bound, factor);
    }
}

/// What [`guarded_products()`] gives.
pub fn guarded_on_host(a: u64, bound: u32, factor: u32) -> u64 {
    guarded(a, bound, factor)
}

/// What a loop counts, in 31 bits, and where it ends, in 32.
fn steps(begin: u32, end: u32, step: u32) -> u64 {
    let (mut at, end) = (u64::from(begin >> 1), u64::from(end >> 1));
    let mut sum = 0;
    while at < end {
        sum = note(sum, at);
        at += u64::from(step >> 1) + 1;
    }
    note(sum, at)
}

/// [`steps_on_host()`] of numbers.
#[kernel]
pub fn counted_steps(begins: &[u32], rounds: u32, step: u32, mut out: PerThread<[u64]>) {
    if let Some(out) = out.mine() {
        let begin = begins[thread::index()];
        *out = steps(begin, begin.saturating_add(rounds), step);
    }
}

/// What [`counted_steps()`] gives.
pub fn steps_on_host(begin: u32, rounds: u32, step: u32) -> u64 {
    steps(begin, begin.saturating_add(rounds), step)
}

/// Elements of a matrix, by places that may lie far away.
#[kernel]
pub fn matrix_cross(x: Matrix<u32>, mut out: MatrixOut<u32>) {
    let (row, column) = (out.row(), out.column());
    let (above, before) = (row.saturating_sub(1), column.saturating_sub(1));
    if let Some(out) = out.mine() {
        let (below, after) = (
            (row + 1).min(x.rows() - 1),
            (column + 1).min(x.columns() - 1),
        );
        *out = x[(row, column)] + 3 * x[(above, column)] + 5 * x[(row, before)];
        *out += 7 * x[(below, column)] + 11 * x[(row, after)] + 13 * x[(below, after)];
    }
}

/// A number in all integer types.
fn all(x: f32, y: f64) -> [u64; 12] {
    [
        (x as u8).into(),
        x as i8 as u64,
        (x as u16).into(),
        x as i16 as u64,
        (x as u32).into(),
        x as i32 as u64,
        x as u64,
        x as i64 as u64,
        (y as u32).into(),
        y as i32 as u64,
        y as u64,
        y as i64 as u64,
    ]
}

/// Lower bits of a number in wide integer types.
#[inline(always)]
fn lower_bits(x: f32, y: f64) -> [u64; 7] {
    [
        x as u64 & 255,
        (x as u64).wrapping_add(1) & 0xffff,
        (x as u64).wrapping_mul(5).wrapping_sub(3) & (1 << 62),
        (x as i64 as u16).into(),
        y as u64 & (u64::MAX >> 1),
        (y as i64).wrapping_sub(1) as u64 & 0xff_ffff,
        ((y as u32).wrapping_add(3) & 0x7fff_ffff).into(),
    ]
}

/// [`lower_bits()`] of numbers.
#[kernel]
pub fn casts_to_lower_bits(x: &[f32], mut out: PerThread<[[u64; 7]]>) {
    let i = thread::index();
    if let Some(out) = out.mine() {
        *out = lower_bits(x[i], x[i].into());
    }
}

/// What [`casts_to_lower_bits()`] gives.
pub fn lower_bits_on_host(x: f32) -> [u64; 7] {
    lower_bits(x, x.into())
}

/// Numbers in all integer types.
#[kernel]
pub fn casts(x: &[f32], mut out: PerThread<[[u64; 12]]>) {
    let i = thread::index();
    if let Some(out) = out.mine() {
        *out = all(x[i], x[i].into());
        out[6] ^= x[i].max(0.0) as u64;
    }
}

/// What [`casts()`] gives.
pub fn casts_on_host(x: f32) -> [u64; 12] {
    let mut all = all(x, x.into());
    all[6] ^= x.max(0.0) as u64;
    all
}

/// What [`ring_neighbours()`] gives.
pub fn ring_neighbours_on_host(x: u32, places: u32) -> u64 {
    let (x, places) = (u128::from(x), u128::from(places));
    if places == 0 {
        return 7;
    }
    let all = [x + places - 1, x, x + 1, x + places + 1];
    all.into_iter()
        .fold(0, |sum, n| note(sum, (n % places) as u64))
}

/// What [`places_around()`] gives.
pub fn around_on_host(start: u64, rounds: u32, places: u64) -> u64 {
    let (mut place, mut short) = (start % places, start as u32 % places as u32);
    (0..rounds).fold(0, |sum, _| {
        let noted = note(note(sum, place), short.into());
        place = (place + 1) % places;
        short = (short + 1) % places as u32;
        noted
    })
}

/// Sums, differences, quotients and choices of numbers that are short at most launches.
#[kernel]
pub fn lengths_of_any_size(starts: &[u64], width: u64, height: u64, mut out: PerThread<[u64]>) {
    let Some(out) = out.mine() else { return };
    *out = lengths_on_host(starts[thread::index()], width, height);
}

/// What [`lengths_of_any_size()`] gives.
pub fn lengths_on_host(start: u64, width: u64, height: u64) -> u64 {
    if width == 0 || height == 0 {
        return 7;
    }
    let area = width.wrapping_mul(height);
    let (mut sum, mut i) = (0, start);
    for round in 0..6_u64 {
        let (column, row) = (i % width, i / width % height);
        sum = note(note(sum, column), row);
        if let Some(layer) = i.checked_div(area) {
            sum = note(sum, layer);
        }
        if i < area {
            let (before, behind) = (i.wrapping_sub(width), i.wrapping_add(width));
            sum = note(sum, if before < area { before } else { 1 });
            sum = note(sum, if behind < area { behind } else { 2 });
            sum = note(sum, column.max(row) - column.min(row));
            sum = note(sum, width - 1 - column);
            let difference = column.wrapping_sub(row) as i64;
            sum = note(sum, (difference < 5).into());
            sum = note(sum, difference as u64);
            sum = note(sum, difference.min(3) as u64);
            sum = note(sum, difference.max(row as i64) as u64);
            sum = note(sum, column >> 33);
            sum = note(sum, (column & 3) << 35);
        }
        i = i.wrapping_add(area >> 1) / 2 + round;
    }
    sum
}

/// Steps of a loop that ends at a number, or below it.
#[kernel]
pub fn steps_to_any_end(ends: &[u64], from: u64, mut out: PerThread<[u64]>) {
    let Some(out) = out.mine() else { return };
    *out = steps_to_end_on_host(ends[thread::index()], from);
}

/// What [`steps_to_any_end()`] gives.
pub fn steps_to_end_on_host(end: u64, from: u64) -> u64 {
    let mut sum = 0;
    let mut i = from;
    let mut rounds = 0;
    while i != end && rounds < 9 {
        sum = note(sum, i);
        i = i.wrapping_add(1);
        rounds += 1;
    }
    let (mut i, mut j, mut rounds) = (from, end, 0);
    while i < end && rounds < 9 {
        sum = note(note(sum, i), j);
        i = i.wrapping_add(4);
        j = j.wrapping_sub(4);
        rounds += 1;
    }
    sum
}

/// Three checks, with a load between.
#[kernel]
pub fn three_checks(x: &[u32], y: &[u32], at: [u64; 3], mut out: PerThread<[u32]>) {
    if let Some(out) = out.mine() {
        let [a, b, c] = at.map(|i| i as usize);
        *out = 1;
        *out = x[a].wrapping_add(y[b]).wrapping_add(x[c + 1]);
    }
}

/// An index taken apart where the second length may be 0.
fn parts(i: u32, width: u32, height: u32) -> u32 {
    if width == 0 {
        return 1;
    }
    let column = i % width;
    if column > 0 && height != 0 && i / width % height > 0 {
        column ^ (i / height)
    } else {
        2
    }
}

/// [`parts`] of each index.
#[kernel]
pub fn index_parts(at: &[u32], width: u32, height: u32, mut out: PerThread<[u32]>) {
    if let (Some(&at), Some(out)) = (at.get(thread::index()), out.mine()) {
        *out = parts(at, width, height);
    }
}

/// What [`index_parts()`] gives.
pub fn index_parts_on_host(at: u32, width: u32, height: u32) -> u32 {
    parts(at, width, height)
}

/// Where a number is in a window.
fn place(x: u64, start: u32, length: u32) -> u64 {
    let (start, length) = (u64::from(start), u64::from(length));
    if x >= start && x - start < length {
        x - start
    } else {
        u64::MAX
    }
}

/// [`place`] of each number.
#[kernel]
pub fn places_in_a_window(at: &[u64], start: u32, length: u32, mut out: PerThread<[u64]>) {
    if let (Some(&at), Some(out)) = (at.get(thread::index()), out.mine()) {
        *out = place(at, start, length);
    }
}

/// What [`places_in_a_window()`] gives.
pub fn place_on_host(at: u64, start: u32, length: u32) -> u64 {
    place(at, start, length)
}

/// Quotients and remainders of 32 bits; 0 where the divisor is.
#[kernel]
pub fn divisions(
    numbers: &[u32],
    divisors: &[u32],
    mut quotients: PerThread<[u32]>,
    mut remainders: PerThread<[u32]>,
) {
    let (Some(&divisor), Some(quotient), Some(remainder)) = (
        divisors.get(thread::index()),
        quotients.mine(),
        remainders.mine(),
    ) else {
        return;
    };
    // Each alone: a remainder of a quotient that is known takes no division.
    *quotient = numbers[thread::index()].checked_div(divisor).unwrap_or(0);
    *remainder = (!numbers[thread::index()])
        .checked_rem(divisor)
        .unwrap_or(0);
}

/// The element at a layer, a row and a column, or nothing where the row or the column is past the last.
fn in_plane(x: &[u32], rows: u32, columns: u32, at: [u32; 3]) -> Option<u32> {
    let (rows, columns) = (rows as usize, columns as usize);
    let [layer, row, column] = at.map(|n| n as usize);
    let plane = &x[layer * rows * columns..(layer + 1) * rows * columns];
    (row < rows && column < columns).then(|| plane[row * columns + column])
}

/// [`in_plane`] of each place, with `u32::MAX` for nothing.
#[kernel]
pub fn places_in_planes(
    x: &[u32],
    rows: u32,
    columns: u32,
    at: &[[u32; 3]],
    mut out: PerThread<[u32]>,
) {
    if let (Some(&at), Some(out)) = (at.get(thread::index()), out.mine()) {
        *out = in_plane(x, rows, columns, at).unwrap_or(u32::MAX);
    }
}

/// What [`places_in_planes()`] gives.
pub fn in_plane_on_host(x: &[u32], rows: u32, columns: u32, at: [u32; 3]) -> u32 {
    in_plane(x, rows, columns, at).unwrap_or(u32::MAX)
}

/// Quotients and remainders of numbers of 32 bits by numbers of 64; 0 where the divisor is.
#[kernel]
pub fn short_by_long(
    numbers: &[u32],
    divisors: &[u64],
    mut quotients: PerThread<[u64]>,
    mut remainders: PerThread<[u64]>,
) {
    let (Some(&divisor), Some(quotient), Some(remainder)) = (
        divisors.get(thread::index()),
        quotients.mine(),
        remainders.mine(),
    ) else {
        return;
    };
    // Each alone: a remainder of a quotient that is known takes no division.
    let number = u64::from(numbers[thread::index()]);
    *quotient = number.checked_div(divisor).unwrap_or(0);
    let number = u64::from(!numbers[thread::index()]);
    *remainder = number.checked_rem(divisor).unwrap_or(0);
}

/// How many numbers are below a limit, not above it, equal to it and so on; and how many of the first places are, by every second number.
pub fn order(numbers: &[u32], limit: u64) -> [u32; 8] {
    let mut counts = [0; 8];
    for &number in numbers {
        let number = u64::from(number);
        counts[0] += u32::from(number < limit);
        counts[1] += u32::from(number <= limit);
        counts[2] += u32::from(number > limit);
        counts[3] += u32::from(limit <= number);
        counts[4] += u32::from(number == limit);
        counts[5] += u32::from((number as i64) < limit as i64);
    }
    for (place, number) in (0..64).zip(numbers.iter().cycle()) {
        counts[6] += u32::from(place != limit) & number;
        counts[7] += u32::from(limit < place) & number;
    }
    counts
}

/// [`order`] of the same numbers for each thread's limit.
#[kernel]
pub fn orders_of_limits(numbers: &[u32], limits: &[u64], mut out: PerThread<[[u32; 8]]>) {
    if let (Some(&limit), Some(out)) = (limits.get(thread::index()), out.mine()) {
        *out = order(numbers, limit);
    }
}
