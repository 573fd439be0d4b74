//! Allocation in stream order, pools and arenas.

use warpsmith_host::prelude::*;
use warpsmith_host::{Arena, PoolOptions};

use crate::row::{Row, rows};

/// What is aligned to more than the driver aligns memory to.
#[repr(C, align(512))]
#[derive(Clone, Copy)]
pub struct Aligned([u8; 512]);

// SAFETY: an array of bytes, which is as large as the alignment, has no padding, and any bits are a value.
unsafe impl bytemuck::Zeroable for Aligned {}
// SAFETY: as an array of bytes is: see the line before, and the type is `Copy` and has no pointers.
unsafe impl bytemuck::Pod for Aligned {}

const NO_NODE: Location = Location::HostNuma(u32::MAX);

pub fn rows() -> Vec<Row> {
    rows! {
        "Stream::zeroed", "more bytes than numbers" => Invalid, |w| w.stream.zeroed::<u64>(usize::MAX);
        "Stream::zeroed", "half of an address space" => Invalid, |w| w.stream.zeroed::<u8>(1 << 63);
        "Stream::zeroed", "more than the device has" => Driver, |w| w.stream.zeroed::<u8>(1 << 46);
        "Stream::zeroed", "more than the driver aligns" => Limit, |w| w.stream.zeroed::<Aligned>(1);
        "Stream::filled", "more bytes than numbers" => Invalid, |w| w.stream.filled::<u64>(usize::MAX, 1);
        "Stream::filled", "more than the device has" => Driver, |w| w.stream.filled(1 << 46, 1_u8);
        "Stream::upload", "more than the driver aligns" => Limit, |w| w.stream.upload(&[Aligned([0; 512])]);
        "Stream::uninit", "more bytes than numbers" => Invalid, |w| {
            // SAFETY: the memory is not read.
            unsafe { w.stream.uninit::<u64>(usize::MAX) }
        };
        "Stream::zeroed_anywhere", "more bytes than numbers" => Invalid, |w| w.stream.zeroed_anywhere::<u64>(usize::MAX);
        "PoolAllocator::zeroed", "more than the device has" => Driver, |w| {
            let pool = w.gpu.pool(PoolOptions::default())?;
            w.stream.alloc_from(&pool)?.zeroed::<u8>(1 << 46)
        };
        "PoolAllocator::zeroed", "more than the pool may hold" => Driver, |w| {
            let pool = w.gpu.pool(PoolOptions { max_bytes: Some(1 << 26), ..Default::default() })?;
            w.stream.alloc_from(&pool)?.zeroed::<u8>(1 << 27)
        };
        "PoolAllocator::filled", "more bytes than numbers" => Invalid, |w| {
            let pool = w.gpu.pool(PoolOptions::default())?;
            w.stream.alloc_from(&pool)?.filled::<u64>(usize::MAX, 1)
        };
        "PoolAllocator::upload", "more than the driver aligns" => Limit, |w| {
            let pool = w.gpu.pool(PoolOptions::default())?;
            w.stream.alloc_from(&pool)?.upload(&[Aligned([0; 512])])
        };
        "PoolAllocator::uninit", "more bytes than numbers" => Invalid, |w| {
            let pool = w.gpu.pool(PoolOptions::default())?;
            // SAFETY: the memory is not read.
            unsafe { w.stream.alloc_from(&pool)?.uninit::<u64>(usize::MAX) }
        };
        "Gpu::pool", "no bytes" => Invalid, |w| w.gpu.pool(PoolOptions { max_bytes: Some(0), ..Default::default() });
        "Gpu::pool", "a node of the host that is not there" => Driver, |w| w.gpu.pool(PoolOptions { location: Location::HostNuma(1000), ..Default::default() });
        "Gpu::pool", "a node of the host that has no number" => Invalid, |w| w.gpu.pool(PoolOptions { location: NO_NODE, ..Default::default() });
        "Gpu::pool", "a pool of the host that is shareable" => Invalid, |w| w.gpu.pool(PoolOptions { location: Location::Host, shareable: true, ..Default::default() });
        "Gpu::use_pool", "a pool of the host" => Invalid, |w| {
            let pool = w.gpu.pool(PoolOptions { location: Location::Host, ..Default::default() })?;
            w.gpu.use_pool(&pool)
        };
        "MemoryPool::export", "a pool that is not shareable" => Driver, |w| w.gpu.pool(PoolOptions::default())?.export();
        "DeviceBuffer::export_pointer", "an empty buffer" => Invalid, |w| w.stream.zeroed::<u32>(0)?.export_pointer();
        "DeviceBuffer::export_pointer", "memory of a pool that is not shareable" => Driver, |w| w.words.export_pointer();
        "MemoryPool::allow_peer", "the device itself" => Invalid, |w| w.gpu.pool(PoolOptions::default())?.allow_peer(&w.gpu);
        "Arena::take", "more than is left" => Limit, |w| {
            let mut block = w.stream.zeroed::<u8>(1024)?;
            Arena::new(block.slice_mut(..)).take::<u32>(257).map(drop)
        };
        "Arena::take", "more bytes than numbers" => Invalid, |w| {
            let mut block = w.stream.zeroed::<u8>(1024)?;
            Arena::new(block.slice_mut(..)).take::<u64>(usize::MAX).map(drop)
        };
        "Arena::take_aligned", "an alignment of 0" => Invalid, |w| {
            let mut block = w.stream.zeroed::<u8>(1024)?;
            Arena::new(block.slice_mut(..)).take_aligned::<u32>(1, 0).map(drop)
        };
        "Arena::take_aligned", "an alignment that is no power of two" => Invalid, |w| {
            let mut block = w.stream.zeroed::<u8>(1024)?;
            Arena::new(block.slice_mut(..)).take_aligned::<u32>(1, 48).map(drop)
        };
        "Arena::take_aligned", "an alignment beyond all addresses" => Limit, |w| {
            let mut block = w.stream.zeroed::<u8>(1024)?;
            Arena::new(block.slice_mut(..)).take_aligned::<u32>(1, 1 << 63).map(drop)
        };
    }
}

pub fn far_rows() -> Vec<Row> {
    rows! {
        "Stream::alloc_from", "a pool of another device" => Invalid, |w| {
            let (near, far) = w.both();
            let pool = far.gpu.pool(PoolOptions::default())?;
            near.stream.alloc_from(&pool).map(drop)
        };
        "Gpu::use_pool", "a pool of another device" => Invalid, |w| {
            let (near, far) = w.both();
            near.gpu.use_pool(&far.gpu.pool(PoolOptions::default())?)
        };
    }
}
