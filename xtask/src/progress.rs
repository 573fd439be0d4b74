//! Saying what goes on: one line a step, with a spinner where a person watches.

use indicatif::{ProgressBar, ProgressStyle};
use std::time::{Duration, Instant};

/// One step that takes a while; it ends when it is finished or dropped.
pub struct Step {
    bar: ProgressBar,
    what: String,
    since: Instant,
}

impl Step {
    /// Begins a step and says so.
    pub fn begin(what: impl Into<String>) -> Step {
        let what = what.into();
        let bar = ProgressBar::new_spinner().with_message(what.clone());
        bar.set_style(
            ProgressStyle::with_template("{spinner} {wide_msg} {elapsed}")
                .expect("the template is a valid one"),
        );
        bar.enable_steady_tick(Duration::from_millis(120));
        if bar.is_hidden() {
            eprintln!("  ... {what}");
        }
        Step {
            bar,
            what,
            since: Instant::now(),
        }
    }

    /// Says what the step is doing now.
    pub fn now(&self, what: &str) {
        self.bar.set_message(format!("{}: {what}", self.what));
        if self.bar.is_hidden() {
            eprintln!("      {what}");
        }
    }

    /// Ends the step with its outcome.
    pub fn finish(self, outcome: &str) {
        self.bar.finish_and_clear();
        eprintln!(
            "   ok {}: {outcome} ({:.1} s)",
            self.what,
            self.since.elapsed().as_secs_f64()
        );
    }
}

impl Drop for Step {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
