//! `pair!`: two numbers of 16 bits in one register.

/// A type of two halves. The two closures give a half's bits, and the half with these bits.
macro_rules! pair {
    ($(#[$doc:meta])* $pair:ident of $half:ident, $new:expr, |$value:ident| $to_bits:expr, |$bits:ident| $from_bits:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
        #[repr(transparent)]
        pub struct $pair(u32);

        impl $pair {
            #[doc = $new]
            #[inline(always)]
            pub const fn new(low: $half, high: $half) -> Self {
                let low: u16 = {
                    let $value = low;
                    $to_bits
                };
                let high: u16 = {
                    let $value = high;
                    $to_bits
                };
                Self(low as u32 | (high as u32) << 16)
            }
            /// Both halves the same.
            #[inline(always)]
            pub const fn splat(value: $half) -> Self {
                Self::new(value, value)
            }
            /// The pair with these bits.
            #[inline(always)]
            pub const fn from_bits(bits: u32) -> Self {
                Self(bits)
            }
            /// The bits: low half in the low bits.
            #[inline(always)]
            pub const fn to_bits(self) -> u32 {
                self.0
            }
            /// The half in the low bits, first in memory.
            #[inline(always)]
            pub const fn low(self) -> $half {
                let $bits = self.0 as u16;
                $from_bits
            }
            /// The half in the high bits.
            #[inline(always)]
            pub const fn high(self) -> $half {
                let $bits = (self.0 >> 16) as u16;
                $from_bits
            }
        }
    };
}
