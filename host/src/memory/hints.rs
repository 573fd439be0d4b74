//! Where unified memory should be and how it is used: hints, and what was said so far. They never change results.

use std::ops::RangeBounds;

use bytemuck::Pod;
use warpsmith_driver::raw;

use super::unified::UnifiedBuffer;
use super::view::{DeviceRead, RawView};
use crate::driver_call::call;
use crate::error::{Code, Error, Result};
use crate::gpu::open_device::OpenDevice;
use crate::order::access::AccessKind;
use crate::stream::Stream;

/// Where memory should be.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Location {
    /// In the device's memory.
    #[default]
    Device,
    /// In the host's memory.
    Host,
    /// In the memory of this NUMA node of the host, as the system numbers them. `Attribute::HOST_NUMA_ID` is the one that is nearest to the device.
    HostNuma(u32),
}

/// How memory will be used. Advice never changes results.
// covers: UM-22, UM-26
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Advice {
    /// Mostly read, so copies on each side are worth it.
    ReadMostly,
    /// Takes [`ReadMostly`](Self::ReadMostly) back.
    NotReadMostly,
    /// Should stay here.
    Prefer(Location),
    /// Takes [`Prefer`](Self::Prefer) back.
    PreferNothing,
    /// Will be reached from here, so it should be mapped. The host is meant as a whole: it has no [`Location::HostNuma`].
    AccessedBy(Location),
    /// Takes [`AccessedBy`](Self::AccessedBy) back.
    NotAccessedBy(Location),
}

/// What was said about unified memory ([`UnifiedBuffer::hints`]).
// covers: UM-27
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct UnifiedHints {
    /// [`Advice::ReadMostly`] was given for all of it.
    pub read_mostly: bool,
    /// Where all of it should stay; `None` where that was said of no page, not of all, or differs.
    pub preferred: Option<HintedLocation>,
    /// Who was said to reach all of it.
    pub accessed_by: Vec<HintedLocation>,
    /// Where all of it was sent by the last [`Stream::prefetch`], which may not have begun; `None` where that differs.
    pub last_prefetch: Option<HintedLocation>,
}

/// A place that was named in a hint: of this process, so that it may be another device than the memory's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HintedLocation {
    /// The device that the driver gives this number.
    Device(i32),
    /// The host's memory.
    Host,
    /// A NUMA node of the host.
    HostNuma(u32),
}

/// How a place is named to the driver.
enum Named {
    /// By a device's number, or the processor's.
    Device(raw::CUdevice),
    /// By a location, which drivers take since CUDA 12.2.
    Location(raw::CUmemLocation),
}

impl Named {
    fn of(location: Location, gpu: &OpenDevice) -> Result<Named> {
        match location {
            Location::Device => Ok(Named::Device(gpu.context().device)),
            Location::Host => Ok(Named::Device(raw::CU_DEVICE_CPU)),
            Location::HostNuma(_) => Ok(Named::Location(driver_location(location, gpu)?)),
        }
    }
}

/// What to do about a NUMA node that there is not.
pub(super) const NEAREST_NODE: &str =
    "`Attribute::HOST_NUMA_ID` is the node that is nearest to the device";

/// The place as the driver's functions since CUDA 12.2 take it.
///
/// # Errors
///
/// There is no such NUMA node.
pub(super) fn driver_location(location: Location, gpu: &OpenDevice) -> Result<raw::CUmemLocation> {
    use raw::CUmemLocationType as Type;
    let (type_, id) = match location {
        Location::Device => (Type::CU_MEM_LOCATION_TYPE_DEVICE, gpu.context().device),
        Location::Host => (Type::CU_MEM_LOCATION_TYPE_HOST, 0),
        Location::HostNuma(node) => {
            let id = i32::try_from(node).map_err(|_| {
                Error::misuse(
                    "Location::HostNuma",
                    Code::INVALID_VALUE,
                    format!("there is no NUMA node {node}"),
                    NEAREST_NODE,
                )
            })?;
            (Type::CU_MEM_LOCATION_TYPE_HOST_NUMA, id)
        }
    };
    let mut location = raw::CUmemLocation {
        type_,
        ..Default::default()
    };
    location.__bindgen_anon_1.id = id;
    Ok(location)
}

/// What it means that the driver does not take a location.
fn location_refused(error: Error, location: Location) -> Error {
    if error.code() == Some(Code::NOT_SUPPORTED) {
        return Error::unsupported(
            format!("unified memory at {location:?}"),
            "a driver of CUDA 12.2 or newer",
        );
    }
    error.while_doing(|| format!("unified memory at {location:?}"))
}

impl<T: Pod> UnifiedBuffer<T> {
    /// Tells the driver how the memory will be used.
    ///
    /// # Errors
    ///
    /// There is no such NUMA node, or the driver cannot be told of one; or accesses from a node were advised.
    // covers: UM-23, UM-24, UM-25
    pub fn advise(&self, advice: Advice) -> Result<()> {
        self.advise_part(.., advice)
    }

    /// Tells the driver how a part of the memory will be used. It counts for whole pages: what lies on the same pages at both ends is meant, too.
    ///
    /// ```
    /// use warpsmith_host::prelude::*;
    /// use warpsmith_host::HintedLocation;
    ///
    /// # fn main() -> Result<()> {
    /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
    /// let table = gpu.unified::<u32>(1 << 20)?;
    /// table.advise_part(..1 << 19, Advice::ReadMostly)?;
    /// table.advise_part(1 << 19.., Advice::Prefer(Location::Host))?;
    /// assert!(table.hints(..1 << 19)?.read_mostly && !table.hints(..)?.read_mostly);
    /// assert_eq!(table.hints(1 << 19..)?.preferred, Some(HintedLocation::Host));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`advise`](Self::advise).
    ///
    /// # Panics
    ///
    /// The range is out of bounds.
    pub fn advise_part(&self, range: impl RangeBounds<usize>, advice: Advice) -> Result<()> {
        const CALL: &str = "cuMemAdvise";
        let part = self.slice(range);
        let view = part.view();
        let Some(allocation) = view.allocation.filter(|_| view.bytes > 0) else {
            return Ok(());
        };
        let gpu = &allocation.gpu;
        // What names no place says so by the device.
        let (advice, location) = match advice {
            Advice::ReadMostly => (
                raw::CUmem_advise::CU_MEM_ADVISE_SET_READ_MOSTLY,
                Location::Device,
            ),
            Advice::NotReadMostly => (
                raw::CUmem_advise::CU_MEM_ADVISE_UNSET_READ_MOSTLY,
                Location::Device,
            ),
            Advice::Prefer(location) => (
                raw::CUmem_advise::CU_MEM_ADVISE_SET_PREFERRED_LOCATION,
                location,
            ),
            Advice::PreferNothing => (
                raw::CUmem_advise::CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION,
                Location::Device,
            ),
            Advice::AccessedBy(Location::HostNuma(_))
            | Advice::NotAccessedBy(Location::HostNuma(_)) => {
                return Err(Error::misuse(
                    CALL,
                    Code::INVALID_VALUE,
                    "accesses are advised of the whole host, not of a NUMA node",
                    "use `Location::Host`",
                ));
            }
            Advice::AccessedBy(location) => {
                (raw::CUmem_advise::CU_MEM_ADVISE_SET_ACCESSED_BY, location)
            }
            Advice::NotAccessedBy(location) => {
                (raw::CUmem_advise::CU_MEM_ADVISE_UNSET_ACCESSED_BY, location)
            }
        };
        let named = Named::of(location, gpu)?;
        gpu.bind()?;
        // SAFETY: the range is of the allocation, which `self` keeps alive; advice changes no contents.
        unsafe {
            match named {
                Named::Device(device) => {
                    call!(cuMemAdvise(view.address, view.bytes, advice, device))
                }
                Named::Location(location) => {
                    call!(cuMemAdvise_v2(view.address, view.bytes, advice, location))
                }
            }
        }
        .map_err(|error| location_refused(error, location))
    }

    /// What was said so far about a part of the memory, by whole pages.
    ///
    /// # Errors
    ///
    /// An earlier fault on the device.
    ///
    /// # Panics
    ///
    /// The range is out of bounds.
    pub fn hints(&self, range: impl RangeBounds<usize>) -> Result<UnifiedHints> {
        /// More processors than a machine has.
        const PROCESSORS: usize = 129;
        type Key = raw::CUmem_range_attribute;
        let part = self.slice(range);
        let view = part.view();
        let Some(allocation) = view.allocation.filter(|_| view.bytes > 0) else {
            return Ok(UnifiedHints::default());
        };
        allocation.gpu.bind()?;
        let one = |key| -> Result<i32> { Ok(range_attribute::<1>(view, key)?[0]) };
        let location = |kind, number, device| -> Result<_> {
            Ok(match (one(kind), one(number)) {
                (Ok(kind), Ok(number)) => HintedLocation::of_driver(kind, number),
                // A driver older than CUDA 12.2 knows devices and the processor alone.
                _ => HintedLocation::of_device(one(device)?),
            })
        };
        let accessed_by: [i32; PROCESSORS] =
            range_attribute(view, Key::CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY)?;
        Ok(UnifiedHints {
            read_mostly: one(Key::CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY)? != 0,
            preferred: location(
                Key::CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE,
                Key::CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID,
                Key::CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION,
            )?,
            accessed_by: accessed_by
                .into_iter()
                .filter_map(HintedLocation::of_device)
                .collect(),
            last_prefetch: location(
                Key::CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE,
                Key::CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID,
                Key::CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION,
            )?,
        })
    }
}

impl HintedLocation {
    fn of_device(device: raw::CUdevice) -> Option<HintedLocation> {
        match device {
            raw::CU_DEVICE_CPU => Some(HintedLocation::Host),
            raw::CU_DEVICE_INVALID => None,
            device => Some(HintedLocation::Device(device)),
        }
    }

    fn of_driver(kind: i32, number: i32) -> Option<HintedLocation> {
        match raw::CUmemLocationType(kind.cast_unsigned()) {
            raw::CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE => {
                Some(HintedLocation::Device(number))
            }
            raw::CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST => Some(HintedLocation::Host),
            raw::CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST_NUMA => {
                Some(HintedLocation::HostNuma(number.cast_unsigned()))
            }
            _ => None,
        }
    }
}

/// An attribute of a range of managed memory, as so many integers.
fn range_attribute<const N: usize>(
    view: RawView<'_>,
    key: raw::CUmem_range_attribute,
) -> Result<[i32; N]> {
    let mut answer = [raw::CU_DEVICE_INVALID; N];
    // SAFETY: the driver writes at most the bytes of `answer` to it, which outlives the call; the view's allocation is alive.
    unsafe {
        call!(cuMemRangeGetAttribute(
            answer.as_mut_ptr().cast(),
            size_of_val(&answer),
            key,
            view.address,
            view.bytes
        ))
    }
    .map_err(|error| error.while_doing(|| format!("{key:?}")))?;
    Ok(answer)
}

impl Stream {
    /// Moves unified memory, a buffer or a part of one, to where it will be used next, after the earlier work of this stream and before the later.
    /// [`Location::Device`] is this stream's device, whichever the memory was made for. It goes by whole pages: what lies on the same pages at both
    /// ends moves, too.
    ///
    /// ```
    /// use warpsmith_host::prelude::*;
    ///
    /// # fn main() -> Result<()> {
    /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
    /// let stream = gpu.stream()?;
    /// let numbers = gpu.unified::<u32>(1 << 20)?;
    /// stream.prefetch(&numbers.slice(..1 << 19), Location::Device)?;
    /// stream.prefetch(&numbers.slice(1 << 19..), Location::Host)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// It is other memory, which does not move; there is no such NUMA node, or the driver cannot be told of one; or the stream is being captured.
    // covers: UM-21
    pub fn prefetch<M: DeviceRead + ?Sized>(&self, memory: &M, to: Location) -> Result<()> {
        const CALL: &str = "cuMemPrefetchAsync";
        let view = memory.raw_view();
        if !moves(CALL, view)? {
            return Ok(());
        }
        self.handle.refuse_capture(
            CALL,
            "no node of a graph moves unified memory",
            "prefetch in the stream that launches the graph, before the launch",
        )?;
        self.in_order(CALL, view.bytes, &[view.used_for(AccessKind::Read)], || {
            // SAFETY: the range is of a managed allocation, which `in_order` keeps until its last use.
            unsafe { self.enqueue_prefetch(view, to) }
        })
    }

    /// Enqueues one prefetch.
    ///
    /// # Errors
    ///
    /// There is no such NUMA node, or the driver cannot be told of one.
    ///
    /// # Safety
    ///
    /// The range is of managed memory, which lives until the stream has done this, as which it is put in order.
    pub(super) unsafe fn enqueue_prefetch(&self, view: RawView<'_>, to: Location) -> Result<()> {
        let stream = self.handle.raw();
        let RawView { address, bytes, .. } = view;
        // SAFETY: the caller has the memory; moving it changes no contents.
        unsafe {
            match Named::of(to, &self.gpu)? {
                Named::Device(device) => {
                    call!(cuMemPrefetchAsync(address, bytes, device, stream))
                }
                Named::Location(location) => {
                    call!(cuMemPrefetchAsync_v2(address, bytes, location, 0, stream))
                }
            }
        }
        .map_err(|error| location_refused(error, to))
    }
}

/// Whether there is something to move.
///
/// # Errors
///
/// It is memory that does not.
pub(super) fn moves(call: &'static str, view: RawView<'_>) -> Result<bool> {
    let Some(allocation) = view.allocation.filter(|_| view.bytes > 0) else {
        return Ok(false);
    };
    if allocation.is_managed() {
        return Ok(true);
    }
    Err(Error::misuse(
        call,
        Code::INVALID_VALUE,
        "only unified memory moves",
        "make it by `gpu.unified`, or copy it to where it is used",
    ))
}
