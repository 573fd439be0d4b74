//! Decisions between several ways: by the order of two numbers, and between cases of which one is certain.

use core::cmp::Ordering;

use warpsmith_device::prelude::*;

/// What the orders of each pair decide, as numbers of several types.
#[kernel]
pub fn orders_of_pairs(pairs: &[[i64; 2]], mut out: PerThread<[u32]>) {
    if let (Some(&[a, b]), Some(out)) = (pairs.get(thread::index()), out.mine()) {
        *out = orders(a, b);
    }
}

/// What [`orders_of_pairs()`] computes of a pair.
#[inline(always)]
pub fn orders(a: i64, b: i64) -> u32 {
    let mut value = 1;
    value = order(a as u8, b as u8, value);
    value = order(a as i8, b as i8, value);
    value = order(a as u32, b as u32, value);
    value = order(a as i32, b as i32, value);
    value = order(a as u64, b as u64, value);
    order(a, b, value)
}

#[inline(always)]
fn order<T: Ord>(a: T, b: T, value: u32) -> u32 {
    match a.cmp(&b) {
        Ordering::Greater => value.wrapping_mul(3),
        Ordering::Less => value.wrapping_mul(5) ^ 1,
        Ordering::Equal => value.wrapping_mul(7) ^ 2,
    }
}

/// What two sorted lists have in common, from the thread's place in each on: how many values, and what is left of both.
#[kernel]
pub fn common_values(a: &[u32], b: &[u32], mut out: PerThread<[u32]>) {
    let i = thread::index();
    if let (Some(out), Some(a), Some(b)) = (out.mine(), a.get(i..), b.get(i / 2..)) {
        *out = common(a, b);
    }
}

/// What [`common_values()`] computes of two lists.
#[inline(always)]
pub fn common(a: &[u32], b: &[u32]) -> u32 {
    let (mut i, mut j, mut count) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        match a[i].cmp(&b[j]) {
            Ordering::Less => i += 1,
            Ordering::Greater => j += 1,
            Ordering::Equal => {
                count += 1;
                i += 1;
                j += 1;
            }
        }
    }
    count + 1000 * (a.len() - i + b.len() - j) as u32
}

/// Goes through states; each step is one of a few cases of the state and of what comes.
#[kernel]
pub fn steps_of_machine(steps: &[u32], mut out: PerThread<[u32]>) {
    if let Some(out) = out.mine() {
        *out = machine(steps, thread::index() as u32);
    }
}

/// What the machine is about to do.
#[derive(Clone, Copy)]
enum State {
    Count,
    Wait(u32),
    Turn,
}

/// What [`steps_of_machine()`] computes from a number.
#[inline(always)]
pub fn machine(steps: &[u32], start: u32) -> u32 {
    let (mut state, mut value) = (State::Count, start);
    for &step in steps {
        state = match state {
            State::Count => {
                value = value.wrapping_add(step);
                if value % 2 == 0 {
                    State::Turn
                } else {
                    State::Wait(step % 3)
                }
            }
            State::Wait(0) => State::Count,
            State::Wait(more) => State::Wait(more - 1),
            State::Turn => {
                value = turned(value, step);
                State::Count
            }
        };
        value ^= few(value % 5, step);
    }
    value
}

/// One of twelve cases.
#[inline(always)]
fn turned(value: u32, step: u32) -> u32 {
    match step % 12 {
        0 => value.rotate_left(3),
        1 => value.wrapping_mul(5),
        2 => value ^ step,
        3 => value / (step | 1),
        4 => value.reverse_bits(),
        5 => value.count_ones(),
        6 => value.leading_zeros(),
        7 => value.wrapping_sub(step),
        8 => value >> 7,
        9 => !value,
        10 => value.wrapping_mul(value),
        _ => step,
    }
}

/// One of five cases, three of which are the same.
#[inline(always)]
fn few(case: u32, step: u32) -> u32 {
    match case {
        0 | 2 | 4 => step.rotate_left(7),
        1 => step.count_ones(),
        3 => step / 3,
        _ => unreachable!(),
    }
}
