//! Attributes of streams: memory synchronisation domains, and how the host waits.

use warpsmith_driver::raw::{self, CUlaunchAttributeID as Id};

use super::Stream;
use crate::driver_call::call;
use crate::error::{Code, Error, LimitError, Result};
use crate::gpu::Gpu;
use crate::gpu::open_device::{OpenDevice, check_same_device};

/// A logical memory synchronisation domain: a fence waits for the writes of kernels of its own (physical) domain only, so that kernels
/// that write far away do not slow down the fences of those that do not (CUDA C++ Programming Guide, "Memory Synchronization Domains").
///
/// Kernels of different domains that exchange data on one device need system scope for it; within a domain, device scope will do. All
/// that this crate puts in order by itself is in order in any case.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum MemSyncDomain {
    /// Where launches are unless something else is said.
    #[default]
    Default,
    /// For kernels that write to other devices or to the host.
    Remote,
}

/// Which physical domain stands for which logical one. A device has [`Attribute::MEM_SYNC_DOMAIN_COUNT`](crate::Attribute) of them,
/// numbered from 0: four since Hopper, one before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MemSyncDomainMap {
    /// That of [`MemSyncDomain::Default`].
    pub default: u8,
    /// That of [`MemSyncDomain::Remote`].
    pub remote: u8,
}

/// How a thread of the host waits: for a stream ([`Stream::set_synchronization_policy`]), or for a device ([`Gpu::set_synchronization_policy`]).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SynchronizationPolicy {
    /// As the driver thinks best.
    #[default]
    Auto,
    /// Asks again and again.
    Spin,
    /// Asks again and again, and lets other threads run between.
    Yield,
    /// Sleeps.
    Blocking,
}

/// The policies, with what a context's flags have for them (`CU_CTX_SCHED_*`).
const OF_CONTEXT: [(SynchronizationPolicy, raw::CUctx_flags); 4] = [
    (
        SynchronizationPolicy::Auto,
        raw::CUctx_flags::CU_CTX_SCHED_AUTO,
    ),
    (
        SynchronizationPolicy::Spin,
        raw::CUctx_flags::CU_CTX_SCHED_SPIN,
    ),
    (
        SynchronizationPolicy::Yield,
        raw::CUctx_flags::CU_CTX_SCHED_YIELD,
    ),
    (
        SynchronizationPolicy::Blocking,
        raw::CUctx_flags::CU_CTX_SCHED_BLOCKING_SYNC,
    ),
];

impl Gpu {
    /// Sets how threads of the host wait for the device, and for those of its streams and events that nothing else was said of
    /// ([`Stream::set_synchronization_policy`], [`EventOptions::blocking`](crate::EventOptions)). It belongs to the device's primary context,
    /// which the whole process shares.
    ///
    /// ```
    /// use warpsmith_host::prelude::*;
    /// use warpsmith_host::SynchronizationPolicy;
    ///
    /// # fn main() -> Result<()> {
    /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
    /// gpu.set_synchronization_policy(SynchronizationPolicy::Blocking)?;
    /// assert_eq!(gpu.synchronization_policy()?, SynchronizationPolicy::Blocking);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The driver refuses: one older than CUDA 11.0 does once the device is open.
    pub fn set_synchronization_policy(&self, policy: SynchronizationPolicy) -> Result<()> {
        let wanted = OF_CONTEXT.iter().find(|(known, _)| *known == policy);
        let wanted = wanted.map_or(0, |(_, flags)| flags.0);
        let flags = self.context_flags()? & !raw::CUctx_flags::CU_CTX_SCHED_MASK.0 | wanted;
        let device = self.inner.context().device;
        // SAFETY: the call takes plain values.
        unsafe { call!(cuDevicePrimaryCtxSetFlags_v2(device, flags)) }
    }

    /// How threads of the host wait for the device.
    ///
    /// # Errors
    ///
    /// The driver does not know the device any more.
    pub fn synchronization_policy(&self) -> Result<SynchronizationPolicy> {
        let flags = self.context_flags()? & raw::CUctx_flags::CU_CTX_SCHED_MASK.0;
        let found = OF_CONTEXT.iter().find(|(_, known)| known.0 == flags);
        Ok(found.map_or(SynchronizationPolicy::Auto, |(policy, _)| *policy))
    }

    fn context_flags(&self) -> Result<u32> {
        let (mut flags, mut active) = (0, 0);
        let device = self.inner.context().device;
        // SAFETY: the driver writes one number each to `flags` and `active`, which outlive the call.
        unsafe { call!(cuDevicePrimaryCtxGetState(device, &mut flags, &mut active)) }?;
        Ok(flags)
    }
}

impl MemSyncDomain {
    pub(crate) fn raw(self) -> raw::CUlaunchMemSyncDomain {
        match self {
            MemSyncDomain::Default => raw::CUlaunchMemSyncDomain::CU_LAUNCH_MEM_SYNC_DOMAIN_DEFAULT,
            MemSyncDomain::Remote => raw::CUlaunchMemSyncDomain::CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE,
        }
    }
}

impl MemSyncDomainMap {
    /// The map in the driver's form, if the device has the domains.
    pub(crate) fn checked(
        self,
        call: &'static str,
        gpu: &OpenDevice,
    ) -> Result<raw::CUlaunchMemSyncDomainMap> {
        let domains = gpu.limits().domains.max(1);
        let highest = self.default.max(self.remote);
        if u32::from(highest) >= domains {
            return Err(Error::Limit(Box::new(LimitError {
                call,
                code: Code::INVALID_VALUE,
                subject: "memory synchronisation domain map".into(),
                what: "the number of a physical domain",
                value: highest.into(),
                limit: u64::from(domains) - 1,
                hint: "domains are numbered from 0; `Attribute::MEM_SYNC_DOMAIN_COUNT` says how many there are".into(),
            })));
        }
        Ok(raw::CUlaunchMemSyncDomainMap {
            default_: self.default,
            remote: self.remote,
        })
    }
}

impl Stream {
    /// Sets the domain of the launches that follow, also of those that are captured.
    ///
    /// # Errors
    ///
    /// The driver knows no domains (before CUDA 12.0), or an earlier fault on the device.
    // covers: DOMAIN-02
    pub fn set_mem_sync_domain(&self, domain: MemSyncDomain) -> Result<()> {
        let value = raw::CUlaunchAttributeValue {
            memSyncDomain: domain.raw(),
        };
        self.set_attribute(Id::CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN, &value)
    }

    /// The domain of the launches that follow.
    ///
    /// # Errors
    ///
    /// As for [`set_mem_sync_domain`](Self::set_mem_sync_domain).
    pub fn mem_sync_domain(&self) -> Result<MemSyncDomain> {
        let value = self.attribute(Id::CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN)?;
        // SAFETY: the driver has written a value of the attribute's type into a union of zeros; the field takes any bits.
        let domain = unsafe { value.memSyncDomain };
        Ok(match domain {
            raw::CUlaunchMemSyncDomain::CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE => MemSyncDomain::Remote,
            _ => MemSyncDomain::Default,
        })
    }

    /// Sets which physical domains the launches that follow use.
    ///
    /// ```
    /// use warpsmith_host::prelude::*;
    /// use warpsmith_host::{MemSyncDomain, MemSyncDomainMap};
    ///
    /// # fn main() -> Result<()> {
    /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
    /// let stream = gpu.stream()?;
    /// let map = MemSyncDomainMap { default: 0, remote: 3 };
    /// stream.set_mem_sync_domain_map(map)?;
    /// stream.set_mem_sync_domain(MemSyncDomain::Remote)?;
    /// assert_eq!(stream.mem_sync_domain_map()?, map);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] where the device has no domain of such a number.
    // covers: DOMAIN-04, DOMAIN-05
    pub fn set_mem_sync_domain_map(&self, map: MemSyncDomainMap) -> Result<()> {
        let value = raw::CUlaunchAttributeValue {
            memSyncDomainMap: map.checked("cuStreamSetAttribute", &self.gpu)?,
        };
        self.set_attribute(Id::CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, &value)
    }

    /// Which physical domains the launches that follow use.
    ///
    /// # Errors
    ///
    /// As for [`set_mem_sync_domain`](Self::set_mem_sync_domain).
    pub fn mem_sync_domain_map(&self) -> Result<MemSyncDomainMap> {
        let value = self.attribute(Id::CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP)?;
        // SAFETY: the driver has written a value of the attribute's type into a union of zeros; each field takes any bits.
        let map = unsafe { value.memSyncDomainMap };
        Ok(MemSyncDomainMap {
            default: map.default_,
            remote: map.remote,
        })
    }

    /// Sets how threads of the host wait for this stream.
    ///
    /// # Errors
    ///
    /// The driver refuses, or an earlier fault on the device.
    pub fn set_synchronization_policy(&self, policy: SynchronizationPolicy) -> Result<()> {
        use raw::CUsynchronizationPolicy as P;
        let value = raw::CUlaunchAttributeValue {
            syncPolicy: match policy {
                SynchronizationPolicy::Auto => P::CU_SYNC_POLICY_AUTO,
                SynchronizationPolicy::Spin => P::CU_SYNC_POLICY_SPIN,
                SynchronizationPolicy::Yield => P::CU_SYNC_POLICY_YIELD,
                SynchronizationPolicy::Blocking => P::CU_SYNC_POLICY_BLOCKING_SYNC,
            },
        };
        self.set_attribute(Id::CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value)
    }

    /// Takes over all attributes of another stream: window, domains, synchronisation policy.
    ///
    /// # Errors
    ///
    /// The streams are of different devices.
    pub fn copy_attributes(&self, from: &Stream) -> Result<()> {
        check_same_device(
            "cuStreamCopyAttributes",
            ("the source", &from.gpu),
            ("the stream", &self.gpu),
        )?;
        self.gpu.bind()?;
        // SAFETY: both streams are owned for the call.
        unsafe { call!(cuStreamCopyAttributes(self.handle.raw(), from.handle.raw())) }
    }

    pub(crate) fn set_attribute(&self, id: Id, value: &raw::CUlaunchAttributeValue) -> Result<()> {
        self.gpu.bind()?;
        // SAFETY: `self` owns the stream, and the driver reads one value, which outlives the call; it refuses attributes that it does not know.
        unsafe { call!(cuStreamSetAttribute(self.handle.raw(), id, value)) }
    }

    pub(crate) fn attribute(&self, id: Id) -> Result<raw::CUlaunchAttributeValue> {
        self.gpu.bind()?;
        let mut value = raw::CUlaunchAttributeValue::default();
        // SAFETY: `self` owns the stream, and the driver writes one value, to a variable that outlives the call.
        unsafe { call!(cuStreamGetAttribute(self.handle.raw(), id, &mut value)) }?;
        Ok(value)
    }
}
