//! Waiting, in a stream, for what somebody else does without a call.
//!
//! A wait holds up its stream's queue alone, which has a thread of its own. It ends without its condition where its context ends or has an
//! error. How long it takes is the program's affair; after [`Settings::patience`](crate::settings::Settings) it is named once.

use std::time::{Duration, Instant};

use crate::context::Context;
use crate::report;
use crate::settings;

/// Asks again and again until `is_met` says so; `false` where the context ends first. `what` says what is waited for, and since when that is
/// a mistake.
///
/// # Errors
///
/// Those of `is_met`.
pub(super) fn wait_until(
    context: &Context,
    mut is_met: impl FnMut() -> Result<bool, String>,
    what: impl Fn() -> String,
) -> Result<bool, String> {
    /// The longest time between two looks.
    const LONGEST: Duration = Duration::from_millis(1);
    let start = Instant::now();
    let patience = settings::get().patience;
    let mut pause = Duration::from_micros(1);
    let mut is_told = false;
    loop {
        if is_met()? {
            return Ok(true);
        }
        if context.is_ending() {
            return Ok(false);
        }
        if !is_told && start.elapsed() >= patience {
            is_told = true;
            report::remark(&format!(
                "a stream has waited {} s for {}",
                patience.as_secs_f32(),
                what()
            ));
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(LONGEST);
    }
}
