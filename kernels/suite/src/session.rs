//! A device with the suite's kernels loaded, and their CUDA C++ twins where there is a compiler for them.

use crate::random::{Fill, Kernels};
use anyhow::{Result, anyhow};
use std::collections::HashMap;
use std::time::Duration;
use warpsmith_host::prelude::*;

/// Whose implementation to launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Who {
    /// Ours, from Rust.
    Ours,
    /// The CUDA C++ twin, from nvcc.
    Twin,
}

/// The device, a stream, our module and the twins' modules.
pub struct Session {
    /// The device.
    pub gpu: Gpu,
    /// The stream that everything runs on.
    pub stream: Stream,
    /// The module made from [`crate::PTX`].
    pub module: Module,
    twins: HashMap<String, Module>,
    pub(crate) fill: Kernels,
}

impl Session {
    /// Loads the suite's kernels on `gpu`.
    pub fn new(gpu: &Gpu) -> Result<Session> {
        let module = gpu.load(crate::PTX)?;
        let fill = Kernels::new(&module)?;
        Ok(Session { gpu: gpu.clone(), stream: gpu.stream()?, module, twins: HashMap::new(), fill })
    }

    /// Adds the module of the twin `stem`.
    pub fn add_twin(&mut self, stem: &str, module: Module) {
        self.twins.insert(stem.into(), module);
    }

    /// Whether the twin `stem` is loaded.
    pub fn has_twin(&self, stem: &str) -> bool {
        self.twins.contains_key(stem)
    }

    /// Our kernel, with its twin from the module `stem` if that is loaded.
    pub fn pair<K: Kernel>(&self, kernel: K, stem: &str) -> Result<Pair<K>> {
        let twin = match self.twins.get(stem) {
            Some(module) => Some(module.untyped_kernel::<K::Parameters>(K::NAME)?),
            None => None,
        };
        Ok(Pair { ours: self.module.kernel(kernel)?, twin })
    }

    /// The time between two events around what `work` enqueues; synchronises.
    pub fn time(&self, work: impl FnOnce() -> Result<()>) -> Result<Duration> {
        let (start, end) = (self.gpu.event()?, self.gpu.event()?);
        self.stream.record(&start)?;
        work()?;
        self.stream.record(&end)?;
        end.synchronize()?;
        self.stream.synchronize()?;
        Ok(end.elapsed_since(&start)?)
    }

    /// Fills a buffer with random values; on the device where that is fast.
    pub fn randomise<T: Fill>(&self, buffer: &mut DeviceBuffer<T>, seed: u64) -> Result<()> {
        T::fill(self, buffer, seed)
    }
}

/// A kernel of ours and its twin, which take the same arguments.
pub struct Pair<K: Kernel> {
    /// Ours.
    pub ours: TypedKernel<K>,
    /// Its CUDA C++ twin, if loaded.
    pub twin: Option<UntypedKernel<K::Parameters>>,
}

impl<K: Kernel> Pair<K> {
    /// The twin, or an error that says why there is none.
    pub fn twin(&self) -> Result<&UntypedKernel<K::Parameters>> {
        self.twin.as_ref().ok_or_else(|| anyhow!("the CUDA C++ twin of `{}` is not loaded", K::NAME))
    }
}

/// Launches ours or the twin of a [`Pair`] with one set of arguments.
///
/// A macro, not a function: the arguments borrow buffers in ways that only the launch call itself can name.
#[macro_export]
macro_rules! launch_pair {
    ($session:expr, $who:expr, $pair:expr, $grid:expr, $arguments:expr) => {
        match $who {
            $crate::session::Who::Ours => $session.stream.launch(&$pair.ours, $grid, $arguments)?,
            // SAFETY: the twin in kernels/twins has the parameters and the bounds checks of our kernel, whose
            // launch is safe.
            $crate::session::Who::Twin => unsafe {
                $session.stream.launch_unchecked($pair.twin()?, $grid, $arguments)?
            },
        }
    };
}
