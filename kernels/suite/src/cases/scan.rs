//! Inclusive prefix sums in one pass.

use crate::case::{Case, Problem, Work};
use crate::check::{Verified, equal};
use crate::launch_pair;
use crate::random::Fill;
use crate::session::{Implementation, Pair, Session};
use anyhow::Result;
use warpsmith_host::prelude::*;
use warpsmith_kernels as kernels;

pub(super) const CASE: Case = Case {
    name: "scan",
    summary: "inclusive prefix sum, one pass, decoupled look-back",
    unit: "elements",
    simulator_size: 1_000_003,
    gpu_size: 1 << 28,
    ragged: &[1, 2, 31, 8191, 8192, 8193, 24_577, 150_001],
    twin: "scan",
    entries: &["scan"],
    prepare: |session, n| {
        let tiles = n.div_ceil(kernels::scan::TILE);
        Ok(Box::new(Scan {
            kernel: session.pair(kernels::scan::scan, "scan")?,
            input: session.stream.zeroed(n)?,
            output: session.stream.zeroed(n)?,
            state: session.stream.zeroed(tiles)?,
            ticket: session.stream.zeroed(1)?,
            seed: 0,
        }))
    },
};

struct Scan {
    kernel: Pair<kernels::scan::scan>,
    input: DeviceBuffer<u32>,
    output: DeviceBuffer<u32>,
    state: DeviceBuffer<u64>,
    ticket: DeviceBuffer<u32>,
    seed: u64,
}

impl Problem for Scan {
    fn shape(&self) -> String {
        format!("{} elements", self.input.len())
    }

    fn work(&self) -> Work {
        Work::copy(2 * 4 * self.input.len())
    }

    fn refresh(&mut self, session: &Session, seed: u64) -> Result<()> {
        self.seed = seed;
        session.randomise(&mut self.input, seed)?;
        session.stream.fill(&mut self.output, 0xDEAD_BEEF)?;
        session.stream.fill(&mut self.state, 0)?;
        Ok(session.stream.fill(&mut self.ticket, 0)?)
    }

    fn launch(&mut self, session: &Session, implementation: Implementation) -> Result<()> {
        let grid = Grid::new(self.state.len() as u32, kernels::scan::THREADS);
        let arguments = (
            &self.input,
            &mut self.output,
            &mut self.state,
            &mut self.ticket,
        );
        launch_pair!(session, implementation, self.kernel, grid, arguments);
        Ok(())
    }

    fn verify(&mut self, session: &Session) -> Result<Result<Verified, String>> {
        let got = session.stream.download(&self.output)?;
        let mut sum = 0u32;
        let want: Vec<u32> = (0..self.input.len() as u64)
            .map(|i| {
                sum = sum.wrapping_add(u32::draw(self.seed, i));
                sum
            })
            .collect();
        Ok(equal(&got, &want).map_err(|wrong| wrong.to_string()))
    }
}
