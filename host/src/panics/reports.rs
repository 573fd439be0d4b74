//! Panics that no wait has told yet, of one device.

use std::sync::{Arc, Mutex, RwLock, Weak};

use warpsmith_device::panic::KERNEL_BITS;

use super::log::{LogMemory, LogPool};
use super::source::{Found, PanicSource};
use super::timeline::{Reach, Timeline};
use crate::context::primary::Context;
use crate::error::{Error, HostFunctionPanic, KernelPanic, Result};
use crate::sync::{lock, read, write};

/// One for each device that is open.
pub(crate) struct Panics {
    context: Arc<Context>,
    logs: LogPool,
    sources: RwLock<Vec<Weak<PanicSource>>>,
    /// Panics of sources that are gone.
    kept: Mutex<Vec<Found>>,
    /// The kernels' names by the numbers that launches pass.
    names: RwLock<Vec<String>>,
    host_functions: Arc<HostFunctionPanics>,
}

/// Panics of functions on the host. It does not keep the context, so callbacks of the driver may own it.
#[derive(Default)]
pub(crate) struct HostFunctionPanics(Mutex<Vec<FoundOnHost>>);

struct FoundOnHost {
    timeline: Arc<Timeline>,
    launch: u64,
    message: String,
}

/// The number of all kernels for which there is no other.
const UNNAMED: u32 = (1 << KERNEL_BITS) - 1;

impl Panics {
    pub(crate) fn new(context: &Arc<Context>) -> Arc<Panics> {
        Arc::new(Panics {
            context: context.clone(),
            logs: LogPool::default(),
            sources: RwLock::default(),
            kept: Mutex::default(),
            names: RwLock::default(),
            host_functions: Arc::default(),
        })
    }

    /// Where a stream's kernels tell of panics.
    pub(crate) fn add_stream(
        self: &Arc<Self>,
        timeline: &Arc<Timeline>,
    ) -> Result<Arc<PanicSource>> {
        let log = self.logs.get(&self.context)?;
        Ok(self.add(PanicSource::of_stream(self.clone(), log, timeline.clone())))
    }

    /// Where a graph's kernels tell of panics.
    pub(crate) fn add_graph(self: &Arc<Self>) -> Result<Arc<PanicSource>> {
        let log = self.logs.get(&self.context)?;
        Ok(self.add(PanicSource::of_graph(self.clone(), log)))
    }

    fn add(&self, source: PanicSource) -> Arc<PanicSource> {
        let source = Arc::new(source);
        let mut sources = write(&self.sources);
        sources.retain(|source| source.strong_count() > 0);
        sources.push(Arc::downgrade(&source));
        source
    }

    pub(crate) fn host_functions(&self) -> &Arc<HostFunctionPanics> {
        &self.host_functions
    }

    /// The number that launches of this kernel pass.
    pub(crate) fn kernel_number(&self, name: &str) -> u32 {
        let mut names = write(&self.names);
        let index = names
            .iter()
            .position(|known| known == name)
            .unwrap_or_else(|| {
                names.push(name.into());
                names.len() - 1
            });
        u32::try_from(index).map_or(UNNAMED, |index| index.min(UNNAMED))
    }

    /// The name of the kernel of a launch's id.
    pub(super) fn kernel_name(&self, id: u64) -> String {
        let index = (id & u64::from(UNNAMED)) as usize;
        let names = read(&self.names);
        names.get(index).map_or("(unknown)", |name| name).into()
    }

    pub(super) fn keep(&self, found: Vec<Found>) {
        lock(&self.kept).extend(found);
    }

    pub(super) fn give_back(&self, log: LogMemory) {
        self.logs.put(log);
    }

    /// # Errors
    ///
    /// The panics of kernels in this reach that were not told yet, as one.
    pub(crate) fn take_kernel_panics(&self, reach: &Reach) -> Result<()> {
        let covers = |timeline: &Arc<Timeline>, launch| reach.covers(timeline, launch);
        let found = self.take(covers);
        let mut panics = found.into_iter().map(|found| found.panic);
        match panics.next() {
            None => Ok(()),
            Some(mut first) => {
                first.others = panics.collect();
                Err(Error::KernelPanic(Box::new(first)))
            }
        }
    }

    /// All that nobody has heard of.
    pub(crate) fn take_all(&self) -> Vec<KernelPanic> {
        let found = self.take(|_, _| true);
        found.into_iter().map(|found| found.panic).collect()
    }

    /// The panics in launches of which `is_wanted` says so, the first of a stream first.
    fn take(&self, is_wanted: impl Fn(&Arc<Timeline>, u64) -> bool) -> Vec<Found> {
        let mut found: Vec<Found> = lock(&self.kept)
            .extract_if(.., |kept| is_wanted(&kept.timeline, kept.launch))
            .collect();
        let sources: Vec<_> = read(&self.sources)
            .iter()
            .filter_map(Weak::upgrade)
            .collect();
        for source in sources {
            source.take(&is_wanted, &mut found);
        }
        found.sort_by_key(|found| found.launch);
        found
    }
}

impl HostFunctionPanics {
    /// Notes the panic of a function that was, or was part of, this launch.
    pub(crate) fn add(&self, timeline: Arc<Timeline>, launch: u64, message: String) {
        lock(&self.0).push(FoundOnHost {
            timeline,
            launch,
            message,
        });
    }

    /// # Errors
    ///
    /// The panics of host functions in this reach that were not told yet, as one. `call` is the wait that tells them.
    pub(crate) fn take(&self, call: &'static str, reach: &Reach) -> Result<()> {
        let mut all = lock(&self.0);
        let covered = |panic: &mut FoundOnHost| reach.covers(&panic.timeline, panic.launch);
        let mut messages = all.extract_if(.., covered).map(|panic| panic.message);
        match messages.next() {
            None => Ok(()),
            Some(message) => Err(Error::HostFunctionPanic(Box::new(HostFunctionPanic {
                call,
                message,
                others: messages.collect(),
            }))),
        }
    }
}
