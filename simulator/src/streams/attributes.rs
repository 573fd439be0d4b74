//! Attributes of streams, kernel nodes and launches: who may have which, which values are refused, and those that tune a launch without
//! changing what it computes.

use std::sync::Arc;

use super::event::Event;
use crate::device;
use crate::error::{Result, code};
use warpsmith_abi::{
    CUaccessProperty, CUclusterSchedulingPolicy, CUdevice_attribute, CUlaunchAttributeID as Id,
    CUlaunchMemSyncDomain, CUlaunchMemSyncDomainMap, CUsynchronizationPolicy,
};

/// What an attribute belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holder {
    Stream,
    Node,
    Launch,
}

impl Holder {
    /// Whether it can have an attribute ("Valid for ..." of each in the driver's header).
    pub(crate) fn may_have(self, id: Id) -> bool {
        match id {
            Id::CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW
            | Id::CU_LAUNCH_ATTRIBUTE_PRIORITY
            | Id::CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP
            | Id::CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN => true,
            Id::CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY => self == Self::Stream,
            Id::CU_LAUNCH_ATTRIBUTE_COOPERATIVE
            | Id::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
            | Id::CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE
            | Id::CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION => self != Self::Stream,
            Id::CU_LAUNCH_ATTRIBUTE_IGNORE
            | Id::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
            | Id::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT
            | Id::CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT
            | Id::CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT => self == Self::Launch,
            _ => false,
        }
    }
}

/// An attribute with its value.
#[derive(Clone)]
pub(crate) enum Attribute {
    Ignored,
    Window(Window),
    Cooperative(bool),
    SynchronizationPolicy(CUsynchronizationPolicy),
    Cluster([u32; 3]),
    ClusterScheduling(CUclusterSchedulingPolicy),
    /// Programmatic stream serialisation: the launch may begin before the one before it has ended.
    EarlyStart(bool),
    ProgrammaticEvent {
        event: Arc<Event>,
        at_block_start: bool,
    },
    CompletionEvent(Arc<Event>),
    Priority(i32),
    DomainMap(CUlaunchMemSyncDomainMap),
    Domain(CUlaunchMemSyncDomain),
    PreferredCluster([u32; 3]),
    Carveout(u32),
}

/// A range of addresses whose accesses the cache is to treat in a way of their own.
#[derive(Clone, Copy)]
pub(crate) struct Window {
    pub(crate) base: usize,
    /// Its length; 0 for no window.
    pub(crate) bytes: usize,
    /// The share of accesses that count as hits.
    pub(crate) hit_ratio: f32,
    pub(crate) hit: CUaccessProperty,
    pub(crate) miss: CUaccessProperty,
}

impl Default for Window {
    fn default() -> Self {
        Self {
            base: 0,
            bytes: 0,
            hit_ratio: 0.0,
            hit: CUaccessProperty::CU_ACCESS_PROPERTY_NORMAL,
            miss: CUaccessProperty::CU_ACCESS_PROPERTY_NORMAL,
        }
    }
}

/// The attributes that change how fast a kernel runs and nothing else.
#[derive(Clone, Copy)]
pub(crate) struct Hints {
    pub(crate) window: Window,
    pub(crate) domain: CUlaunchMemSyncDomain,
    pub(crate) domain_map: CUlaunchMemSyncDomainMap,
    pub(crate) cluster_scheduling: CUclusterSchedulingPolicy,
    /// Zeros where none is preferred.
    pub(crate) preferred_cluster: [u32; 3],
}

impl Hints {
    /// The physical memory synchronisation domain.
    pub(crate) fn domain(&self) -> u32 {
        let map = self.domain_map;
        match self.domain == CUlaunchMemSyncDomain::CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE {
            true => map.remote.into(),
            false => map.default_.into(),
        }
    }
}

impl Default for Hints {
    fn default() -> Self {
        Self {
            window: Window::default(),
            domain: CUlaunchMemSyncDomain::CU_LAUNCH_MEM_SYNC_DOMAIN_DEFAULT,
            // Each logical domain is the physical one of its number.
            domain_map: CUlaunchMemSyncDomainMap {
                default_: 0,
                remote: 1,
            },
            cluster_scheduling: CUclusterSchedulingPolicy::CU_CLUSTER_SCHEDULING_POLICY_DEFAULT,
            preferred_cluster: [0; 3],
        }
    }
}

/// A stream's attributes.
#[derive(Clone, Copy)]
pub(crate) struct StreamAttributes {
    pub(crate) hints: Hints,
    pub(crate) priority: i32,
    pub(crate) synchronization: CUsynchronizationPolicy,
}

impl Attribute {
    /// Refuses values that the driver refuses; gives a priority within its range.
    pub(super) fn check(self, device: usize) -> Result<Self> {
        let profile = device::profile(device);
        let holds = match &self {
            Self::Window(window) => {
                let most = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE;
                window.is_valid(profile.limit(most) as usize)
            }
            Self::SynchronizationPolicy(policy) => matches!(policy.0, 1..=4),
            Self::ClusterScheduling(policy) => {
                policy.0 <= CUclusterSchedulingPolicy::CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING.0
            }
            Self::DomainMap(map) => {
                let domains =
                    profile.limit(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT);
                u32::from(map.default_) < domains && u32::from(map.remote) < domains
            }
            Self::Domain(domain) => {
                domain.0 <= CUlaunchMemSyncDomain::CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE.0
            }
            // A percentage, or -1 for no preference.
            Self::Carveout(percent) => *percent <= 100 || *percent == u32::MAX,
            Self::ProgrammaticEvent { event, .. } | Self::CompletionEvent(event)
                if event.is_timed() || event.is_interprocess() =>
            {
                return Err(code::NOT_SUPPORTED);
            }
            Self::Cluster(size) if size.contains(&0) => return Err(code::INVALID_CLUSTER_SIZE),
            _ => true,
        };
        if !holds {
            return Err(code::INVALID_VALUE);
        }
        let (least, greatest) = profile.priorities;
        Ok(match self {
            Self::Priority(wish) => Self::Priority(wish.clamp(greatest, least)),
            other => other,
        })
    }
}

impl Window {
    /// Whether it has at most `most` bytes, a ratio that is one, and properties of which that for misses is not to persist. A driver (580)
    /// does not look whether the properties are any.
    fn is_valid(&self, most: usize) -> bool {
        self.bytes <= most
            && (0.0..=1.0).contains(&self.hit_ratio)
            && self.miss != CUaccessProperty::CU_ACCESS_PROPERTY_PERSISTING
    }
}

impl Hints {
    /// Takes an attribute over; gives back one that is no hint.
    pub(super) fn take(&mut self, attribute: Attribute) -> Option<Attribute> {
        match attribute {
            Attribute::Window(window) => self.window = window,
            Attribute::Domain(domain) => self.domain = domain,
            Attribute::DomainMap(map) => self.domain_map = map,
            Attribute::ClusterScheduling(policy) => self.cluster_scheduling = policy,
            Attribute::PreferredCluster(size) => self.preferred_cluster = size,
            other => return Some(other),
        }
        None
    }

    /// The attribute of this kind, if it is a hint.
    pub(crate) fn get(&self, id: Id) -> Option<Attribute> {
        Some(match id {
            Id::CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW => Attribute::Window(self.window),
            Id::CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN => Attribute::Domain(self.domain),
            Id::CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP => Attribute::DomainMap(self.domain_map),
            Id::CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE => {
                Attribute::ClusterScheduling(self.cluster_scheduling)
            }
            Id::CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION => {
                Attribute::PreferredCluster(self.preferred_cluster)
            }
            _ => return None,
        })
    }

    /// A preferred cluster consists of whole clusters of the size that the grid is a multiple of.
    pub(crate) fn check(&self, cluster: [u32; 3]) -> Result {
        let preferred = self.preferred_cluster;
        let fits = preferred == [0; 3]
            || preferred
                .iter()
                .zip(cluster)
                .all(|(&preferred, least)| preferred != 0 && preferred % least == 0);
        if fits {
            Ok(())
        } else {
            Err(code::INVALID_CLUSTER_SIZE)
        }
    }
}

impl StreamAttributes {
    /// Those of a fresh stream.
    pub(super) fn new(priority: i32) -> Self {
        Self {
            hints: Hints::default(),
            priority,
            synchronization: CUsynchronizationPolicy::CU_SYNC_POLICY_AUTO,
        }
    }

    /// Sets one.
    pub(super) fn set(&mut self, attribute: Attribute, device: usize) -> Result {
        match self.hints.take(attribute.check(device)?) {
            None => Ok(()),
            Some(Attribute::Priority(priority)) => {
                self.priority = priority;
                Ok(())
            }
            Some(Attribute::SynchronizationPolicy(policy)) => {
                self.synchronization = policy;
                Ok(())
            }
            Some(_) => Err(code::INVALID_VALUE),
        }
    }

    /// The attribute of this kind, if streams have it.
    pub(crate) fn get(&self, id: Id) -> Option<Attribute> {
        match id {
            Id::CU_LAUNCH_ATTRIBUTE_PRIORITY => Some(Attribute::Priority(self.priority)),
            Id::CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY => {
                Some(Attribute::SynchronizationPolicy(self.synchronization))
            }
            _ if Holder::Stream.may_have(id) => self.hints.get(id),
            _ => None,
        }
    }
}
