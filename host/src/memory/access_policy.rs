//! Access policy windows: which part of memory the L2 cache keeps, and which it lets go first (CUDA C++ Programming Guide, "Device
//! Memory L2 Access Management").

use warpsmith_driver::raw;

use super::view::DeviceRead;
use crate::context::choice::DeviceChoice;
use crate::driver_call::call;
use crate::error::{Code, Error, LimitError, Result};
use crate::gpu::open_device::OpenDevice;
use crate::stream::Stream;

/// What the L2 cache does with lines that are accessed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum AccessProperty {
    /// As without a window. Takes away that earlier accesses made a line persist.
    #[default]
    Normal,
    /// Goes out of the cache first.
    Streaming,
    /// Stays in the part of the cache that is set aside ([`ContextLimit::PersistingL2`](crate::ContextLimit::PersistingL2)).
    Persisting,
}

/// What the L2 cache does with the lines of a window that do not count as hits: all that [`AccessProperty`] has but to persist.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum MissProperty {
    /// As without a window.
    #[default]
    Normal,
    /// Goes out of the cache first.
    Streaming,
}

/// A range of memory whose accesses the L2 cache treats in a way of their own (`CUaccessPolicyWindow`), for the launches of a stream
/// ([`Stream::set_access_policy`]) or for one launch ([`LaunchOptions::access_policy`](crate::LaunchOptions::access_policy)).
///
/// It is about speed alone: results never change. It names addresses and keeps no memory alive; where the memory is freed, it is a window
/// over whatever lies there next.
///
/// ```
/// use warpsmith_host::prelude::*;
/// use warpsmith_host::{AccessPolicyWindow, AccessProperty, MissProperty};
///
/// # fn main() -> Result<()> {
/// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
/// let stream = gpu.stream()?;
/// let table = stream.zeroed::<f32>(1 << 16)?;
/// let window = AccessPolicyWindow::over(&table).hit_ratio(0.6).on_miss(MissProperty::Streaming);
/// stream.set_access_policy(Some(&window))?;
/// assert_eq!(stream.access_policy()?, Some(window));
/// stream.set_access_policy(None)?;
/// # Ok(())
/// # }
/// ```
// covers: L2-06, L2-07
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct AccessPolicyWindow {
    base: u64,
    bytes: usize,
    hit_ratio: f32,
    hit: AccessProperty,
    miss: MissProperty,
    /// Where the memory lies, if it is known.
    device: Option<DeviceChoice>,
}

/// Of what the driver is told: what it gives back says nothing of devices.
impl PartialEq for AccessPolicyWindow {
    fn eq(&self, other: &AccessPolicyWindow) -> bool {
        let told = |window: &AccessPolicyWindow| {
            (
                window.base,
                window.bytes,
                window.hit_ratio,
                window.hit,
                window.miss,
            )
        };
        told(self) == told(other)
    }
}

impl AccessPolicyWindow {
    /// A window over all of a buffer or slice, whose lines persist. Over empty memory it is none.
    pub fn over(memory: &impl DeviceRead) -> AccessPolicyWindow {
        let view = memory.raw_view();
        AccessPolicyWindow {
            base: view.address,
            bytes: view.bytes,
            hit_ratio: 1.0,
            hit: AccessProperty::Persisting,
            miss: MissProperty::Normal,
            device: view.allocation.and_then(|memory| memory.lies_on()),
        }
    }

    /// The share of accesses that count as hits, 0.0 to 1.0 (1.0 unless this is called). Which ones is up to the device. Less than 1.0
    /// keeps a window that is larger than the set-aside from displacing itself.
    pub fn hit_ratio(self, ratio: f32) -> AccessPolicyWindow {
        AccessPolicyWindow {
            hit_ratio: ratio,
            ..self
        }
    }

    /// What becomes of hits: they persist unless this is called.
    pub fn on_hit(self, hit: AccessProperty) -> AccessPolicyWindow {
        AccessPolicyWindow { hit, ..self }
    }

    /// What becomes of misses: they are normal accesses unless this is called.
    pub fn on_miss(self, miss: MissProperty) -> AccessPolicyWindow {
        AccessPolicyWindow { miss, ..self }
    }

    /// Its length in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The window in the driver's form, if the device can have it.
    pub(crate) fn checked(
        &self,
        call: &'static str,
        gpu: &OpenDevice,
    ) -> Result<raw::CUaccessPolicyWindow> {
        let most = gpu.limits().access_window;
        if most == 0 {
            return Err(Error::unsupported(
                "access policy windows",
                "a device since compute capability 8.0 that is not divided (`Attribute::MAX_ACCESS_POLICY_WINDOW_SIZE`)",
            ));
        }
        if self.bytes as u64 > u64::from(most) {
            return Err(Error::Limit(Box::new(LimitError {
                call,
                code: Code::INVALID_VALUE,
                subject: "access policy window".into(),
                what: "the length in bytes",
                value: self.bytes as u64,
                limit: most.into(),
                hint: "make it of a slice of the buffer".into(),
            })));
        }
        let own = gpu.context().choice;
        if let Some(device) = self.device
            && device != own
        {
            return Err(Error::misuse(
                call,
                Code::INVALID_CONTEXT,
                format!(
                    "the access policy window is over memory of `{device}`, and for launches on `{own}`"
                ),
                "what a device's L2 cache keeps is that device's memory: make the window over memory of the same `Gpu`",
            ));
        }
        if !(0.0..=1.0).contains(&self.hit_ratio) {
            return Err(Error::misuse(
                call,
                Code::INVALID_VALUE,
                format!(
                    "the hit ratio of an access policy window is {}",
                    self.hit_ratio
                ),
                "it is a share of the accesses: 0.0 to 1.0",
            ));
        }
        Ok(raw::CUaccessPolicyWindow {
            base_ptr: self.base as *mut core::ffi::c_void,
            num_bytes: self.bytes,
            hitRatio: self.hit_ratio,
            hitProp: match self.hit {
                AccessProperty::Normal => raw::CUaccessProperty::CU_ACCESS_PROPERTY_NORMAL,
                AccessProperty::Streaming => raw::CUaccessProperty::CU_ACCESS_PROPERTY_STREAMING,
                AccessProperty::Persisting => raw::CUaccessProperty::CU_ACCESS_PROPERTY_PERSISTING,
            },
            missProp: match self.miss {
                MissProperty::Normal => raw::CUaccessProperty::CU_ACCESS_PROPERTY_NORMAL,
                MissProperty::Streaming => raw::CUaccessProperty::CU_ACCESS_PROPERTY_STREAMING,
            },
        })
    }

    /// The driver's window; `None` where it has no bytes.
    pub(crate) fn of_driver(window: &raw::CUaccessPolicyWindow) -> Option<AccessPolicyWindow> {
        use raw::CUaccessProperty as P;
        (window.num_bytes > 0).then_some(AccessPolicyWindow {
            base: window.base_ptr as u64,
            bytes: window.num_bytes,
            hit_ratio: window.hitRatio,
            hit: match window.hitProp {
                P::CU_ACCESS_PROPERTY_PERSISTING => AccessProperty::Persisting,
                P::CU_ACCESS_PROPERTY_STREAMING => AccessProperty::Streaming,
                _ => AccessProperty::Normal,
            },
            miss: match window.missProp {
                P::CU_ACCESS_PROPERTY_STREAMING => MissProperty::Streaming,
                _ => MissProperty::Normal,
            },
            device: None,
        })
    }
}

const ATTRIBUTE: raw::CUlaunchAttributeID =
    raw::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW;

impl Stream {
    /// Sets the window of the launches that follow in this stream, also of those that are captured from it; `None` for no window. Lines that
    /// persist already stay until [`Gpu::reset_persisting_l2`](crate::Gpu::reset_persisting_l2).
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] where the window is longer than [`Attribute::MAX_ACCESS_POLICY_WINDOW_SIZE`](crate::Attribute),
    /// [`Error::Invalid`] where the memory lies on another device or the hit ratio is not within 0.0 and 1.0, [`Error::Unsupported`] where the device has no windows.
    // covers: L2-04, L2-08
    pub fn set_access_policy(&self, window: Option<&AccessPolicyWindow>) -> Result<()> {
        let mut value = raw::CUlaunchAttributeValue::default();
        if let Some(window) = window {
            value.accessPolicyWindow = window.checked("cuStreamSetAttribute", &self.gpu)?;
        }
        self.set_attribute(ATTRIBUTE, &value)
    }

    /// The window of the launches that follow in this stream.
    ///
    /// # Errors
    ///
    /// The driver refuses, or an earlier fault on the device.
    pub fn access_policy(&self) -> Result<Option<AccessPolicyWindow>> {
        let value = self.attribute(ATTRIBUTE)?;
        // SAFETY: the driver has written a value of the attribute's type into a union of zeros; each field takes any bits.
        let window = unsafe { value.accessPolicyWindow };
        Ok(AccessPolicyWindow::of_driver(&window))
    }
}

impl crate::Gpu {
    /// Makes all lines of the L2 cache normal that persist.
    ///
    /// # Errors
    ///
    /// The driver refuses, or an earlier fault on the device.
    // covers: L2-09
    pub fn reset_persisting_l2(&self) -> Result<()> {
        self.inner.bind()?;
        // SAFETY: the call takes no arguments; it refers to the context that `bind` made current.
        unsafe { call!(cuCtxResetPersistingL2Cache()) }
    }
}
