//! Memory of several devices at once.

use std::marker::PhantomData;
use std::sync::Arc;

use bytemuck::Pod;
use warpsmith_driver::raw;

use super::access::MappingAccess;
use super::physical::{PhysicalMemory, PhysicalOptions};
use crate::context::attribute::Attribute;
use crate::driver_call::call;
use crate::error::{Code, Error, Result};
use crate::gpu::Gpu;
use crate::gpu::open_device::OpenDevice;
use crate::memory::allocation::Allocation;
use crate::memory::size::bytes_of;
use crate::memory::slice::{DeviceSlice, DeviceSliceMut};
use crate::memory::view::RawView;
use crate::stream::Stream;

/// Memory of which each device of a team has a replica, for kernels with a parameter `MulticastSlice<T>`, which store to all replicas,
/// reduce into all and read the reduction of all (`multimem` in PTX).
///
/// Kernels of all devices may use it at the same time: they are put in no order, and none of their operations is a data race. What they find
/// is for them to arrange, by acquire and release (see `MulticastSlice`) or by [`Event`](crate::Event)s between the streams.
///
/// The buffer and its devices may be dropped in any order, and while kernels run: each device's addresses, and all replicas that are reached
/// by them, stay until its last kernel that uses them is done.
///
/// ```
/// # use warpsmith_device::prelude::*;
/// # use warpsmith_device::atomic::MulticastSlice;
/// # #[kernel]
/// # pub fn norm(values: MulticastSlice<'_, f32>) {}
/// use warpsmith_host::prelude::*;
/// use warpsmith_host::{Attribute, MulticastBuffer};
///
/// # fn main() -> Result<()> {
/// let gpu = Gpu::open(DeviceChoice::Simulator)?;
/// if gpu.attribute(Attribute::MULTICAST_SUPPORTED)? == 0 {
///     return Ok(());
/// }
/// // With one device it is a team, too.
/// let mut values = MulticastBuffer::<f32>::zeroed(&[&gpu], 1024)?;
/// let stream = gpu.stream()?;
/// values.upload(&stream, &[1.0; 1024])?;
/// // A kernel with a parameter `values: MulticastSlice<f32>` takes `values.on(&gpu)?`.
/// assert_eq!(values.download(&stream)?, [1.0; 1024]);
/// # Ok(())
/// # }
/// ```
///
/// CUDA driver API, "Multicast Object Management".
// covers: VMM-37, VMM-38, VMM-39, VMM-40
pub struct MulticastBuffer<T: Pod> {
    replicas: Vec<Replica>,
    len: usize,
    of: PhantomData<T>,
}

/// One device's addresses: its own replica, and behind that the multicast object.
struct Replica {
    gpu: Gpu,
    memory: Arc<Allocation>,
    /// Where the multicast object begins.
    team_offset: usize,
}

/// A device's replica of a [`MulticastBuffer`], as kernels on that device take it.
#[derive(Clone, Copy)]
pub struct MulticastReplica<'a, T: Pod> {
    replica: &'a Replica,
    len: usize,
    of: PhantomData<&'a [T]>,
}

/// Handles, which are released when the last device's addresses have been.
#[derive(Default)]
struct Handles(std::sync::Mutex<Vec<raw::CUmemGenericAllocationHandle>>);

impl Handles {
    fn add(&self, handle: raw::CUmemGenericAllocationHandle) {
        crate::sync::lock(&self.0).push(handle);
    }
}

impl Drop for Handles {
    fn drop(&mut self) {
        for handle in crate::sync::lock(&self.0).drain(..) {
            // SAFETY: this object owns the handles, and what is mapped of them has been unmapped or keeps its memory. There is nobody to
            // tell an error to: the process may be about to end.
            let _ = unsafe { call!(cuMemRelease(handle)) };
        }
    }
}

impl<T: Pod> MulticastBuffer<T> {
    /// A replica of `len` zeros on each of the devices, rounded up to the granularity of multicast objects (2 MiB on an H100) in memory.
    ///
    /// # Errors
    ///
    /// There is no device, or one twice; a device has no multicast memory ([`Attribute::MULTICAST_SUPPORTED`]); `len` is 0; or a device has not
    /// so much memory. Nothing is left of what was made until then.
    pub fn zeroed(gpus: &[&Gpu], len: usize) -> Result<MulticastBuffer<T>> {
        check_team(gpus)?;
        let bytes = bytes_of::<T>("cuMulticastCreate", len)?;
        if bytes == 0 {
            return Err(Error::misuse(
                "cuMulticastCreate",
                Code::INVALID_VALUE,
                "a multicast buffer without elements",
                "it has one element at least, of a type that has a size",
            ));
        }
        let handles = Arc::new(Handles::default());
        let object = MulticastObject::create(gpus, bytes, &handles)?;
        let mut replicas = Vec::with_capacity(gpus.len());
        for gpu in gpus {
            replicas.push(object.replica(gpu, &handles)?);
        }
        let buffer = MulticastBuffer {
            replicas,
            len,
            of: PhantomData,
        };
        for replica in &buffer.replicas {
            let stream = replica.gpu.stream()?;
            let view = RawView::whole::<u8>(Some(&replica.memory), bytes);
            stream.fill(&mut DeviceSliceMut::<u8>::of(view, ..), 0)?;
            // Other devices may reach it next.
            stream.synchronize()?;
        }
        Ok(buffer)
    }

    /// Elements of each replica.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no elements: never.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// How many devices have a replica.
    pub fn devices(&self) -> usize {
        self.replicas.len()
    }

    /// The argument for kernels in streams of this device.
    ///
    /// # Errors
    ///
    /// The device is not of the team.
    pub fn on(&self, gpu: &Gpu) -> Result<MulticastReplica<'_, T>> {
        self.find("MulticastBuffer::on", &gpu.inner)
    }

    /// Copies the replica of the stream's device to the host, when what the stream has to do before is done.
    ///
    /// ```
    /// # use warpsmith_host::prelude::*;
    /// # use warpsmith_host::MulticastBuffer;
    /// # fn main() -> Result<()> {
    /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
    /// let words = MulticastBuffer::<u32>::zeroed(&[&gpu], 2)?;
    /// assert_eq!(words.download(&gpu.stream()?)?, [0, 0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The stream's device is not of the team, or something went wrong on the device before.
    pub fn download(&self, stream: &Stream) -> Result<Vec<T>> {
        let replica = self.find("MulticastBuffer::download", &stream.gpu)?;
        stream.download(&DeviceSlice::<T>::of(replica.view(), ..))
    }

    /// Copies data to the replica of the stream's device, the others stay as they are. The data is read before this returns.
    ///
    /// # Errors
    ///
    /// The stream's device is not of the team; the data has another length; or something went wrong on the device before.
    pub fn upload(&mut self, stream: &Stream, data: &[T]) -> Result<()> {
        let replica = self.find("MulticastBuffer::upload", &stream.gpu)?;
        stream.upload_into(data, &mut DeviceSliceMut::<T>::of(replica.view(), ..))
    }

    fn find(&self, call: &'static str, gpu: &Arc<OpenDevice>) -> Result<MulticastReplica<'_, T>> {
        let found = (self.replicas.iter()).find(|replica| Arc::ptr_eq(&replica.gpu.inner, gpu));
        let Some(replica) = found else {
            let team: Vec<String> = self
                .replicas
                .iter()
                .map(|replica| replica.gpu.inner.context().choice.to_string())
                .collect();
            return Err(Error::misuse(
                call,
                Code::INVALID_DEVICE,
                format!(
                    "{} has no replica of the multicast buffer: {} have",
                    gpu.context().choice,
                    team.join(", ")
                ),
                "name all devices that use the buffer in `MulticastBuffer::zeroed`",
            ));
        };
        Ok(MulticastReplica {
            replica,
            len: self.len,
            of: PhantomData,
        })
    }
}

impl<T: Pod> MulticastReplica<'_, T> {
    /// The local replica.
    pub(crate) fn view(&self) -> RawView<'_> {
        RawView::whole::<T>(Some(&self.replica.memory), self.len)
    }

    /// How far behind the local replica the multicast object's addresses begin.
    pub(crate) fn team_offset(&self) -> u64 {
        self.replica.team_offset as u64
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

/// An object of which all devices have been added.
struct MulticastObject {
    handle: raw::CUmemGenericAllocationHandle,
    bytes: usize,
}

impl MulticastObject {
    fn create(gpus: &[&Gpu], bytes: usize, handles: &Handles) -> Result<MulticastObject> {
        let mut properties = raw::CUmulticastObjectProp {
            numDevices: gpus.len() as u32,
            size: bytes,
            ..Default::default()
        };
        gpus[0].inner.bind()?;
        let mut granularity = 0;
        let least = raw::CUmulticastGranularity_flags::CU_MULTICAST_GRANULARITY_MINIMUM;
        // SAFETY: the driver writes one number to `granularity` and reads the properties, which outlive the call.
        unsafe {
            call!(cuMulticastGetGranularity(
                &mut granularity,
                &properties,
                least
            ))
        }?;
        for gpu in gpus {
            gpu.inner.bind()?;
            // Both are powers of two.
            granularity = granularity.max(PhysicalOptions::default().granularity(&gpu.inner)?);
        }
        let rounded = bytes.checked_next_multiple_of(granularity);
        // Each device needs the addresses twice.
        let Some(rounded) = rounded.filter(|&bytes| bytes <= isize::MAX as usize / 2) else {
            return Err(Error::misuse(
                "cuMulticastCreate",
                Code::INVALID_VALUE,
                format!("a multicast buffer of {bytes} bytes"),
                "rounded up, twice its size must fit into an address space",
            ));
        };
        properties.size = rounded;
        let mut handle = 0;
        // SAFETY: the driver writes one handle to `handle` and reads the properties, which outlive the call.
        unsafe { call!(cuMulticastCreate(&mut handle, &properties)) }.map_err(|error| {
            error.while_doing(|| {
                format!(
                    "a multicast object of {rounded} bytes for {} devices",
                    gpus.len()
                )
            })
        })?;
        handles.add(handle);
        for gpu in gpus {
            let device = gpu.inner.context().device;
            // SAFETY: `handles` owns the handle.
            unsafe { call!(cuMulticastAddDevice(handle, device)) }.map_err(|error| {
                let choice = gpu.inner.context().choice;
                error.while_doing(|| format!("adding {choice} to a multicast object"))
            })?;
        }
        Ok(MulticastObject {
            handle,
            bytes: rounded,
        })
    }

    /// Memory of a device, bound to the object, and both at addresses. All devices have been added, so that the driver waits for none.
    fn replica(&self, gpu: &Gpu, handles: &Arc<Handles>) -> Result<Replica> {
        const CALL: &str = "MulticastBuffer::zeroed";
        let memory = PhysicalMemory::create(&gpu.inner, self.bytes, PhysicalOptions::default())?;
        let allocation = Allocation::reserved(&gpu.inner, 2 * self.bytes)?;
        let range = allocation.range(CALL)?;
        range.append(&gpu.inner, memory.handle(), self.bytes, MappingAccess::ReadWrite)?;
        let mut held = 0;
        let address = std::ptr::with_exposed_provenance_mut(range.base as usize);
        // SAFETY: the memory has just been mapped at this address; the driver writes one handle to `held`, which outlives the call.
        unsafe { call!(cuMemRetainAllocationHandle(&mut held, address)) }?;
        // Other devices reach the memory by the object, also when this one has unmapped it.
        handles.add(held);
        // SAFETY: `handles` owns both handles; the whole memory is bound to the whole object, which has as many bytes.
        unsafe { call!(cuMulticastBindMem(self.handle, 0, held, 0, self.bytes, 0)) }.map_err(
            |error| {
                let choice = gpu.inner.context().choice;
                error.while_doing(|| format!("binding memory of {choice} to a multicast object"))
            },
        )?;
        range.append(&gpu.inner, self.handle, self.bytes, MappingAccess::ReadWrite)?;
        range.keep(handles.clone());
        Ok(Replica {
            gpu: gpu.clone(),
            memory: allocation,
            team_offset: self.bytes,
        })
    }
}

impl<T: Pod> std::fmt::Debug for MulticastBuffer<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (of, len, devices) = (std::any::type_name::<T>(), self.len, self.devices());
        write!(f, "MulticastBuffer<{of}>[{len}] on {devices} devices")
    }
}

impl<T: Pod> std::fmt::Debug for MulticastReplica<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (of, choice) = (std::any::type_name::<T>(), self.replica.gpu.inner.context().choice);
        write!(f, "MulticastReplica<{of}>[{}] of {choice}", self.len)
    }
}
