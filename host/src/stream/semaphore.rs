//! Semaphores that another program interface made, Vulkan for example, imported by a file descriptor (CUDA C++ Programming Guide, "External
//! Resource Interoperability").

use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, Weak};

use smallvec::SmallVec;
use warpsmith_driver::raw;

use super::Stream;
use crate::context::attribute::Attribute;
use crate::context::primary::Context;
use crate::driver_call::call;
use crate::driver_call::hand_over::hand_over;
use crate::driver_call::handle::Handle;
use crate::error::{Code, Error, Refused, Result};
use crate::gpu::Gpu;
use crate::gpu::open_device::{OpenDevice, Owned, check_same_device};
use crate::order::position::StreamPosition;
use crate::order::stream_handle::StreamHandle;
use crate::reclaim::{FreeCost, Reclaim};
use crate::sync::lock;

/// A binary semaphore of another program interface: signalled or not; a wait makes it unsignalled.
///
/// It may be dropped any time: the driver's object lives until the streams that use it, and the executable graphs, are done with it. On the
/// simulator it is an `eventfd` that is made with `EFD_NONBLOCK`: a signal adds 1 to it, a wait reads it.
///
/// ```
/// use warpsmith_host::prelude::*;
///
/// # fn main() -> Result<()> {
/// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
/// # let (descriptor, other_interface) = semaphore_of_vulkan();
/// let stream = gpu.stream()?;
/// // SAFETY: the descriptor is of a binary semaphore that was made on this device by another interface.
/// let drawn = unsafe { gpu.import_semaphore(descriptor)? };
/// # rustix::io::write(&other_interface, &1_u64.to_ne_bytes()).unwrap();
/// // The other interface has been told to signal it when it has drawn.
/// stream.wait_semaphores(&[drawn.point()])?;
/// // What comes here uses what was drawn.
/// stream.synchronize()
/// # }
/// # fn semaphore_of_vulkan() -> (std::os::fd::OwnedFd, std::os::fd::OwnedFd) {
/// #     let file = rustix::event::eventfd(0, rustix::event::EventfdFlags::NONBLOCK).unwrap();
/// #     (file.try_clone().unwrap(), file)
/// # }
/// ```
///
/// # What the caller sees to
///
/// A semaphore says *when*, and makes no access legal: memory that both interfaces use is mapped by an `unsafe` call
/// ([`ExternalMemory::map`](crate::ExternalMemory::map)), whose conditions these semaphores serve. A wait is issued after its signal has been
/// issued, here or there; else it may hold its stream up for ever, with all that [`StreamFlag`](crate::StreamFlag) says of such waits. A binary
/// semaphore is signalled once for each wait, and a timeline to larger and larger values. The simulator reports where it knows that this is not so.
pub struct ExternalSemaphore {
    imported: Arc<Imported>,
    gpu: Arc<OpenDevice>,
}

/// A timeline semaphore of another program interface: a number that only grows. Waits change nothing about it.
///
/// As [`ExternalSemaphore`], with a value for each signal and wait. On the simulator it is a file in memory whose size is sealed (`memfd_create`
/// with `F_SEAL_SHRINK`); its first eight bytes are the value.
///
/// ```
/// use warpsmith_host::prelude::*;
///
/// # fn main() -> Result<()> {
/// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
/// # let descriptor = timeline_of_vulkan();
/// let stream = gpu.stream()?;
/// // SAFETY: the descriptor is of a timeline semaphore that was made on this device by another interface.
/// let frames = unsafe { gpu.import_timeline_semaphore(descriptor)? };
/// stream.signal_semaphores(&[frames.at(1)])?;   // the other interface waits for 1
/// stream.synchronize()
/// # }
/// # fn timeline_of_vulkan() -> std::os::fd::OwnedFd {
/// #     use rustix::fs::{MemfdFlags, SealFlags};
/// #     let file = rustix::fs::memfd_create("timeline", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING).unwrap();
/// #     rustix::fs::ftruncate(&file, 8).unwrap();
/// #     rustix::fs::fcntl_add_seals(&file, SealFlags::SHRINK).unwrap();
/// #     file
/// # }
/// ```
pub struct ExternalTimeline {
    imported: Arc<Imported>,
    gpu: Arc<OpenDevice>,
}

/// What a stream or a node signals or waits for: a binary semaphore, or a value of a timeline.
#[derive(Clone, Copy)]
pub struct SemaphorePoint<'a> {
    imported: &'a Arc<Imported>,
    gpu: &'a Arc<OpenDevice>,
    value: u64,
}

/// The driver's object, destroyed after its last use.
pub(crate) struct Imported {
    /// Weak: graphs keep it, which wait to be freed as a part of the device.
    gpu: Weak<OpenDevice>,
    context: Arc<Context>,
    raw: Handle<raw::CUexternalSemaphore>,
    /// The streams that may hold signals and waits. One that is gone was idle.
    streams: Mutex<Vec<Weak<StreamHandle>>>,
}

/// The kinds of descriptor.
#[derive(Clone, Copy)]
enum Kind {
    Binary,
    Timeline,
}

impl Gpu {
    /// Imports a binary semaphore by a file descriptor that another program interface has exported
    /// (`VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT`). The driver owns the descriptor from then on.
    ///
    /// # Errors
    ///
    /// The driver refuses the descriptor, or no duplicate can be made of it: the driver is given one, since it may close what it refuses. The
    /// descriptor itself comes back.
    ///
    /// # Safety
    ///
    /// The descriptor, if it is one of a semaphore at all, is of a binary one that was made on this very device. The driver cannot check that.
    // covers: INTEROP-09
    pub unsafe fn import_semaphore(
        &self,
        descriptor: OwnedFd,
    ) -> Result<ExternalSemaphore, Refused<OwnedFd>> {
        match Imported::import(self, &descriptor, Kind::Binary) {
            Ok(imported) => Ok(ExternalSemaphore {
                imported,
                gpu: self.inner.clone(),
            }),
            Err(error) => Err(Refused::new(error, descriptor)),
        }
    }

    /// As [`import_semaphore`](Self::import_semaphore), of a timeline semaphore (`VK_SEMAPHORE_TYPE_TIMELINE`).
    ///
    /// # Errors
    ///
    /// Those of [`import_semaphore`](Self::import_semaphore); the device has no timeline semaphores
    /// ([`Attribute::TIMELINE_SEMAPHORE_INTEROP_SUPPORTED`]).
    ///
    /// # Safety
    ///
    /// As for [`import_semaphore`](Self::import_semaphore), of a timeline.
    // covers: INTEROP-14
    pub unsafe fn import_timeline_semaphore(
        &self,
        descriptor: OwnedFd,
    ) -> Result<ExternalTimeline, Refused<OwnedFd>> {
        match Imported::import(self, &descriptor, Kind::Timeline) {
            Ok(imported) => Ok(ExternalTimeline {
                imported,
                gpu: self.inner.clone(),
            }),
            Err(error) => Err(Refused::new(error, descriptor)),
        }
    }
}

impl ExternalSemaphore {
    /// What is signalled, or waited for.
    pub fn point(&self) -> SemaphorePoint<'_> {
        SemaphorePoint {
            imported: &self.imported,
            gpu: &self.gpu,
            value: 0,
        }
    }
}

impl ExternalTimeline {
    /// Its being at least `value`; a signal makes it that.
    pub fn at(&self, value: u64) -> SemaphorePoint<'_> {
        SemaphorePoint {
            imported: &self.imported,
            gpu: &self.gpu,
            value,
        }
    }
}

/// Semaphores in the form in which the driver takes them, with parameters of a signal or a wait.
pub(crate) struct RawPoints<P> {
    pub(crate) semaphores: SmallVec<[raw::CUexternalSemaphore; 2]>,
    pub(crate) parameters: SmallVec<[P; 2]>,
}

impl<P> RawPoints<P> {
    fn new(points: &[SemaphorePoint<'_>], parameters: impl Fn(u64) -> P) -> Self {
        RawPoints {
            semaphores: points
                .iter()
                .map(|point| point.imported.raw.raw())
                .collect(),
            parameters: points.iter().map(|point| parameters(point.value)).collect(),
        }
    }

    pub(crate) fn len(&self) -> u32 {
        self.semaphores.len() as u32
    }
}

/// Points to signal.
pub(crate) fn signals(
    points: &[SemaphorePoint<'_>],
) -> RawPoints<raw::CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS> {
    RawPoints::new(points, |value| {
        let mut parameters = raw::CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS::default();
        parameters.params.fence.value = value;
        parameters
    })
}

/// Points to wait for.
pub(crate) fn waits(
    points: &[SemaphorePoint<'_>],
) -> RawPoints<raw::CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS> {
    RawPoints::new(points, |value| {
        let mut parameters = raw::CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS::default();
        parameters.params.fence.value = value;
        parameters
    })
}

impl SemaphorePoint<'_> {
    /// # Errors
    ///
    /// The semaphore is of another device.
    pub(crate) fn check_device(&self, call: &'static str, user: Owned<'_>) -> Result<()> {
        check_same_device(call, ("the semaphore", self.gpu), user)
    }

    /// What a graph keeps.
    pub(crate) fn kept(&self) -> Arc<Imported> {
        self.imported.clone()
    }
}

impl Stream {
    /// Signals semaphores of another interface when everything before in this stream is done; returns at once. See [`ExternalSemaphore`]
    /// for what the caller sees to. What is captured signals at each launch of the graph.
    ///
    /// # Errors
    ///
    /// A semaphore is of another device, or something went wrong on the device before.
    // covers: INTEROP-10
    pub fn signal_semaphores(&self, points: &[SemaphorePoint<'_>]) -> Result<()> {
        let raw = signals(points);
        self.use_semaphores("cuSignalExternalSemaphoresAsync", points, || {
            // SAFETY: both arrays have `len` entries; `self` owns the stream. The semaphores live until the stream, which they have noted, and a
            // graph that captures this, which keeps them, are done with them.
            unsafe {
                call!(cuSignalExternalSemaphoresAsync(
                    raw.semaphores.as_ptr(),
                    raw.parameters.as_ptr(),
                    raw.len(),
                    self.handle.raw()
                ))
            }
        })
    }

    /// Lets later work in this stream wait for semaphores of another interface; returns at once. See [`ExternalSemaphore`] for what the
    /// caller sees to. What is captured waits at each launch of the graph.
    ///
    /// # Errors
    ///
    /// A semaphore is of another device, or something went wrong on the device before.
    // covers: INTEROP-10
    pub fn wait_semaphores(&self, points: &[SemaphorePoint<'_>]) -> Result<()> {
        let raw = waits(points);
        self.use_semaphores("cuWaitExternalSemaphoresAsync", points, || {
            // SAFETY: both arrays have `len` entries; `self` owns the stream. The semaphores live until the stream, which they have noted, and a
            // graph that captures this, which keeps them, are done with them.
            unsafe {
                call!(cuWaitExternalSemaphoresAsync(
                    raw.semaphores.as_ptr(),
                    raw.parameters.as_ptr(),
                    raw.len(),
                    self.handle.raw()
                ))
            }
        })
    }

    /// Enqueues what uses semaphores, and lets them know.
    fn use_semaphores(
        &self,
        call: &'static str,
        points: &[SemaphorePoint<'_>],
        enqueue: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        for point in points {
            point.check_device(call, ("the stream", &self.gpu))?;
        }
        if points.is_empty() {
            return Ok(());
        }
        self.gpu.bind()?;
        let guard = self.gpu.lock_order();
        // Before it is enqueued: whatever fails then, they are not destroyed too early.
        match self.gpu.order().capture_of(&guard, &self.handle) {
            Some(capture) => {
                for point in points {
                    capture.keep(&guard, point.kept());
                }
            }
            None => points
                .iter()
                .for_each(|point| point.imported.note_stream(&self.handle)),
        }
        enqueue()
    }
}

impl Imported {
    fn import(gpu: &Gpu, descriptor: &OwnedFd, kind: Kind) -> Result<Arc<Imported>> {
        type Type = raw::CUexternalSemaphoreHandleType;
        let (type_, what) = match kind {
            Kind::Binary => (
                Type::CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD,
                "an external semaphore",
            ),
            Kind::Timeline => {
                if gpu.attribute(Attribute::TIMELINE_SEMAPHORE_INTEROP_SUPPORTED)? == 0 {
                    return Err(Error::unsupported(
                        "a timeline semaphore of another interface",
                        "a device with TIMELINE_SEMAPHORE_INTEROP_SUPPORTED; binary ones are there on all",
                    ));
                }
                (
                    Type::CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD,
                    "an external timeline semaphore",
                )
            }
        };
        gpu.inner.bind()?;
        let mut object = std::ptr::null_mut();
        hand_over("cuImportExternalSemaphore", descriptor, what, |fd| {
            let wish = raw::CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC {
                type_,
                handle: raw::CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC_st__bindgen_ty_1 { fd },
                ..Default::default()
            };
            // SAFETY: the driver writes one handle to `object` and reads `wish`, which outlive the call; the descriptor is open, and of what
            // its caller says.
            unsafe { call!(cuImportExternalSemaphore(&mut object, &wish)) }
        })
        .map_err(|error| {
            error.with_hint_for(Code::UNKNOWN, || match (gpu.is_simulator(), kind) {
                (true, Kind::Binary) => "the simulator's binary semaphores are files of `eventfd`, made with EFD_NONBLOCK".into(),
                (true, Kind::Timeline) => {
                    "the simulator's timeline semaphores are files of `memfd_create`, of eight bytes whose size is sealed (F_SEAL_SHRINK)".into()
                }
                (false, _) => {
                    "the descriptor is no opaque semaphore of this kind that the driver knows: export it for \
                     VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT, of this very device"
                        .into()
                }
            })
        })?;
        Ok(Arc::new(Imported {
            gpu: Arc::downgrade(&gpu.inner),
            context: gpu.inner.context().clone(),
            raw: Handle::new(object),
            streams: Mutex::default(),
        }))
    }

    fn note_stream(&self, stream: &Arc<StreamHandle>) {
        let mut streams = lock(&self.streams);
        streams.retain(|known| known.strong_count() > 0);
        let handle = Arc::downgrade(stream);
        if !streams.iter().any(|known| known.ptr_eq(&handle)) {
            streams.push(handle);
        }
    }
}

impl Drop for Imported {
    fn drop(&mut self) {
        let unused = Unused(self.raw);
        // The device's list keeps a stream until it is idle, so one that is gone holds nothing any more.
        let positions: Vec<_> = std::mem::take(&mut *lock(&self.streams))
            .iter()
            .filter_map(Weak::upgrade)
            .map(StreamPosition::End)
            .collect();
        match self.gpu.upgrade() {
            Some(gpu) => {
                gpu.call_driver_later(move |gpu| gpu.retire(Box::new(unused), &positions));
            }
            // Who closes a device waits for all that it holds.
            None => self.context.destroy(move || unused.destroy()),
        }
    }
}

/// A semaphore that nobody can name any more.
struct Unused(Handle<raw::CUexternalSemaphore>);

impl Unused {
    fn destroy(self) -> Result<()> {
        // SAFETY: the semaphore was imported by its `Imported`, whose `drop` ran once; the streams that used it are past that, and no graph is
        // left that does.
        unsafe { call!(cuDestroyExternalSemaphore(self.0.raw())) }
    }
}

impl Reclaim for Unused {
    fn free_cost(&self) -> FreeCost {
        FreeCost::None
    }

    fn free(self: Box<Self>, _context: &Context) -> Result<()> {
        self.destroy()
    }
}

impl std::fmt::Debug for ExternalSemaphore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ExternalSemaphore").finish_non_exhaustive()
    }
}

impl std::fmt::Debug for ExternalTimeline {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ExternalTimeline").finish_non_exhaustive()
    }
}

impl std::fmt::Debug for SemaphorePoint<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("SemaphorePoint").field(&self.value).finish()
    }
}
