//! Memory of several devices at once.

use std::marker::PhantomData;
use std::sync::Arc;

use bytemuck::Pod;

use super::access::MappingAccess;
use super::multicast_object::MulticastObject;
use super::physical::{PhysicalMemory, PhysicalOptions};
use crate::error::{Code, Error, Result};
use crate::gpu::Gpu;
use crate::gpu::open_device::{OpenDevice, put_in_one_order};
use crate::memory::allocation::Allocation;
use crate::memory::linear_copy;
use crate::memory::size::{bytes_of, length_mismatch};
use crate::memory::slice::DeviceSliceMut;
use crate::memory::view::RawView;
use crate::order::access::{AccessKind, ViewScope};
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

impl<T: Pod> MulticastBuffer<T> {
    /// A replica of `len` zeros on each of the devices, rounded up to the granularity of multicast objects (2 MiB on an H100) in memory.
    ///
    /// # Errors
    ///
    /// There is no device, or one twice; a device has no multicast memory ([`Attribute::MULTICAST_SUPPORTED`](crate::Attribute::MULTICAST_SUPPORTED)); `len` is 0; or a device has not
    /// so much memory. Nothing is left of what was made until then.
    pub fn zeroed(gpus: &[&Gpu], len: usize) -> Result<MulticastBuffer<T>> {
        let bytes = bytes_of::<T>("cuMulticastCreate", len)?;
        if bytes == 0 {
            return Err(Error::misuse(
                "cuMulticastCreate",
                Code::INVALID_VALUE,
                "a multicast buffer without elements",
                "it has one element at least, of a type that has a size",
            ));
        }
        let object = Arc::new(MulticastObject::create(gpus, bytes)?);
        // Copies of one replica come after kernels on all devices.
        for gpu in &gpus[1..] {
            put_in_one_order(&gpus[0].inner, &gpu.inner);
        }
        let replica = |gpu: &&Gpu| Replica::create(gpu, &object);
        let replicas = gpus.iter().map(replica).collect::<Result<_>>()?;
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

    /// Copies the replica of the stream's device to the host. The copy comes after all launches so far that use the buffer, on any of its devices.
    ///
    /// ```
    /// # use warpsmith_host::prelude::*;
    /// # use warpsmith_host::MulticastBuffer;
    /// # fn main() -> Result<()> {
    /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
    /// let mut words = MulticastBuffer::<u32>::zeroed(&[&gpu], 2)?;
    /// assert_eq!(words.download(&gpu.stream()?)?, [0, 0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The stream's device is not of the team; the stream is being captured; or something went wrong on the device before.
    pub fn download(&mut self, stream: &Stream) -> Result<Vec<T>> {
        let mut data = vec![T::zeroed(); self.len];
        self.copy("cuMemcpyDtoHAsync", stream, |own| {
            // SAFETY: the replica and the destination have `own.bytes` bytes. `copy` keeps the replica until its last use and puts all kernels that write
            // it in order with the copy; the destination is there until the wait below.
            unsafe {
                let stream = stream.handle.stream_ref();
                linear_copy::to_host(data.as_mut_ptr().cast(), own, own.bytes, stream)
            }
        })?;
        Ok(data)
    }

    /// Copies data to the replica of the stream's device; the others stay as they are. The copy comes after all launches so far that use the buffer, on any of
    /// its devices, and is done when this returns.
    ///
    /// # Errors
    ///
    /// The stream's device is not of the team; the data has another length; the stream is being captured; or something went wrong on the
    /// device before.
    pub fn upload(&mut self, stream: &Stream, data: &[T]) -> Result<()> {
        const CALL: &str = "cuMemcpyHtoDAsync";
        if data.len() != self.len {
            return Err(length_mismatch(CALL, data.len(), self.len));
        }
        self.copy(CALL, stream, |own| {
            // SAFETY: the replica and the data have `own.bytes` bytes (the lengths are compared above). `copy` keeps the replica until its last use and
            // puts all kernels that use it in order with the copy; the data is there until the wait below.
            unsafe {
                let stream = stream.handle.stream_ref();
                linear_copy::from_host(own, data.as_ptr().cast(), own.bytes, stream)
            }
        })
    }

    /// Enqueues a copy that uses the replica of the stream's device, and waits until it is done. Kernels of all devices reach the replica, and copies are not
    /// atomic: the copy comes after all launches that use any replica, and before those that do later, graphs' too.
    fn copy(
        &mut self,
        call: &'static str,
        stream: &Stream,
        enqueue: impl FnOnce(RawView<'_>) -> Result<()>,
    ) -> Result<()> {
        stream.handle.refuse_capture(
            call,
            "the host would have to wait for the copy",
            "copy before the capture, or when the graph has been launched",
        )?;
        let own = self.find(call, &stream.gpu)?.view();
        stream.gpu.bind()?;
        let uses = self.replicas.iter().filter_map(|replica| {
            let view = RawView::whole::<T>(Some(&replica.memory), self.len);
            let scope = match Arc::ptr_eq(&replica.gpu.inner, &stream.gpu) {
                true => view.scope,
                // Its own device's streams alone may find that nobody else uses it.
                false => ViewScope::Shared,
            };
            RawView { scope, ..view }.use_for(AccessKind::Write)
        });
        stream.after_uses(call, own.bytes, uses, || enqueue(own))?;
        stream.wait_for_borrowed_host_memory()
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
                "name all devices that use the buffer in `MulticastBuffer::zeroed`, by the same `Gpu`",
            ));
        };
        Ok(MulticastReplica {
            replica,
            len: self.len,
            of: PhantomData,
        })
    }
}

impl<'a, T: Pod> MulticastReplica<'a, T> {
    /// The local replica.
    pub(crate) fn view(self) -> RawView<'a> {
        RawView::whole::<T>(Some(&self.replica.memory), self.len)
    }

    /// How far behind the local replica the multicast object's addresses begin.
    pub(crate) fn team_offset(self) -> u64 {
        self.replica.team_offset as u64
    }
}

impl Replica {
    /// Memory of the device, bound to the object, and both at addresses.
    fn create(gpu: &Gpu, object: &Arc<MulticastObject>) -> Result<Replica> {
        let bytes = object.bytes();
        let physical = PhysicalMemory::create(&gpu.inner, bytes, PhysicalOptions::default())?;
        let memory = Allocation::reserved(&gpu.inner, 2 * bytes)?;
        let range = memory.range("MulticastBuffer::zeroed")?;
        range.keep(object.clone());
        range.append(
            &gpu.inner,
            physical.handle(),
            bytes,
            MappingAccess::ReadWrite,
        )?;
        object.bind(gpu, range.base)?;
        range.append(&gpu.inner, object.handle(), bytes, MappingAccess::ReadWrite)?;
        Ok(Replica {
            gpu: gpu.clone(),
            memory,
            team_offset: bytes,
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
        let (of, choice) = (
            std::any::type_name::<T>(),
            self.replica.gpu.inner.context().choice,
        );
        write!(f, "MulticastReplica<{of}>[{}] of {choice}", self.len)
    }
}
