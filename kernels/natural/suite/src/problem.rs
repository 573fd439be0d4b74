//! The one kind of problem that all natural cases are: a buffer that a launch changes, and what must be in it then.

use anyhow::Result;
use bytemuck::Pod;
use std::array::from_fn;
use std::fmt::Display;
use std::ops::Range;
use warpsmith_host::prelude::*;
use warpsmith_suite::case::{Problem, Work};
use warpsmith_suite::check::{Mismatch, Verified, close, equal};
use warpsmith_suite::random::Fill;
use warpsmith_suite::session::{Implementation, Session};

/// Declares the `CASE` of a file: the kernel's name, which is also that of its twin, a few words, what its size counts, the sizes that tests
/// take on the simulator, the first of which `run` takes there, and the size on a GPU. `prepare` of the file makes the problem.
macro_rules! case {
    ($kernel:ident: $summary:literal, $unit:literal, simulator [$small:expr $(, $more:expr)*], gpu $large:expr) => {
        pub(super) const CASE: warpsmith_suite::Case = warpsmith_suite::Case {
            name: stringify!($kernel),
            summary: $summary,
            unit: $unit,
            simulator_size: $small,
            gpu_size: $large,
            ragged: &[$small $(, $more)*],
            twin: stringify!($kernel),
            entries: &[stringify!($kernel)],
            prepare,
        };
    };
}
pub(crate) use case;

/// A problem of which one buffer is the result: it holds `start` before each launch. The inputs are drawn once.
pub(crate) fn problem<T: Pod>(
    session: &Session,
    shape: String,
    start: &[T],
    launch: impl FnMut(&Session, Implementation, &mut DeviceBuffer<T>) -> Result<()> + 'static,
    check: impl Fn(&[T]) -> Result<Verified, Mismatch> + 'static,
) -> Result<Box<dyn Problem>> {
    Ok(Box::new(OneBuffer {
        shape,
        start: session.stream.upload(start)?,
        result: session.stream.upload(start)?,
        launch,
        check,
    }))
}

/// Whatever the result is, it equals these values.
pub(crate) fn exactly<T: Copy + PartialEq + Display>(
    want: Vec<T>,
) -> impl Fn(&[T]) -> Result<Verified, Mismatch> {
    move |got| equal(got, &want)
}

/// The result differs from these values by at most `tolerance` of their size, or of 1 where they are smaller.
pub(crate) fn nearly<T: Copy + Into<f64>>(
    want: Vec<f64>,
    tolerance: f64,
) -> impl Fn(&[T]) -> Result<Verified, Mismatch> {
    move |got| {
        assert_eq!(got.len(), want.len(), "the oracle gives as many values");
        let oracle = |i: usize| (want[i], tolerance * want[i].abs().max(1.0));
        close(got, oracle, |i| i.to_string())
    }
}

/// What a check says of every `step`th value, from the first one on.
pub(crate) fn every<T: Copy>(
    step: usize,
    check: impl Fn(&[T]) -> Result<Verified, Mismatch>,
) -> impl Fn(&[T]) -> Result<Verified, Mismatch> {
    move |got| check(&got.iter().copied().step_by(step).collect::<Vec<_>>())
}

/// What a check says of the values of every `step`th array, from the first one on.
pub(crate) fn every_array<T: Copy, const N: usize>(
    step: usize,
    check: impl Fn(&[T]) -> Result<Verified, Mismatch>,
) -> impl Fn(&[[T; N]]) -> Result<Verified, Mismatch> {
    move |got| {
        check(
            &got.iter()
                .step_by(step)
                .copied()
                .flatten()
                .collect::<Vec<_>>(),
        )
    }
}

/// `n` values of the sequence `seed`: numbers in [-1, 1), or any bits.
pub(crate) fn draw<T: Fill>(seed: u64, n: usize) -> Vec<T> {
    (0..n as u64).map(|i| T::draw(seed, i)).collect()
}

/// `n` values of 64 bits of the sequence `seed`.
pub(crate) fn draw_long(seed: u64, n: usize) -> Vec<u64> {
    let words = draw::<u32>(seed, 2 * n);
    let pairs = words.as_chunks().0.iter();
    pairs
        .map(|&[low, high]| u64::from(high) << 32 | u64::from(low))
        .collect()
}

/// `n` integers below `limit`.
pub(crate) fn below(seed: u64, n: usize, limit: u32) -> Vec<u32> {
    let words = draw::<u32>(seed, n).into_iter();
    words
        .map(|word| ((u64::from(word) * u64::from(limit)) >> 32) as u32)
        .collect()
}

/// Where parts of these lengths begin that stand one behind the other, and where the last one ends.
pub(crate) fn starts_of(lengths: impl IntoIterator<Item = u32>) -> Vec<u32> {
    let mut starts = vec![0];
    for length in lengths {
        starts.push(starts[starts.len() - 1] + length);
    }
    starts
}

/// The product of two matrices.
pub(crate) fn product<const N: usize>(a: &[[f32; N]; N], b: &[[f32; N]; N]) -> [[f64; N]; N] {
    let element = |i: usize, j: usize| {
        (0..N)
            .map(|k| f64::from(a[i][k]) * f64::from(b[k][j]))
            .sum()
    };
    from_fn(|i| from_fn(|j| element(i, j)))
}

/// The product of each matrix and what was found is the identity.
pub(crate) fn is_inverse<const N: usize>(
    found: &[[[f32; N]; N]],
    matrices: &[[[f32; N]; N]],
) -> Result<Verified, Mismatch> {
    let products: Vec<f64> = matrices
        .iter()
        .zip(found)
        .flat_map(|(a, b)| product(a, b).into_iter().flatten())
        .collect();
    let identity = |i: usize| {
        let place = i % (N * N);
        (f64::from(u8::from(place / N == place % N)), 1e-4)
    };
    close(&products, identity, |i| i.to_string())
}

/// A sparse square matrix, or a graph: row `i` has the places from `starts[i]` to `starts[i + 1]`.
pub(crate) struct Sparse {
    pub(crate) starts: Vec<u32>,
    pub(crate) places: Vec<u32>,
}

impl Sparse {
    /// `rows` rows with up to `2 * mean` random places each.
    pub(crate) fn draw(seed: u64, rows: usize, mean: u32) -> Sparse {
        let starts = starts_of(below(seed, rows, 2 * mean + 1));
        let places = below(seed + 1, starts[rows] as usize, rows as u32);
        Sparse { starts, places }
    }

    /// The entries of a row.
    pub(crate) fn row(&self, row: usize) -> Range<usize> {
        self.starts[row] as usize..self.starts[row + 1] as usize
    }
}

struct OneBuffer<T: Pod, L, C> {
    shape: String,
    start: DeviceBuffer<T>,
    result: DeviceBuffer<T>,
    launch: L,
    check: C,
}

impl<T, L, C> Problem for OneBuffer<T, L, C>
where
    T: Pod,
    L: FnMut(&Session, Implementation, &mut DeviceBuffer<T>) -> Result<()>,
    C: Fn(&[T]) -> Result<Verified, Mismatch>,
{
    fn shape(&self) -> String {
        self.shape.clone()
    }

    fn work(&self) -> Work {
        Work::copy(size_of::<T>() * self.result.len())
    }

    fn refresh(&mut self, session: &Session, _seed: u64) -> Result<()> {
        Ok(session.stream.copy(&self.start, &mut self.result)?)
    }

    fn launch(&mut self, session: &Session, implementation: Implementation) -> Result<()> {
        (self.launch)(session, implementation, &mut self.result)
    }

    fn verify(&mut self, session: &Session) -> Result<Result<Verified, String>> {
        let got = session.stream.download(&self.result)?;
        Ok((self.check)(&got).map_err(|wrong| wrong.to_string()))
    }
}
