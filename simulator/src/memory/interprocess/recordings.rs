//! The recordings of an event that several processes have: numbered, so that a wait is for one of them, whoever made it.
//!
//! They stand in a page that all these processes see. A recording's number is drawn when it is enqueued, and its place in the page says
//! when it is reached. Who waits looks there again and again: what one process submits, another one's queues know nothing of. Places are
//! used in turn; who waits for a recording finds it reached when a later one has got its place.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::handle::{Handle, Unopened};
use crate::error::{Result, code};
use crate::memory::process::is_running;
use crate::memory::shared_file::{Content, SharedFile};
use crate::memory::shared_page::SharedPage;

/// How many recordings can be under way.
const PLACES: usize = 255;

/// Two words of the page; its first one is the number of the last recording.
struct Place<'a> {
    /// The last recording of this place that is reached.
    reached: &'a AtomicU64,
    /// Which recording is under way, in the upper half its number's lower half, and the process that makes it.
    maker: &'a AtomicU64,
}

const _: () = assert!((1 + 2 * PLACES) * size_of::<AtomicU64>() <= SharedPage::BYTES);

/// The recordings of an event.
pub(crate) struct Recordings {
    file: SharedFile,
    /// The page that processes share.
    page: SharedPage,
    /// Whether the event is this process's own, which alone can export it.
    is_own: bool,
}

impl Recordings {
    /// None yet; `None` if the system has no room.
    pub(crate) fn create() -> Option<Arc<Self>> {
        let file = SharedFile::create(Content::Event, SharedPage::BYTES, [0; 4])?;
        Self::map(file, true)
    }

    /// Those of an event of another process.
    ///
    /// # Errors
    ///
    /// As a real driver answers: map failed if it is no handle of an event that exists, invalid context if this process has exported it.
    pub(crate) fn open(handle: &[u8; 64]) -> Result<Arc<Self>> {
        let opened = Handle::from_bytes(handle, Content::Event)
            .and_then(|handle| handle.open(Content::Event))
            .map_err(|why| match why {
                Unopened::Own => code::INVALID_CONTEXT,
                Unopened::NoHandle | Unopened::Gone => code::MAP_FAILED,
            });
        let (file, _) = opened?;
        if file.bytes() != SharedPage::BYTES {
            return Err(code::MAP_FAILED);
        }
        Self::map(file, false).ok_or(code::MAP_FAILED)
    }

    fn map(file: SharedFile, is_own: bool) -> Option<Arc<Self>> {
        let page = SharedPage::map(&file)?;
        Some(Arc::new(Self { file, page, is_own }))
    }

    /// The handle by which another process opens the event.
    ///
    /// # Errors
    ///
    /// Invalid handle if it is another process's event.
    pub(crate) fn export(&self) -> Result<[u8; 64]> {
        if !self.is_own {
            return Err(code::INVALID_HANDLE);
        }
        let handle = Handle::of(&self.file, Content::Event).ok_or(code::OPERATING_SYSTEM)?;
        Ok(handle.to_bytes())
    }

    fn last_number(&self) -> &AtomicU64 {
        &self.page.words()[0]
    }

    fn place(&self, number: u64) -> Place<'_> {
        let first = 1 + 2 * (number % PLACES as u64) as usize;
        let words = self.page.words();
        Place {
            reached: &words[first],
            maker: &words[first + 1],
        }
    }

    /// Begins a recording of this process.
    pub(crate) fn begin(self: &Arc<Self>) -> RecordingUnderWay {
        let number = self.last_number().fetch_add(1, Ordering::AcqRel) + 1;
        let maker = number << 32 | u64::from(std::process::id());
        self.place(number).maker.store(maker, Ordering::Release);
        RecordingUnderWay(SharedPoint {
            recordings: Arc::clone(self),
            number,
        })
    }

    /// The last recording of any process; `None` before the first one.
    pub(crate) fn last(self: &Arc<Self>) -> Option<SharedPoint> {
        let number = self.last_number().load(Ordering::Acquire);
        (number > 0).then(|| SharedPoint {
            recordings: Arc::clone(self),
            number,
        })
    }
}

/// A recording that is to be reached: when this is dropped, also where the work before it has failed, so that waits for it end.
pub(crate) struct RecordingUnderWay(SharedPoint);

impl Drop for RecordingUnderWay {
    fn drop(&mut self) {
        let place = self.0.recordings.place(self.0.number);
        place.reached.fetch_max(self.0.number, Ordering::AcqRel);
    }
}

/// A recording of some process.
#[derive(Clone)]
pub(crate) struct SharedPoint {
    recordings: Arc<Recordings>,
    number: u64,
}

impl SharedPoint {
    /// Whether it is reached.
    pub(crate) fn is_reached(&self) -> bool {
        self.recordings
            .place(self.number)
            .reached
            .load(Ordering::Acquire)
            >= self.number
    }

    /// Waits until it is reached, its process has ended, or `stop` says so.
    pub(crate) fn wait(&self, stop: impl Fn() -> bool) {
        /// The longest time between two looks.
        const LONGEST: Duration = Duration::from_millis(1);
        /// The time between two looks for the process.
        const PATIENCE: Duration = Duration::from_millis(100);
        let mut pause = Duration::from_micros(1);
        let mut asked = Instant::now();
        while !self.is_reached() && !stop() {
            if asked.elapsed() >= PATIENCE {
                if self.is_abandoned() {
                    return;
                }
                asked = Instant::now();
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(LONGEST);
        }
    }

    /// Whether the process that made it has ended without reaching it: its work is over, too.
    fn is_abandoned(&self) -> bool {
        let maker = self
            .recordings
            .place(self.number)
            .maker
            .load(Ordering::Acquire);
        maker >> 32 == self.number & 0xffff_ffff && !is_running(maker as u32)
    }
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;

    #[test]
    fn recordings_are_reached_one_by_one() {
        let recordings = Recordings::create().unwrap();
        assert!(recordings.last().is_none());
        let first = recordings.begin();
        let early = recordings.last().unwrap();
        let second = recordings.begin();
        let late = recordings.last().unwrap();
        drop(second);
        assert!(late.is_reached() && !early.is_reached());
        early.wait(|| true);
        drop(first);
        early.wait(|| false);
        assert!(early.is_reached());
    }

    #[test]
    fn a_place_that_is_used_again_says_that_its_recording_was_reached() {
        let recordings = Recordings::create().unwrap();
        drop(recordings.begin());
        let first = recordings.last().unwrap();
        for _ in 0..2 * PLACES {
            drop(recordings.begin());
        }
        assert!(first.is_reached());
    }

    #[test]
    fn nobody_waits_for_a_process_that_has_ended() {
        let recordings = Recordings::create().unwrap();
        let under_way = recordings.begin();
        let point = recordings.last().unwrap();
        assert!(!point.is_abandoned());
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let id = u64::from(child.id());
        let place = recordings.place(point.number);
        place
            .maker
            .store(point.number << 32 | id, Ordering::Release);
        // The child becomes a process that was not waited for.
        point.wait(|| false);
        assert!(!point.is_reached());
        child.wait().unwrap();
        drop(under_way);
    }
}
