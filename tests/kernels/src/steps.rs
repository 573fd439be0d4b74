//! Iterators that take each element of so many, whose methods on the device are others than the host's: they must give the same.

use warpsmith_device::prelude::*;

/// What the methods of an iterator give, in their order.
struct Digest(u64);

impl Digest {
    fn add(&mut self, value: Option<u64>) {
        let value = value.map_or(u64::MAX, |x| x ^ 0x5bd1_e995);
        self.0 = (self.0 ^ value)
            .wrapping_mul(0x0100_0000_01b3)
            .rotate_left(7);
    }
}

/// All ways through an iterator: from both ends, by steps of its own, in closures, and partly in each of them.
fn ways<I>(all: I, digest: &mut Digest)
where
    I: DoubleEndedIterator<Item = u64> + ExactSizeIterator + Clone,
{
    digest.add(Some(all.len() as u64));
    digest.0 = all
        .clone()
        .fold(digest.0, |sum, x| sum.wrapping_mul(31).wrapping_add(x));
    digest.0 = all
        .clone()
        .rfold(digest.0, |sum, x| sum.wrapping_mul(37).wrapping_add(x));
    for n in 0..4 {
        let mut rest = all.clone();
        digest.add(rest.nth(n));
        digest.add(rest.next_back());
        digest.add(Some(rest.len() as u64));
        digest.add(rest.nth(n));
        digest.add(rest.nth_back(n));
        digest.add(rest.find(|x| x % 3 == 0));
        digest.add(rest.rfind(|x| x % 3 == 1));
        digest.add(rest.next());
        digest.add(rest.nth(100));
        digest.add(rest.next());
        digest.add(rest.next_back());
        let mut rest = all.clone();
        digest.add(rest.nth_back(n));
        digest.add(rest.next());
        digest.add(rest.next_back());
        rest.by_ref()
            .rev()
            .take(2)
            .for_each(|x| digest.add(Some(x)));
        rest.for_each(|x| digest.add(Some(x)));
    }
    let mut rest = all;
    digest.add(rest.nth_back(100));
    digest.add(rest.next());
}

/// All ways through iterators over slices of all kinds that have indices, from `skip` on, each of `step` elements.
pub fn digest_of_steps(values: &[u32], skip: usize, step: usize) -> u64 {
    let mut digest = Digest(0);
    let wide = |x: &u32| u64::from(*x);
    let sum = |part: &[u32]| part.iter().fold(1, |sum, x| sum * 5 + u64::from(*x));
    ways(values.iter().step_by(step).map(wide), &mut digest);
    let from = values.iter().skip(skip);
    ways(from.step_by(step).map(wide), &mut digest);
    let twice = values.iter().skip(skip).skip(1);
    ways(twice.step_by(step).map(wide), &mut digest);
    let copied = values.iter().copied().skip(skip);
    ways(copied.step_by(step).map(u64::from), &mut digest);
    let numbered = values.iter().enumerate().skip(skip);
    let number = |(i, x): (usize, &u32)| i as u64 * 1000 + u64::from(*x);
    ways(numbered.step_by(step).map(number), &mut digest);
    let both = values.iter().zip(&values[values.len() / 2..]).skip(skip);
    let product = |(x, y): (&u32, &u32)| u64::from(*x) * 7 + u64::from(*y);
    ways(both.step_by(step).map(product), &mut digest);
    ways(
        values.chunks(3).skip(skip).step_by(step).map(sum),
        &mut digest,
    );
    let exact = values.chunks_exact(3).skip(skip);
    ways(exact.step_by(step).map(sum), &mut digest);
    ways(
        values.windows(2).skip(skip).step_by(step).map(sum),
        &mut digest,
    );
    // Not of these: each element that is passed over has an effect.
    let mut passed = 0;
    let effects = values.iter().inspect(|x| passed += **x).skip(skip);
    effects
        .step_by(step)
        .for_each(|x| digest.add(Some(wide(x))));
    digest.add(Some(u64::from(passed)));
    digest.0
}

/// As many elements of no size as there may be.
static UNITS: [(); usize::MAX] = [(); usize::MAX];

/// Steps through more elements than any memory has.
pub fn digest_of_units(skip: usize, step: usize) -> u64 {
    let mut digest = Digest(0);
    let mut units = UNITS.iter().skip(skip).step_by(step);
    for n in [0, 1, 7, 0, 3] {
        digest.add(Some(units.len() as u64));
        digest.add(units.nth(n).map(|()| 1));
        digest.add(units.nth_back(n / 2).map(|()| 1));
    }
    digest.0
}

/// [`digest_of_steps`] and [`digest_of_units`] for each number of elements to skip and each step.
#[kernel]
pub fn digests_of_steps(values: &[u32], steps: &[[u64; 2]], mut out: PerThread<[[u64; 2]]>) {
    if let (Some(&[skip, step]), Some(out)) = (steps.get(thread::index()), out.mine()) {
        let (skip, step) = (skip as usize, step as usize);
        *out = [
            digest_of_steps(values, skip, step),
            digest_of_units(skip, step),
        ];
    }
}

/// Writes to what steps of a row give, from `skip` on.
pub fn write_steps(row: &mut [u32; 9], skip: usize) {
    row.iter_mut().skip(skip).step_by(2).for_each(|x| *x += 10);
    for chunk in row.chunks_mut(2).skip(skip).step_by(2) {
        chunk[0] += 1;
    }
    for chunk in row.chunks_exact_mut(2).skip(skip).step_by(3) {
        chunk[1] += 100;
    }
}

/// [`write_steps`] of a row for each thread, from its number on.
#[kernel]
pub fn written_steps(mut rows: PerThread<[[u32; 9]]>) {
    if let Some(row) = rows.mine() {
        write_steps(row, thread::index());
    }
}
