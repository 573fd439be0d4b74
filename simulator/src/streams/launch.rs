//! Kernel launches, and the limits of their shapes.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use super::attributes::Hints;
use super::resident_grids::ResidentGrids;
use crate::check::stream_order::Place;
use crate::context::Context;
use crate::device;
use crate::device_runtime::{DeviceRuntime, RunningGraph};
use crate::engine;
use crate::error::{Result, code};
use crate::memory::Memory;
use crate::module::{self, Function};
use crate::observe::LaunchObservers;
use crate::order_check::{self, GridTouches};
use crate::report;
use crate::settings;
use crate::sync::lock;
use warpsmith_abi::CUdevice_attribute as Limit;

/// The shape of a launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LaunchShape {
    /// Blocks in each dimension.
    pub(crate) grid: [u32; 3],
    /// Threads of a block in each dimension.
    pub(crate) block: [u32; 3],
    /// Blocks of a cluster in each dimension; zeros where the launch names none.
    pub(crate) cluster: [u32; 3],
    /// Bytes of dynamic shared memory of a block.
    pub(crate) dynamic_shared: u32,
    /// All blocks are resident at the same time.
    pub(crate) cooperative: bool,
    /// Its place among grids that wait; `None` for its stream's.
    pub(crate) priority: Option<i32>,
}

/// A kernel launch, checked and with its parameters copied.
#[derive(Clone)]
pub(crate) struct Launch {
    pub(crate) function: Arc<Function>,
    pub(crate) shape: LaunchShape,
    pub(crate) hints: Hints,
    pub(crate) parameters: Arc<[u8]>,
}

/// Prints the notes of a grid.
struct PrintedNotes;

impl engine::NoteSink for PrintedNotes {
    fn note(&self, note: &engine::Note) {
        report::note(note);
    }
}

impl LaunchShape {
    /// Checks the shape against the device and the kernel, with the codes that the driver answers, and fills in the cluster's size.
    pub(crate) fn check(self, function: &Function) -> Result<Self> {
        let shape = self;
        let device = device::profile(function.device);
        let kernel = &function.kernel;
        let within = |sizes: [u32; 3], limits: [Limit; 3]| {
            sizes
                .iter()
                .zip(limits)
                .all(|(&size, limit)| size > 0 && size <= device.limit(limit))
        };
        let grid = [
            Limit::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X,
            Limit::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y,
            Limit::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z,
        ];
        let block = [
            Limit::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X,
            Limit::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y,
            Limit::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z,
        ];
        let threads = module::volume(shape.block);
        if !within(shape.grid, grid)
            || !within(shape.block, block)
            || threads > device.limit(Limit::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)
        {
            return Err(code::INVALID_VALUE);
        }
        if let Some(bound) = kernel.max_threads {
            let exactly_wrong = kernel.exact_threads && bound != shape.block;
            if exactly_wrong || threads > module::volume(bound) {
                return Err(code::INVALID_VALUE);
            }
        } else if threads > module::max_threads(function) {
            return Err(code::LAUNCH_OUT_OF_RESOURCES);
        }
        if i64::from(shape.dynamic_shared) > i64::from(function.max_dynamic_shared.load(Relaxed)) {
            // A cooperative launch is first asked whether its grid fits the device.
            return Err(match shape.cooperative {
                true => code::COOPERATIVE_LAUNCH_TOO_LARGE,
                false => code::INVALID_VALUE,
            });
        }
        // A set size may leave dimensions open; those are 1.
        let required = function.required_cluster();
        let required = (required != [0; 3]).then(|| required.map(|size| size.max(1)));
        let cluster = match (required, shape.cluster) {
            (Some(fixed), [0, 0, 0]) => fixed,
            (Some(fixed), asked) if fixed != asked => return Err(code::INVALID_CLUSTER_SIZE),
            (_, [0, 0, 0]) => [1, 1, 1],
            (_, asked) => asked,
        };
        let size = module::volume(cluster);
        let most = if function.non_portable_cluster.load(Relaxed) != 0 {
            16
        } else {
            8
        };
        if size == 0
            || size > most
            || shape
                .grid
                .iter()
                .zip(cluster)
                .any(|(grid, cluster)| grid % cluster != 0)
        {
            return Err(code::INVALID_CLUSTER_SIZE);
        }
        if shape.cooperative {
            let blocks: u64 = shape.grid.iter().map(|&size| u64::from(size)).product();
            let resident =
                module::resident_blocks(function, threads, shape.dynamic_shared as usize);
            let processors = device.limit(Limit::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
            if blocks > u64::from(resident) * u64::from(processors) {
                return Err(code::COOPERATIVE_LAUNCH_TOO_LARGE);
            }
        }
        let (least, greatest) = device.priorities;
        let priority = shape.priority.map(|wish| wish.clamp(greatest, least));
        Ok(Self {
            cluster,
            priority,
            ..shape
        })
    }
}

impl Launch {
    /// Runs the grid to its end, after everything that it depends on.
    pub(super) fn execute(&self, context: &Context) {
        self.run(context, None, None, None);
    }

    /// Runs the grid to its end; `order` is its place among grids that overlap.
    /// `early` is the place in the order of work of those of its threads that have not waited for the grid before, if it overlaps with one.
    pub(super) fn execute_among(
        &self,
        context: &Context,
        order: Option<&dyn engine::GridOrder>,
        early: Option<&Place>,
    ) {
        self.run(context, order, early, None);
    }

    /// Runs the grid to its end as a node of a graph.
    pub(crate) fn execute_in(&self, context: &Context, graph: &dyn RunningGraph) {
        self.run(context, None, None, Some(graph));
    }

    fn run(
        &self,
        context: &Context,
        order: Option<&dyn engine::GridOrder>,
        early: Option<&Place>,
        graph: Option<&dyn RunningGraph>,
    ) {
        let launch = engine::Launch {
            kernel: &self.function.kernel,
            grid: self.shape.grid,
            block: self.shape.block,
            cluster: self.shape.cluster,
            dynamic_shared: self.shape.dynamic_shared,
            cooperative: self.shape.cooperative,
            params: &self.parameters,
        };
        let settings = settings::get();
        let of_graph = graph.and_then(RunningGraph::priority);
        let priority = of_graph.or(self.shape.priority).unwrap_or(0);
        let cancel = context.cancel_flag();
        let grids = ResidentGrids::of_device(context.device);
        let Some(_resident) = grids.enter(priority, settings.resident_grids, cancel) else {
            return;
        };
        let runtime = DeviceRuntime::new(context, graph);
        let observers = LaunchObservers::of(context);
        let kernel = || format!("kernel `{}`", self.function.kernel.name);
        let touches = order_check::begin(context, kernel)
            .map(|running| GridTouches::new(running.in_domain(self.hints.domain()), early));
        let environment = engine::Environment {
            memory: &Memory::global().seen_by(context.device, context.id()),
            runtime: &runtime,
            checks: settings.checks,
            seed: settings.seed,
            threads: settings.threads,
            stack_limit: lock(&context.limits).stack.min(u32::MAX as usize) as u32,
            patience: settings.patience,
            notes: Some(&PrintedNotes),
            observer: observers.as_one(),
            touches: touches
                .as_ref()
                .map(|touches| touches as &dyn engine::TouchSink),
            cancel: Some(cancel),
            order,
        };
        let _blame = observers.blame(context, &self.function.kernel.name);
        // A launch that was cancelled by the end of its context is no fault of the program's.
        match engine::run(&launch, &environment) {
            Ok(_) => touches.into_iter().for_each(GridTouches::end),
            Err(fault) if fault.kind == engine::FaultKind::Cancelled => {}
            Err(fault) => match touches {
                Some(touches) => touches.fail(*fault),
                None => context.fail(*fault),
            },
        }
    }
}
