//! Choices of a generator, on top of the workspace's [`Random`].

use warpsmith_testkit::Random;

/// What generators ask of random numbers.
pub trait Choose {
    /// One of the values, each as often as the others.
    ///
    /// # Panics
    /// If there are none.
    fn one_of<'a, T>(&mut self, values: &'a [T]) -> &'a T;

    /// True in so many of a hundred cases.
    fn percent(&mut self, percent: u32) -> bool;

    /// A number of the range.
    ///
    /// # Panics
    /// If it is empty.
    fn within(&mut self, range: std::ops::Range<usize>) -> usize;
}

impl Choose for Random {
    fn one_of<'a, T>(&mut self, values: &'a [T]) -> &'a T {
        &values[self.index(values.len())]
    }

    fn percent(&mut self, percent: u32) -> bool {
        self.below(100) < percent
    }

    fn within(&mut self, range: std::ops::Range<usize>) -> usize {
        range.start + self.index(range.len())
    }
}
