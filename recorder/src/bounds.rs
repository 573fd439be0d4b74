//! How far the simulator's approximate functions may lie from a device's.
//!
//! The simulator computes them in higher precision and rounds once; a device has tables and rounds in between. The bounds are the
//! largest differences of an H200 (driver 580.159.04, 2026-11-22) over all operands, measured with `measure/approximate_errors.cu`; those of
//! 16 bits are seen in the recorded tables.

use crate::program::Program;

/// How far apart two results may lie: by either measure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// The type of the results; two of them are in a result of twice its size.
    ty: &'static str,
    /// So many units in the last place.
    ulps: u64,
    /// So far.
    absolute: f64,
    /// Operands beyond this have no bound.
    limit: f64,
}

/// The tolerance of the instruction of this name; `None`: every bit counts.
pub fn tolerance(name: &str) -> Option<Tolerance> {
    let words: Vec<&str> = name.split([' ', '.']).collect();
    let function = words[0];
    let is_approximate = words.contains(&"approx") || words.contains(&"full");
    let ty = ["f64", "f32", "bf16", "f16"];
    let ty = ty
        .into_iter()
        .find(|ty| words.iter().any(|word| word.trim_end_matches("x2") == *ty))?;
    let (ulps, absolute) = match (function, ty) {
        _ if !is_approximate => return None,
        // Of f64 the upper word has the result, or all of it.
        ("rcp" | "rsqrt", "f64") => (if words.contains(&"ftz") { 1 << 32 } else { 1 }, 0.0),
        ("rcp" | "sqrt", _) => (1, 0.0),
        ("rsqrt", _) => (2, 0.0),
        ("div" | "ex2", "f32") => (2, 0.0),
        // Near one the logarithm is near zero, where units are small.
        ("lg2", _) => (2, 2f64.powf(-22.1)),
        ("sin", _) => (0, 2f64.powf(-20.5)),
        ("cos", _) => (0, 2f64.powf(-20.4)),
        ("tanh", "f32") => (134, 0.0),
        ("tanh", _) => (1, 0.0),
        _ => return None,
    };
    // Beyond a turn the error grows with the operand.
    let limit = match function {
        "sin" | "cos" => std::f64::consts::TAU,
        _ => f64::INFINITY,
    };
    Some(Tolerance {
        ty,
        ulps,
        absolute,
        limit,
    })
}

impl Tolerance {
    /// Whether `found` is near enough to `recorded`.
    pub fn covers(self, program: &Program, case: usize, recorded: u64, found: u64) -> bool {
        let bits = match self.ty {
            "f64" => 64,
            "f32" => 32,
            _ => 16,
        };
        let is_far = program
            .inputs(case)
            .first()
            .is_some_and(|&operand| self.value(operand).abs() > self.limit);
        let mask = u64::MAX >> (64 - bits);
        is_far
            || (0..64 / bits).all(|part| {
                let part = |word: u64| word >> (part * bits) & mask;
                self.is_near(part(recorded), part(found))
            })
    }

    fn is_near(self, recorded: u64, found: u64) -> bool {
        let (right, wrong) = (self.value(recorded), self.value(found));
        // Beyond the largest number the next one is an infinity.
        let numbers = !right.is_nan() && !wrong.is_nan();
        let are_near = recorded.abs_diff(found) <= self.ulps;
        recorded == found || numbers && (are_near || (right - wrong).abs() <= self.absolute)
    }

    fn value(self, bits: u64) -> f64 {
        match self.ty {
            "f64" => f64::from_bits(bits),
            "f16" => half::f16::from_bits(bits as u16).to_f64(),
            "bf16" => half::bf16::from_bits(bits as u16).to_f64(),
            _ => f32::from_bits(bits as u32).into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_approximate_functions_have_a_tolerance() {
        assert_eq!(tolerance("add.rn.f32 3"), None);
        assert_eq!(tolerance("rcp.rn.f32 2"), None);
        let pair = tolerance("tanh.approx.f16x2 2").unwrap();
        assert_eq!((pair.ty, pair.ulps), ("f16", 1));
        assert!(pair.is_near(0x3c00, 0x3bff) && !pair.is_near(0x3c00, 0x3c02));
        let sine = tolerance("sin.approx.ftz.f32 2").unwrap();
        assert!(sine.is_near(0, 1) && !sine.is_near(0x3f80_0000, 0x3f80_0010));
        assert!(!sine.is_near(0x7fff_ffff, 0));
    }
}
