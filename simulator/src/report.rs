//! The report of the last fault: kept for `warpsmithSimulatorReport`, and printed where that is wanted.

use std::sync::Mutex;

use crate::settings;
use crate::sync::lock;

static LAST: Mutex<String> = Mutex::new(String::new());

/// Notes a fault.
pub(crate) fn fault(text: &str) {
    if settings::get().stderr {
        eprintln!("========= warpsmith simulator: {text}");
    }
    text.clone_into(&mut lock(&LAST));
}

/// The last fault's full report; empty if there was none.
pub(crate) fn last() -> String {
    lock(&LAST).clone()
}

/// Says why a call failed to a caller who has not asked for a log.
pub(crate) fn remark(text: &str) {
    if settings::get().stderr {
        eprintln!("warpsmith simulator: {text}");
    }
}
