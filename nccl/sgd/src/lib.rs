//! Data-parallel gradient descent for a linear model: each rank has samples of its own, and all have the same weights, since they step
//! along the mean of all ranks' gradients.

pub mod kernels;

use warpsmith_host::prelude::*;
use warpsmith_nccl::{Communicator, Reduction, group};

/// The kernels of `src/kernels.rs` as PTX, made by `build.rs`.
pub const PTX: &str = include_str!(concat!(env!("OUT_DIR"), "/kernels.ptx"));

const THREADS: u32 = 256;

/// How much there is to learn.
#[derive(Clone, Copy, Debug)]
pub struct Problem {
    /// Weights of the model.
    pub features: usize,
    /// Samples of each rank.
    pub samples: usize,
    /// How far a step goes.
    pub rate: f32,
}

impl Problem {
    /// The weight that is to be found for a feature.
    pub fn weight(feature: usize) -> f32 {
        (feature % 7) as f32 - 3.0
    }
}

/// A rank's part of the training: its samples, and the model.
pub struct Trainer {
    communicator: Communicator,
    stream: Stream,
    errors: TypedKernel<kernels::errors>,
    gradient: TypedKernel<kernels::gradient>,
    descend: TypedKernel<kernels::descend>,
    problem: Problem,
    x: DeviceBuffer<f32>,
    targets: DeviceBuffer<f32>,
    differences: DeviceBuffer<f32>,
    slope: DeviceBuffer<f32>,
    weights: DeviceBuffer<f32>,
}

impl Trainer {
    /// Draws the rank's samples; the weights begin at 0.
    ///
    /// # Errors
    ///
    /// There is not enough memory.
    pub fn new(communicator: Communicator, problem: Problem) -> Result<Trainer> {
        let Problem {
            features, samples, ..
        } = problem;
        let gpu = communicator.gpu();
        let module = gpu.load(PTX)?;
        let stream = gpu.stream()?;
        let mut x = stream.zeroed::<f32>(features * samples)?;
        let draw = module.kernel(kernels::draw)?;
        let first = (communicator.rank() * samples) as u32;
        let grid = Grid::cover(x.len(), THREADS);
        stream.launch(&draw, grid, (first, samples as u32, &mut x))?;
        let errors = module.kernel(kernels::errors)?;
        let truth: Vec<f32> = (0..features).map(Problem::weight).collect();
        let truth = stream.upload(&truth)?;
        let mut targets = stream.zeroed::<f32>(samples)?;
        let zeros = stream.zeroed::<f32>(samples)?;
        // What is to be answered is the difference to zeros of the right model's answers.
        let grid = Grid::cover(samples, THREADS);
        stream.launch(&errors, grid, (&truth, &x, &zeros, &mut targets))?;
        Ok(Trainer {
            errors,
            gradient: module.kernel(kernels::gradient)?,
            descend: module.kernel(kernels::descend)?,
            differences: stream.zeroed(samples)?,
            slope: stream.zeroed(features)?,
            weights: stream.zeroed(features)?,
            communicator,
            stream,
            problem,
            x,
            targets,
        })
    }

    /// The gradient of this rank's samples.
    fn find_gradient(&mut self) -> Result<()> {
        let Problem {
            features, samples, ..
        } = self.problem;
        let arguments = (&self.weights, &self.x, &self.targets, &mut self.differences);
        let grid = Grid::cover(samples, THREADS);
        self.stream.launch(&self.errors, grid, arguments)?;
        let arguments = (&self.x, &self.differences, &mut self.slope);
        let grid = Grid::cover(32 * features, THREADS);
        self.stream.launch(&self.gradient, grid, arguments)
    }

    fn descend(&mut self) -> Result<()> {
        let arguments = (self.problem.rate, &self.slope, &mut self.weights);
        let grid = Grid::cover(self.problem.features, THREADS);
        self.stream.launch(&self.descend, grid, arguments)
    }

    /// The model, when all steps so far are done.
    ///
    /// # Errors
    ///
    /// A step went wrong.
    pub fn weights(&self) -> Result<Vec<f32>> {
        self.stream.download(&self.weights)
    }

    /// Waits for all steps so far.
    ///
    /// # Errors
    ///
    /// A step went wrong.
    pub fn wait(&self) -> Result<()> {
        self.stream.synchronize()
    }

    /// Gives the communicator back, for another training.
    pub fn into_communicator(self) -> Communicator {
        self.communicator
    }
}

/// Enqueues a step of all ranks that this thread speaks for; other processes do it for theirs.
///
/// # Errors
///
/// A launch or the collective was refused.
pub fn step(ranks: &mut [Trainer]) -> warpsmith_nccl::Result<()> {
    for rank in &mut *ranks {
        rank.find_gradient()?;
    }
    group(|group| {
        for rank in &mut *ranks {
            group.all_reduce_in_place(
                &rank.communicator,
                &rank.stream,
                &mut rank.slope,
                Reduction::Average,
            )?;
        }
        Ok(())
    })?;
    for rank in &mut *ranks {
        rank.descend()?;
    }
    Ok(())
}
