//! What devices and the program do, and when: each launch, copy, fill, graph launch and allocation, and sections that the program names
//! ([`range`]).
//!
//! - `WARPSMITH_TRACE` names a file for Perfetto and Chrome: spans by the device's time, on the tracks of their streams.
//! - The feature `tracing` of this crate makes spans of the `tracing` crate (target `warpsmith`, level `DEBUG`) while the host's thread enqueues a
//!   piece of work: `kernel`, `graph`, `copy`, `set`, `memory` or `library`, with `name`, `device`, `track` (the stream) and sizes as fields.
//! - The feature `nvtx` makes NVTX ranges of the same time, in the domain `warpsmith`, with bytes as payload, for a tool that
//!   `NVTX_INJECTION64_PATH` names, as `nsys profile` does.
//!
//! Without the variable and the features nothing of this exists, and launches and copies do nothing for it. With a feature where nobody listens they
//! read a word. What is captured into a graph does not run, and is not told of; a graph's launch is.

// For the file, a piece of work is enqueued between two events (`DeviceTrace::enqueue`), from which its span follows once they are complete
// (`DeviceTrace::collect`). The spans of all devices wait in one place and become a file as a whole (`file.rs`).

mod clock;
pub(crate) mod file;
pub(crate) mod listeners;
#[cfg(feature = "nvtx")]
mod nvtx;
mod section;
#[cfg(feature = "tracing")]
mod spans;
mod timing_event;
pub(crate) mod track;
pub(crate) mod work;

use std::sync::{Arc, Mutex};
use std::time::Instant;

use self::clock::DeviceClock;
use self::file::{Span, TraceFile};
use self::listeners::Told;
pub use self::section::{Range, range};
use self::timing_event::TimingEvent;
use self::track::{Track, host_thread};
use self::work::Work;
use crate::context::choice::DeviceChoice;
use crate::context::primary::Context;
use crate::driver_call::loss::unheard;
use crate::error::Result;
use crate::settings;
use crate::sync::lock;

/// So many pieces of work are pending before those are looked for that are done.
const COLLECT_AT: usize = 512;

/// The part of one open device.
pub(crate) struct DeviceTrace {
    context: Arc<Context>,
    file: Arc<TraceFile>,
    /// The device's number in the file.
    device: u32,
    pending: Mutex<Pending>,
}

/// What has no span yet.
struct Pending {
    clock: DeviceClock,
    work: Vec<Enqueued>,
    /// Events that no piece of work stands between.
    unused: Vec<TimingEvent>,
    /// How many pieces of work may be pending before [`DeviceTrace::collect`] is called.
    collect_at: usize,
}

/// A piece of work between its events.
struct Enqueued {
    start: TimingEvent,
    stop: TimingEvent,
    track: u64,
    work: Work<'static>,
}

/// A piece of work that is about to be enqueued.
#[must_use]
pub(crate) struct Begun(TimingEvent);

/// Enqueues a piece of work of which the device's part of the file, if there is one, and those who listen are told.
///
/// # Errors
///
/// Those of `enqueue`.
#[cold]
pub(crate) fn enqueue<R>(
    trace: Option<&DeviceTrace>,
    device: DeviceChoice,
    track: Track<'_>,
    work: Work<'_>,
    enqueue: impl FnOnce() -> Result<R>,
) -> Result<R> {
    let _told = Told::of_work(device, track.number(), &work);
    match trace {
        Some(trace) => trace.enqueue(track, work, enqueue),
        None => enqueue(),
    }
}

/// As [`enqueue`], for what this thread does on the host.
///
/// # Errors
///
/// Those of `call`.
#[cold]
pub(crate) fn on_host<R>(
    trace: Option<&DeviceTrace>,
    device: DeviceChoice,
    work: Work<'_>,
    call: impl FnOnce() -> Result<R>,
) -> Result<R> {
    let _told = Told::of_work(device, host_thread(), &work);
    match trace {
        Some(trace) => trace.on_host(work, call),
        None => call(),
    }
}

impl DeviceTrace {
    /// The trace of a device that is being opened, whose context is current; `None` where nothing is traced.
    ///
    /// # Errors
    ///
    /// The file cannot be written, or the driver refuses an event.
    pub(crate) fn open(context: &Arc<Context>) -> Result<Option<DeviceTrace>> {
        let Some(path) = settings::trace() else {
            return Ok(None);
        };
        let file = TraceFile::of_process(&path)?;
        let device = file.add_device(format!("{} {}", context.choice, context.name));
        let pending = Pending {
            clock: DeviceClock::start(context, file.time_of(Instant::now()))?,
            work: Vec::new(),
            unused: Vec::new(),
            collect_at: COLLECT_AT,
        };
        Ok(Some(DeviceTrace {
            context: context.clone(),
            file,
            device,
            pending: Mutex::new(pending),
        }))
    }

    /// Enqueues a piece of work between two events.
    ///
    /// # Errors
    ///
    /// Those of `enqueue`: what the trace cannot do is left out.
    fn enqueue<R>(
        &self,
        track: Track<'_>,
        work: Work<'_>,
        enqueue: impl FnOnce() -> Result<R>,
    ) -> Result<R> {
        let begun = self.begin(track);
        let enqueued = enqueue()?;
        self.end(track, begun, work);
        Ok(enqueued)
    }

    /// What is before a piece of work; `None` where it cannot be traced.
    pub(crate) fn begin(&self, track: Track<'_>) -> Option<Begun> {
        if !self.file.has_room() {
            return None;
        }
        self.record(track).map(Begun)
    }

    /// What is behind a piece of work that was enqueued.
    pub(crate) fn end(&self, track: Track<'_>, begun: Option<Begun>, mut work: Work<'_>) {
        if track.is_legacy() {
            work.may_serialise = Some("work of the null stream");
        }
        let Some((Begun(start), stop)) = begun.and_then(|begun| Some((begun, self.record(track)?)))
        else {
            self.file.leave_out(1);
            return;
        };
        let pending = &mut *lock(&self.pending);
        pending.work.push(Enqueued {
            start,
            stop,
            track: track.number(),
            work: work.into_owned(),
        });
        if pending.work.len() >= pending.collect_at {
            self.collect_from(pending);
        }
    }

    /// Notes what this thread does on the host.
    ///
    /// # Errors
    ///
    /// Those of `call`.
    fn on_host<R>(&self, work: Work<'_>, call: impl FnOnce() -> Result<R>) -> Result<R> {
        let start = self.file.time_of(Instant::now());
        let done = call()?;
        let end = self.file.time_of(Instant::now());
        self.file.add(Span {
            device: self.device,
            track: host_thread(),
            start,
            duration: end - start,
            work: work.into_owned(),
        });
        Ok(done)
    }

    /// Makes spans of all that is done.
    pub(crate) fn collect(&self) {
        self.collect_from(&mut lock(&self.pending));
    }

    /// The device is idle or lost: makes spans of what can be had, and writes the file.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub(crate) fn close(self) -> Result<()> {
        self.collect();
        let lost = std::mem::take(&mut lock(&self.pending).work);
        self.file.leave_out(lost.len());
        self.file.write()
    }

    /// The file of this process.
    pub(crate) fn file(&self) -> &TraceFile {
        &self.file
    }

    fn collect_from(&self, pending: &mut Pending) {
        unheard(|| {
            if self.context.bind().is_err() {
                return;
            }
            let work = std::mem::take(&mut pending.work);
            for piece in work {
                if !matches!(piece.stop.is_done(), Ok(true)) {
                    pending.work.push(piece);
                    continue;
                }
                match pending.clock.span(piece.start, &piece.stop) {
                    Ok((start, duration, unused)) => {
                        pending.unused.push(unused);
                        self.file.add(Span {
                            device: self.device,
                            track: piece.track,
                            start,
                            duration,
                            work: piece.work,
                        });
                    }
                    Err(_) => self.file.leave_out(1),
                }
                pending.unused.push(piece.stop);
            }
            // What is pending for long is not asked for again and again.
            pending.collect_at = COLLECT_AT.max(2 * pending.work.len());
        });
    }

    /// An event, recorded in the track's stream; `None` if the driver refuses, as a lost context does.
    fn record(&self, track: Track<'_>) -> Option<TimingEvent> {
        unheard(|| {
            self.context.bind().ok()?;
            let unused = lock(&self.pending).unused.pop();
            let event = match unused {
                Some(event) => event,
                None => TimingEvent::new(&self.context).ok()?,
            };
            event.record(track.stream()).ok()?;
            Some(event)
        })
    }
}
