//! What becomes of work of another library after it was enqueued.

use std::fmt::Display;
use std::sync::Arc;

use crate::panics::timeline::{NewLaunch, SharedNumber, Timeline};
use crate::panics::unfinished::UnfinishedWork;
use crate::panics::write_mark::WriteMark;
use crate::stream::Stream;

/// What becomes of work of another library after it was enqueued, where the library can end it before its time: as a communicator whose
/// ranks wait for each other does. Pieces of [`ForeignWork`](crate::ForeignWork) that end together belong to one
/// ([`ForeignWork::enqueue_revocable`](crate::ForeignWork::enqueue_revocable)). Who has it knows that no such work is being enqueued: a library whose
/// calls may come from several threads has it behind the lock that keeps these apart.
///
/// A wait for work that was given up succeeds. But what the work was writing is undefined, and so reading it on the host answers
/// [`Error::Unfinished`](crate::Error::Unfinished), and so does copying it, until something else has written any of it. Kernels that read it are not kept
/// from it, nor are copies that were enqueued before.
///
/// ```
/// use warpsmith_driver::raw;
/// use warpsmith_host::prelude::*;
/// use warpsmith_host::{ForeignOutcome, ForeignWork, Revocable};
///
/// # fn main() -> Result<()> {
/// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
/// let stream = gpu.stream()?;
/// let mut numbers = stream.upload(&[1_u8, 2, 3, 4])?;
/// let mut outcome = ForeignOutcome::default();
/// let mut work = ForeignWork::new("a library's fill");
/// let memory = work.writes(&stream, &mut numbers)?;
/// // SAFETY: the fill is enqueued in `stream`, and writes two bytes of `numbers`.
/// unsafe {
///     work.enqueue_revocable(&mut [Revocable { outcome: &mut outcome, stream: &stream, name: "fill" }], || {
///         let code = raw::cuMemsetD8Async(memory.pointer().address(), 7, 2, stream.as_raw().cast());
///         assert_eq!(code.0, 0);
///         Ok::<(), warpsmith_host::Error>(())
///     })
/// }?;
/// drop(work);
/// outcome.give_up("it wrote two of four");
/// let error = stream.download(&numbers).unwrap_err();
/// assert!(error.to_string().contains("`fill` was writing it and was given up: it wrote two of four"), "{error}");
/// stream.fill(&mut numbers, 0)?;
/// assert_eq!(stream.download(&numbers)?, [0; 4]);
/// # Ok(())
/// # }
/// ```
#[derive(Default)]
pub struct ForeignOutcome {
    /// The last work. What comes next may be one piece with it.
    last: Option<Last>,
    streams: Vec<OfStream>,
    /// With so many pieces, those that are done are looked for.
    most: usize,
    /// How many have called [`hold`](Self::hold) and not [`release`](Self::release) since.
    holds: usize,
}

/// Work that may be given up, and its stream, for [`ForeignWork::enqueue_revocable`](crate::ForeignWork::enqueue_revocable).
pub struct Revocable<'o> {
    /// Is told of what is written in the stream.
    pub outcome: &'o mut ForeignOutcome,
    /// One of the streams that the work is enqueued in.
    pub stream: &'o Stream,
    /// What errors call the work.
    pub name: &'static str,
}

/// The last work that was noted.
struct Last {
    timeline: Arc<Timeline>,
    number: SharedNumber,
    work: &'static str,
}

/// What work is noted by that is about to be enqueued.
pub(super) struct Noted<'t> {
    /// Of what it writes.
    pub(super) mark: WriteMark,
    /// `None` where it shares the number of the work before it.
    pub(super) launch: Option<NewLaunch<'t>>,
}

/// The work in one stream that no wait had covered when it was last looked at.
struct OfStream {
    unfinished: Arc<UnfinishedWork>,
    timeline: Arc<Timeline>,
    pieces: Vec<Piece>,
    /// Up to this number waits had covered all before the first hold.
    held_from: Option<u64>,
}

/// Work that was enqueued under one name with consecutive numbers, which no other work notes.
struct Piece {
    first: WriteMark,
    last: WriteMark,
    work: &'static str,
}

/// Whether two names are the same. One name may stand at several addresses.
#[inline]
fn is_same(one: &'static str, other: &'static str) -> bool {
    std::ptr::eq(one, other) || one == other
}

impl Piece {
    /// Adds the next work, if it is that.
    fn extend(&mut self, mark: WriteMark, work: &'static str) -> bool {
        let is_next = self.last.next() == mark && is_same(self.work, work);
        if is_next {
            self.last = mark;
        }
        is_next
    }
}

impl OfStream {
    fn of(stream: &Stream) -> OfStream {
        OfStream {
            unfinished: stream.gpu.panics().unfinished().clone(),
            timeline: stream.handle.timeline().clone(),
            pieces: Vec::new(),
            held_from: None,
        }
    }

    fn is_of(&self, stream: &Stream) -> bool {
        Arc::ptr_eq(&self.timeline, stream.handle.timeline())
    }

    /// Up to this number all is over: some wait has covered it, and nobody holds it all the same.
    fn over(&self) -> u64 {
        let past = self.timeline.past();
        self.held_from.map_or(past, |held| held.min(past))
    }

    /// Forgets what is over. Whether there is anything else.
    fn prune(&mut self) -> bool {
        let over = self.over();
        self.pieces.retain(|piece| piece.last.launch() > over);
        !self.pieces.is_empty()
    }

    /// What is not over was given up.
    fn give_up(self, reason: &Arc<str>) {
        let over = self.over();
        for Piece { first, last, work } in self.pieces {
            if last.launch() > over {
                let first = first.with_launch(first.launch().max(over + 1));
                self.unfinished
                    .add(&self.timeline, first..=last, work, reason);
            }
        }
    }
}

impl ForeignOutcome {
    /// The work that no wait has covered does not do what it was to do. Called before the library ends it, so that no wait for it comes between.
    pub fn give_up(&mut self, reason: impl Display) {
        let reason: Arc<str> = reason.to_string().into();
        self.last = None;
        for of_stream in std::mem::take(&mut self.streams) {
            of_stream.give_up(&reason);
        }
    }

    /// The work that no wait has covered until now counts as such until [`release`](Self::release): for a wait that learns behind it whether the
    /// work has succeeded. It may be held several times, and is then until the last release.
    pub fn hold(&mut self) {
        self.holds += 1;
        for of_stream in &mut self.streams {
            of_stream.held_from.get_or_insert(of_stream.timeline.past());
        }
    }

    /// Ends one [`hold`](Self::hold): the work that some wait has covered has succeeded, unless it was given up before or is held by somebody else.
    pub fn release(&mut self) {
        self.holds = self.holds.saturating_sub(1);
        if self.holds == 0 {
            for of_stream in &mut self.streams {
                of_stream.held_from = None;
            }
            self.prune();
        }
    }

    /// Notes work in a stream, under the number of the work before it where no wait can be made for that without this, or else under a new one.
    #[inline]
    pub(super) fn note<'t>(&mut self, stream: &'t Stream, work: &'static str) -> Noted<'t> {
        match self.shared(stream, work) {
            Some(mark) => Noted { mark, launch: None },
            None => self.note_anew(stream, work),
        }
    }

    /// The mark of the last work, where this is one with it.
    #[inline]
    fn shared(&self, stream: &Stream, work: &'static str) -> Option<WriteMark> {
        let timeline = stream.handle.timeline();
        let last = self.last.as_ref()?;
        let is_shared = Arc::ptr_eq(&last.timeline, timeline)
            && timeline.is_current(&last.number)
            && is_same(last.work, work);
        is_shared.then(|| WriteMark::revocable(last.number.number))
    }

    /// Notes work in a stream under a number of its own.
    #[cold]
    pub(super) fn note_anew<'t>(&mut self, stream: &'t Stream, work: &'static str) -> Noted<'t> {
        let timeline = stream.handle.timeline();
        let (launch, number) = timeline.next_shared();
        let mark = WriteMark::revocable(launch.number);
        self.note_as(stream, mark, work);
        self.last = Some(Last {
            timeline: timeline.clone(),
            number,
            work,
        });
        Noted {
            mark,
            launch: Some(launch),
        }
    }

    /// Looks again at work that was noted under the number of the work before it, and has been enqueued since. A wait for that number which began
    /// meanwhile need not be one for this work: it is noted anew then, and what it writes gets the mark.
    ///
    /// The driver orders calls for one stream. So where the wait comes first there, its position was counted before, which this thread sees.
    #[inline]
    pub(super) fn renew(&mut self, stream: &Stream, work: &'static str) -> Option<WriteMark> {
        let is_current = |last: &Last| stream.handle.timeline().is_current(&last.number);
        match self.last.as_ref().is_some_and(is_current) {
            true => None,
            false => Some(self.note_anew(stream, work).mark),
        }
    }

    /// Notes one piece of work in a stream with all that may give it up and are of this stream.
    #[cold]
    pub(super) fn note_in<'t>(several: &mut [Revocable<'_>], stream: &'t Stream) -> Noted<'t> {
        let launch = stream.handle.timeline().next();
        let mark = WriteMark::revocable(launch.number);
        for Revocable {
            outcome,
            stream: of,
            name,
        } in several
        {
            if of.handle == stream.handle {
                outcome.note_as(stream, mark, name);
            }
        }
        Noted {
            mark,
            launch: Some(launch),
        }
    }

    /// Notes work in a stream, whose writes have this mark.
    #[inline(never)]
    pub(super) fn note_as(&mut self, stream: &Stream, mark: WriteMark, work: &'static str) {
        let last = self.streams.last_mut().filter(|last| last.is_of(stream));
        let piece = last.and_then(|last| last.pieces.last_mut());
        if piece.is_some_and(|piece| piece.extend(mark, work)) {
            return;
        }
        let pieces: usize = self.streams.iter().map(|known| known.pieces.len()).sum();
        if pieces >= self.most {
            self.most = 16.max(2 * self.prune());
        }
        let known = self.streams.iter().position(|known| known.is_of(stream));
        let mut of_stream = match known {
            Some(known) => self.streams.remove(known),
            None => OfStream::of(stream),
        };
        of_stream.pieces.push(Piece {
            first: mark,
            last: mark,
            work,
        });
        // The stream of the last work is the last.
        self.streams.push(of_stream);
    }

    /// Forgets what is over. How many pieces are left.
    fn prune(&mut self) -> usize {
        self.streams.retain_mut(OfStream::prune);
        self.streams.iter().map(|known| known.pieces.len()).sum()
    }
}

impl std::fmt::Debug for ForeignOutcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let pieces = self.streams.iter().flat_map(|known| &known.pieces);
        let works = pieces.map(|piece| piece.work);
        f.debug_list().entries(works).finish()
    }
}
