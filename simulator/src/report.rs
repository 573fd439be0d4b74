//! What the simulator says on its own: faults and remarks on stderr, and the last fault of the process.
//!
//! A context's own fault is kept by the context; the last one of the process is for programs that ask without a context.

use std::sync::{Arc, Mutex};

use crate::settings;
use crate::sync::lock;
use warpsmith_abi::fault::{Fault, Note};

static LAST: Mutex<Option<Arc<Fault>>> = Mutex::new(None);

/// Notes a fault, and writes it to stderr where that is wanted.
pub(crate) fn fault(fault: &Arc<Fault>) {
    if settings::get().stderr {
        eprintln!("========= warpsmith simulator: {fault}");
    }
    *lock(&LAST) = Some(Arc::clone(fault));
}

/// Writes a note to stderr where that is wanted.
pub(crate) fn note(note: &Note) {
    if settings::get().stderr {
        eprintln!("========= warpsmith simulator: {note}");
    }
}

/// The last fault in the process, whatever its context.
pub(crate) fn last_fault() -> Option<Arc<Fault>> {
    lock(&LAST).clone()
}

/// Says why a call failed to a caller who has not asked for a log.
pub(crate) fn remark(text: &str) {
    if settings::get().stderr {
        eprintln!("warpsmith simulator: {text}");
    }
}
