//! Kernels written in ordinary Rust: what `core` and the language offer has to work, and as on the host.

use warpsmith_device::prelude::*;

/// Iterators, closures, sorting, options and `?`, shared with the host, which is the oracle.
pub fn digest(values: &[u32]) -> u32 {
    let mut window = [0u32; 8];
    for (slot, value) in window.iter_mut().zip(values) {
        *slot = *value;
    }
    window.sort_unstable_by(|a, b| b.cmp(a));
    let chunked: u32 = values
        .chunks(3)
        .map(|chunk| {
            chunk
                .iter()
                .rev()
                .enumerate()
                .map(|(i, x)| x << i)
                .fold(0, u32::wrapping_add)
        })
        .filter(|x| x % 2 == 0)
        .fold(0, u32::wrapping_add);
    let scale = |x: u32| x.wrapping_mul(window[1]).wrapping_add(window[6]);
    let odd = first_odd(values).map_or(17, scale);
    chunked ^ odd.rotate_left(3) ^ window.iter().copied().max().unwrap_or(0)
}

/// `?` on an `Option`.
fn first_odd(values: &[u32]) -> Option<u32> {
    let position = values.iter().position(|x| x % 2 == 1)?;
    let value = values.get(position)?;
    value.checked_add(u32::try_from(position).ok()?)
}

/// [`digest`] of eight values a thread.
#[kernel]
pub fn digests(x: &[u32], mut out: PerThread<[u32]>) {
    if let (Some(x), Some(out)) = (x.chunks_exact(8).nth(thread::index()), out.mine()) {
        *out = digest(x);
    }
}

/// 128-bit arithmetic.
pub fn wide_arithmetic(a: u64, b: u64) -> [u64; 6] {
    let (a, b) = (u128::from(a) << 64 | u128::from(b), u128::from(b) | 1);
    let product = a.wrapping_mul(b);
    let shifted = (a >> (b % 128) as u32) as u64;
    let signed = (a as i128).wrapping_neg() / (b as i128);
    [
        (product >> 64) as u64,
        product as u64,
        (a / b) as u64,
        (a % b) as u64,
        shifted,
        signed as u64,
    ]
}

/// [`wide_arithmetic`] of two numbers a thread, and a 128-bit parameter.
#[kernel]
pub fn wide_numbers(x: &[[u64; 2]], addend: u128, mut out: PerThread<[[u64; 6]]>) {
    if let (Some(&[a, b]), Some(out)) = (x.get(thread::index()), out.mine()) {
        *out = wide_arithmetic(a, b);
        out[0] = out[0].wrapping_add((addend >> 64) as u64);
        out[1] = out[1].wrapping_add(addend as u64);
    }
}

/// Recursion that no loop replaces.
pub fn ackermann(m: u32, n: u32) -> u32 {
    match (m, n) {
        (0, n) => n + 1,
        (m, 0) => ackermann(m - 1, 1),
        (m, n) => ackermann(m - 1, ackermann(m, n - 1)),
    }
}

/// [`ackermann`] of small numbers.
#[kernel]
pub fn recursion(mut out: PerThread<[u32]>) {
    let index = thread::index() as u32;
    if let Some(out) = out.mine() {
        *out = ackermann(2, index % 4);
    }
}

/// Something with an area.
pub trait Shape {
    /// The area.
    fn area(&self) -> f32;
    /// How many corners, by default none.
    fn corners(&self) -> u32 {
        0
    }
}

/// A circle.
pub struct Circle(pub f32);
/// A rectangle.
pub struct Rectangle {
    /// Its width.
    pub width: f32,
    /// Its height.
    pub height: f32,
}

impl Shape for Circle {
    fn area(&self) -> f32 {
        core::f32::consts::PI * self.0 * self.0
    }
}
impl Shape for Rectangle {
    fn area(&self) -> f32 {
        self.width * self.height
    }
    fn corners(&self) -> u32 {
        4
    }
}

/// Dynamic dispatch over shapes made on the device, and an enum with payload.
#[kernel]
pub fn shapes(x: &[f32], mut out: PerThread<[[f32; 3]]>) {
    enum Kind {
        Round(Circle),
        Square(Rectangle),
        None,
    }
    let index = thread::index();
    let Some(&x) = x.get(index) else { return };
    let kind = match index % 3 {
        0 => Kind::Round(Circle(x)),
        1 => Kind::Square(Rectangle {
            width: x,
            height: x + 1.0,
        }),
        _ => Kind::None,
    };
    let shape: Option<&dyn Shape> = match &kind {
        Kind::Round(circle) => Some(circle),
        Kind::Square(rectangle) => Some(rectangle),
        Kind::None => None,
    };
    let operations: [fn(f32) -> f32; 2] = [|x| x + 0.5, |x| x * 2.0];
    if let Some(out) = out.mine() {
        *out = [
            shape.map_or(-1.0, Shape::area),
            shape.map_or(-1.0, |s| s.corners() as f32),
            operations[index % 2](x),
        ];
    }
}

/// A hundred sums, which two nested loops index, after some turns. The loops are written out by `unroll!`.
pub fn unrolled(turns: u32) -> f32 {
    let mut sums = [[0.0f32; 10]; 10];
    for turn in 0..turns {
        unroll!(tens in [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] {
            unroll!(ones in [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] {
                let sum = &mut sums[tens][ones];
                *sum = *sum * turn as f32 + (10 * tens + ones) as f32;
            });
        });
    }
    let mut total = 0.0;
    unroll!(tens in [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] {
        unroll!(ones in [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] {
            total += sums[tens][ones];
        });
    });
    total
}

/// What [`unrolled`] computes, with loops that the optimiser may unroll or not.
#[allow(
    clippy::needless_range_loop,
    reason = "loops over an index are what `unroll!` stands in for"
)]
pub fn looped(turns: u32) -> f32 {
    let mut sums = [[0.0f32; 10]; 10];
    for turn in 0..turns {
        for tens in 0..10 {
            for ones in 0..10 {
                let sum = &mut sums[tens][ones];
                *sum = *sum * turn as f32 + (10 * tens + ones) as f32;
            }
        }
    }
    let mut total = 0.0;
    for sum in sums.as_flattened() {
        total += sum;
    }
    total
}

/// [`unrolled`] in each thread.
#[kernel]
pub fn unrolled_sums(turns: u32, mut out: PerThread<[f32]>) {
    if let Some(out) = out.mine() {
        *out = unrolled(turns);
    }
}

/// [`looped`] in each thread.
#[kernel]
pub fn looped_sums(turns: u32, mut out: PerThread<[f32]>) {
    if let Some(out) = out.mine() {
        *out = looped(turns);
    }
}

/// How the first `n` elements of two slices compare: equal, less, and how the second one begins.
pub fn comparison(x: &[u8], y: &[u8], n: usize) -> u32 {
    let (a, b) = (&x[..n.min(x.len())], &y[..n.min(y.len())]);
    u32::from(a == b) | u32::from(a < b) << 1 | u32::from(y.starts_with(a)) << 2
}

/// [`comparison`] of each part of `x` with `y`, as long as the thread's number says.
#[kernel]
pub fn comparisons(x: &[u8], y: &[u8], begin: u64, mut out: PerThread<[u32]>) {
    if let Some(out) = out.mine() {
        *out = comparison(&x[begin as usize..], y, thread::index());
    }
}

/// How many elements are less than a value, and where the value is or would be: three searches of a sorted list.
pub fn searches(sorted: &[u32], value: u32) -> [Result<u32, u32>; 3] {
    let place = |found: Result<usize, usize>| found.map(|i| i as u32).map_err(|i| i as u32);
    [
        Err(sorted.partition_point(|x| *x < value) as u32),
        place(sorted.binary_search(&value)),
        place(sorted.binary_search_by_key(&(value / 2), |x| x / 2)),
    ]
}

/// [`searches`] of a value for each thread: places, with the highest bit where the value was found.
#[kernel]
pub fn searched(sorted: &[u32], values: &[u32], mut out: PerThread<[[u32; 3]]>) {
    if let (Some(value), Some(out)) = (values.get(thread::index()), out.mine()) {
        *out = searches(sorted, *value).map(|place| match place {
            Ok(place) => place | 1 << 31,
            Err(place) => place,
        });
    }
}
