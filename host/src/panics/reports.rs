//! The panics of one device: where its streams and graphs tell of them, and those that no wait has told yet.

use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};

use super::host_functions::HostFunctionPanics;
use super::log::LogPool;
use super::names::KernelNames;
use super::source::{Found, Owner, Source};
use super::timeline::{Reach, Timeline};
use super::unfinished::UnfinishedWork;
use crate::context::primary::Context;
use crate::error::{Error, KernelPanic, Result};
use crate::sync::lock;

/// One for each device that is open.
pub(crate) struct Panics {
    context: Arc<Context>,
    logs: LogPool,
    untold: Mutex<Untold>,
    names: Arc<KernelNames>,
    host_functions: Arc<HostFunctionPanics>,
    /// Work of other devices may follow this one's, and the other way round.
    is_shared: AtomicBool,
    unfinished: Arc<UnfinishedWork>,
}

/// Those of the devices whose work may follow each other's.
static SHARED: Mutex<Vec<Weak<Panics>>> = Mutex::new(Vec::new());

/// Where panics are that no wait has told: in logs of what there is, and in a list. One thread at a time takes them or moves them, so that none is
/// on its way from the one to the other while somebody looks.
#[derive(Default)]
struct Untold {
    sources: Vec<Arc<Source>>,
    /// Of sources that are gone.
    kept: Vec<Found>,
}

/// Where the kernels of a stream or of an executable graph tell of panics, until its launches are done.
pub(crate) struct PanicSource {
    panics: Arc<Panics>,
    /// Gone only while it is dropped.
    source: Option<Arc<Source>>,
}

impl Deref for PanicSource {
    type Target = Source;

    #[inline]
    fn deref(&self) -> &Source {
        self.source.as_ref().expect("only `drop` takes it")
    }
}

impl Panics {
    pub(crate) fn new(context: &Arc<Context>) -> Arc<Panics> {
        Arc::new(Panics {
            context: context.clone(),
            logs: LogPool::default(),
            untold: Mutex::default(),
            names: Arc::default(),
            host_functions: Arc::default(),
            is_shared: AtomicBool::new(false),
            unfinished: Arc::default(),
        })
    }

    /// Where a stream's kernels tell of panics.
    pub(crate) fn add_stream(
        self: &Arc<Self>,
        timeline: &Arc<Timeline>,
    ) -> Result<Arc<PanicSource>> {
        self.add(Owner::Stream(timeline.clone()))
    }

    /// Where a graph's kernels tell of panics.
    pub(crate) fn add_graph(self: &Arc<Self>) -> Result<Arc<PanicSource>> {
        self.add(Owner::Graph(Mutex::default()))
    }

    fn add(self: &Arc<Self>, owner: Owner) -> Result<Arc<PanicSource>> {
        let log = self.logs.get(&self.context)?;
        let source = Arc::new(Source::new(log, owner, self.names.clone()));
        lock(&self.untold).sources.push(source.clone());
        Ok(Arc::new(PanicSource {
            panics: self.clone(),
            source: Some(source),
        }))
    }

    /// Takes a source off the list, whose launches are done; what it has to tell stays.
    fn remove(&self, source: Arc<Source>) {
        let untold = &mut *lock(&self.untold);
        untold.sources.retain(|known| !Arc::ptr_eq(known, &source));
        let source = Arc::into_inner(source).expect("the list and the handle alone had it");
        source.take(|_, _| true, &mut untold.kept);
        self.logs.put(source.into_log());
    }

    /// The kernels' names by the numbers that launches pass.
    pub(crate) fn names(&self) -> &KernelNames {
        &self.names
    }

    pub(crate) fn host_functions(&self) -> &Arc<HostFunctionPanics> {
        &self.host_functions
    }

    pub(crate) fn unfinished(&self) -> &Arc<UnfinishedWork> {
        &self.unfinished
    }

    /// # Errors
    ///
    /// The panics of kernels in this reach that were not told yet, as one.
    pub(crate) fn take_kernel_panics(&self, reach: &Reach) -> Result<()> {
        let mut found = self.take(|timeline, launch| reach.covers(timeline, launch));
        for other in self.others() {
            found.extend(other.take(|timeline, launch| reach.names(timeline, launch)));
        }
        let mut panics = found.into_iter().map(|found| found.panic);
        match panics.next() {
            None => Ok(()),
            Some(mut first) => {
                first.others = panics.collect();
                Err(Error::KernelPanic(Box::new(first)))
            }
        }
    }

    /// # Errors
    ///
    /// The panics of host functions in this reach that were not told yet, as one. `call` is the wait that tells them.
    pub(crate) fn take_host_function_panics(
        &self,
        call: &'static str,
        reach: &Reach,
    ) -> Result<()> {
        self.host_functions.take(call, reach)?;
        let mut others = self.others().into_iter();
        others.try_for_each(|other| other.host_functions.take_named(call, reach))
    }

    /// Lets waits on other devices that share tell of this one's panics, and the other way round.
    pub(crate) fn share(self: &Arc<Self>) {
        if !self.is_shared.swap(true, Ordering::AcqRel) {
            let mut shared = lock(&SHARED);
            shared.retain(|known| known.strong_count() > 0);
            shared.push(Arc::downgrade(self));
        }
    }

    /// Those of the other devices that share.
    fn others(&self) -> Vec<Arc<Panics>> {
        if !self.is_shared.load(Ordering::Acquire) {
            return Vec::new();
        }
        let shared = lock(&SHARED);
        let others = shared.iter().filter_map(Weak::upgrade);
        others
            .filter(|other| !std::ptr::eq(&**other, self))
            .collect()
    }

    /// All that nobody has heard of.
    pub(crate) fn take_all(&self) -> Vec<KernelPanic> {
        let found = self.take(|_, _| true);
        found.into_iter().map(|found| found.panic).collect()
    }

    /// The panics in launches of which `is_wanted` says so, the first of a stream first.
    fn take(&self, is_wanted: impl Fn(&Arc<Timeline>, u64) -> bool) -> Vec<Found> {
        let untold = &mut *lock(&self.untold);
        let mut found: Vec<Found> = untold
            .kept
            .extract_if(.., |kept| is_wanted(&kept.timeline, kept.launch))
            .collect();
        for source in &untold.sources {
            source.take(&is_wanted, &mut found);
        }
        found.sort_by_key(|found| found.launch);
        found
    }
}

impl PanicSource {
    /// Whether its kernels are those of this device.
    pub(crate) fn is_of(&self, panics: &Arc<Panics>) -> bool {
        Arc::ptr_eq(&self.panics, panics)
    }
}

impl Drop for PanicSource {
    fn drop(&mut self) {
        if let Some(source) = self.source.take() {
            self.panics.remove(source);
        }
    }
}
