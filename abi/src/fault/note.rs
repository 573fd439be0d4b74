//! What is worth knowing of a kernel that did nothing wrong.

use serde::{Deserialize, Serialize};

use super::FaultOrigin;

/// Something that a kernel may do, and that is most often a mistake. It stops nothing. `Display` is the full text, several lines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// What kind.
    pub kind: NoteKind,
    /// What happened, in one line.
    pub message: String,
    /// The thread that did it, and where.
    pub origin: FaultOrigin,
    /// Further lines.
    #[serde(default)]
    pub lines: Vec<String>,
}

/// The kinds of note.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum NoteKind {
    /// Lanes of one instruction have written different values to the same address.
    CollidingWrites,
    /// An atomic operation on memory of the host has a scope that leaves the host out.
    NarrowHostAtomic,
    /// A read of managed memory whose contents were discarded and that nothing has written since.
    DiscardedRead,
    /// A kind that a newer simulator has.
    #[serde(other)]
    Other,
}
