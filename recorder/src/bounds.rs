//! How far the simulator's approximate functions may lie from a device's: the bounds that the manual gives for them.

use crate::compare::inputs;
use crate::program::Program;

/// How far apart two results may lie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// So many units in the last place.
    Ulps(u64),
    /// So far, where the operand lies in `-limit ..= limit`; beyond, the manual gives no bound.
    Absolute {
        /// How far.
        error: f64,
        /// Where.
        limit: f64,
    },
}

/// What a function's results are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    ty: &'static str,
    bound: Bound,
}

/// The tolerance of the instruction of this name; `None`: every bit counts.
pub fn tolerance(name: &str) -> Option<Tolerance> {
    let _ = name;
    None
}

impl Tolerance {
    /// Whether `found` is near enough to `recorded`.
    pub fn covers(self, program: &Program, case: usize, recorded: u64, found: u64) -> bool {
        let value = |bits: u64| match self.ty {
            "f64" => f64::from_bits(bits),
            "f16" => half::f16::from_bits(bits as u16).to_f64(),
            "bf16" => half::bf16::from_bits(bits as u16).to_f64(),
            _ => f32::from_bits(bits as u32).into(),
        };
        let (right, wrong) = (value(recorded), value(found));
        if !right.is_finite() || !wrong.is_finite() {
            return false;
        }
        match self.bound {
            Bound::Ulps(most) => recorded.abs_diff(found) <= most,
            Bound::Absolute { error, limit } => {
                let operand = inputs(program, case)
                    .first()
                    .map_or(0.0, |&bits| value(bits));
                operand.abs() > limit || (right - wrong).abs() <= error
            }
        }
    }
}
