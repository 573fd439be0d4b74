//! The report of the last fault: kept for `warpsmithSimulatorReport`, and printed where that is wanted.

use std::sync::Mutex;

use crate::settings;
use crate::state::lock;

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

/// Notes why a call failed, without printing it: the caller has an error code, and a log where it asked for one.
pub(crate) fn note(text: &str) {
    text.clone_into(&mut lock(&LAST));
}
