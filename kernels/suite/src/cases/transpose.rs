//! `dst := transpose of src`.

use crate::case::{Case, Problem, Work};
use crate::check::{Verified, close};
use crate::launch_pair;
use crate::random::Fill;
use crate::session::{Implementation, Pair, Session};
use anyhow::Result;
use warpsmith_host::prelude::*;
use warpsmith_kernels as kernels;

pub(super) const CASE: Case = Case {
    name: "transpose",
    summary: "64 x 64 tiles through shared memory, swizzled",
    unit: "columns",
    simulator_size: 1024,
    gpu_size: 16_000,
    ragged: &[1, 3, 33, 64, 68, 127, 132],
    twin: "transpose",
    entries: &["transpose"],
    prepare: |session, cols| {
        // Not square, so that an exchange of rows and columns cannot hide. Multiples of 4 keep the vector path, and
        // multiples of 32 keep each row of both matrices on whole lines of 128 bytes.
        let rows = match cols {
            _ if cols % 128 == 0 => cols + 128,
            _ if cols % 4 == 0 => cols + 4,
            _ => cols + 2,
        };
        Ok(Box::new(Transpose {
            kernel: session.pair(kernels::transpose::transpose, "transpose")?,
            src: session.stream.zeroed(rows * cols)?,
            dst: session.stream.zeroed(rows * cols)?,
            rows,
            cols,
            seed: 0,
        }))
    },
};

struct Transpose {
    kernel: Pair<kernels::transpose::transpose>,
    src: DeviceBuffer<f32>,
    dst: DeviceBuffer<f32>,
    rows: usize,
    cols: usize,
    seed: u64,
}

impl Problem for Transpose {
    fn shape(&self) -> String {
        format!("{} x {}", self.rows, self.cols)
    }

    fn work(&self) -> Work {
        Work::copy(2 * 4 * self.src.len())
    }

    fn refresh(&mut self, session: &Session, seed: u64) -> Result<()> {
        self.seed = seed;
        session.randomise(&mut self.src, seed)?;
        Ok(session.stream.fill(&mut self.dst, f32::NAN)?)
    }

    fn launch(&mut self, session: &Session, implementation: Implementation) -> Result<()> {
        let tile = kernels::transpose::TILE as usize;
        let blocks = (
            self.cols.div_ceil(tile) as u32,
            self.rows.div_ceil(tile) as u32,
        );
        let grid = Grid::new(blocks, kernels::transpose::THREADS);
        let src = self.src.matrix(self.rows, self.cols)?;
        let dst = self.dst.matrix_mut(self.cols, self.rows)?;
        launch_pair!(session, implementation, self.kernel, grid, (src, dst));
        Ok(())
    }

    fn verify(&mut self, session: &Session) -> Result<Result<Verified, String>> {
        let got = session.stream.download(&self.dst)?;
        let (rows, cols, seed) = (self.rows, self.cols, self.seed);
        // Nothing is computed, so nothing may differ.
        let oracle = |i: usize| {
            (
                f64::from(f32::draw(seed, (i % rows * cols + i / rows) as u64)),
                0.0,
            )
        };
        Ok(
            close(&got, oracle, |i| format!("({}, {})", i / rows, i % rows))
                .map_err(|wrong| wrong.to_string()),
        )
    }
}
