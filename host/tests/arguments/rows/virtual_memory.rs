//! Virtual memory, exportable memory and memory of the host.

use std::fs::File;

use warpsmith_host::{MappingAccess, PhysicalOptions};

use crate::row::{Row, rows};

fn no_memory() -> File {
    File::open("/dev/null").expect("a file")
}

pub fn rows() -> Vec<Row> {
    rows! {
        "Gpu::growable", "more bytes than numbers" => Invalid, |w| w.gpu.growable::<u64>(usize::MAX);
        "Gpu::growable", "more than there are addresses" => Driver, |w| w.gpu.growable::<u8>(1 << 60);
        "Stream::grow_zeroed", "one beyond the capacity" => Limit, |w| {
            let mut few = w.gpu.growable::<u32>(1 << 20)?;
            let beyond = few.capacity() + 1;
            w.stream.grow_zeroed(&mut few, beyond)
        };
        "Stream::grow_zeroed", "a length that overflows" => Limit, |w| w.stream.grow_zeroed(&mut w.gpu.growable::<u32>(1000)?, usize::MAX);
        "Stream::extend", "beyond the capacity" => Limit, |w| {
            let mut few = w.gpu.growable::<u32>(1000)?;
            let capacity = few.capacity();
            w.stream.grow_zeroed(&mut few, capacity)?;
            w.stream.extend(&mut few, &[1])
        };
        "GrowableBuffer::allow_peer", "the device itself" => Invalid, |w| w.gpu.growable::<u32>(1000)?.allow_peer(&w.gpu);
        "Gpu::physical_memory", "no bytes" => Invalid, |w| w.gpu.physical_memory(0, PhysicalOptions::default());
        "Gpu::physical_memory", "bytes that cannot be rounded up" => Invalid, |w| w.gpu.physical_memory(usize::MAX, PhysicalOptions::default());
        "Gpu::physical_memory", "more than the device has" => Driver, |w| w.gpu.physical_memory(1 << 46, PhysicalOptions::default());
        "Gpu::import_physical_memory", "no bytes" => Invalid, |w| w.gpu.import_physical_memory(no_memory(), 0);
        "Gpu::import_physical_memory", "a size that is not whole" => Invalid, |w| w.gpu.import_physical_memory(no_memory(), 1000);
        "Gpu::import_physical_memory", "a file that is no memory" => Driver, |w| w.gpu.import_physical_memory(no_memory(), 1 << 21);
        "Gpu::import_physical_memory", "a multiple of the granularity that is not the memory's size" => Invalid, |w| {
            let options = PhysicalOptions { shareable: true, ..Default::default() };
            let memory = w.gpu.physical_memory(1, options)?;
            w.gpu.import_physical_memory(memory.export()?, 3 * memory.bytes())
        };
        "PhysicalMemory::export", "memory that is not shareable" => Invalid, |w| w.gpu.physical_memory(1, PhysicalOptions::default())?.export();
        "PhysicalMemory::map", "more than the driver aligns" => Limit, |w| {
            let memory = w.gpu.physical_memory(1, PhysicalOptions::default())?;
            // SAFETY: nobody else maps the memory.
            unsafe { memory.map::<super::pools::Aligned>(MappingAccess::ReadWrite) }
        };
        "DeviceBuffer::allow_peer", "memory that is not mapped" => Invalid, |w| w.words.allow_peer(&w.gpu);
        "DeviceBuffer::allow_peer", "no memory" => Invalid, |w| w.stream.zeroed::<u32>(0)?.allow_peer(&w.gpu);
        "Gpu::exportable", "more bytes than numbers" => Invalid, |w| w.gpu.exportable::<u64>(usize::MAX);
        "Gpu::exportable", "bytes that cannot be rounded up" => Driver, |w| w.gpu.exportable::<u8>(isize::MAX as usize);
        "DeviceBuffer::export_handle", "memory of a pool" => Invalid, |w| w.words.export_handle();
        "DeviceBuffer::export_handle", "no memory" => Invalid, |w| w.gpu.exportable::<u32>(0)?.export_handle();
        "Gpu::import_pool", "a file that is no pool" => Driver, |w| w.gpu.import_pool(no_memory());
        "Gpu::pinned", "more bytes than numbers" => Invalid, |w| w.gpu.pinned::<u64>(usize::MAX);
        "Gpu::pinned", "more than the host has" => Driver, |w| w.gpu.pinned::<u8>(1 << 60);
        "Gpu::pinned_from", "more than the driver aligns" => Limit, |w| w.gpu.pinned_from(&[<super::pools::Aligned as bytemuck::Zeroable>::zeroed()]);
        "Gpu::mapped_from", "more than the driver aligns" => Limit, |w| w.gpu.mapped_from(&[<super::pools::Aligned as bytemuck::Zeroable>::zeroed()]);
        "Gpu::register", "more than the driver aligns" => Limit, |w| w.gpu.register(vec![<super::pools::Aligned as bytemuck::Zeroable>::zeroed()]);
        "Gpu::mapped", "more bytes than numbers" => Invalid, |w| w.gpu.mapped::<u64>(usize::MAX);
        "Gpu::mapped", "more than the host has" => Driver, |w| w.gpu.mapped::<u8>(1 << 60);
        "Gpu::write_combined", "more bytes than numbers" => Invalid, |w| w.gpu.write_combined::<u64>(usize::MAX);
        "Gpu::write_combined", "more than the host has" => Driver, |w| w.gpu.write_combined::<u8>(1 << 60);
        "Gpu::shared_atomics", "more bytes than numbers" => Invalid, |w| w.gpu.shared_atomics::<u64>(usize::MAX);
        "Gpu::unified_atomics", "more bytes than numbers" => Invalid, |w| w.gpu.unified_atomics::<u64>(usize::MAX);
        "Gpu::unified", "more bytes than numbers" => Invalid, |w| w.gpu.unified::<u64>(usize::MAX);
        "Gpu::unified", "more than the host and the device have" => Driver, |w| w.gpu.unified::<u8>(1 << 60);
    }
}
