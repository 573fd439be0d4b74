//! Comparing what a kernel computed with what its oracle says.
//!
//! A tolerance is a bound on the absolute error of one element, computed per element from the magnitudes that went
//! into it: the oracles work in `f64`, so an argument about the rounding of the kernel's own `f32` operations is all
//! that is needed. NaN never passes.

use std::fmt;

/// Unit roundoff of `f32`: one correctly rounded operation is off by at most this, relatively.
pub const UNIT_F32: f64 = f32::EPSILON as f64 / 2.0;
/// Unit roundoff of `f64`.
pub const UNIT_F64: f64 = f64::EPSILON / 2.0;

/// How many elements were compared, and how much of the tolerance the worst one used (1 = all of it).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Verified {
    /// Elements compared.
    pub elements: u64,
    /// The largest quotient of an error and its tolerance; 0 where the comparison is exact.
    pub worst: f64,
}

impl Verified {
    /// Both comparisons together.
    pub fn and(self, other: Verified) -> Verified {
        Verified {
            elements: self.elements + other.elements,
            worst: self.worst.max(other.worst),
        }
    }
}

impl fmt::Display for Verified {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.worst == 0.0 {
            write!(f, "{} values exact", self.elements)
        } else {
            write!(
                f,
                "{} values, worst error {:.0}% of the tolerance",
                self.elements,
                self.worst * 100.0
            )
        }
    }
}

/// The first wrong element.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error(
    "element {position} is {got}, the oracle says {want} (tolerance {tolerance}); {wrong} of {elements} are wrong"
)]
pub struct Mismatch {
    /// Its position: an index, or a row and a column.
    pub position: String,
    /// What the kernel computed.
    pub got: String,
    /// What the oracle says.
    pub want: String,
    /// How far apart they may be.
    pub tolerance: String,
    /// How many elements are wrong.
    pub wrong: u64,
    /// How many were compared.
    pub elements: u64,
}

/// Compares `got` with an oracle that gives, per element, the value and the largest absolute error it may have.
pub fn close<T: Copy + Into<f64>>(
    got: &[T],
    mut oracle: impl FnMut(usize) -> (f64, f64),
    position: impl Fn(usize) -> String,
) -> Result<Verified, Mismatch> {
    let mut worst = 0.0f64;
    let mut first = None;
    let mut wrong = 0;
    for (index, &value) in got.iter().enumerate() {
        let value = value.into();
        let (want, tolerance) = oracle(index);
        let error = (value - want).abs();
        if error <= tolerance {
            if error > 0.0 {
                worst = worst.max(error / tolerance);
            }
        } else {
            wrong += 1;
            first.get_or_insert((index, value, want, tolerance));
        }
    }
    match first {
        None => Ok(Verified {
            elements: got.len() as u64,
            worst,
        }),
        Some((index, value, want, tolerance)) => Err(Mismatch {
            position: position(index),
            got: value.to_string(),
            want: want.to_string(),
            tolerance: format!("{tolerance:.3e}"),
            wrong,
            elements: got.len() as u64,
        }),
    }
}

/// Compares integers, which must be equal.
pub fn equal<T: Copy + PartialEq + fmt::Display>(
    got: &[T],
    want: &[T],
) -> Result<Verified, Mismatch> {
    assert_eq!(
        got.len(),
        want.len(),
        "the oracle gives as many values as the kernel"
    );
    let wrong = got
        .iter()
        .zip(want)
        .filter(|(got, want)| got != want)
        .count() as u64;
    match got.iter().zip(want).position(|(got, want)| got != want) {
        None => Ok(Verified {
            elements: got.len() as u64,
            worst: 0.0,
        }),
        Some(index) => Err(Mismatch {
            position: index.to_string(),
            got: got[index].to_string(),
            want: want[index].to_string(),
            tolerance: "0".into(),
            wrong,
            elements: got.len() as u64,
        }),
    }
}

/// The scalar product of two vectors.
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The Euclidean norm of a vector, in that of another one.
pub fn relative_norm(part: &[f64], whole: &[f64]) -> f64 {
    (dot(part, part) / dot(whole, whole)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_within_the_tolerance_passes_and_is_reported() {
        let verified = close(&[1.0f32, 2.0], |i| (i as f64 + 1.0, 0.5), |i| i.to_string()).unwrap();
        assert_eq!(
            verified,
            Verified {
                elements: 2,
                worst: 0.0
            }
        );
        let verified = close(&[1.25f32], |_| (1.0, 0.5), |i| i.to_string()).unwrap();
        assert_eq!(verified.worst, 0.5);
    }

    #[test]
    fn a_wrong_element_is_named_and_nan_is_always_wrong() {
        let mismatch = close(
            &[1.0f32, f32::NAN, 9.0],
            |_| (1.0, f64::MAX.sqrt() * 0.0),
            |i| format!("#{i}"),
        )
        .unwrap_err();
        assert_eq!(
            (
                mismatch.position.as_str(),
                mismatch.wrong,
                mismatch.elements
            ),
            ("#1", 2, 3)
        );
        assert!(mismatch.to_string().contains("NaN"));
        assert!(close(&[f32::NAN], |_| (0.0, f64::INFINITY), |i| i.to_string()).is_err());
    }

    #[test]
    fn integers_compare_exactly() {
        assert!(equal(&[1u32, 2], &[1, 2]).is_ok());
        assert_eq!(equal(&[1u32, 2, 4], &[1, 3, 5]).unwrap_err().wrong, 2);
    }
}
