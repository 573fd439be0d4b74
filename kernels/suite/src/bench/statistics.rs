//! Median and spread of repeated timings.

use serde::Serialize;
use std::time::Duration;

/// What is left of many timings of one thing, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Timing {
    /// The median.
    pub median_us: f64,
    /// The fastest.
    pub fastest_us: f64,
    /// The lower quartile.
    pub lower_us: f64,
    /// The upper quartile.
    pub upper_us: f64,
    /// How many there were.
    pub repetitions: usize,
}

impl Timing {
    /// Summarises `samples`, of which there must be at least one.
    pub fn of(samples: &[Duration]) -> Timing {
        let mut us: Vec<f64> = samples.iter().map(|d| d.as_secs_f64() * 1e6).collect();
        us.sort_by(f64::total_cmp);
        Timing {
            median_us: quantile(&us, 0.5),
            fastest_us: us[0],
            lower_us: quantile(&us, 0.25),
            upper_us: quantile(&us, 0.75),
            repetitions: us.len(),
        }
    }

    /// Half the distance between the quartiles, relative to the median.
    pub fn spread(&self) -> f64 {
        (self.upper_us - self.lower_us) / 2.0 / self.median_us
    }
}

/// The `q`-quantile of sorted values, interpolated.
fn quantile(sorted: &[f64], q: f64) -> f64 {
    let at = q * (sorted.len() - 1) as f64;
    let (low, high) = (at.floor() as usize, at.ceil() as usize);
    sorted[low] + (sorted[high] - sorted[low]) * (at - low as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_ignores_an_outlier() {
        let samples: Vec<_> = [10, 11, 12, 13, 900].map(Duration::from_micros).to_vec();
        let timing = Timing::of(&samples);
        assert_eq!(
            (timing.median_us, timing.fastest_us, timing.repetitions),
            (12.0, 10.0, 5)
        );
        assert!((timing.spread() - 1.0 / 12.0).abs() < 1e-12);
    }

    #[test]
    fn an_even_count_interpolates() {
        let samples: Vec<_> = [10, 20].map(Duration::from_micros).to_vec();
        assert_eq!(Timing::of(&samples).median_us, 15.0);
    }
}
