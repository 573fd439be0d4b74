//! Where panics come from: the launches of a stream, or those of an executable graph.

use std::sync::{Arc, Mutex};

use warpsmith_device::panic::{KERNEL_BITS, PanicRecord, PanicText, RECORDS, TEXTS};

use warpsmith_signature::Panic;

use super::log::{Entry, LogMemory};
use super::names::KernelNames;
use super::timeline::{NewLaunch, Timeline};
use crate::error::KernelPanic;
use crate::sync::lock;

/// A stream or an executable graph, with the log that its kernels tell of panics in.
pub(crate) struct Source {
    log: LogMemory,
    owner: Owner,
    names: Arc<KernelNames>,
}

/// Whose launches they are.
pub(super) enum Owner {
    /// A stream's, whose launches pass their numbers.
    Stream(Arc<Timeline>),
    /// A graph's: its kernels' parameters do not change, and the log says which launch runs.
    Graph(Mutex<GraphLaunches>),
}

/// Which launches of which streams the graph's launches are.
#[derive(Default)]
pub(super) struct GraphLaunches {
    /// The number that the log has, or will have when the work that sets it is done.
    current: u32,
    /// The oldest first.
    known: Vec<GraphLaunch>,
}

/// Launches of a graph that no wait can tell apart.
struct GraphLaunch {
    /// The number in the log.
    number: u32,
    timeline: Arc<Timeline>,
    /// The numbers of the first and the last in the stream.
    first: u64,
    last: u64,
    /// The stream's count of positions before `first` was numbered, and since.
    positions: u64,
}

/// A number that the stream has to set before a launch of a graph, after the launches before, so that the launch's panics are its own.
#[derive(Clone, Copy)]
pub(crate) struct NumberToSet {
    /// Where on the device; it lives with the source.
    pub(crate) address: u64,
    pub(crate) number: u32,
}

/// Numbers a launch of a graph among those of a stream, for all places where kernels tell of panics that run in it: the graph's, and those of
/// graphs that it launches. The caller holds the order lock, and enqueues it then.
pub(crate) fn begin_graph_launch<'t, 's>(
    timeline: &'t Arc<Timeline>,
    sources: impl Iterator<Item = &'s Source>,
) -> (NewLaunch<'t>, Vec<NumberToSet>) {
    timeline.expect_graphs();
    let positions = timeline.positions();
    let launch = timeline.next();
    let to_set = sources
        .filter_map(|source| {
            let number = source.graph_number(timeline, positions, launch.number)?;
            let address = source.log.graph_launch_address();
            Some(NumberToSet { address, number })
        })
        .collect();
    (launch, to_set)
}

/// A panic, and the launch that it belongs to.
pub(super) struct Found {
    pub(super) timeline: Arc<Timeline>,
    pub(super) launch: u64,
    pub(super) panic: KernelPanic,
}

impl Source {
    pub(super) fn new(log: LogMemory, owner: Owner, names: Arc<KernelNames>) -> Source {
        Source { log, owner, names }
    }

    /// The log, for another one.
    pub(super) fn into_log(self) -> LogMemory {
        self.log
    }

    /// The log's address on the device, for the launch's first parameter.
    #[inline]
    pub(crate) fn address(&self) -> u64 {
        self.log.device_address()
    }

    /// The number that the stream has to set for this launch; `None` if the log has the right one.
    fn graph_number(&self, timeline: &Arc<Timeline>, positions: u64, launch: u64) -> Option<u32> {
        let Owner::Graph(launches) = &self.owner else {
            return None;
        };
        let mut launches = lock(launches);
        launches
            .known
            .retain(|known| !known.timeline.is_done(known.last));
        if let Some(last) = launches.known.last_mut()
            && Arc::ptr_eq(&last.timeline, timeline)
            && last.positions == timeline.positions()
            && last.last + 1 == launch
        {
            // Nothing comes between the two, and no wait covers the earlier one without this one.
            last.last = launch;
            return None;
        }
        let number = launches.current.wrapping_add(1).max(1);
        let idle = launches.known.is_empty();
        launches.current = number;
        launches.known.push(GraphLaunch {
            number,
            timeline: timeline.clone(),
            first: launch,
            last: launch,
            positions,
        });
        if idle {
            // What was launched before is done.
            self.log.set_graph_launch(number);
            None
        } else {
            Some(number)
        }
    }

    /// The next launch of the graph gets a number of its own: the last one was not enqueued, nor perhaps what sets its number, or it does other
    /// things.
    pub(crate) fn separate_next_launch(&self) {
        if let Owner::Graph(launches) = &self.owner
            && let Some(last) = lock(launches).known.last_mut()
        {
            last.positions = u64::MAX;
        }
    }

    /// The launch of a stream that the graph runs as; asked by a function that the graph calls.
    pub(crate) fn running_launch(&self) -> Option<(Arc<Timeline>, u64)> {
        self.launch_of(u64::from(self.log.graph_launch()))
    }

    /// The launch of a stream that has this number in the log.
    fn launch_of(&self, number: u64) -> Option<(Arc<Timeline>, u64)> {
        match &self.owner {
            Owner::Stream(timeline) => Some((timeline.clone(), number)),
            Owner::Graph(launches) => lock(launches)
                .known
                .iter()
                .find(|known| u64::from(known.number) == number)
                .map(|known| (known.timeline.clone(), known.first)),
        }
    }

    /// Takes the panics in launches of which `is_wanted` says so. One thread at a time.
    pub(super) fn take(
        &self,
        is_wanted: impl Fn(&Arc<Timeline>, u64) -> bool,
        found: &mut Vec<Found>,
    ) {
        let launch_of = |id: u64| self.launch_of(id >> KERNEL_BITS);
        // Kernels of a graph that panic beside each other may each claim two places, where some were freed meanwhile; they are told once, by the
        // first, which says most.
        let mut told: Vec<u64> = Vec::new();
        self.log.take(
            self.newest(),
            |id| launch_of(id).is_none_or(|(timeline, launch)| is_wanted(&timeline, launch)),
            |entry| {
                let id = entry.id();
                if told.contains(&id) {
                    return;
                }
                told.push(id);
                // The number may be that of a launch to come, too.
                if matches!(self.owner, Owner::Graph(_)) {
                    self.log.forget_claim(&entry);
                }
                let panic = match entry {
                    Entry::Recorded(recorded) => self.panic(&recorded.0, recorded.1.as_ref()),
                    Entry::Unrecorded { first, last } => self.unrecorded(first, last),
                };
                // A launch that is not known any more was done, and this is what it left since: there is nobody to tell.
                if let Some((timeline, launch)) = launch_of(id) {
                    found.push(Found {
                        timeline,
                        launch,
                        panic,
                    });
                }
            },
        );
    }

    /// The number of the last launch that can have panicked.
    fn newest(&self) -> u64 {
        match &self.owner {
            Owner::Stream(timeline) => timeline.last(),
            Owner::Graph(launches) => lock(launches).current.into(),
        }
    }

    fn panic(&self, record: &PanicRecord, text: Option<&PanicText>) -> KernelPanic {
        let number = record.site.checked_sub(1);
        let site = number.and_then(|number| self.names.panic_at(record.launch, number));
        let site = site.unwrap_or_else(|| match text {
            Some(text) => Panic {
                file: text.file().into(),
                line: text.line,
                column: text.column,
                message: text.message().into(),
                has_values: false,
            },
            None => Panic {
                file: String::new(),
                line: 0,
                column: 0,
                message: format!(
                    "(place and message were not kept: a stream keeps {TEXTS} that are made in the kernel between two waits)"
                ),
                has_values: false,
            },
        });
        KernelPanic {
            kernel: self.names.of_launch(record.launch),
            message: site.message_with(record.numbers),
            file: site.file,
            line: site.line,
            column: site.column,
            block: record.block,
            thread: record.thread,
            grid_dim: record.grid_dim,
            block_dim: record.block_dim,
            others: Vec::new(),
        }
    }

    /// The launches that found no free record.
    fn unrecorded(&self, first: u64, last: u64) -> KernelPanic {
        let launches = (last >> KERNEL_BITS).saturating_sub(first >> KERNEL_BITS) + 1;
        let message = format!(
            "(a stream keeps the panics of {RECORDS} launches between two waits, and more launches panicked: the first of these and the last are \
             known, at most {launches} in all, and the kernel of one; wait more often to hear of each)"
        );
        KernelPanic {
            kernel: self.names.of_launch(last),
            message,
            ..KernelPanic::default()
        }
    }
}
