//! What the device can do at best, measured rather than read from a datasheet.

use super::statistics::Samples;
use crate::case::Roof;
use crate::random::Fill;
use crate::session::Session;
use anyhow::Result;
use half::f16;
use serde::Serialize;
use warpsmith_host::prelude::*;
use warpsmith_kernels::peak;

/// The measured roofs.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Roofs {
    /// Bytes a second of a large device-to-device copy, read and written ones together.
    pub copy: f64,
    /// `f32` operations a second of independent multiply-adds.
    pub fma: f64,
    /// Operations a second of independent `f16` products with `f32` sums through `wmma`.
    pub tensor: f64,
}

impl Roofs {
    /// The roof of this kind: bytes or operations a second.
    pub fn of(&self, roof: Roof) -> f64 {
        match roof {
            Roof::Copy => self.copy,
            Roof::Fma => self.fma,
            Roof::Tensor => self.tensor,
        }
    }

    pub(super) fn measure(session: &Session) -> Result<Roofs> {
        let small = session.gpu.is_simulator();
        Ok(Roofs {
            copy: copy(session, if small { 1 << 16 } else { 2 << 30 })?,
            fma: fma(session, if small { 1 } else { 4096 })?,
            tensor: tensor(session, if small { 1 } else { 4096 })?,
        })
    }
}

/// The median of several timings, after one that is not counted.
fn median(session: &Session, mut work: impl FnMut() -> Result<()>) -> Result<f64> {
    let mut samples = Samples::default();
    session.time(&mut work)?;
    samples.warm_up();
    for _ in 0..11 {
        samples.add(session.time(&mut work)?)?;
    }
    Ok(samples.timing()?.median_us * 1e-6)
}

fn copy(session: &Session, bytes: usize) -> Result<f64> {
    let mut from = session.stream.zeroed::<u32>(bytes / 4)?;
    let mut to = session.stream.zeroed::<u32>(bytes / 4)?;
    session.randomise(&mut from, 1)?;
    let seconds = median(session, || Ok(session.stream.copy(&from, &mut to)?))?;
    Ok(2.0 * bytes as f64 / seconds)
}

/// Enough blocks to fill the device several times over.
fn blocks(session: &Session) -> Result<u32> {
    let multiprocessors = session.gpu.attribute(Attribute::MULTIPROCESSOR_COUNT)? as u32;
    Ok(if session.gpu.is_simulator() {
        2
    } else {
        multiprocessors * 16
    })
}

fn fma(session: &Session, rounds: u32) -> Result<f64> {
    let kernel = session.module.kernel(peak::peak_fma)?;
    let threads = blocks(session)? * peak::THREADS;
    let mut out = session.stream.zeroed::<f32>(threads as usize)?;
    let grid = Grid::cover(out.len(), peak::THREADS);
    let seconds = median(session, || {
        Ok(session
            .stream
            .launch(&kernel, grid, (rounds, 0.5f32, &mut out))?)
    })?;
    Ok(2.0 * f64::from(peak::FMA_PER_ROUND) * f64::from(rounds) * f64::from(threads) / seconds)
}

fn tensor(session: &Session, rounds: u32) -> Result<f64> {
    let kernel = session.module.kernel(peak::peak_wmma)?;
    let factor = |seed| -> Vec<f16> { (0..256).map(|i| f16::draw(seed, i)).collect() };
    let (a, b) = (
        session.stream.upload(&factor(1))?,
        session.stream.upload(&factor(2))?,
    );
    let blocks = blocks(session)?;
    let mut out = session.stream.zeroed::<f32>(blocks as usize)?;
    let grid = Grid::new(blocks, peak::THREADS);
    let seconds = median(session, || {
        Ok(session
            .stream
            .launch(&kernel, grid, (rounds, &a, &b, &mut out))?)
    })?;
    let warps = f64::from(blocks * peak::THREADS / 32);
    Ok(2.0 * 4096.0 * f64::from(peak::PRODUCTS_PER_ROUND) * f64::from(rounds) * warps / seconds)
}
