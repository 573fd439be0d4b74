//! The semaphores of other program interfaces that a launch of a graph uses.

use super::plan::{Action, Plan};
use crate::streams::Operation;
use crate::streams::semaphore::Issued;

/// The semaphores of a launch, which are in use until this is dropped.
#[derive(Default)]
pub(super) struct SemaphoresInUse {
    _issued: Vec<Issued>,
    /// Whether some of them are signalled.
    pub(super) signals: bool,
}

impl SemaphoresInUse {
    /// Those of a launch that is issued now. Bodies of conditional nodes have none.
    pub(super) fn of(plan: &Plan) -> Self {
        let mut all = Self::default();
        all.add(plan);
        all
    }

    fn add(&mut self, plan: &Plan) {
        for step in &plan.nodes {
            match &step.action {
                Action::Single(Operation::SemaphoreSignal(batch)) => {
                    self.signals = true;
                    self._issued.push(batch.in_use());
                }
                Action::Single(Operation::SemaphoreWait(batch)) => {
                    self._issued.push(batch.in_use())
                }
                Action::Child(child) => self.add(child),
                _ => {}
            }
        }
    }
}
