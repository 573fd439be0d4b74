//! The product of two `f32` matrices.

use super::product::{Product, shape, tolerance};
use crate::case::{Case, Problem, Roof, Work};
use crate::check::Verified;
use crate::launch_pair;
use crate::session::{Implementation, Pair, Session};
use anyhow::Result;
use warpsmith_host::prelude::*;
use warpsmith_kernels as kernels;
use warpsmith_kernels::tiling::Extent;

pub(super) const CASE: Case = Case {
    name: "sgemm",
    summary: "128 x 128 tiles, 8 x 8 results a thread",
    unit: "rows",
    simulator_size: 256,
    gpu_size: 4096,
    ragged: &[1, 5, 67, 68, 132],
    twin: "sgemm",
    entries: &["sgemm"],
    prepare: |session, size| {
        let (m, n, k) = shape(size, 4);
        Ok(Box::new(Sgemm {
            kernel: session.pair(kernels::sgemm::sgemm, "sgemm")?,
            a: session.stream.zeroed(m * k)?,
            b: session.stream.zeroed(k * n)?,
            c: session.stream.zeroed(m * n)?,
            c0: Vec::new(),
            shape: (m, n, k),
        }))
    },
};

const ALPHA: f32 = 1.5;
const BETA: f32 = -0.5;

struct Sgemm {
    kernel: Pair<kernels::sgemm::sgemm>,
    a: DeviceBuffer<f32>,
    b: DeviceBuffer<f32>,
    c: DeviceBuffer<f32>,
    c0: Vec<f32>,
    shape: (usize, usize, usize),
}

impl Problem for Sgemm {
    fn shape(&self) -> String {
        let (m, n, k) = self.shape;
        format!("{m} x {n} x {k}")
    }

    fn work(&self) -> Work {
        let (m, n, k) = self.shape;
        Work {
            bytes: (4 * (m * k + k * n + 2 * m * n)) as f64,
            flops: 2.0 * (m * n) as f64 * k as f64,
            roof: Roof::Fma,
        }
    }

    fn refresh(&mut self, session: &Session, seed: u64) -> Result<()> {
        session.randomise(&mut self.a, seed)?;
        session.randomise(&mut self.b, !seed)?;
        session.randomise(&mut self.c, seed.rotate_left(32))?;
        self.c0 = session.stream.download(&self.c)?;
        Ok(())
    }

    fn launch(&mut self, session: &Session, implementation: Implementation) -> Result<()> {
        let (m, n, k) = self.shape;
        let policy = kernels::sgemm::POLICY;
        let results = Extent {
            rows: m as u32,
            columns: n as u32,
        };
        let grid = Grid::new(policy.blocks(results), policy.threads());
        let (a, b, c) = (
            self.a.matrix(m, k)?,
            self.b.matrix(k, n)?,
            self.c.matrix_mut(m, n)?,
        );
        launch_pair!(
            session,
            implementation,
            self.kernel,
            grid,
            (ALPHA, a, b, BETA, c)
        );
        Ok(())
    }

    fn verify(&mut self, session: &Session) -> Result<Result<Verified, String>> {
        let (m, n, k) = self.shape;
        let product = Product {
            m,
            n,
            k,
            alpha: ALPHA.into(),
            beta: BETA.into(),
            a: session.stream.download(&self.a)?,
            b: session.stream.download(&self.b)?,
            c0: std::mem::take(&mut self.c0),
            // The scaling by alpha enlarges the sum's error; its own rounding and beta's are in the slack of 8 terms.
            tolerance: f64::from(ALPHA) * tolerance(k, 1.0),
        };
        Ok(product.verify(&session.stream.download(&self.c)?))
    }
}
