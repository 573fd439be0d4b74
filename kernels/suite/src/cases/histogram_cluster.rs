//! A histogram of more bins than a block wants to hold: spread over a cluster's shared memory.

use crate::case::{Case, Problem, Work};
use crate::check::{Verified, equal};
use crate::launch_pair;
use crate::random::Fill;
use crate::session::{Implementation, Pair, Session};
use anyhow::Result;
use warpsmith_host::prelude::*;
use warpsmith_kernels as kernels;

pub(super) const CASE: Case = Case {
    name: "histogram_cluster",
    summary: "thousands of bins in distributed shared memory",
    unit: "values",
    simulator_size: 200_003,
    gpu_size: 1 << 28,
    ragged: &[1, 3, 5, 1023, 4097, 20_001],
    twin: "histogram_cluster",
    entries: &["histogram_cluster"],
    prepare: |session, n| {
        // On a GPU as many bins as a cluster of 4 holds with several blocks on a multiprocessor; else few enough
        // that clearing them is not the whole work. 1000 bins do not divide by the cluster.
        let (bins, cluster, value_bits) = if session.gpu.is_simulator() {
            (1000, 4, 10)
        } else {
            (32_700, 4, 15)
        };
        let shift = kernels::histogram_cluster::shift(bins, cluster);
        let blocks = super::persistent_blocks(session, 4, n.div_ceil(1024))?;
        let kernel = session.pair(
            kernels::histogram_cluster::histogram_cluster,
            "histogram_cluster",
        )?;
        let shared: u32 = 4 << shift;
        kernel.ours.set_max_dynamic_shared(shared)?;
        if let Some(twin) = &kernel.twin {
            twin.set_max_dynamic_shared(shared)?;
        }
        Ok(Box::new(Histogram {
            kernel,
            data: session.stream.zeroed(n)?,
            bins: session.stream.zeroed(bins)?,
            grid: Grid::new(
                blocks.next_multiple_of(cluster),
                kernels::histogram_cluster::THREADS,
            )
            .cluster((cluster, 1, 1))
            .shared_bytes(shared),
            shift,
            value_bits,
            seed: 0,
        }))
    },
};

struct Histogram {
    kernel: Pair<kernels::histogram_cluster::histogram_cluster>,
    data: DeviceBuffer<u32>,
    bins: DeviceBuffer<u32>,
    grid: Grid,
    shift: u32,
    value_bits: u32,
    seed: u64,
}

impl Problem for Histogram {
    fn shape(&self) -> String {
        format!("{} values, {} bins", self.data.len(), self.bins.len())
    }

    fn work(&self) -> Work {
        Work::copy(4 * self.data.len())
    }

    fn refresh(&mut self, session: &Session, seed: u64) -> Result<()> {
        self.seed = seed;
        // A few values lie beyond the last bin, which counts them.
        session.randomise_shifted(&mut self.data, seed, 32 - self.value_bits)?;
        Ok(session.stream.fill(&mut self.bins, 0)?)
    }

    fn launch(&mut self, session: &Session, implementation: Implementation) -> Result<()> {
        // SAFETY: `prepare` made the grid with `4 << shift` bytes for each block, and chose `shift` so that a cluster holds
        // all bins, of which there is at least one.
        unsafe {
            launch_pair!(unsafe session, implementation, self.kernel, self.grid, (&self.data, &mut self.bins, self.shift))
        };
        Ok(())
    }

    fn verify(&mut self, session: &Session) -> Result<Result<Verified, String>> {
        let got = session.stream.download(&self.bins)?;
        let mut want = vec![0u32; self.bins.len()];
        let last = want.len() - 1;
        for i in 0..self.data.len() as u64 {
            want[(u32::draw(self.seed, i) >> (32 - self.value_bits)).min(last as u32) as usize] +=
                1;
        }
        Ok(equal(&got, &want).map_err(|wrong| wrong.to_string()))
    }
}
