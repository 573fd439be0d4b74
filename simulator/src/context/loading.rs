//! The check of lazy loading (`loading` in `WARPSMITH_CHECKS`).
//!
//! A driver may wait for the work of a context before it loads code into it (CUDA C++ Programming Guide, "Lazy Loading", "Concurrent
//! Execution"). Where the check is on, each load does: so two kernels of which one waits for the other, and the other is not loaded yet, wait
//! for ever, here each time. The kernel's deadlock is reported as that of any other grid is, and names the load that waits for it, too.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::loads::WAY_OUT;
use super::state::Context;
use crate::error::Result;
use crate::report;
use crate::settings;
use crate::work::CompletionPoint;
use warpsmith_abi::fault::{Fault, FaultKind};

impl Context {
    /// Code is about to be loaded: waits for the context's work, where the check is on.
    ///
    /// # Errors
    ///
    /// The context's, if its work fails meanwhile.
    pub(crate) fn wait_to_load(&self, what: impl FnOnce() -> String) -> Result {
        let settings = settings::get();
        if !settings.loading {
            return Ok(());
        }
        let ends = self.queues.all_ends();
        let waiting = self.loads.wait(what());
        // A grid that waits for ever is found after the patience; what is still there then is no grid, or one that another one keeps waiting.
        let limit = settings
            .patience
            .saturating_mul(2)
            .saturating_add(Duration::from_secs(1));
        let begun = Instant::now();
        while !ends.iter().all(CompletionPoint::is_reached) && !self.is_ending() {
            if begun.elapsed() > limit {
                let message = format!(
                    "the load of {} waits for the context's work, which does not end: {}",
                    waiting.1,
                    self.queues.unfinished().join(", ")
                );
                report::fault(&Arc::new(Fault {
                    notes: vec![WAY_OUT.to_owned()],
                    ..Fault::outside_kernels(FaultKind::Deadlock, message)
                }));
                break;
            }
            std::thread::sleep(Duration::from_micros(200));
        }
        drop(waiting);
        self.check()
    }
}
