//! Lines that a test collects from what it watches, on any threads.

use std::sync::{Mutex, PoisonError};

/// Lines in the order in which they came.
#[derive(Debug, Default)]
pub struct Lines(Mutex<Vec<String>>);

impl Lines {
    /// Adds a line.
    pub fn push(&self, line: String) {
        self.lock().push(line);
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    /// Takes all lines out.
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.lock())
    }

    /// How many begin with one text and end with another.
    pub fn count(&self, start: &str, end: &str) -> usize {
        let lines = self.lock();
        let counted = lines.iter().filter(|line| line.starts_with(start));
        counted.filter(|line| line.ends_with(end)).count()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<String>> {
        // A line is added or not, whatever panics.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
