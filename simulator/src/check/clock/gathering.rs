//! Threads at a barrier.

use super::super::known::Known;
use super::lanes::Lanes;

/// Threads that have arrived at a barrier, and what they knew.
#[derive(Clone, Debug)]
pub(super) struct Gathering<T> {
    pub cluster: u32,
    pub block: u32,
    pub known: Known,
    /// What the whole group learns: the accesses of these threads with lower epochs.
    pub entries: Vec<(Lanes<T>, u32)>,
    pub waiting: Vec<Lanes<T>>,
    /// Threads that have arrived and released.
    pub released: u32,
    /// The lowest epoch that they entered.
    pub lowest: u32,
}

impl<T> Gathering<T> {
    /// Nobody has arrived.
    pub fn new() -> Gathering<T> {
        Gathering {
            cluster: 0,
            block: 0,
            known: Known::default(),
            entries: Vec::new(),
            waiting: Vec::new(),
            released: 0,
            lowest: 0,
        }
    }

    /// Nobody has arrived; what was allocated stays.
    pub fn clear(&mut self) {
        (self.cluster, self.block, self.released, self.lowest) = (0, 0, 0, 0);
        self.known = Known::default();
        self.entries.clear();
        self.waiting.clear();
    }

    /// Number of threads that wait.
    pub fn waiting(&self) -> u32 {
        self.waiting.iter().map(|w| w.mask.count_ones()).sum()
    }
}
