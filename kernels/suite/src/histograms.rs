//! Histograms of any number of bins, counted in the place that the number of bins asks for: [shared memory] of a block or of a
//! [cluster], or global memory.
//!
//! [shared memory]: warpsmith_kernels::histogram_bins
//! [cluster]: warpsmith_kernels::histogram_cluster

use crate::session::Session;
use anyhow::{Result, ensure};
use std::fmt;
use warpsmith_host::prelude::*;
use warpsmith_kernels::{histogram_bins, histogram_cluster};

/// Where a grid counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Each block in its own shared memory.
    Shared,
    /// So many blocks together, each with a part of the bins in its shared memory.
    Cluster(u32),
    /// All blocks in global memory.
    Global,
}

impl Place {
    /// The place for so many bins on this device: shared memory of a block, else of a cluster of two, if they fit there; else global memory,
    /// which larger clusters are slower than (measured on an H200: see the book's page).
    pub fn for_bins(gpu: &Gpu, bins: usize) -> Result<Place> {
        let room = shared_bytes(gpu)?;
        let close = [Place::Shared, Place::Cluster(2)];
        let fitting = close
            .into_iter()
            .find(|place| place.block_bytes(bins) <= room);
        Ok(fitting.unwrap_or(Place::Global))
    }

    /// Whether so many bins have room there.
    pub fn fits(self, gpu: &Gpu, bins: usize) -> Result<bool> {
        Ok(self.block_bytes(bins) <= shared_bytes(gpu)?)
    }

    /// Bytes of shared memory of a block.
    fn block_bytes(self, bins: usize) -> u64 {
        match self {
            Place::Shared => 4 * bins as u64,
            Place::Cluster(blocks) => 4 << histogram_cluster::shift(bins, blocks),
            Place::Global => 0,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Shared => f.write_str("shared"),
            Place::Cluster(blocks) => write!(f, "cluster of {blocks}"),
            Place::Global => f.write_str("global"),
        }
    }
}

/// Bytes of shared memory that a block can have.
fn shared_bytes(gpu: &Gpu) -> Result<u64> {
    Ok(gpu.attribute(Attribute::MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)? as u64)
}

/// A histogram of a number of bins in a place, ready to be launched.
pub struct Histogram {
    bins: usize,
    grid: Grid,
    kernel: Kernel,
}

enum Kernel {
    Shared(TypedKernel<histogram_bins::histogram_shared>),
    Cluster(TypedKernel<histogram_cluster::histogram_cluster>, u32),
    Global(TypedKernel<histogram_bins::histogram_global>),
}

impl Histogram {
    /// Chooses the grid: as many blocks as the device holds at a time.
    ///
    /// # Errors
    /// No bins, or more than fit.
    pub fn new(session: &Session, place: Place, bins: usize) -> Result<Histogram> {
        ensure!(bins > 0, "a histogram has at least one bin");
        ensure!(
            place.fits(&session.gpu, bins)?,
            "{bins} bins do not fit ({place}): a block would need {} bytes of shared memory, and has at most {}; \
             `Place::for_bins` chooses a place in which they do",
            place.block_bytes(bins),
            shared_bytes(&session.gpu)?
        );
        let shared = place.block_bytes(bins) as u32;
        let module = &session.module;
        let (kernel, resident) = match place {
            Place::Shared => {
                let kernel = module.kernel(histogram_bins::histogram_shared)?;
                let resident = kernel.max_cooperative_blocks(histogram_bins::THREADS, shared)?;
                (Kernel::Shared(kernel), resident)
            }
            Place::Cluster(blocks) => {
                let kernel = module.kernel(histogram_cluster::histogram_cluster)?;
                let resident = kernel.max_cooperative_blocks(histogram_cluster::THREADS, shared)?;
                let shift = histogram_cluster::shift(bins, blocks);
                (Kernel::Cluster(kernel, shift), resident)
            }
            Place::Global => {
                let kernel = module.kernel(histogram_bins::histogram_global)?;
                let resident = kernel.max_cooperative_blocks(histogram_bins::THREADS, shared)?;
                (Kernel::Global(kernel), resident)
            }
        };
        // The simulator has the multiprocessors of its profile, yet runs on a few cores.
        let blocks = match session.gpu.is_simulator() {
            true => 12,
            false => resident,
        };
        let cluster = match place {
            Place::Cluster(blocks) => blocks,
            _ => 1,
        };
        let blocks = (blocks / cluster).max(1) * cluster;
        let grid = Grid::new(blocks, histogram_bins::THREADS).shared_bytes(shared);
        Ok(Histogram {
            bins,
            grid: match place {
                Place::Cluster(blocks) => grid.cluster((blocks, 1, 1)),
                _ => grid,
            },
            kernel,
        })
    }

    /// Adds to `bins[min(v, last)]` how often `data` has the value `v`.
    ///
    /// # Errors
    /// `bins` has another length than the histogram was made for.
    pub fn count(
        &self,
        stream: &Stream,
        data: &DeviceBuffer<u32>,
        bins: &mut DeviceBuffer<u32>,
    ) -> Result<()> {
        ensure!(
            bins.len() == self.bins,
            "a histogram of {} bins was given {}",
            self.bins,
            bins.len()
        );
        match &self.kernel {
            Kernel::Shared(kernel) => stream.launch(kernel, self.grid, (data, bins))?,
            Kernel::Global(kernel) => stream.launch(kernel, self.grid, (data, bins))?,
            Kernel::Cluster(kernel, shift) => {
                // SAFETY: `new` made the grid with `4 << shift` bytes for each block, and chose `shift` so that a cluster holds all
                // bins, of which there is at least one (checked there, and the length just now).
                unsafe { stream.launch_unchecked(kernel, self.grid, (data, bins, *shift))? }
            }
        }
        Ok(())
    }
}

/// The same on the CPU.
pub fn oracle(data: &[u32], bins: usize) -> Vec<u32> {
    let mut counts = vec![0; bins];
    for &value in data {
        counts[(value as usize).min(bins - 1)] += 1;
    }
    counts
}
