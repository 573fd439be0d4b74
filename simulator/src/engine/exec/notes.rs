//! The notes of a kernel: each instruction's first one is handed out, and no other.

use std::sync::{Mutex, PoisonError};

use rustc_hash::FxHashSet;

use crate::engine::environment::NoteSink;
use crate::engine::fault::Note;

/// The instructions of a kernel that have been noted, by their sites.
#[derive(Debug, Default)]
pub(crate) struct Noted(Mutex<FxHashSet<u32>>);

/// Where a grid's notes go.
#[derive(Clone, Copy)]
pub(crate) struct Notes<'a> {
    sink: Option<&'a dyn NoteSink>,
    noted: &'a Noted,
}

impl<'a> Notes<'a> {
    /// To a sink, of a kernel of which these instructions have been noted.
    pub fn new(sink: Option<&'a dyn NoteSink>, noted: &'a Noted) -> Notes<'a> {
        Notes { sink, noted }
    }

    /// Whether anybody takes notes.
    #[inline]
    pub fn are_taken(self) -> bool {
        self.sink.is_some()
    }

    /// Hands out a note of the instruction at a site, unless there has been one.
    pub fn add(self, site: u32, note: impl FnOnce() -> Note) {
        let Some(sink) = self.sink else {
            return;
        };
        let Noted(sites) = self.noted;
        let is_first = sites
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(site);
        if is_first {
            sink.note(&note());
        }
    }
}
