//! What a launch can be told besides its shape and its arguments.

use std::sync::Arc;

use warpsmith_driver::raw::{self, CUlaunchAttributeID as Id};

use super::attributes::{CALL, GRID_ATTRIBUTES, LaunchAttributes};
use super::grid::{Dim3, Grid};
use crate::error::{Code, Error, LimitError, Result};
use crate::gpu::open_device::{OpenDevice, check_same_device};
use crate::memory::AccessPolicyWindow;
use crate::order::stream_handle::Overlap;
use crate::stream::attributes::{MemSyncDomain, MemSyncDomainMap};
use crate::stream::event::Event;

/// How the blocks of clusters are spread over the device.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ClusterScheduling {
    /// As the driver thinks best.
    #[default]
    Default,
    /// The blocks of a cluster on as many multiprocessors as possible.
    Spread,
    /// Where there is room.
    LoadBalancing,
}

/// A point of a kernel that others can wait for: when a programmatic event of a launch is complete, or when a node of a graph may begin.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Trigger {
    /// When each block has signalled (`griddepcontrol.launch_dependents`) or exited.
    BlocksSignalled,
    /// When each block has begun.
    BlocksStarted,
}

/// What a launch is told besides [`Grid`] and arguments: attributes of `cuLaunchKernelEx`. What is not set is the stream's, or the driver's
/// choice. For [`Stream::launch_with`](crate::Stream::launch_with) and its like.
///
/// ```
/// use warpsmith_host::prelude::*;
/// use warpsmith_host::{AccessPolicyWindow, LaunchOptions, MemSyncDomain};
///
/// # fn main() -> Result<()> {
/// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
/// # let stream = gpu.stream()?;
/// let table = stream.zeroed::<f32>(1024)?;
/// let begun = gpu.event_untimed()?;
/// let options = LaunchOptions::new()
///     .priority(-1)
///     .access_policy(AccessPolicyWindow::over(&table))
///     .mem_sync_domain(MemSyncDomain::Remote)
///     .completion_event(&begun);
/// # let _ = options;
/// # Ok(())
/// # }
/// ```
// covers: MODEL-25
#[derive(Clone, Copy, Debug, Default)]
#[must_use]
pub struct LaunchOptions<'a> {
    window: Option<AccessPolicyWindow>,
    priority: Option<i32>,
    domain: Option<MemSyncDomain>,
    domain_map: Option<MemSyncDomainMap>,
    scheduling: Option<ClusterScheduling>,
    preferred_cluster: Option<Dim3>,
    carveout: Option<u32>,
    overlap: Overlap,
    programmatic_event: Option<(&'a Event, Trigger)>,
    completion_event: Option<&'a Event>,
}

impl<'a> LaunchOptions<'a> {
    /// Nothing said.
    pub fn new() -> LaunchOptions<'a> {
        LaunchOptions::default()
    }

    /// How the L2 cache treats accesses to a range of memory.
    // covers: L2-05
    pub fn access_policy(self, window: AccessPolicyWindow) -> Self {
        LaunchOptions {
            window: Some(window),
            ..self
        }
    }

    /// Its place among kernels that wait: smaller is more urgent, as for [`StreamOptions::priority`](crate::StreamOptions).
    pub fn priority(self, priority: i32) -> Self {
        LaunchOptions {
            priority: Some(priority),
            ..self
        }
    }

    pub(super) fn has_priority(&self) -> bool {
        self.priority.is_some()
    }

    /// Its logical memory synchronisation domain.
    // covers: DOMAIN-02
    pub fn mem_sync_domain(self, domain: MemSyncDomain) -> Self {
        LaunchOptions {
            domain: Some(domain),
            ..self
        }
    }

    /// Which physical domains stand for the logical ones.
    // covers: DOMAIN-04
    pub fn mem_sync_domain_map(self, map: MemSyncDomainMap) -> Self {
        LaunchOptions {
            domain_map: Some(map),
            ..self
        }
    }

    /// How its clusters are spread.
    pub fn cluster_scheduling(self, scheduling: ClusterScheduling) -> Self {
        LaunchOptions {
            scheduling: Some(scheduling),
            ..self
        }
    }

    /// A cluster size that is used where it fits, a multiple of [`Grid::cluster`] in each dimension, which is used elsewhere. Compute
    /// capability 10.0; before, a device may refuse it.
    pub fn preferred_cluster(self, cluster: impl Into<Dim3>) -> Self {
        LaunchOptions {
            preferred_cluster: Some(cluster.into()),
            ..self
        }
    }

    /// The share of a multiprocessor's L1 cache that is wished for as shared memory, in percent. A hint.
    // covers: SHMEM-04
    pub fn shared_memory_carveout(self, percent: u32) -> Self {
        LaunchOptions {
            carveout: Some(percent),
            ..self
        }
    }

    /// Records an event that is complete when all blocks have begun (or later: the driver does its best). It says nothing of what the
    /// kernel writes. The event is one of [`Gpu::event_untimed`](crate::Gpu::event_untimed).
    // covers: PDL-05
    pub fn completion_event(self, event: &'a Event) -> Self {
        LaunchOptions {
            completion_event: Some(event),
            ..self
        }
    }

    /// Records an event that kernels in other streams can wait for before this one ends (programmatic dependent launch): a kernel launched
    /// in a stream that waits for it may begin at the trigger, and its `griddepcontrol.wait` waits for the end. The event is one of
    /// [`Gpu::event_untimed`](crate::Gpu::event_untimed).
    ///
    /// Memory that both kernels are passed is put in order by this crate, for which the second waits for the end of the first.
    // covers: PDL-05
    pub fn programmatic_event(self, event: &'a Event, trigger: Trigger) -> Self {
        LaunchOptions {
            programmatic_event: Some((event, trigger)),
            ..self
        }
    }

    /// Allows the launch to begin before the kernel before it in the stream has ended: as soon as all blocks of that have signalled
    /// (`griddepcontrol.launch_dependents`) or exited (programmatic stream serialisation). For kernels whose parameters say so themselves
    /// there is [`Stream::launch_early`](crate::Stream::launch_early), which is safe.
    ///
    /// # Safety
    ///
    /// Of every kernel that is launched with these options: it executes `griddepcontrol.wait` before it touches memory that work before it in
    /// the stream uses, unless both only read; and at least one of its threads executes it in any case, so that what comes after this
    /// kernel comes after those before it, too.
    // covers: PDL-03
    pub unsafe fn programmatic_serialization(self) -> Self {
        self.early(Overlap::Awaited)
    }

    pub(super) fn early(self, overlap: Overlap) -> Self {
        LaunchOptions { overlap, ..self }
    }

    /// Whether the launch may begin before the one before it has ended.
    pub(super) fn overlap(&self) -> Overlap {
        self.overlap
    }

    /// The options for a node of a graph.
    ///
    /// # Errors
    ///
    /// Some are a stream's alone.
    pub(super) fn of_node(&self) -> Result<LaunchOptions<'static>> {
        let refuse = |what: &str, hint: &str| {
            let message = format!("{what} is no option of a node of a graph");
            Err(Error::misuse(CALL, Code::INVALID_VALUE, message, hint))
        };
        if self.events().next().is_some() {
            return refuse(
                "an event",
                "add a node that records it, `graph.record(&event)`; kernels begin early by `graph.kernel_early(..)`",
            );
        }
        if self.overlap == Overlap::Awaited {
            return refuse(
                "`programmatic_serialization`",
                "add the kernel by `graph.kernel_early(..)`, whose parameters say when it reaches memory",
            );
        }
        if self.carveout.is_some() {
            return refuse(
                "`shared_memory_carveout`",
                "drivers know it for launches alone: set it for all launches of the function, or leave it",
            );
        }
        Ok(self.kept_by_node())
    }

    /// What the node of a launch that was captured keeps.
    pub(super) fn kept_by_node(&self) -> LaunchOptions<'static> {
        let LaunchOptions {
            window,
            priority,
            domain,
            domain_map,
            scheduling,
            preferred_cluster,
            ..
        } = *self;
        LaunchOptions {
            window,
            priority,
            domain,
            domain_map,
            scheduling,
            preferred_cluster,
            carveout: None,
            overlap: Overlap::No,
            programmatic_event: None,
            completion_event: None,
        }
    }

    /// The events that the launch records.
    pub(super) fn events(&self) -> impl Iterator<Item = &'a Event> {
        let programmatic = self.programmatic_event.map(|(event, _)| event);
        programmatic.into_iter().chain(self.completion_event)
    }

    /// The attributes in the driver's form. `may_overlap`: the launch may begin before the one before it has ended.
    pub(super) fn attributes(
        &self,
        grid: &Grid,
        may_overlap: bool,
        gpu: &Arc<OpenDevice>,
    ) -> Result<LaunchAttributes<MOST>> {
        let mut attributes = LaunchAttributes::none();
        attributes.add_grid(grid);
        let mut add = |id, set: &dyn Fn(&mut raw::CUlaunchAttributeValue)| {
            let mut value = raw::CUlaunchAttributeValue::default();
            set(&mut value);
            attributes.add(id, value);
        };
        if let Some(window) = &self.window {
            let window = window.checked(CALL, gpu)?;
            add(Id::CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, &|value| {
                value.accessPolicyWindow = window
            });
        }
        if let Some(priority) = self.priority {
            add(Id::CU_LAUNCH_ATTRIBUTE_PRIORITY, &|value| {
                value.priority = priority
            });
        }
        if let Some(domain) = self.domain {
            add(Id::CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN, &|value| {
                value.memSyncDomain = domain.raw()
            });
        }
        if let Some(map) = self.domain_map {
            let map = map.checked(CALL, gpu)?;
            add(Id::CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, &|value| {
                value.memSyncDomainMap = map
            });
        }
        if let Some(scheduling) = self.scheduling {
            use raw::CUclusterSchedulingPolicy as P;
            let policy = match scheduling {
                ClusterScheduling::Default => P::CU_CLUSTER_SCHEDULING_POLICY_DEFAULT,
                ClusterScheduling::Spread => P::CU_CLUSTER_SCHEDULING_POLICY_SPREAD,
                ClusterScheduling::LoadBalancing => P::CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING,
            };
            let id = Id::CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE;
            add(id, &|value| {
                value.clusterSchedulingPolicyPreference = policy
            });
        }
        if let Some(Dim3 { x, y, z }) = self.preferred_cluster {
            add(
                Id::CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION,
                &|value| {
                    value.preferredClusterDim =
                        raw::CUlaunchAttributeValue_union__bindgen_ty_4 { x, y, z }
                },
            );
        }
        if let Some(percent) = self.carveout {
            check_carveout(percent)?;
            let id = Id::CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT;
            add(id, &|value| value.sharedMemCarveout = percent);
        }
        if may_overlap {
            let id = Id::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
            add(id, &|value| {
                value.programmaticStreamSerializationAllowed = 1
            });
        }
        for event in self.events() {
            check_event(event, gpu)?;
        }
        if let Some((event, trigger)) = self.programmatic_event {
            add(Id::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT, &|value| {
                value.programmaticEvent = raw::CUlaunchAttributeValue_union__bindgen_ty_2 {
                    event: event.raw(),
                    flags: 0,
                    triggerAtBlockStart: (trigger == Trigger::BlocksStarted).into(),
                }
            });
        }
        if let Some(event) = self.completion_event {
            add(Id::CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT, &|value| {
                value.launchCompletionEvent = raw::CUlaunchAttributeValue_union__bindgen_ty_3 {
                    event: event.raw(),
                    flags: 0,
                }
            });
        }
        Ok(attributes)
    }
}

/// As many attributes as a launch can have: those of the grid, and one for each option.
pub(super) const MOST: usize = GRID_ATTRIBUTES + 10;

fn check_carveout(percent: u32) -> Result<()> {
    if percent <= 100 {
        return Ok(());
    }
    Err(Error::Limit(Box::new(LimitError {
        call: CALL,
        code: Code::INVALID_VALUE,
        subject: "launch options".into(),
        what: "the share of shared memory in percent",
        value: percent.into(),
        limit: 100,
        hint: "100 is all that can be shared memory".into(),
    })))
}

/// The event is of the launch's device and measures no time.
fn check_event(event: &Event, gpu: &Arc<OpenDevice>) -> Result<()> {
    check_same_device(CALL, ("the event", event.gpu()), ("the launch", gpu))?;
    if event.is_timed() {
        return Err(Error::misuse(
            CALL,
            Code::INVALID_VALUE,
            "an event that a launch records cannot measure time",
            "make it by `gpu.event_untimed()`",
        ));
    }
    Ok(())
}
