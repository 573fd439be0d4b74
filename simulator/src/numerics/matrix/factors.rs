//! Factors of matrix products, taken apart once for all products that they are part of.

use super::shape::Element;
use crate::numerics::soft::{self, Format};

/// The exponent of a zero: far below that of any other factor, so that a zero never decides the exponent of a sum.
const ZERO_EXPONENT: i16 = -8192;
/// The exponent of an infinity or a NaN: above that of any number, and such that two of them still add up.
pub(super) const SPECIAL_EXPONENT: i16 = 8192;

/// Which way the elements of a [`Factors`] lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// Line by line, each with all its elements along k: for a left factor, whose rows are taken one by one.
    ByLine,
    /// Element k of all lines, for each k: for a right factor, all of whose columns are multiplied at once.
    ByDepth,
}

/// A factor in the form in which products take it: rows of A or columns of B (lines), each with the elements that are
/// multiplied and added up (along k).
///
/// A floating-point number is its significand, an integer with a sign, and its exponent: that of the binary digit before the
/// point of the significand. A subnormal number has the smallest normal exponent. Infinities and NaNs have a line of their own in
/// `special`, and an exponent that no number has; their significand is then 1, -1, or 0 for a NaN.
#[derive(Clone, Debug)]
pub struct Factors {
    element: Element,
    order: Order,
    lines: usize,
    depth: usize,
    significands: Vec<i16>,
    exponents: Vec<i16>,
    /// Bits of `b1`, in words along k.
    words: Vec<u32>,
    /// For each line: whether there is an infinity or a NaN in it.
    special: Vec<bool>,
}

/// The format of a type; `None` for integers.
fn format(element: Element) -> Option<Format> {
    match element {
        Element::F16 => Some(soft::F16),
        Element::Bf16 => Some(soft::BF16),
        Element::Tf32 => Some(soft::TF32),
        Element::E4m3 => Some(soft::E4M3),
        Element::E5m2 => Some(soft::E5M2),
        _ => None,
    }
}

/// The significand and the exponent of a number, given by its bits without padding.
#[inline(always)]
fn parts(format: Format, bits: u32) -> (i16, i16) {
    let ones = (1i16 << format.fraction_bits) - 1;
    let top = (1i16 << format.exponent_bits) - 1;
    let bias = top >> 1;
    let fraction = bits as i16 & ones;
    let exponent = (bits >> format.fraction_bits) as i16 & top;
    let is_negative = bits >> (format.fraction_bits + format.exponent_bits) & 1 != 0;
    let sign = if is_negative { -1 } else { 1 };
    match (exponent, fraction) {
        (0, 0) => (0, ZERO_EXPONENT),
        (0, _) => (sign * fraction, 1 - bias),
        _ if exponent == top && format.ieee => {
            (if fraction == 0 { sign } else { 0 }, SPECIAL_EXPONENT)
        }
        _ if exponent == top && fraction == ones => (0, SPECIAL_EXPONENT),
        _ => (
            sign * (fraction | 1 << format.fraction_bits),
            exponent - bias,
        ),
    }
}

/// The binary digits behind the point of a significand of this type; 0 for an integer.
pub fn fraction_bits(element: Element) -> u32 {
    format(element).map_or(0, |format| format.fraction_bits)
}

/// A line of a left factor.
#[derive(Clone, Copy, Debug)]
pub struct Line<'f> {
    /// The type of the elements.
    pub element: Element,
    /// The significands, or the integers.
    pub significands: &'f [i16],
    /// The exponents; none of integers.
    pub exponents: &'f [i16],
    /// The words of bits.
    pub words: &'f [u32],
    /// Whether there is an infinity or a NaN.
    pub is_special: bool,
}

impl Factors {
    /// A factor of `lines` rows or columns with `depth` elements each, all zero. `depth` elements fill whole words.
    pub fn new(element: Element, order: Order, lines: usize, depth: usize) -> Factors {
        let (values, exponents, words) = match element {
            Element::B1 => (0, 0, lines * depth / 32),
            _ if format(element).is_some() => (lines * depth, lines * depth, 0),
            _ => (lines * depth, 0, 0),
        };
        Factors {
            element,
            order,
            lines,
            depth,
            significands: vec![0; values],
            exponents: vec![ZERO_EXPONENT; exponents],
            words: vec![0; words],
            special: vec![false; lines],
        }
    }

    /// The type of the elements.
    pub fn element(&self) -> Element {
        self.element
    }

    /// The number of lines.
    pub fn lines(&self) -> usize {
        self.lines
    }

    /// The number of elements of a line.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// The significands of all lines at this place along k; only of factors [`Order::ByDepth`].
    #[inline(always)]
    pub fn significands_at(&self, k: usize) -> &[i16] {
        &self.significands[k * self.lines..][..self.lines]
    }

    /// The exponents of all lines at this place along k; only of factors [`Order::ByDepth`].
    #[inline(always)]
    pub fn exponents_at(&self, k: usize) -> &[i16] {
        &self.exponents[k * self.lines..][..self.lines]
    }

    /// The words of all lines at this place along k, counted in words; only of factors [`Order::ByDepth`].
    #[inline(always)]
    pub fn words_at(&self, word: usize) -> &[u32] {
        &self.words[word * self.lines..][..self.lines]
    }

    /// For each line: whether there is an infinity or a NaN in it.
    #[inline(always)]
    pub fn special(&self) -> &[bool] {
        &self.special
    }

    /// A line; only of factors [`Order::ByLine`].
    #[inline(always)]
    pub fn line(&self, line: usize) -> Line<'_> {
        fn part<T>(all: &[T], line: usize, lines: usize) -> &[T] {
            let length = all.len() / lines;
            &all[line * length..][..length]
        }
        Line {
            element: self.element,
            significands: part(&self.significands, line, self.lines),
            exponents: part(&self.exponents, line, self.lines),
            words: part(&self.words, line, self.lines),
            is_special: self.special[line],
        }
    }

    #[inline(always)]
    fn at(&self, line: usize, k: usize, depth: usize) -> usize {
        match self.order {
            Order::ByLine => line * depth + k,
            Order::ByDepth => k * self.lines + line,
        }
    }

    /// Takes in all elements, numbers given by the bits at each line and place along k.
    #[inline(always)]
    pub(super) fn fill(&mut self, bits: impl Fn(usize, usize) -> u32) {
        // In each loop the format is a constant.
        match self.element {
            Element::F16 => self.fill_with(soft::F16, bits),
            Element::Bf16 => self.fill_with(soft::BF16, bits),
            Element::Tf32 => self.fill_with(soft::TF32, bits),
            other => panic!("{other:?} is taken as f16, or is an integer"),
        }
    }

    #[inline(always)]
    fn fill_with(&mut self, format: Format, bits: impl Fn(usize, usize) -> u32) {
        for line in 0..self.lines {
            for k in 0..self.depth {
                self.put_number(line, k, format, bits(line, k));
            }
        }
    }

    #[inline(always)]
    fn put_number(&mut self, line: usize, k: usize, format: Format, bits: u32) {
        let at = self.at(line, k, self.depth);
        let (significand, exponent) = parts(format, bits);
        self.significands[at] = significand;
        self.exponents[at] = exponent;
        self.special[line] |= exponent == SPECIAL_EXPONENT;
    }

    /// Takes in one element, given by its bits. Elements of `b1` come by words: see [`Factors::put_along_k`].
    #[inline(always)]
    fn put(&mut self, line: usize, k: usize, bits: u32) {
        match format(self.element) {
            Some(format) => self.put_number(line, k, format, bits),
            None => {
                let at = self.at(line, k, self.depth);
                self.significands[at] = match self.element {
                    Element::S8 => i16::from(bits as i8),
                    _ => bits as u8 as i16,
                };
            }
        }
    }

    /// Takes in 16 bytes of a line: its elements from the byte `start` of the line on.
    pub fn put_along_k(&mut self, line: usize, start: usize, bytes: [u8; 16]) {
        let words: [u32; 4] = words(bytes);
        if self.element == Element::B1 {
            for (index, word) in words.into_iter().enumerate() {
                let at = self.at(line, start / 4 + index, self.depth / 32);
                self.words[at] = word;
            }
            return;
        }
        for index in 0..16 * 8 / self.element.bits() as usize {
            let (bits, k) = self.element_of(&words, index);
            self.put(line, start * 8 / self.element.bits() as usize + k, bits);
        }
    }

    /// Takes in 16 bytes across lines: the element at this place along k of the line `first` and of those behind it.
    pub fn put_along_lines(&mut self, first: usize, k: usize, bytes: [u8; 16]) {
        let words: [u32; 4] = words(bytes);
        for index in 0..16 * 8 / self.element.bits() as usize {
            let (bits, line) = self.element_of(&words, index);
            self.put(first + line, k, bits);
        }
    }

    /// The bits of an element of this number in four words, and the number.
    #[inline(always)]
    fn element_of(&self, words: &[u32; 4], index: usize) -> (u32, usize) {
        let bits = self.element.bits();
        let per_word = self.element.per_register() as usize;
        let word = words[index / per_word];
        let value = word >> (index % per_word * bits as usize);
        // The upper 19 bits of a word are a tf32.
        let value = match self.element {
            Element::Tf32 => value >> 13,
            _ => value & (u32::MAX >> (32 - bits)),
        };
        (value, index)
    }

    /// Changes the signs of all numbers.
    pub fn negate(&mut self) {
        for significand in &mut self.significands {
            *significand = -*significand;
        }
    }
}

/// The words of 16 bytes.
fn words(bytes: [u8; 16]) -> [u32; 4] {
    let word =
        |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    [word(0), word(4), word(8), word(12)]
}
