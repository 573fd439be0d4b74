//! The product of two `f16` matrices with `f32` sums, on the matrix units.

use super::product::{Product, shape, tolerance};
use crate::case::{Case, Problem, Roof, Work};
use crate::check::Verified;
use crate::launch_pair;
use crate::session::{Implementation, Pair, Session};
use anyhow::Result;
use half::f16;
use warpsmith_host::prelude::*;
use warpsmith_kernels as kernels;
use warpsmith_kernels::tiling::Extent;

pub(super) const CASE: Case = Case {
    name: "wmma_gemm",
    summary: "f16 product, f32 sums, matrix units",
    unit: "rows",
    simulator_size: 256,
    gpu_size: 8192,
    ragged: &[1, 17, 72, 131, 136],
    twin: "wmma_gemm",
    entries: &["wmma_gemm"],
    prepare: |session, size| {
        let (m, n, k) = shape(size, 8);
        Ok(Box::new(Gemm {
            kernel: session.pair(kernels::wmma_gemm::wmma_gemm, "wmma_gemm")?,
            a: session.stream.zeroed(m * k)?,
            b: session.stream.zeroed(k * n)?,
            c: session.stream.zeroed(m * n)?,
            shape: (m, n, k),
        }))
    },
};

struct Gemm {
    kernel: Pair<kernels::wmma_gemm::wmma_gemm>,
    a: DeviceBuffer<f16>,
    b: DeviceBuffer<f16>,
    c: DeviceBuffer<f32>,
    shape: (usize, usize, usize),
}

impl Problem for Gemm {
    fn shape(&self) -> String {
        let (m, n, k) = self.shape;
        format!("{m} x {n} x {k}")
    }

    fn work(&self) -> Work {
        let (m, n, k) = self.shape;
        let bytes = 2 * (m * k + k * n) + 4 * m * n;
        Work {
            bytes: bytes as f64,
            flops: 2.0 * (m * n) as f64 * k as f64,
            roof: Roof::Tensor,
        }
    }

    fn refresh(&mut self, session: &Session, seed: u64) -> Result<()> {
        session.randomise(&mut self.a, seed)?;
        session.randomise(&mut self.b, !seed)?;
        Ok(session.stream.fill(&mut self.c, f32::NAN)?)
    }

    fn launch(&mut self, session: &Session, implementation: Implementation) -> Result<()> {
        let (m, n, k) = self.shape;
        let policy = kernels::wmma_gemm::POLICY;
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
        launch_pair!(session, implementation, self.kernel, grid, (a, b, c));
        Ok(())
    }

    fn verify(&mut self, session: &Session) -> Result<Result<Verified, String>> {
        let (m, n, k) = self.shape;
        let wide = |halves: Vec<f16>| halves.into_iter().map(f16::to_f32).collect();
        let product = Product {
            m,
            n,
            k,
            alpha: 1.0,
            beta: 0.0,
            a: wide(session.stream.download(&self.a)?),
            b: wide(session.stream.download(&self.b)?),
            c0: Vec::new(),
            // A product of two f16 is exact in f32. The matrix units add several of them at once and truncate instead
            // of rounding to nearest, up to two roundoffs and always towards zero, so the errors add up rather than
            // cancel: four times the tolerance of a sum that rounds.
            tolerance: tolerance(k, 4.0),
        };
        Ok(product.verify(&session.stream.download(&self.c)?))
    }
}
