//! Epochs, what each thread has seen, and how barriers change it.

mod barrier;
mod clocks;
mod gathering;
mod knowledge;
mod lanes;
mod observer;
mod snapshot;

pub(super) use clocks::Clocks;
pub(super) use knowledge::WarpView;
pub(super) use observer::Observer;
pub(super) use snapshot::Snapshot;
