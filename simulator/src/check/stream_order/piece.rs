//! A piece of work, and what one may have heard of another through memory.

use std::sync::Arc;

use super::clock::Clock;
use super::place::Place;
use super::touched::{Touched, TouchedPage};

/// Who does a piece's accesses, as far as scopes are concerned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Agent {
    /// The device.
    pub device: usize,
    /// The physical memory synchronisation domain.
    pub domain: u32,
}

/// A kernel, a copy, a fill ...
#[derive(Debug)]
pub struct Piece {
    /// What it is: "kernel `add`".
    pub what: String,
    /// Where it stands: "in stream 0x40".
    pub at: String,
    /// Its place in the order of work.
    pub place: Place,
    /// Who does its accesses.
    pub agent: Agent,
    /// The count of submissions when it began.
    pub begun: u64,
    /// The count of submissions when it ended.
    pub ended: u64,
    /// What the host knew when it ended.
    pub host: Arc<Clock>,
    /// It writes words that the host may read at once.
    pub speaks_to_host: bool,
    /// It reads words that the host may write at once.
    pub hears_host: bool,
    /// The words by which it may speak and hear.
    pub(super) words: Vec<TouchedPage>,
}

impl Piece {
    /// A piece that says and hears nothing.
    pub fn new(what: String, at: String, place: Place, agent: Agent, host: Arc<Clock>) -> Piece {
        Piece {
            what,
            at,
            begun: place.submitted,
            ended: place.submitted,
            place,
            agent,
            host,
            speaks_to_host: false,
            hears_host: false,
            words: Vec::new(),
        }
    }

    /// Keeps the words among what it has touched.
    #[must_use]
    pub fn with_words(mut self, touched: &Touched) -> Piece {
        let words = touched.pages.iter();
        let words = words.filter(|page| page.class.speaks() || page.class.hears());
        self.words = words.cloned().collect();
        self
    }

    /// Whether it may speak or hear.
    pub(super) fn has_words(&self) -> bool {
        !self.words.is_empty()
    }

    /// Whether one comes before the other.
    pub(super) fn is_ordered_with(&self, other: &Piece) -> bool {
        self.place.overlaps(&other.place)
            || self.place.is_before(&other.place)
            || other.place.is_before(&self.place)
    }

    /// Whether the other may know at its end what this one has done: it comes after it, has read what this one wrote, or the host stands
    /// between them.
    fn may_be_known_to(&self, other: &Piece) -> bool {
        self.place.is_before(&other.place)
            || (self.speaks_to_host && other.place.submitted > self.begun)
            || (other.hears_host && self.place.is_known_to(&other.host))
            || self.is_heard_by(other)
    }

    fn is_heard_by(&self, other: &Piece) -> bool {
        let near = self.agent == other.agent;
        self.words.iter().any(|mine| {
            mine.class.speaks()
                && other.words.iter().any(|theirs| {
                    let narrow =
                        mine.class.is_of_device_scope() || theirs.class.is_of_device_scope();
                    theirs.class.hears() && (near || !narrow) && mine.meets(theirs).is_some()
                })
        })
    }
}

/// Whether `to` may know of what `from` has done, by any number of the pieces between.
pub(super) fn may_have_heard(from: &Piece, to: &Piece, between: &[Arc<Piece>]) -> bool {
    let mut open = vec![from];
    let mut seen = vec![false; between.len()];
    while let Some(piece) = open.pop() {
        if piece.may_be_known_to(to) {
            return true;
        }
        for (number, next) in between.iter().enumerate() {
            if !seen[number] && piece.may_be_known_to(next) {
                seen[number] = true;
                open.push(next);
            }
        }
    }
    false
}
