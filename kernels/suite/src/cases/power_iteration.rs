//! The largest eigenvalue of a symmetric matrix, by a graph that loops on the device.

use crate::case::{Case, Problem, Roof, Work};
use crate::check::{Verified, dot, relative_norm};
use crate::random::Fill;
use crate::session::{Implementation, Pair, Session};
use anyhow::Result;
use warpsmith_host::{Arguments, GraphBuilder, prelude::*};
use warpsmith_kernels::power_iteration::{
    ROWS, THREADS, power_check, power_multiply, power_normalise,
};

pub(super) const CASE: Case = Case {
    name: "power_iteration",
    summary: "a graph with a conditional while: one launch, one wait",
    unit: "rows",
    simulator_size: 384,
    gpu_size: 8192,
    ragged: &[1, 3, 37, 130],
    twin: "power_iteration",
    entries: &["power_multiply", "power_normalise", "power_check"],
    prepare: |session, n| Ok(Box::new(Power::new(session, n)?)),
};

/// The relative change of the eigenvalue at which the loop ends.
const TOLERANCE: f32 = 1e-6;
const MAX_ITERATIONS: u32 = 100;

struct Power {
    matrix: Vec<f32>,
    /// What x begins with.
    start: Vec<f32>,
    a: DeviceBuffer<f32>,
    x: DeviceBuffer<f32>,
    y: DeviceBuffer<f32>,
    sums: DeviceBuffer<f32>,
    /// Eigenvalue, its last change, iterations.
    result: DeviceBuffer<f32>,
    ours: GraphExec,
    twin: Option<GraphExec>,
    iterations: f64,
}

/// A dominant direction plus symmetric noise: the second eigenvalue is about 0.4 of the first (the noise's norm is
/// `2 * 0.35 / sqrt(3)`, the first eigenvalue about 1.08), so the error of the eigenvalue falls by a factor of six each time.
fn matrix(n: usize) -> Vec<f32> {
    let direction = |i: usize| 1.0 + 0.5 * f32::draw(1, i as u64);
    let noise = 0.35 / (n as f32).sqrt();
    let mut matrix = vec![0.0; n * n];
    for i in 0..n {
        for j in i..n {
            let entry =
                direction(i) * direction(j) / n as f32 + noise * f32::draw(2, (i * n + j) as u64);
            matrix[i * n + j] = entry;
            matrix[j * n + i] = entry;
        }
    }
    matrix
}

impl Power {
    fn new(session: &Session, n: usize) -> Result<Power> {
        let stream = &session.stream;
        let matrix = matrix(n);
        let a = stream.upload(&matrix)?;
        let (mut x, mut y) = (stream.zeroed(n)?, stream.zeroed(n)?);
        let (mut sums, mut result) = (stream.zeroed(2)?, stream.zeroed(3)?);
        let multiply = session.pair(power_multiply, "power_iteration")?;
        let normalise = session.pair(power_normalise, "power_iteration")?;
        let check = session.pair(power_check, "power_iteration")?;
        let mut build = |implementation| -> Result<GraphExec> {
            let mut graph = session.gpu.graph()?;
            let again = graph.condition(1)?;
            graph.while_loop(again, |body| {
                let grid = Grid::new(n.div_ceil(ROWS as usize) as u32, THREADS);
                let a = a.matrix(n, n)?;
                add(
                    body,
                    implementation,
                    &multiply,
                    grid,
                    (a, &x, &mut y, &mut sums),
                )?;
                add(
                    body,
                    implementation,
                    &normalise,
                    Grid::cover(n, THREADS),
                    (&y, &mut x, &sums),
                )?;
                let arguments = (&mut sums, &mut result, TOLERANCE, MAX_ITERATIONS, again);
                add(body, implementation, &check, Grid::new(1, 1), arguments)
            })?;
            Ok(graph.instantiate()?)
        };
        let ours = build(Implementation::Ours)?;
        let twin = if multiply.twin.is_some() {
            Some(build(Implementation::Twin)?)
        } else {
            None
        };
        Ok(Power {
            matrix,
            start: Vec::new(),
            a,
            x,
            y,
            sums,
            result,
            ours,
            twin,
            iterations: 0.0,
        })
    }
}

/// Adds ours or the twin to a graph's body.
fn add<K: SafeKernel, A: Arguments<K::Parameters>>(
    body: &mut GraphBuilder,
    implementation: Implementation,
    pair: &Pair<K>,
    grid: Grid,
    arguments: A,
) -> warpsmith_host::Result<()> {
    match (implementation, &pair.twin) {
        (Implementation::Twin, Some(twin)) => {
            // SAFETY: the twin has the parameters and the bounds checks of our kernel, whose launch is safe.
            unsafe { body.kernel_untyped(twin, grid, arguments)? };
        }
        _ => {
            body.kernel(&pair.ours, grid, arguments)?;
        }
    }
    Ok(())
}

impl Problem for Power {
    fn shape(&self) -> String {
        format!("{0} x {0}", self.x.len())
    }

    fn work(&self) -> Work {
        let n = self.x.len() as f64;
        Work {
            bytes: (4.0 * n * n + 20.0 * n) * self.iterations.max(1.0),
            flops: 0.0,
            roof: Roof::Copy,
        }
    }

    fn refresh(&mut self, session: &Session, seed: u64) -> Result<()> {
        // Positive, so that no draw is nearly orthogonal to the dominant direction.
        self.start = (0..self.x.len() as u64)
            .map(|i| 1.0 + 0.5 * f32::draw(seed, i))
            .collect();
        session.stream.upload_into(&self.start, &mut self.x)?;
        session.stream.fill(&mut self.y, f32::NAN)?;
        session.stream.fill(&mut self.sums, 0.0)?;
        // The kernels count on from the eigenvalue and the iterations; the change is written alone.
        Ok(session
            .stream
            .upload_into(&[0.0, f32::NAN, 0.0], &mut self.result)?)
    }

    fn launch(&mut self, session: &Session, implementation: Implementation) -> Result<()> {
        let graph = match (implementation, &mut self.twin) {
            (Implementation::Twin, Some(twin)) => twin,
            (Implementation::Twin, None) => anyhow::bail!("the CUDA C++ twin is not loaded"),
            (Implementation::Ours, _) => &mut self.ours,
        };
        Ok(graph.launch(&session.stream)?)
    }

    fn verify(&mut self, session: &Session) -> Result<Result<Verified, String>> {
        let (n, a) = (self.x.len(), &self.matrix);
        debug_assert_eq!(self.a.len(), a.len());
        let result = session.stream.download(&self.result)?;
        let vector: Vec<f64> = session
            .stream
            .download(&self.x)?
            .into_iter()
            .map(f64::from)
            .collect();
        let [value, iterations] = [f64::from(result[0]), f64::from(result[2])];
        self.iterations = iterations;
        let product = |x: &[f64]| -> Vec<f64> {
            (0..n)
                .map(|i| {
                    a[i * n..][..n]
                        .iter()
                        .zip(x)
                        .map(|(&a, x)| f64::from(a) * x)
                        .sum()
                })
                .collect()
        };
        // The same iteration in f64 from where the device stopped, until nothing changes: the true eigenvalue.
        let (mut x, mut want) = (vector.clone(), 0.0);
        for _ in 0..60 {
            let y = product(&x);
            let next = dot(&x, &y) / dot(&x, &x);
            x = y.iter().map(|y| y / next).collect();
            let change = (next - want).abs();
            want = next;
            if change < 1e-12 * want {
                break;
            }
        }
        // The loop ends when a step changes less than 1e-6; what is left is a fifth of that step. The f32 sums of n
        // terms, four in turn in each of 32 lanes, are off by n / 128 roundoffs of 6e-8 at most: 4e-6 for n = 8192.
        let bound = (2e-6 + n as f64 / 128.0 * 6e-8) * want;
        let error = (value - want).abs();
        if error.is_nan() || error > bound {
            return Ok(Err(format!(
                "the eigenvalue is {value}, the oracle says {want} (tolerance {bound:.1e})"
            )));
        }
        if !(iterations >= 1.0 && iterations < f64::from(MAX_ITERATIONS)) {
            return Ok(Err(format!(
                "{iterations} iterations are not between 1 and {MAX_ITERATIONS}"
            )));
        }
        if !(0.0..=TOLERANCE * value.abs() as f32).contains(&result[1]) {
            return Ok(Err(format!(
                "the last change is {}, and not from 0 to {TOLERANCE:e} of the eigenvalue",
                result[1]
            )));
        }
        // The same iterations in f64 from the same start. The method mends its own errors: quotients of some rows' sums, or a vector that
        // is scaled otherwise, lead to the same eigenvalue.
        let mut x: Vec<f64> = self.start.iter().map(|&x| f64::from(x)).collect();
        let mut same = 0.0;
        for _ in 0..iterations as u32 {
            let y = product(&x);
            same = dot(&x, &y) / dot(&x, &x);
            x = y.iter().map(|y| y / same).collect();
        }
        let difference: Vec<f64> = vector.iter().zip(&x).map(|(a, b)| a - b).collect();
        let difference = relative_norm(&difference, &x);
        // Each step's quotient, by which the vector is scaled, is off by the roundoffs of its sums.
        let close = 1e-5 + 2.0 * iterations * n as f64 / 128.0 * 6e-8;
        if difference.is_nan() || difference > close || (value - same).abs() > bound {
            return Ok(Err(format!(
                "after {iterations} iterations the eigenvalue is {value}, in f64 {same}; the vectors differ by {difference:.1e} of \
                 their norm (tolerance {close:.1e})"
            )));
        }
        // The eigenvector's error is about the root of the eigenvalue's: a step of 1e-6 leaves 1e-3.
        let y = product(&vector);
        let residual: Vec<f64> = y.iter().zip(&vector).map(|(y, x)| y - want * x).collect();
        let relative = relative_norm(&residual, &y);
        if relative.is_nan() || relative > 5e-3 {
            return Ok(Err(format!(
                "the vector is no eigenvector: the residual is {relative:.1e} of it"
            )));
        }
        Ok(Ok(Verified {
            elements: n as u64 + 1,
            worst: (error / bound).max(relative / 5e-3),
        }))
    }
}
