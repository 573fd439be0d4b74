//! The sixteen barriers of a block: who has arrived, and what a reduction's threads voted.

/// What the threads of a reduction barrier voted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Votes {
    pub count: u32,
    pub all: bool,
    pub any: bool,
}

impl Votes {
    pub const NONE: Votes = Votes {
        count: 0,
        all: true,
        any: false,
    };
}

/// One of the sixteen barriers of a block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Barrier {
    /// Threads that have arrived in this phase.
    pub arrived: u32,
    /// Threads that it waits for; `None` means all that have not exited.
    pub expected: Option<u32>,
    /// Completed phases.
    pub phase: u64,
    /// Votes of this phase.
    pub votes: Votes,
    /// Results of the last two phases, by the phase's lowest bit.
    pub results: [Votes; 2],
}

impl Barrier {
    /// A barrier at which nobody has arrived.
    pub const NEW: Barrier = Barrier {
        arrived: 0,
        expected: None,
        phase: 0,
        votes: Votes::NONE,
        results: [Votes::NONE; 2],
    };

    /// Ends the phase.
    pub fn complete(&mut self) {
        self.results[self.phase as usize & 1] = self.votes;
        self.votes = Votes::NONE;
        self.arrived = 0;
        self.expected = None;
        self.phase += 1;
    }
}
