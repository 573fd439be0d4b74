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
