//! What other processes and other libraries bring: handles, descriptors, tensors, streams.

use std::ffi::c_void;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::ptr::{NonNull, null_mut};

use warpsmith_host::interop::dlpack::{
    Consumer, DLDataType, DLDevice, DLManagedTensor, DLManagedTensorVersioned, DLPackVersion,
    DLTensor, Tensor,
};
use warpsmith_host::interprocess::{EventHandle, MemoryHandle};
use warpsmith_host::prelude::*;
use warpsmith_host::{
    Extent2, ExternalArrayOptions, ExternalMemory, ExternalMemoryOptions, ForeignWork,
    PhysicalOptions, PoolOptions,
};

use crate::row::{Row, rows};
use crate::world::{LEN, World};

const BYTES: u64 = 1 << 21;

/// Physical memory as another library imports it.
fn external(w: &World) -> Result<ExternalMemory> {
    let options = PhysicalOptions {
        shareable: true,
        ..Default::default()
    };
    let exported = w.gpu.physical_memory(1, options)?.export()?;
    let options = ExternalMemoryOptions {
        bytes: BYTES,
        dedicated: true,
    };
    // SAFETY: it is of so many bytes, all of which are numbers.
    Ok(unsafe { w.gpu.import_external_memory(exported, options) }?)
}

fn no_object() -> OwnedFd {
    File::open("/dev/null").expect("a file").into()
}

fn nonsense() -> MemoryHandle {
    MemoryHandle::from_bytes([7; 64])
}

/// A tensor of these extents without memory.
fn tensor(shape: &mut [i64]) -> DLTensor {
    DLTensor {
        data: null_mut(),
        device: DLDevice {
            device_type: 2,
            device_id: 0,
        },
        ndim: shape.len() as i32,
        dtype: DLDataType {
            code: 2,
            bits: 32,
            lanes: 1,
        },
        shape: shape.as_mut_ptr(),
        strides: null_mut(),
        byte_offset: 0,
    }
}

fn plain(dl_tensor: DLTensor) -> DLManagedTensor {
    DLManagedTensor {
        dl_tensor,
        manager_ctx: null_mut(),
        deleter: None,
    }
}

/// Makes a tensor of a struct that is not one.
fn from_raw(mut raw: DLManagedTensor) -> Result<()> {
    // SAFETY: the struct is there until the call has refused it, and its list has the extents that it says it has.
    unsafe { Tensor::from_raw(NonNull::from(&mut raw)) }.map(drop)
}

pub fn rows() -> Vec<Row> {
    rows! {
        "Gpu::open_buffer", "a handle of no memory" => Driver, |w| {
            // SAFETY: the memory is not read.
            unsafe { w.gpu.open_buffer::<u32>(nonsense(), LEN) }
        };
        "Gpu::open_buffer", "memory of this process" => Driver, |w| {
            let handle = w.gpu.exportable::<u32>(LEN)?.export_handle()?;
            // SAFETY: the memory is not read.
            unsafe { w.gpu.open_buffer::<u32>(handle, LEN) }
        };
        "Gpu::open_buffer", "more bytes than numbers" => Invalid, |w| {
            // SAFETY: the memory is not read.
            unsafe { w.gpu.open_buffer::<u64>(nonsense(), usize::MAX) }
        };
        "Gpu::open_event", "a handle of no event" => Driver, |w| w.gpu.open_event(EventHandle::from_bytes([7; 64]));
        "Gpu::open_event", "an event of this process" => Driver, |w| {
            let event = w.gpu.event_interprocess()?;
            w.gpu.open_event(event.export()?)
        };
        "ImportedPool::buffer", "more elements than the memory has" => Invalid, |w| {
            let pool = w.gpu.pool(PoolOptions { shareable: true, ..Default::default() })?;
            let exported = w.stream.alloc_from(&pool)?.zeroed::<u32>(LEN)?;
            let imported = w.gpu.import_pool(pool.export()?)?;
            // SAFETY: the memory is not read.
            unsafe { imported.buffer::<u32>(&w.stream, exported.export_pointer()?, 1 << 40) }
        };
        "ImportedPool::buffer", "a buffer that is taken" => Invalid, |w| {
            let pool = w.gpu.pool(PoolOptions { shareable: true, ..Default::default() })?;
            let exported = w.stream.alloc_from(&pool)?.zeroed::<u32>(LEN)?;
            let imported = w.gpu.import_pool(pool.export()?)?;
            let pointer = exported.export_pointer()?;
            // SAFETY: the memory is not used.
            let first = unsafe { imported.buffer::<u32>(&w.stream, pointer, LEN) }?;
            // SAFETY: it is refused.
            let second = unsafe { imported.buffer::<u32>(&w.stream, pointer, LEN) };
            drop(first);
            second
        };
        "ImportedPool::buffer", "a pointer of another pool" => Driver, |w| {
            let pool = w.gpu.pool(PoolOptions { shareable: true, ..Default::default() })?;
            let other = w.gpu.pool(PoolOptions { shareable: true, ..Default::default() })?;
            let exported = w.stream.alloc_from(&pool)?.zeroed::<u32>(LEN)?;
            let imported = w.gpu.import_pool(other.export()?)?;
            // SAFETY: the memory is not read.
            unsafe { imported.buffer::<u32>(&w.stream, exported.export_pointer()?, LEN) }
        };
        "Gpu::import_external_memory", "no bytes" => Invalid, |w| {
            let options = ExternalMemoryOptions { bytes: 0, dedicated: true };
            // SAFETY: it is refused.
            unsafe { w.gpu.import_external_memory(no_object(), options) }?;
            Ok(())
        };
        "Gpu::import_external_memory", "a file that is no memory" => Driver, |w| {
            let options = ExternalMemoryOptions { bytes: BYTES, dedicated: true };
            // SAFETY: it is refused.
            unsafe { w.gpu.import_external_memory(no_object(), options) }?;
            Ok(())
        };
        "ExternalMemory::map", "one byte beyond the end" => Limit, |w| {
            // SAFETY: the memory is not read.
            unsafe { external(w)?.map::<u8>(1, BYTES as usize) }
        };
        "ExternalMemory::map", "an end that overflows" => Limit, |w| {
            // SAFETY: the memory is not read.
            unsafe { external(w)?.map::<u8>(u64::MAX, 1) }
        };
        "ExternalMemory::map", "a place that elements are not aligned for" => Invalid, |w| {
            // SAFETY: the memory is not read.
            unsafe { external(w)?.map::<u32>(2, 1) }
        };
        "ExternalMemory::map", "more than the driver aligns" => Limit, |w| {
            // SAFETY: the memory is not read.
            unsafe { external(w)?.map::<super::pools::Aligned>(0, 1) }
        };
        "ExternalMemory::map_array", "an image beyond the end" => Limit, |w| {
            let extents = Extent2 { width: 1024, height: 1024 };
            // SAFETY: the image is not read.
            unsafe { external(w)?.map_array::<u32, _>(0, extents, 1, ExternalArrayOptions::default()) }
        };
        "ExternalMemory::map_array", "no levels" => Limit, |w| {
            // SAFETY: the image is not read.
            unsafe { external(w)?.map_array::<u32, _>(0, super::arrays::SQUARE, 0, ExternalArrayOptions::default()) }
        };
        "Gpu::import_semaphore", "a file that is no semaphore" => Driver, |w| {
            // SAFETY: it is refused.
            unsafe { w.gpu.import_semaphore(no_object()) }?;
            Ok(())
        };
        "Gpu::import_timeline_semaphore", "a file that is no semaphore" => Driver, |w| {
            // SAFETY: it is refused.
            unsafe { w.gpu.import_timeline_semaphore(no_object()) }?;
            Ok(())
        };
        "Stream::adopt", "no memory" => Driver, |w| {
            // SAFETY: it is refused.
            unsafe { w.stream.adopt::<u32, _>(DevicePointer::from_address(0), LEN, ()) }?;
            Ok(())
        };
        "Stream::adopt", "an address that elements are not aligned for" => Invalid, |w| {
            let address = w.words.as_device_ptr().address() + 2;
            // SAFETY: it is refused.
            unsafe { w.stream.adopt::<u32, _>(DevicePointer::from_address(address), 1, ()) }?;
            Ok(())
        };
        "Stream::adopt", "more bytes than numbers" => Invalid, |w| {
            let memory = w.words.as_device_ptr();
            // SAFETY: it is refused.
            unsafe { w.stream.adopt(memory, usize::MAX, ()) }?;
            Ok(())
        };
        "Gpu::adopt_stream", "the per-thread default stream" => Invalid, |w| {
            let per_thread: *mut c_void = std::ptr::without_provenance_mut(2);
            // SAFETY: it is a stream of each thread.
            unsafe { w.gpu.adopt_stream(per_thread, ()) }?;
            Ok(())
        };
        "ForeignWork::enqueue", "work with memory of a graph" => Invalid, |w| {
            let mut graph = w.gpu.graph()?;
            let memory = graph.zeroed::<u32>(LEN)?;
            let mut work = ForeignWork::new("a library's read");
            work.reads(&w.stream, &memory)?;
            // SAFETY: nothing is enqueued.
            unsafe { work.enqueue(|| Ok::<_, Error>(())) }
        };
        "ForeignWork::enqueue_by_ref", "work with memory of a graph" => Invalid, |w| {
            let mut graph = w.gpu.graph()?;
            let memory = graph.zeroed::<u32>(LEN)?;
            let mut work = ForeignWork::new("a library's read");
            work.reads(&w.stream, &memory)?;
            // SAFETY: nothing is enqueued.
            unsafe { work.enqueue_by_ref(|| Ok::<_, Error>(())) }
        };
        "ForeignWork::enqueue_revocable", "work with memory of a graph" => Invalid, |w| {
            let mut graph = w.gpu.graph()?;
            let memory = graph.zeroed::<u32>(LEN)?;
            let mut work = ForeignWork::new("a library's read");
            work.reads(&w.stream, &memory)?;
            // SAFETY: nothing is enqueued.
            unsafe { work.enqueue_revocable(&mut [], || Ok::<_, Error>(())) }
        };
        "export::into_dlpack", "another number of elements" => Invalid, |w| {
            let buffer = w.stream.zeroed::<u32>(LEN)?;
            buffer.into_dlpack(Consumer::Own(&w.stream), &[8, 9])?;
            Ok(())
        };
        "export::into_dlpack", "extents that overflow" => Invalid, |w| {
            let buffer = w.stream.zeroed::<u32>(LEN)?;
            buffer.into_dlpack(Consumer::Own(&w.stream), &[usize::MAX, 2])?;
            Ok(())
        };
        "export::into_dlpack", "memory of a graph" => Invalid, |w| {
            let mut graph = w.gpu.graph()?;
            graph.zeroed::<u32>(LEN)?.into_dlpack(Consumer::Own(&w.stream), &[LEN])?;
            Ok(())
        };
        "Tensor::into_buffer", "elements of another type" => Invalid, |w| {
            let tensor = w.stream.zeroed::<u32>(LEN)?.into_dlpack(Consumer::Own(&w.stream), &[LEN])?;
            // SAFETY: it is refused.
            unsafe { tensor.into_buffer::<f32>(&w.stream) }?;
            Ok(())
        };
        "Tensor::from_raw", "a negative extent" => Invalid, |_w| from_raw(plain(tensor(&mut [4, -1])));
        "Tensor::from_raw", "a negative number of dimensions" => Invalid, |_w| from_raw(plain(DLTensor { ndim: -1, ..tensor(&mut []) }));
        "Tensor::from_raw", "dimensions without a shape" => Invalid, |_w| from_raw(plain(DLTensor { shape: null_mut(), ..tensor(&mut [4]) }));
        "Tensor::from_raw_versioned", "a later version" => Invalid, |_w| {
            let mut raw = DLManagedTensorVersioned {
                version: DLPackVersion { major: 2, minor: 0 },
                manager_ctx: null_mut(),
                deleter: None,
                flags: 0,
                dl_tensor: tensor(&mut [4]),
            };
            // SAFETY: the struct is there until the call has refused it.
            unsafe { Tensor::from_raw_versioned(NonNull::from(&mut raw)) }
        };
        "Consumer::from_python", "no stream" => Invalid, |_w| {
            // SAFETY: it is refused.
            unsafe { Consumer::from_python(Some(0)) }
        };
        "Consumer::from_python", "a negative number" => Invalid, |_w| {
            // SAFETY: it is refused.
            unsafe { Consumer::from_python(Some(-2)) }
        };
    }
}

pub fn far_rows() -> Vec<Row> {
    rows! {
        "ImportedPool::buffer", "in a stream of another device" => Invalid, |w| {
            let (near, far) = w.both();
            let pool = near.gpu.pool(PoolOptions { shareable: true, ..Default::default() })?;
            let exported = near.stream.alloc_from(&pool)?.zeroed::<u32>(LEN)?;
            let imported = near.gpu.import_pool(pool.export()?)?;
            // SAFETY: the memory is not read.
            unsafe { imported.buffer::<u32>(&far.stream, exported.export_pointer()?, LEN) }
        };
        "Gpu::adopt_stream", "a stream of another device" => Invalid, |w| {
            let (near, far) = w.both();
            // SAFETY: the stream is alive, and refused.
            unsafe { near.gpu.adopt_stream(far.stream.as_raw(), ()) }?;
            Ok(())
        };
        "ForeignWork::reads", "memory of another device" => Invalid, |w| {
            let (near, far) = w.both();
            let mut work = ForeignWork::new("a library's read");
            work.reads(near.stream, &far.words).map(drop)
        };
        "ForeignWork::writes", "memory of another device" => Invalid, |w| {
            let (near, far) = w.both();
            let mut work = ForeignWork::new("a library's write");
            work.writes(near.stream, &mut far.words).map(drop)
        };
        "export::into_dlpack", "for a stream of another device" => Invalid, |w| {
            let (near, far) = w.both();
            let buffer = near.stream.zeroed::<u32>(LEN)?;
            buffer.into_dlpack(Consumer::Own(&far.stream), &[LEN])?;
            Ok(())
        };
        "Tensor::into_buffer", "in a stream of another device" => Invalid, |w| {
            let (near, far) = w.both();
            let buffer = near.stream.zeroed::<u32>(LEN)?;
            let tensor = buffer.into_dlpack(Consumer::Own(near.stream), &[LEN])?;
            // SAFETY: it is refused.
            unsafe { tensor.into_buffer::<u32>(&far.stream) }?;
            Ok(())
        };
        "Gpu::allow_peer", "the device itself" => Invalid, |w| w.gpu.allow_peer(&w.gpu);
        "PeerAccess::view", "memory of a pool, by the access to exportable memory" => Invalid, |w| {
            let (near, far) = w.both();
            far.gpu.allow_peer(near.gpu)?.view(&far.words).map(drop)
        };
        "PeerAccess::view", "memory of the device that is let in" => Invalid, |w| {
            let (near, far) = w.both();
            let own = near.gpu.exportable::<u32>(LEN)?;
            far.gpu.allow_peer(near.gpu)?.view(&own).map(drop)
        };
        "PeerAccess::view_mut", "memory of a pool, by the access to exportable memory" => Invalid, |w| {
            let (near, far) = w.both();
            far.gpu.allow_peer(near.gpu)?.view_mut(&mut far.words).map(drop)
        };
    }
}
