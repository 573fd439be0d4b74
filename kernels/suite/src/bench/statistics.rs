//! Median and spread of repeated timings.

use anyhow::{Result, ensure};
use serde::Serialize;
use std::fmt;
use std::time::Duration;

/// The timings of one thing, which count once it has run at least once.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    is_warm: bool,
    times: Vec<Duration>,
}

impl Samples {
    /// It has run without being timed: its code is loaded, its memory is there.
    pub fn warm_up(&mut self) {
        self.is_warm = true;
    }

    /// Adds the time of a run.
    ///
    /// # Errors
    ///
    /// It has not run before: its first launch loads the kernel (CUDA C++ Programming Guide, "Lazy Loading", "Autotuning").
    pub fn add(&mut self, time: Duration) -> Result<()> {
        ensure!(
            self.is_warm,
            "the first run is timed, which includes the time that loading the kernel takes: let it run at least once before"
        );
        self.times.push(time);
        Ok(())
    }

    /// Median and spread.
    ///
    /// # Errors
    ///
    /// There is no time.
    pub fn timing(&self) -> Result<Timing> {
        ensure!(!self.times.is_empty(), "nothing was timed");
        Ok(Timing::of(&self.times))
    }
}

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
    fn of(samples: &[Duration]) -> Timing {
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

/// The median in microseconds, and how much the times differ.
impl fmt::Display for Timing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1} ± {:.1}%", self.median_us, self.spread() * 100.0)
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
    fn a_first_run_is_not_timed() {
        // covers: LAZY-07
        let mut samples = Samples::default();
        let refused = samples.add(Duration::from_micros(900)).unwrap_err();
        assert!(refused.to_string().contains("loading"), "{refused}");
        assert!(samples.timing().is_err());
        samples.warm_up();
        assert!(samples.timing().is_err(), "nothing was timed");
        samples.add(Duration::from_micros(5)).unwrap();
        let timing = samples.timing().unwrap();
        assert_eq!((timing.median_us, timing.repetitions), (5.0, 1));
    }

    #[test]
    fn an_even_count_interpolates() {
        let samples: Vec<_> = [10, 20].map(Duration::from_micros).to_vec();
        assert_eq!(Timing::of(&samples).median_us, 15.0);
    }
}
