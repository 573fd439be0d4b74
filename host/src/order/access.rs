//! What a piece of work does to a piece of memory.

/// Whether an access changes the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AccessKind {
    Read,
    Write,
}

/// Bytes of an allocation, and what is done to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Access {
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) kind: AccessKind,
}

impl Access {
    /// Conflicts with every other access.
    pub(crate) const EVERYTHING: Access = Access {
        start: 0,
        end: u64::MAX,
        kind: AccessKind::Write,
    };

    /// An access of this kind to all bytes.
    pub(crate) const fn to_everything(kind: AccessKind) -> Access {
        Access {
            kind,
            ..Access::EVERYTHING
        }
    }

    pub(crate) fn writes(&self) -> bool {
        self.kind == AccessKind::Write
    }

    /// Whether the two need an order.
    pub(crate) fn conflicts(&self, other: &Access) -> bool {
        (self.writes() || other.writes()) && self.start < other.end && other.start < self.end
    }

    /// Whether whatever conflicts with `other` conflicts with this one.
    pub(crate) fn covers(&self, other: &Access) -> bool {
        self.start <= other.start && other.end <= self.end && (self.writes() || !other.writes())
    }

    /// The least access that covers both.
    pub(crate) fn join(&self, other: &Access) -> Access {
        Access {
            start: self.start.min(other.start),
            end: self.end.max(other.end),
            kind: if self.writes() || other.writes() {
                AccessKind::Write
            } else {
                AccessKind::Read
            },
        }
    }
}

/// What a view can be beside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ViewScope {
    /// No view of another part of the allocation exists beside this one, except for reading.
    Sole,
    /// Views of other parts may be in use, by other threads and for writing.
    Shared,
}
