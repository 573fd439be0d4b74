//! What kernels print: kept until the next synchronisation.

use std::io::Write;
use std::sync::Mutex;

use crate::sync::lock;

/// The print buffer of one context.
#[derive(Default)]
pub(super) struct PrintBuffer {
    text: Mutex<Vec<u8>>,
}

impl PrintBuffer {
    /// Appends text. What exceeds `capacity` bytes pushes the oldest out.
    pub(super) fn append(&self, text: &[u8], capacity: usize) {
        let mut kept = lock(&self.text);
        kept.extend_from_slice(text);
        if kept.len() > capacity {
            let excess = kept.len() - capacity;
            kept.drain(..excess);
        }
    }

    /// Writes everything to the standard output.
    pub(super) fn flush(&self) {
        let text = std::mem::take(&mut *lock(&self.text));
        if !text.is_empty() {
            let mut stdout = std::io::stdout().lock();
            let _ = stdout.write_all(&text).and_then(|()| stdout.flush());
        }
    }
}
