//! Syndromes of code words over the field of bytes (Reed and Solomon): which are wrong.

use core::ops::{Add, AddAssign, Mul};
use warpsmith_device::prelude::*;

/// Bytes of a word.
pub const WORD: usize = 63;
/// Syndromes of a word.
pub const SYNDROMES: usize = 8;

/// A byte as an element of the field of 256 elements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Element(pub u8);

impl Add for Element {
    type Output = Element;

    #[expect(clippy::suspicious_arithmetic_impl, reason = "sums have no carry")]
    fn add(self, other: Element) -> Element {
        Element(self.0 ^ other.0)
    }
}

impl AddAssign for Element {
    fn add_assign(&mut self, other: Element) {
        *self = *self + other;
    }
}

impl Mul for Element {
    type Output = Element;

    fn mul(self, other: Element) -> Element {
        let mut product = Element(0);
        let (mut left, mut right) = (self, other.0);
        while right > 0 {
            if right % 2 == 1 {
                product += left;
            }
            left = left.doubled();
            right /= 2;
        }
        product
    }
}

impl Element {
    /// Twice the element; the polynomial of the field is 0x11d.
    pub fn doubled(self) -> Element {
        let twice = self.0 << 1;
        Element(if self.0 & 0x80 == 0 {
            twice
        } else {
            twice ^ 0x1d
        })
    }
}

/// The syndromes of each word: its value at the powers of 2 from the first on.
#[kernel]
pub fn reed_solomon(words: &[[u8; WORD]], mut syndromes: PerThread<[[u8; SYNDROMES]]>) {
    if let (Some(word), Some(to)) = (words.get(thread::index()), syndromes.mine()) {
        let mut root = Element(1);
        for to in to {
            root = root.doubled();
            let value = word
                .iter()
                .fold(Element(0), |value, &byte| value * root + Element(byte));
            *to = value.0;
        }
    }
}
