//! A sparse linear system, solved in one launch.

use crate::case::{Case, Problem, Roof, Work};
use crate::check::{Verified, dot, relative_norm};
use crate::launch_pair;
use crate::random::Fill;
use crate::session::{Implementation, Pair, Session};
use anyhow::Result;
use warpsmith_host::prelude::*;
use warpsmith_kernels as kernels;

pub(super) const CASE: Case = Case {
    name: "conjugate_gradient",
    summary: "a sparse system in one cooperative grid",
    unit: "unknowns",
    simulator_size: 20_000,
    gpu_size: 1 << 22,
    ragged: &[1, 2, 31, 257, 1025],
    twin: "conjugate_gradient",
    entries: &["conjugate_gradient"],
    prepare: |session, n| Ok(Box::new(Solver::new(session, n)?)),
};

/// The recurrence's residual, relative to the right-hand side, at which the kernel stops.
const GOAL: f64 = 1e-4;
const MAX_ITERATIONS: u32 = 200;

struct Solver {
    kernel: Pair<kernels::conjugate_gradient::conjugate_gradient>,
    matrix: Matrix,
    starts: DeviceBuffer<u32>,
    columns: DeviceBuffer<u32>,
    values: DeviceBuffer<f32>,
    b: DeviceBuffer<f32>,
    x: DeviceBuffer<f32>,
    r: DeviceBuffer<f32>,
    p: DeviceBuffer<f32>,
    ap: DeviceBuffer<f32>,
    partials: DeviceBuffer<f64>,
    report: DeviceBuffer<f64>,
    blocks: u32,
    iterations: f64,
}

/// A symmetric positive definite matrix in compressed rows.
struct Matrix {
    starts: Vec<u32>,
    columns: Vec<u32>,
    values: Vec<f32>,
}

impl Matrix {
    /// A five-point stencil on a grid of about `sqrt(n)` columns, its last row perhaps partial: neighbours have -1 to -0.5, each pair its
    /// own, and the diagonal 4.5 to 5.5. The condition number is at most 19, so some twenty iterations do.
    fn stencil(n: usize) -> Matrix {
        let width = (n as f64).sqrt().ceil() as usize;
        let mut matrix = Matrix {
            starts: vec![0],
            columns: Vec::with_capacity(5 * n),
            values: Vec::with_capacity(5 * n),
        };
        // Of a point and the next one in its row (0) or column (1).
        let neighbours =
            |i: usize, direction: u64| -0.75 + 0.25 * f32::draw(3, 2 * i as u64 + direction);
        for i in 0..n {
            let mut entry = |column: usize, value: f32| {
                matrix.columns.push(column as u32);
                matrix.values.push(value);
            };
            if i >= width {
                entry(i - width, neighbours(i - width, 1));
            }
            if i % width > 0 {
                entry(i - 1, neighbours(i - 1, 0));
            }
            entry(i, 5.0 + 0.5 * f32::draw(1, i as u64));
            if i % width + 1 < width && i + 1 < n {
                entry(i + 1, neighbours(i, 0));
            }
            if i + width < n {
                entry(i + width, neighbours(i, 1));
            }
            matrix.starts.push(matrix.columns.len() as u32);
        }
        matrix
    }

    /// An element of the product with a vector, in `f64`.
    fn times(&self, row: usize, vector: impl Fn(usize) -> f64) -> f64 {
        (self.starts[row] as usize..self.starts[row + 1] as usize)
            .map(|i| f64::from(self.values[i]) * vector(self.columns[i] as usize))
            .sum()
    }

    /// Compares with the same iterations in `f64`. The method mends its own errors: a wrong sum costs iterations, but the residual still
    /// falls below the goal, so that alone would not be noticed.
    fn compare(&self, b: &[f32], x: &[f32], iterations: u32) -> Result<(), String> {
        let mut residual: Vec<f64> = b.iter().map(|&b| f64::from(b)).collect();
        let mut direction = residual.clone();
        let mut solution = vec![0.0; b.len()];
        let mut squares = dot(&residual, &residual);
        let goal = GOAL * GOAL * squares;
        for iteration in 0..iterations {
            // The kernel's sums are of rounded terms.
            if squares < 0.999 * goal {
                return Err(format!(
                    "{iterations} iterations, where {iteration} reach the goal"
                ));
            }
            let product: Vec<f64> = (0..b.len())
                .map(|row| self.times(row, |column| direction[column]))
                .collect();
            let alpha = squares / dot(&direction, &product);
            for i in 0..b.len() {
                solution[i] += alpha * direction[i];
                residual[i] -= alpha * product[i];
            }
            let next = dot(&residual, &residual);
            for i in 0..b.len() {
                direction[i] = residual[i] + next / squares * direction[i];
            }
            squares = next;
        }
        if squares > 1.001 * goal {
            return Err(format!("{iterations} iterations do not reach the goal"));
        }
        let error: Vec<f64> = (0..b.len())
            .map(|i| f64::from(x[i]) - solution[i])
            .collect();
        let relative = relative_norm(&error, &solution);
        // Some roundoffs of 6e-8 an iteration, in each of three vectors.
        if relative > 1e-5 {
            return Err(format!(
                "the iterate differs by {relative:.3e} of its norm from that of {iterations} iterations in f64"
            ));
        }
        Ok(())
    }
}

impl Solver {
    fn new(session: &Session, n: usize) -> Result<Solver> {
        let kernel = session.pair(
            kernels::conjugate_gradient::conjugate_gradient,
            "conjugate_gradient",
        )?;
        let threads = kernels::conjugate_gradient::THREADS;
        let mut resident = kernel.ours.max_cooperative_blocks(threads, 0)?;
        if let Some(twin) = &kernel.twin {
            resident = resident.min(twin.max_cooperative_blocks(threads, 0)?);
        }
        let wanted = super::persistent_blocks(session, 8, n.div_ceil(threads as usize))?;
        let blocks = wanted.min(resident);
        let matrix = Matrix::stencil(n);
        let stream = &session.stream;
        Ok(Solver {
            kernel,
            starts: stream.upload(&matrix.starts)?,
            columns: stream.upload(&matrix.columns)?,
            values: stream.upload(&matrix.values)?,
            b: stream.zeroed(n)?,
            x: stream.zeroed(n)?,
            r: stream.zeroed(n)?,
            p: stream.zeroed(n)?,
            ap: stream.zeroed(n)?,
            partials: stream.zeroed(2 * blocks as usize)?,
            report: stream.zeroed(2)?,
            matrix,
            blocks,
            iterations: 0.0,
        })
    }
}

impl Problem for Solver {
    fn shape(&self) -> String {
        format!("{} unknowns", self.b.len())
    }

    fn work(&self) -> Work {
        // An iteration reads the matrix, reads or writes p three times, ap twice, x and r four and three times.
        let n = self.b.len() as f64;
        let iteration = 8.0 * self.values.len() as f64 + 4.0 * n + 12.0 * 4.0 * n;
        Work {
            bytes: iteration * self.iterations.max(1.0),
            flops: 0.0,
            roof: Roof::Copy,
        }
    }

    fn refresh(&mut self, session: &Session, seed: u64) -> Result<()> {
        session.randomise(&mut self.b, seed)?;
        session.stream.fill(&mut self.x, f32::NAN)?;
        Ok(session.stream.fill(&mut self.report, f64::NAN)?)
    }

    fn launch(&mut self, session: &Session, implementation: Implementation) -> Result<()> {
        let grid = Grid::new(self.blocks, kernels::conjugate_gradient::THREADS).cooperative();
        let arguments = (
            &self.starts,
            &self.columns,
            &self.values,
            &self.b,
            &mut self.x,
            &mut self.r,
            &mut self.p,
            &mut self.ap,
            &mut self.partials,
            &mut self.report,
            GOAL,
            MAX_ITERATIONS,
        );
        // SAFETY: `Solver::new` made the buffers of these lengths for a matrix in compressed rows, and a grid of at most as
        // many blocks as fit; all buffers are different ones.
        unsafe { launch_pair!(unsafe session, implementation, self.kernel, grid, arguments) };
        Ok(())
    }

    fn verify(&mut self, session: &Session) -> Result<Result<Verified, String>> {
        let (b, x) = (
            session.stream.download(&self.b)?,
            session.stream.download(&self.x)?,
        );
        let report = session.stream.download(&self.report)?;
        self.iterations = report[0];
        if !(report[0] >= 1.0 && report[0] < f64::from(MAX_ITERATIONS)) {
            return Ok(Err(format!(
                "{} iterations are not between 1 and {MAX_ITERATIONS}",
                report[0]
            )));
        }
        let ax: Vec<f64> = (0..x.len())
            .map(|i| self.matrix.times(i, |column| f64::from(x[column])))
            .collect();
        let squared = |i: usize| (f64::from(b[i]) - ax[i]).powi(2);
        let norm: f64 = b.iter().map(|&b| f64::from(b).powi(2)).sum();
        let relative = ((0..x.len()).map(squared).sum::<f64>() / norm).sqrt();
        // The true residual drifts from the recurrence's by some roundoffs an iteration, of |a| |x| <= 10 * 2 |b|:
        // 20 iterations * 6e-8 * 20 = 2.4e-5 at most, so a quarter of the goal more.
        let bound = 1.25 * GOAL;
        if relative.is_nan() || relative > bound {
            return Ok(Err(format!(
                "the residual is {relative:.3e} of the right-hand side, more than {bound:.3e}"
            )));
        }
        // As the residual in `f32` drifts from the true one.
        let recurrence = (report[1] / norm).sqrt();
        if recurrence.is_nan() || (recurrence - relative).abs() > 0.25 * GOAL {
            return Ok(Err(format!(
                "the reported residual is {recurrence:.3e} of the right-hand side, the true one {relative:.3e}"
            )));
        }
        Ok(self
            .matrix
            .compare(&b, &x, report[0] as u32)
            .map(|()| Verified {
                elements: x.len() as u64,
                worst: relative / bound,
            }))
    }
}
