//! A picture and a 7 x 7 filter.

use crate::case::{Case, Problem, Roof, Work};
use crate::check::{UNIT_F32, Verified, close};
use crate::launch_pair;
use crate::random::Fill;
use crate::session::{Implementation, Pair, Session};
use anyhow::Result;
use warpsmith_host::prelude::*;
use warpsmith_kernels as kernels;
use warpsmith_kernels::convolution::Filter;

pub(super) const CASE: Case = Case {
    name: "convolution",
    summary: "7 x 7 filter, halo in shared memory, 4 x 4 results a thread",
    unit: "columns",
    simulator_size: 512,
    gpu_size: 8192,
    ragged: &[1, 3, 4, 61, 64, 68, 130],
    twin: "convolution",
    entries: &["convolution"],
    prepare: |session, cols| {
        let rows = if cols.is_multiple_of(64) {
            cols
        } else {
            cols + 2
        };
        Ok(Box::new(Convolution {
            kernel: session.pair(kernels::convolution::convolution, "convolution")?,
            input: session.stream.zeroed(rows * cols)?,
            output: session.stream.zeroed(rows * cols)?,
            filter: Filter {
                weights: std::array::from_fn(|i| f32::draw(49, i as u64)),
            },
            rows,
            cols,
        }))
    },
};

struct Convolution {
    kernel: Pair<kernels::convolution::convolution>,
    input: DeviceBuffer<f32>,
    output: DeviceBuffer<f32>,
    filter: Filter,
    rows: usize,
    cols: usize,
}

impl Problem for Convolution {
    fn shape(&self) -> String {
        format!("{} x {}", self.rows, self.cols)
    }

    fn work(&self) -> Work {
        let pixels = (self.rows * self.cols) as f64;
        Work {
            bytes: 8.0 * pixels,
            flops: 98.0 * pixels,
            roof: Roof::Fma,
        }
    }

    fn refresh(&mut self, session: &Session, seed: u64) -> Result<()> {
        session.randomise(&mut self.input, seed)?;
        Ok(session.stream.fill(&mut self.output, f32::NAN)?)
    }

    fn launch(&mut self, session: &Session, implementation: Implementation) -> Result<()> {
        let tile = kernels::convolution::TILE as usize;
        let blocks = (
            self.cols.div_ceil(tile) as u32,
            self.rows.div_ceil(tile) as u32,
        );
        let grid = Grid::new(blocks, kernels::convolution::THREADS);
        let input = self.input.matrix(self.rows, self.cols)?;
        let output = self.output.matrix_mut(self.rows, self.cols)?;
        launch_pair!(
            session,
            implementation,
            self.kernel,
            grid,
            (input, self.filter, output)
        );
        Ok(())
    }

    fn verify(&mut self, session: &Session) -> Result<Result<Verified, String>> {
        let input = session.stream.download(&self.input)?;
        let got = session.stream.download(&self.output)?;
        let (rows, cols) = (self.rows, self.cols);
        let oracle = |i: usize| {
            let (row, col) = (i / cols, i % cols);
            let (mut sum, mut magnitude) = (0.0, 0.0);
            for dy in 0..7 {
                for dx in 0..7 {
                    let (y, x) = ((row + dy).wrapping_sub(3), (col + dx).wrapping_sub(3));
                    if y < rows && x < cols {
                        let product = f64::from(self.filter.weights[dy * 7 + dx])
                            * f64::from(input[y * cols + x]);
                        sum += product;
                        magnitude += product.abs();
                    }
                }
            }
            // 49 fused multiply-adds, or 49 products and 49 sums, each off by at most a unit roundoff of a partial
            // sum that the sum of the magnitudes bounds.
            (sum, 98.0 * UNIT_F32 * magnitude)
        };
        Ok(
            close(&got, oracle, |i| format!("({}, {})", i / cols, i % cols))
                .map_err(|wrong| wrong.to_string()),
        )
    }
}
