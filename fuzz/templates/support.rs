//! What every random program has: values folded into a word, and floating-point values where Rust leaves none of their bits open.

/// Folds a value into a word, so that any difference shows.
pub trait Mix {
    fn mix(self, h: u64) -> u64;
}

macro_rules! mix_integers {
    ($($int:ty)*) => {$(
        impl Mix for $int {
            #[inline]
            fn mix(self, h: u64) -> u64 {
                let wide = self as u128;
                let word = (wide as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (wide >> 64) as u64;
                h.rotate_left(7).wrapping_mul(5) ^ word
            }
        }
    )*};
}

mix_integers!(bool u8 u16 u32 u64 u128 i8 i16 i32 i64 i128);

/// One NaN for all: Rust leaves sign and payload of a NaN that arithmetic makes open.
impl Mix for f32 {
    #[inline]
    fn mix(self, h: u64) -> u64 {
        if self.is_nan() { 77u8.mix(h) } else { self.to_bits().mix(h) }
    }
}

/// As for `f32`.
impl Mix for f64 {
    #[inline]
    fn mix(self, h: u64) -> u64 {
        if self.is_nan() { 78u8.mix(h) } else { self.to_bits().mix(h) }
    }
}

impl<T: Mix, const N: usize> Mix for [T; N] {
    #[inline]
    fn mix(self, mut h: u64) -> u64 {
        for value in self {
            h = value.mix(h);
        }
        h
    }
}

/// No NaN, for what looks at its sign.
pub trait Number {
    fn number(self) -> Self;
    /// No negative zero either: Rust leaves open which zero `min` and `max` answer.
    fn plain(self) -> Self;
}

macro_rules! numbers {
    ($($float:ty)*) => {$(
        impl Number for $float {
            #[inline]
            fn number(self) -> Self {
                if self.is_nan() { 1.25 } else { self }
            }
            #[inline]
            fn plain(self) -> Self {
                if self == 0.0 { 0.0 } else { self }
            }
        }
    )*};
}

numbers!(f32 f64);
