//! The histogram of bytes.

use crate::case::{Case, Problem, Work};
use crate::check::{Verified, equal};
use crate::launch_pair;
use crate::random::Fill;
use crate::session::{Implementation, Pair, Session};
use anyhow::Result;
use warpsmith_host::prelude::*;
use warpsmith_kernels as kernels;

pub(super) const CASE: Case = Case {
    name: "histogram",
    summary: "256 bins, one shared histogram a warp",
    unit: "bytes",
    simulator_size: 1_000_007,
    gpu_size: 1 << 30,
    ragged: &[1, 15, 16, 17, 4095, 4097, 65_553],
    twin: "histogram",
    entries: &["histogram"],
    prepare: |session, n| {
        Ok(Box::new(Histogram {
            kernel: session.pair(kernels::histogram::histogram, "histogram")?,
            data: session.stream.zeroed(n)?,
            bins: session.stream.zeroed(256)?,
            blocks: super::persistent_blocks(session, 8, n.div_ceil(kernels::histogram::TILE))?,
            seed: 0,
        }))
    },
};

struct Histogram {
    kernel: Pair<kernels::histogram::histogram>,
    data: DeviceBuffer<u8>,
    bins: DeviceBuffer<u32>,
    blocks: u32,
    seed: u64,
}

impl Problem for Histogram {
    fn shape(&self) -> String {
        format!("{} bytes", self.data.len())
    }

    fn work(&self) -> Work {
        Work::copy(self.data.len())
    }

    fn refresh(&mut self, session: &Session, seed: u64) -> Result<()> {
        self.seed = seed;
        session.randomise(&mut self.data, seed)?;
        Ok(session.stream.fill(&mut self.bins, 0)?)
    }

    fn launch(&mut self, session: &Session, implementation: Implementation) -> Result<()> {
        let grid = Grid::new(self.blocks, kernels::histogram::THREADS);
        launch_pair!(
            session,
            implementation,
            self.kernel,
            grid,
            (&self.data, &mut self.bins)
        );
        Ok(())
    }

    fn verify(&mut self, session: &Session) -> Result<Result<Verified, String>> {
        let got = session.stream.download(&self.bins)?;
        let mut want = [0u32; 256];
        for i in 0..self.data.len() as u64 {
            want[usize::from(u8::draw(self.seed, i))] += 1;
        }
        Ok(equal(&got, &want).map_err(|wrong| wrong.to_string()))
    }
}
