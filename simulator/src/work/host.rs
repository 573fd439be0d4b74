//! What the host knows to have happened, by its waits; all its threads together.
//!
//! One thread may tell another by means that nobody sees here. So what one has waited for, all are taken to know from then on.

use std::sync::{Arc, Mutex, OnceLock};

use crate::check::stream_order::Clock;
use crate::sync::lock;

#[derive(Default)]
struct Host {
    known: Arc<Clock>,
    /// Items that have been submitted and have not ended.
    pending: u64,
    /// Submissions ever.
    submissions: u64,
    /// What was known when last nothing was pending: all work that has not ended, and all that is to come, comes after it.
    quiet: Arc<Clock>,
}

fn host() -> &'static Mutex<Host> {
    static HOST: OnceLock<Mutex<Host>> = OnceLock::new();
    HOST.get_or_init(Mutex::default)
}

/// An item that is submitted.
pub(super) struct Submission {
    /// What the host knows.
    pub(super) known: Arc<Clock>,
    /// Counts submissions.
    pub(super) number: u64,
}

/// An item is submitted.
pub(super) fn submit() -> Submission {
    let mut host = lock(host());
    if host.pending == 0 {
        host.quiet = Arc::clone(&host.known);
    }
    host.pending += 1;
    host.submissions += 1;
    Submission {
        known: Arc::clone(&host.known),
        number: host.submissions,
    }
}

/// An item has ended.
pub(super) fn end() {
    lock(host()).pending -= 1;
}

/// The host learns that something has happened.
pub(crate) fn learn(what: impl FnOnce(&mut Clock)) {
    what(Arc::make_mut(&mut lock(host()).known));
}

/// What the host knows.
pub(crate) fn known() -> Arc<Clock> {
    Arc::clone(&lock(host()).known)
}

/// What all work comes after that has not ended, or is still to come.
pub(crate) fn known_to_all() -> Arc<Clock> {
    let host = lock(host());
    match host.pending {
        0 => Arc::clone(&host.known),
        _ => Arc::clone(&host.quiet),
    }
}

/// How many items have been submitted.
pub(crate) fn submissions() -> u64 {
    lock(host()).submissions
}
