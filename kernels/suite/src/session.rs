//! A device with the suite's kernels loaded, and their CUDA C++ twins where there is a compiler for them.

use crate::random::{Fill, Kernels};
use crate::set::Set;
use anyhow::{Result, anyhow};
use std::collections::HashMap;
use std::time::Duration;
use warpsmith_device::launch::KernelItem;
use warpsmith_host::prelude::*;

/// Whose implementation to launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Implementation {
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
    /// What was loaded.
    pub set: &'static Set,
    /// The module made from the set's PTX.
    pub module: Module,
    twins: HashMap<String, Module>,
    pub(crate) fill: Kernels,
}

impl Session {
    /// Loads a set of kernels on `gpu`.
    pub fn of(set: &'static Set, gpu: &Gpu) -> Result<Session> {
        let module = gpu.load(set.ptx)?;
        let fill = if set.ptx == crate::PTX {
            Kernels::new(&module)?
        } else {
            Kernels::new(&gpu.load(crate::PTX)?)?
        };
        Ok(Session {
            set,
            gpu: gpu.clone(),
            stream: gpu.stream()?,
            module,
            twins: HashMap::new(),
            fill,
        })
    }

    /// What to call the device: the simulator says whose it simulates.
    pub fn device(&self) -> String {
        device(&self.gpu)
    }

    /// Adds the module of the twin `stem`.
    pub fn add_twin(&mut self, stem: &str, module: Module) {
        self.twins.insert(stem.into(), module);
    }

    /// Whether the twin `stem` is loaded.
    pub fn has_twin(&self, stem: &str) -> bool {
        self.twins.contains_key(stem)
    }

    /// The module of the twin `stem`.
    pub fn twin_module(&self, stem: &str) -> Result<&Module> {
        self.twins
            .get(stem)
            .ok_or_else(|| anyhow!("the CUDA C++ twin `{stem}` is not loaded"))
    }

    /// Our kernel, with its twin from the module `stem` if that is loaded.
    pub fn pair<I: KernelItem>(&self, kernel: I, stem: &str) -> Result<Pair<I::Kernel>> {
        let twin = match self.twins.get(stem) {
            Some(module) => Some(module.untyped_kernel(I::Kernel::NAME)?),
            None => None,
        };
        Ok(Pair {
            ours: self.module.kernel(kernel)?,
            twin,
        })
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
        if self.gpu.is_simulator() || buffer.len() < 1024 {
            let values: Vec<T> = (0..buffer.len() as u64).map(|i| T::draw(seed, i)).collect();
            return Ok(self.stream.upload_into(&values, buffer)?);
        }
        T::fill_on_device(&self.fill, &self.stream, buffer, seed)
    }

    /// Fills a buffer with random values below `2^(32 - shift)`: those of [`randomise`](Self::randomise), shifted right.
    pub fn randomise_shifted(
        &self,
        buffer: &mut DeviceBuffer<u32>,
        seed: u64,
        shift: u32,
    ) -> Result<()> {
        if self.gpu.is_simulator() {
            let values: Vec<u32> = (0..buffer.len() as u64)
                .map(|i| u32::draw(seed, i) >> shift)
                .collect();
            return Ok(self.stream.upload_into(&values, buffer)?);
        }
        let grid = Grid::cover(buffer.len(), 256);
        Ok(self
            .stream
            .launch(&self.fill.words, grid, (seed, shift, buffer))?)
    }
}

/// What to call a device: the simulator says whose it simulates.
pub(crate) fn device(gpu: &Gpu) -> String {
    match gpu.is_simulator() {
        true => format!("simulator ({})", gpu.name()),
        false => gpu.name(),
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
        self.twin
            .as_ref()
            .ok_or_else(|| anyhow!("the CUDA C++ twin of `{}` is not loaded", K::NAME))
    }
}

/// Launches ours or the twin of a [`Pair`] with one set of arguments: `launch_pair!(session, implementation, pair, grid, arguments)`,
/// and `launch_pair!(unsafe session, ...)` for an unsafe kernel.
///
/// A macro, not a function: the arguments are built, and their buffers borrowed, for one of the two launches only.
#[macro_export]
macro_rules! launch_pair {
    (unsafe $session:expr, $implementation:expr, $pair:expr, $grid:expr, $arguments:expr) => {
        match $implementation {
            $crate::session::Implementation::Ours => $session.stream.launch_unchecked(&$pair.ours, $grid, $arguments)?,
            $crate::session::Implementation::Twin => $session.stream.launch_untyped($pair.twin()?, $grid, $arguments)?,
        }
    };
    ($session:expr, $implementation:expr, $pair:expr, $grid:expr, $arguments:expr) => {
        match $implementation {
            $crate::session::Implementation::Ours => $session.stream.launch(&$pair.ours, $grid, $arguments)?,
            // SAFETY: the twin in kernels/twins has the parameters and the bounds checks of our kernel, whose
            // launch is safe.
            $crate::session::Implementation::Twin => unsafe {
                $session.stream.launch_untyped($pair.twin()?, $grid, $arguments)?
            },
        }
    };
}
