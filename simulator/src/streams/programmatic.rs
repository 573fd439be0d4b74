//! Programmatic dependent launch: what a grid tells others before it has ended, and what it waits for after it has begun.
//!
//! A launch with programmatic stream serialisation begins when each block of the grid before it has executed
//! `griddepcontrol.launch_dependents` or exited; its `griddepcontrol.wait` waits for the end of that grid. A programmatic event completes
//! with its grid: the driver may let it complete as late.

use std::sync::Arc;

use super::event::{Event, EventPoint, Recording};
use super::launch::Launch;
use crate::check::stream_order;
use crate::context::Context;
use crate::engine;
use crate::work::{CompletionPoint, Work};

/// Whom a launch lets go on before it ends, and whether it may itself begin before another ends.
#[derive(Clone, Default)]
pub(crate) struct Signals {
    /// It may begin before the grid before it in the stream has ended.
    pub(crate) early: bool,
    /// The event that dependents wait for, and whether it stands for the begin of all blocks.
    pub(crate) programmatic: Option<(Arc<Event>, bool)>,
    /// The event that is complete when all blocks have begun.
    pub(crate) started: Option<Arc<Event>>,
}

/// A grid in a queue, before whose end another one may begin.
pub(super) struct OpenGrid {
    /// The grid's end.
    pub(super) end: CompletionPoint,
    /// Reached when each of its blocks has signalled or exited.
    pub(super) signalled: CompletionPoint,
    /// How many items of the queue the grid comes after, whatever it waits for.
    pub(super) own: u64,
}

/// That a grid begins before another one has ended.
pub(super) struct Early {
    /// The end of the other.
    pub(super) prerequisite: CompletionPoint,
    /// The place of those of its threads that have not waited for it.
    pub(super) place: stream_order::Place,
}

/// The points before a grid's end that others wait for. All are reached at the latest when the grid has ended.
#[derive(Clone, Default)]
pub(super) struct GridPoints {
    started: Option<EventPoint>,
    signalled: Option<CompletionPoint>,
}

impl GridPoints {
    /// Those that a launch needs.
    pub(super) fn new(launch: &Launch, signals: &Signals) -> Self {
        let signals_dependents = launch.function.kernel.orders_grids();
        Self {
            started: signals.started.is_some().then(EventPoint::pending),
            signalled: signals_dependents.then(CompletionPoint::pending),
        }
    }

    /// The grid, for the launch after it; `end` is the grid's end, `own` the number of items of the queue that it comes after.
    pub(super) fn open_grid(&self, end: &CompletionPoint, own: u64) -> Option<OpenGrid> {
        let signalled = self.signalled.clone()?;
        Some(OpenGrid {
            end: end.clone(),
            signalled,
            own,
        })
    }

    /// Says what the begin of the grid comes after: all that the grid does, of whose work nothing need be done.
    pub(super) fn promise(&self, grid: &stream_order::Place) {
        if let Some(started) = &self.started {
            started.point.promise(|clock| clock.join(grid.clock()));
        }
    }

    fn all_blocks_started(&self) {
        self.started.iter().for_each(EventPoint::complete);
    }

    fn all_blocks_signalled(&self) {
        self.signalled.iter().for_each(CompletionPoint::complete);
    }
}

impl Signals {
    /// Lets the events stand for this launch, whose end is `end`.
    pub(super) fn record(&self, points: &GridPoints, end: &CompletionPoint) {
        if let (Some(event), Some(point)) = (&self.started, &points.started) {
            event.record(Recording::Recorded(point.clone()));
        }
        if let Some((event, _)) = &self.programmatic {
            // Nobody asks an event of this kind for its time.
            let point = EventPoint::reached_at(end.clone(), Arc::default());
            event.record(Recording::Recorded(point));
        }
    }
}

/// A grid's place among others, as the engine sees it.
struct Place<'a> {
    context: &'a Context,
    points: &'a GridPoints,
    prerequisite: Option<&'a CompletionPoint>,
}

impl engine::GridOrder for Place<'_> {
    fn all_blocks_started(&self) {
        self.points.all_blocks_started();
    }

    fn all_blocks_signalled(&self) {
        self.points.all_blocks_signalled();
    }

    fn wait_for_prerequisites(&self) -> bool {
        self.prerequisite
            .into_iter()
            .for_each(CompletionPoint::block);
        self.context.check().is_ok()
    }
}

/// While it lives, a grid may still tell others something; then all points are reached.
struct Ending(GridPoints);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.all_blocks_started();
        self.0.all_blocks_signalled();
    }
}

impl Launch {
    /// The launch as work of a queue, which begins `early` or in order.
    pub(super) fn into_work(
        self,
        context: &Arc<Context>,
        points: &GridPoints,
        early: Option<Early>,
    ) -> Work {
        let context = Arc::clone(context);
        let ending = Ending(points.clone());
        Box::new(move || {
            context.execute(|| {
                let place = Place {
                    context: &context,
                    points: &ending.0,
                    prerequisite: early.as_ref().map(|early| &early.prerequisite),
                };
                let early = early.as_ref().map(|early| &early.place);
                self.execute_among(&context, Some(&place), early);
            });
            drop(ending);
        })
    }
}
