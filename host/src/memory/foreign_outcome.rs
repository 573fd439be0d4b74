//! What becomes of work of another library after it was enqueued.

use std::fmt::Display;
use std::sync::{Arc, Mutex};

use crate::panics::timeline::Timeline;
use crate::panics::unfinished::UnfinishedWork;
use crate::stream::Stream;
use crate::sync::lock;

/// What becomes of work of another library after it was enqueued, where the library can end it before its time: as a communicator whose
/// ranks wait for each other does. Pieces of [`ForeignWork`](crate::ForeignWork) that end together belong to one
/// ([`ForeignWork::belongs_to`](crate::ForeignWork::belongs_to)).
///
/// A wait for work that was given up succeeds. But what the work was writing is undefined, and so reading it on the host answers
/// [`Error::Unfinished`](crate::Error::Unfinished), and so does copying it, until something else has written any of it. Kernels that read it are not kept
/// from it, nor are copies that were enqueued before.
///
/// ```
/// use warpsmith_driver::raw;
/// use warpsmith_host::prelude::*;
/// use warpsmith_host::{ForeignOutcome, ForeignWork};
///
/// # fn main() -> Result<()> {
/// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
/// let stream = gpu.stream()?;
/// let mut numbers = stream.upload(&[1_u8, 2, 3, 4])?;
/// let outcome = ForeignOutcome::default();
/// let mut work = ForeignWork::new("a library's fill");
/// work.belongs_to(&outcome, "fill");
/// let memory = work.writes(&stream, &mut numbers)?;
/// // SAFETY: the fill is enqueued in `stream`, and writes two bytes of `numbers`.
/// unsafe {
///     work.enqueue(|| {
///         let code = raw::cuMemsetD8Async(memory.pointer().address(), 7, 2, stream.as_raw().cast());
///         assert_eq!(code.0, 0);
///         Ok::<(), warpsmith_host::Error>(())
///     })
/// }?;
/// outcome.give_up("it wrote two of four");
/// let error = stream.download(&numbers).unwrap_err();
/// assert!(error.to_string().contains("`fill` was writing it and was given up: it wrote two of four"), "{error}");
/// stream.fill(&mut numbers, 0)?;
/// assert_eq!(stream.download(&numbers)?, [0; 4]);
/// # Ok(())
/// # }
/// ```
#[derive(Default)]
pub struct ForeignOutcome(Mutex<Pending>);

#[derive(Default)]
struct Pending {
    pieces: Vec<Piece>,
    /// With so many, those that are done are looked for.
    most: usize,
}

/// Work that was enqueued.
struct Piece {
    unfinished: Arc<UnfinishedWork>,
    timeline: Arc<Timeline>,
    launch: u64,
    work: &'static str,
    is_held: bool,
}

impl Piece {
    /// Whether some wait has covered it, and nobody holds it all the same.
    fn is_over(&self) -> bool {
        !self.is_held && self.timeline.is_past(self.launch)
    }
}

impl ForeignOutcome {
    /// The work that no wait has covered does not do what it was to do. Called before the library ends it, so that no wait for it comes between.
    pub fn give_up(&self, reason: impl Display) {
        let reason: Arc<str> = reason.to_string().into();
        let pieces = std::mem::take(&mut lock(&self.0).pieces);
        for piece in pieces.iter().filter(|piece| !piece.is_over()) {
            let Piece {
                timeline,
                launch,
                work,
                ..
            } = piece;
            piece.unfinished.add(timeline, *launch, work, &reason);
        }
    }

    /// The work that no wait has covered until now counts as such until [`release`](Self::release): for a wait that learns behind it whether the
    /// work has succeeded.
    pub fn hold(&self) {
        for piece in &mut lock(&self.0).pieces {
            piece.is_held = !piece.timeline.is_past(piece.launch);
        }
    }

    /// Ends [`hold`](Self::hold): the work that some wait has covered has succeeded.
    pub fn release(&self) {
        let pieces = &mut lock(&self.0).pieces;
        pieces.iter_mut().for_each(|piece| piece.is_held = false);
        pieces.retain(|piece| !piece.is_over());
    }

    /// Notes work that has this number in its stream.
    pub(super) fn note(&self, stream: &Stream, launch: u64, work: &'static str) {
        let pending = &mut *lock(&self.0);
        if pending.pieces.len() >= pending.most {
            pending.pieces.retain(|piece| !piece.is_over());
            pending.most = 16.max(2 * pending.pieces.len());
        }
        pending.pieces.push(Piece {
            unfinished: stream.gpu.panics().unfinished().clone(),
            timeline: stream.handle.timeline().clone(),
            launch,
            work,
            is_held: false,
        });
    }
}

impl std::fmt::Debug for ForeignOutcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let pieces = &lock(&self.0).pieces;
        let works = pieces.iter().map(|piece| piece.work);
        f.debug_list().entries(works).finish()
    }
}
