//! The sum of an array.

use crate::case::{Case, Problem, Work};
use crate::check::{UNIT_F32, Verified, close};
use crate::launch_pair;
use crate::random::Fill;
use crate::session::{Implementation, Pair, Session};
use anyhow::Result;
use warpsmith_host::prelude::*;
use warpsmith_kernels as kernels;

pub(super) const CASE: Case = Case {
    name: "reduce",
    summary: "sum: registers, shuffles, shared memory, one atomic a block",
    unit: "elements",
    simulator_size: 2_000_003,
    gpu_size: 1 << 29,
    ragged: &[1, 3, 31, 1024, 4095, 4096, 4097, 70_001],
    twin: "reduce",
    entries: &["reduce"],
    prepare: |session, n| {
        Ok(Box::new(Reduce {
            kernel: session.pair(kernels::reduce::reduce, "reduce")?,
            x: session.stream.zeroed(n)?,
            sum: session.stream.zeroed(1)?,
            blocks: super::persistent_blocks(session, 8, n.div_ceil(kernels::reduce::TILE))?,
            seed: 0,
        }))
    },
};

struct Reduce {
    kernel: Pair<kernels::reduce::reduce>,
    x: DeviceBuffer<f32>,
    sum: DeviceBuffer<f32>,
    blocks: u32,
    seed: u64,
}

impl Problem for Reduce {
    fn shape(&self) -> String {
        format!("{} elements", self.x.len())
    }

    fn work(&self) -> Work {
        Work::copy(4 * self.x.len())
    }

    fn refresh(&mut self, session: &Session, seed: u64) -> Result<()> {
        self.seed = seed;
        session.randomise(&mut self.x, seed)?;
        Ok(session.stream.fill(&mut self.sum, 0.0)?)
    }

    fn launch(&mut self, session: &Session, implementation: Implementation) -> Result<()> {
        let grid = Grid::new(self.blocks, kernels::reduce::THREADS);
        launch_pair!(
            session,
            implementation,
            self.kernel,
            grid,
            (&self.x, &mut self.sum)
        );
        Ok(())
    }

    fn verify(&mut self, session: &Session) -> Result<Result<Verified, String>> {
        let got = session.stream.download(&self.sum)?;
        let (mut sum, mut magnitude) = (0.0, 0.0);
        for i in 0..self.x.len() as u64 {
            let x = f64::from(f32::draw(self.seed, i));
            sum += x;
            magnitude += x.abs();
        }
        // A sum through a tree of depth d is off by at most d unit roundoffs of the sum of the magnitudes. The depth:
        // a thread's own additions (four vectors in turn, each of two levels), 2 to join them, 5 + 3 in the block,
        // and the blocks one after the other.
        let turns = self
            .x
            .len()
            .div_ceil(self.blocks as usize * kernels::reduce::TILE);
        let depth = (turns + 4 + 4 + 8) as f64 + f64::from(self.blocks);
        Ok(close(
            &got,
            |_| (sum, depth * UNIT_F32 * magnitude),
            |_| "sum".into(),
        )
        .map_err(|wrong| wrong.to_string()))
    }
}
