//! The arithmetic of PTX, bit for bit, as pure functions.
//!
//! Nothing in here knows about warps, registers or instructions: every function takes and returns plain values, so that
//! it can be tested alone and called from wherever the engine decodes an instruction. Three rules hold throughout:
//!
//! * **One rounding.** An operation is computed exactly and rounded once, in the direction that the instruction names.
//!   [`soft`] does that for every format with integer arithmetic; faster paths exist where they give the same bits, and
//!   the tests compare the two.
//! * **NaNs are the hardware's.** A result that is NaN is `0x7fffffff` in f32 and `0x7fff` in f16 and bf16, whatever NaN
//!   went in. f64 keeps the payload of its operand, quietened.
//! * **Nothing traps.** Division by zero, overflow, and conversions out of range have the values that the PTX
//!   manual gives them.

pub mod approx;
pub mod compare;
pub mod convert;
pub mod float;
pub mod integer;
pub mod matrix;
pub mod narrow;
pub mod printf;
pub mod scalar_video;
pub mod soft;
pub mod texture;
pub mod video;

/// The direction in which an inexact result is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rounding {
    /// `.rn`, `.rni`: to nearest, ties to even.
    NearestEven,
    /// `.rna`: to nearest, ties away from zero.
    NearestAway,
    /// `.rz`, `.rzi`: towards zero.
    Zero,
    /// `.rm`, `.rmi`: towards minus infinity.
    Down,
    /// `.rp`, `.rpi`: towards plus infinity.
    Up,
}

impl Rounding {
    /// All of them, in order.
    pub const ALL: [Rounding; 5] = [
        Rounding::NearestEven,
        Rounding::NearestAway,
        Rounding::Zero,
        Rounding::Down,
        Rounding::Up,
    ];

    /// The direction of a modifier such as `rn`; with a final `i` (`rni`) it asks for a whole number, and the flag is true.
    pub fn parse(name: &str) -> Option<(Rounding, bool)> {
        Some(match name {
            "rn" => (Rounding::NearestEven, false),
            "rna" => (Rounding::NearestAway, false),
            "rz" => (Rounding::Zero, false),
            "rm" => (Rounding::Down, false),
            "rp" => (Rounding::Up, false),
            "rni" => (Rounding::NearestEven, true),
            "rzi" => (Rounding::Zero, true),
            "rmi" => (Rounding::Down, true),
            "rpi" => (Rounding::Up, true),
            _ => return None,
        })
    }

    /// Whether a result of the given sign, lying strictly between two neighbours, goes to the one larger in magnitude.
    /// `half` is the first bit cut off, `rest` whether anything lies below it, and `odd` the last bit kept.
    pub(crate) fn away(self, negative: bool, odd: bool, half: bool, rest: bool) -> bool {
        match self {
            Rounding::NearestEven => half && (rest || odd),
            Rounding::NearestAway => half,
            Rounding::Zero => false,
            Rounding::Down => negative && (half || rest),
            Rounding::Up => !negative && (half || rest),
        }
    }
}
