//! Random inputs: the same values from the device and from the host (see `warpsmith_kernels::random`).

use anyhow::Result;
use half::f16;
use warpsmith_host::prelude::*;
use warpsmith_kernels as kernels;
use warpsmith_kernels::random::{bits, unit};

/// The kernels that fill buffers.
pub struct Kernels {
    pub(crate) units: TypedKernel<kernels::random::fill_unit>,
    pub(crate) halves: TypedKernel<kernels::random::fill_unit_f16>,
    pub(crate) words: TypedKernel<kernels::random::fill_bits>,
    pub(crate) bytes: TypedKernel<kernels::random::fill_bytes>,
}

impl Kernels {
    pub(crate) fn new(module: &Module) -> Result<Kernels> {
        Ok(Kernels {
            units: module.kernel(kernels::random::fill_unit)?,
            halves: module.kernel(kernels::random::fill_unit_f16)?,
            words: module.kernel(kernels::random::fill_bits)?,
            bytes: module.kernel(kernels::random::fill_bytes)?,
        })
    }
}

/// A type that the suite draws inputs of.
pub trait Fill: bytemuck::Pod {
    /// Element `index` of the sequence `seed`.
    fn draw(seed: u64, index: u64) -> Self;
    /// Enqueues on `stream` the kernel that fills `buffer` with the sequence `seed`.
    fn fill_on_device(
        kernels: &Kernels,
        stream: &Stream,
        buffer: &mut DeviceBuffer<Self>,
        seed: u64,
    ) -> Result<()>;
}

impl Fill for f32 {
    fn draw(seed: u64, index: u64) -> f32 {
        unit(seed, index)
    }
    fn fill_on_device(
        kernels: &Kernels,
        stream: &Stream,
        buffer: &mut DeviceBuffer<f32>,
        seed: u64,
    ) -> Result<()> {
        let grid = Grid::cover(buffer.len(), 256);
        Ok(stream.launch(&kernels.units, grid, (seed, buffer))?)
    }
}

impl Fill for f16 {
    fn draw(seed: u64, index: u64) -> f16 {
        f16::from_f32(unit(seed, index))
    }
    fn fill_on_device(
        kernels: &Kernels,
        stream: &Stream,
        buffer: &mut DeviceBuffer<f16>,
        seed: u64,
    ) -> Result<()> {
        let grid = Grid::cover(buffer.len(), 256);
        Ok(stream.launch(&kernels.halves, grid, (seed, buffer))?)
    }
}

impl Fill for u32 {
    fn draw(seed: u64, index: u64) -> u32 {
        bits(seed, index)
    }
    fn fill_on_device(
        kernels: &Kernels,
        stream: &Stream,
        buffer: &mut DeviceBuffer<u32>,
        seed: u64,
    ) -> Result<()> {
        let grid = Grid::cover(buffer.len(), 256);
        Ok(stream.launch(&kernels.words, grid, (seed, 0, buffer))?)
    }
}

impl Fill for u8 {
    fn draw(seed: u64, index: u64) -> u8 {
        bits(seed, index) as u8
    }
    fn fill_on_device(
        kernels: &Kernels,
        stream: &Stream,
        buffer: &mut DeviceBuffer<u8>,
        seed: u64,
    ) -> Result<()> {
        let grid = Grid::cover(buffer.len(), 256);
        Ok(stream.launch(&kernels.bytes, grid, (seed, buffer))?)
    }
}
