//! `y := a * x + y`.

use crate::case::{Case, Problem, Work};
use crate::check::{UNIT_F32, Verified, close};
use crate::launch_pair;
use crate::random::Fill;
use crate::session::{Implementation, Pair, Session};
use anyhow::Result;
use warpsmith_host::prelude::*;
use warpsmith_kernels as kernels;

pub(super) const CASE: Case = Case {
    name: "saxpy",
    summary: "y := a x + y, 16-byte accesses",
    unit: "elements",
    simulator_size: 1_000_003,
    gpu_size: 1 << 28,
    ragged: &[1, 2, 3, 4, 7, 1023, 2048, 2049, 4099],
    twin: "saxpy",
    entries: &["saxpy"],
    prepare: |session, n| {
        Ok(Box::new(Saxpy {
            kernel: session.pair(kernels::saxpy::saxpy, "saxpy")?,
            x: session.stream.zeroed(n)?,
            y: session.stream.zeroed(n)?,
            seed: 0,
        }))
    },
};

const A: f32 = 1.75;

struct Saxpy {
    kernel: Pair<kernels::saxpy::saxpy>,
    x: DeviceBuffer<f32>,
    y: DeviceBuffer<f32>,
    seed: u64,
}

impl Problem for Saxpy {
    fn shape(&self) -> String {
        format!("{} elements", self.x.len())
    }

    fn work(&self) -> Work {
        Work::copy(3 * 4 * self.x.len())
    }

    fn refresh(&mut self, session: &Session, seed: u64) -> Result<()> {
        self.seed = seed;
        session.randomise(&mut self.x, seed)?;
        session.randomise(&mut self.y, !seed)
    }

    fn launch(&mut self, session: &Session, implementation: Implementation) -> Result<()> {
        let grid = Grid::cover(
            self.x.len().div_ceil(kernels::saxpy::ELEMENTS),
            kernels::saxpy::THREADS,
        );
        launch_pair!(
            session,
            implementation,
            self.kernel,
            grid,
            (A, &self.x, &mut self.y)
        );
        Ok(())
    }

    fn verify(&mut self, session: &Session) -> Result<Result<Verified, String>> {
        let got = session.stream.download(&self.y)?;
        // One multiplication and one addition, fused or not: each result is off by at most a unit roundoff of itself.
        let oracle = |i: usize| {
            let product = f64::from(A) * f64::from(f32::draw(self.seed, i as u64));
            let y = f64::from(f32::draw(!self.seed, i as u64));
            (product + y, 2.0 * UNIT_F32 * (product.abs() + y.abs()))
        };
        Ok(close(&got, oracle, |i| i.to_string()).map_err(|wrong| wrong.to_string()))
    }
}
