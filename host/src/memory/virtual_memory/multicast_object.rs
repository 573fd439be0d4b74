//! A multicast object, and the memory that is bound to it: what the replicas of a multicast buffer share.

use std::sync::Mutex;

use warpsmith_driver::raw;

use super::physical::PhysicalOptions;
use crate::context::attribute::Attribute;
use crate::driver_call::call;
use crate::error::{Code, Error, Result};
use crate::gpu::Gpu;
use crate::sync::lock;

/// An object of which all devices have been added. With the last owner what is bound is unbound, and all handles are released; what is mapped
/// has been unmapped by then.
pub(super) struct MulticastObject {
    handle: raw::CUmemGenericAllocationHandle,
    bytes: usize,
    bound: Mutex<Vec<Bound>>,
}

/// A device's memory, the whole of which is bound to the whole object.
struct Bound {
    device: raw::CUdevice,
    memory: raw::CUmemGenericAllocationHandle,
}

impl MulticastObject {
    /// An object of `bytes` bytes, rounded up to the granularity, for these devices.
    ///
    /// # Errors
    ///
    /// There is no device, one twice, or one that has no multicast memory; or the driver refuses, and nothing is left.
    pub(super) fn create(gpus: &[&Gpu], bytes: usize) -> Result<MulticastObject> {
        check_team(gpus)?;
        let mut properties = raw::CUmulticastObjectProp {
            numDevices: gpus.len() as u32,
            size: bytes,
            ..Default::default()
        };
        properties.size = rounded(gpus, &properties)?;
        gpus[0].inner.bind()?;
        let mut handle = 0;
        // SAFETY: the driver writes one handle to `handle` and reads the properties, which outlive the call.
        unsafe { call!(cuMulticastCreate(&mut handle, &properties)) }.map_err(|error| {
            let (bytes, devices) = (properties.size, gpus.len());
            error.while_doing(|| {
                format!("a multicast object of {bytes} bytes for {devices} devices")
            })
        })?;
        let object = MulticastObject {
            handle,
            bytes: properties.size,
            bound: Mutex::default(),
        };
        for gpu in gpus {
            let device = gpu.inner.context().device;
            // SAFETY: `object` owns the handle.
            unsafe { call!(cuMulticastAddDevice(handle, device)) }.map_err(|error| {
                let choice = gpu.inner.context().choice;
                error.while_doing(|| format!("adding {choice} to a multicast object"))
            })?;
        }
        Ok(object)
    }

    pub(super) fn handle(&self) -> raw::CUmemGenericAllocationHandle {
        self.handle
    }

    /// Bytes of each replica.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Binds the memory that is mapped at `address`, as many bytes as the object has. All devices have been added, so that the driver waits for none.
    /// From here on the object keeps the memory, also when it is not mapped there any more.
    ///
    /// # Errors
    ///
    /// The driver refuses, and nothing has changed.
    pub(super) fn bind(&self, gpu: &Gpu, address: u64) -> Result<()> {
        let mut memory = 0;
        let mapped = std::ptr::with_exposed_provenance_mut(address as usize);
        // SAFETY: the driver looks the address up, and writes one handle to `memory`, which outlives the call.
        unsafe { call!(cuMemRetainAllocationHandle(&mut memory, mapped)) }?;
        // SAFETY: both handles are held: the object's by `self`, the memory's by the line before. The driver checks the sizes.
        let bound = unsafe { call!(cuMulticastBindMem(self.handle, 0, memory, 0, self.bytes, 0)) };
        let context = gpu.inner.context();
        if let Err(error) = bound {
            // SAFETY: the line before took the handle, and nothing is bound.
            gpu.inner
                .report_drop(unsafe { call!(cuMemRelease(memory)) });
            let choice = context.choice;
            return Err(
                error.while_doing(|| format!("binding memory of {choice} to a multicast object"))
            );
        }
        lock(&self.bound).push(Bound {
            device: context.device,
            memory,
        });
        Ok(())
    }
}

impl Drop for MulticastObject {
    fn drop(&mut self) {
        // There is nobody to tell an error to: the process may be about to end.
        for Bound { device, memory } in lock(&self.bound).drain(..) {
            // SAFETY: `bind` bound this part, and no work reaches it any more: each device's addresses, by which it does, keep this object until they have
            // been unmapped.
            let _ = unsafe { call!(cuMulticastUnbind(self.handle, device, 0, self.bytes)) };
            // SAFETY: `bind` took the handle.
            let _ = unsafe { call!(cuMemRelease(memory)) };
        }
        // SAFETY: `create` made the handle.
        let _ = unsafe { call!(cuMemRelease(self.handle)) };
    }
}

/// # Errors
///
/// There is no device, one twice, or one that has no multicast memory.
fn check_team(gpus: &[&Gpu]) -> Result<()> {
    let device = |gpu: &Gpu| gpu.inner.context().device;
    let twice = (gpus.iter().enumerate())
        .find(|(at, gpu)| gpus[..*at].iter().any(|other| device(other) == device(gpu)));
    if gpus.is_empty() || twice.is_some() {
        let what = match twice {
            Some((_, gpu)) => format!("{} is named twice", gpu.inner.context().choice),
            None => "no device is named".into(),
        };
        return Err(Error::misuse(
            "cuMulticastCreate",
            Code::INVALID_VALUE,
            format!("the team of a multicast buffer: {what}"),
            "name each device that has a replica once",
        ));
    }
    for gpu in gpus {
        if gpu.attribute(Attribute::MULTICAST_SUPPORTED)? == 0 {
            return Err(Error::unsupported(
                format!("multicast memory on {}", gpu.inner.context().choice),
                "devices that NVLink and an NVSwitch join, and a driver that says so (`Attribute::MULTICAST_SUPPORTED`)",
            ));
        }
        gpu.inner.limits().require_virtual_memory()?;
    }
    Ok(())
}

/// The bytes that an object of these properties needs, a multiple of all granularities.
///
/// # Errors
///
/// They do not fit into the address space, in which each device needs them twice.
fn rounded(gpus: &[&Gpu], properties: &raw::CUmulticastObjectProp) -> Result<usize> {
    let bytes = properties.size;
    let mut granularity = 0;
    let least = raw::CUmulticastGranularity_flags::CU_MULTICAST_GRANULARITY_MINIMUM;
    gpus[0].inner.bind()?;
    // SAFETY: the driver writes one number to `granularity` and reads the properties, which outlive the call.
    unsafe {
        call!(cuMulticastGetGranularity(
            &mut granularity,
            properties,
            least
        ))
    }?;
    for gpu in gpus {
        gpu.inner.bind()?;
        // Both are powers of two.
        granularity = granularity.max(PhysicalOptions::default().granularity(&gpu.inner)?);
    }
    let rounded = bytes.checked_next_multiple_of(granularity);
    rounded
        .filter(|&bytes| bytes <= isize::MAX as usize / 2)
        .ok_or_else(|| {
            Error::misuse(
                "cuMulticastCreate",
                Code::INVALID_VALUE,
                format!("a multicast buffer of {bytes} bytes"),
                "rounded up, twice its size must fit into an address space",
            )
        })
}
