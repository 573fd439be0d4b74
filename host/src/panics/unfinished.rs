//! Work of other libraries that was given up after it was enqueued. What it was writing is undefined until something else writes it.

use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use super::timeline::Timeline;
use super::write_mark::WriteMark;
use crate::error::{Error, Result, Unfinished};
use crate::sync::lock;

/// What is known of one device. Where nothing was ever given up, a question costs a load.
#[derive(Default)]
pub(crate) struct UnfinishedWork {
    is_any: AtomicBool,
    given_up: Mutex<Vec<GivenUp>>,
}

struct GivenUp {
    timeline: Arc<Timeline>,
    /// The marks of what the work wrote, which no other work's writes have.
    marks: RangeInclusive<WriteMark>,
    work: &'static str,
    reason: Arc<str>,
}

impl UnfinishedWork {
    /// Notes that the work whose writes have these marks in its stream was given up.
    pub(crate) fn add(
        &self,
        timeline: &Arc<Timeline>,
        marks: RangeInclusive<WriteMark>,
        work: &'static str,
        reason: &Arc<str>,
    ) {
        let mut given_up = lock(&self.given_up);
        // Neither a stream nor memory knows of the others any more.
        given_up.retain(|known| Arc::strong_count(&known.timeline) > 1);
        given_up.push(GivenUp {
            timeline: timeline.clone(),
            marks,
            work,
            reason: reason.clone(),
        });
        self.is_any.store(true, Ordering::Release);
    }

    /// # Errors
    ///
    /// The last write of some memory was given up.
    pub(crate) fn check(
        &self,
        call: &'static str,
        last_write: impl FnOnce() -> Option<(Arc<Timeline>, WriteMark)>,
    ) -> Result<()> {
        if !self.is_any.load(Ordering::Acquire) {
            return Ok(());
        }
        let Some((timeline, mark)) = last_write() else {
            return Ok(());
        };
        let is_it = |known: &&GivenUp| {
            Arc::ptr_eq(&timeline, &known.timeline) && known.marks.contains(&mark)
        };
        match lock(&self.given_up).iter().find(is_it) {
            None => Ok(()),
            Some(found) => Err(Error::Unfinished(Box::new(Unfinished {
                call,
                work: found.work,
                reason: found.reason.to_string(),
            }))),
        }
    }
}
