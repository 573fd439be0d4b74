//! Launching kernels: shape, arguments, checks.
//!
//! A typed launch does what a plain `cuLaunchKernelEx` call does, plus: some comparisons with limits that were asked for once, one
//! comparison for each buffer (see [`crate::memory`]), and a number and an address for a kernel that can panic. It allocates nothing and
//! takes no lock as long as each buffer is used in one stream and the kernel uses no variables; everything else is out of line.

mod arguments;
mod attributes;
mod check;
mod function;
mod graph_launch;
mod grid;
mod kernel;
mod lookup;
mod options;

use std::sync::Arc;

use warpsmith_device::launch::{Kernel, KernelAttributes, SafeKernel};
use warpsmith_driver::raw;

use self::check::{CALL, graph_outside_of_graphs, launch_failed};
use crate::error::{Code, Result};
use crate::gpu::open_device::{check_same_device, wrong_device};
use crate::module::origin::LaunchParameters;
use crate::module::variables::{KERNEL_ACCESS, ModuleVariables};
use crate::order::access::{AccessKind, ViewScope};
use crate::order::history::OrderedMemory;
use crate::order::launch_gate::{GateState, LaunchMode};
use crate::order::stream_handle::Overlap;
use crate::panics::timeline::{NewLaunch, Reach};
use crate::panics::write_mark::WriteMark;
use crate::stream::Stream;
use crate::trace::listeners;
use crate::trace::track::Track;
use crate::trace::work::Work;

pub use self::arguments::{Argument, Arguments, EarlyParameters};
pub(crate) use self::arguments::{ConditionsOf, Packer, Words};
pub(crate) use self::attributes::{LaunchAttributes, UNKNOWN};
pub(crate) use self::check::{check, condition_elsewhere};
pub(crate) use self::function::Function;
pub use self::function::{ClusterSizes, FunctionAttributes, Occupancy, SuggestedBlock};
pub(crate) use self::graph_launch::GraphLaunch;
pub use self::grid::{Dim3, Grid};
pub use self::kernel::{TypedKernel, UntypedKernel};
pub use self::options::{ClusterScheduling, LaunchOptions, Trigger};

impl Stream {
    /// Launches a safe kernel and returns; it runs after everything that this stream holds already, and after whatever other streams
    /// do to the same memory.
    ///
    /// ```no_run
    /// # use warpsmith_device::prelude::*;
    /// # #[kernel]
    /// # pub fn saxpy(a: f32, x: &[f32], mut y: PerThread<[f32]>) {}
    /// # const PTX: &str = "";
    /// use warpsmith_host::prelude::*;
    ///
    /// # fn main() -> Result<()> {
    /// let gpu = Gpu::open_default()?;
    /// let kernel = gpu.load(PTX)?.kernel(saxpy)?;
    /// let stream = gpu.stream()?;
    /// let x = stream.upload(&[1.0, 2.0, 3.0])?;
    /// let mut y = stream.zeroed::<f32>(3)?;
    /// stream.launch(&kernel, Grid::cover(3, 128), (2.0, &x, &mut y))?;
    /// assert_eq!(stream.download(&y)?, [2.0, 4.0, 6.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Limit`](crate::Error::Limit) where the shape is beyond the kernel or the device: an empty grid, too many threads, too much shared memory, a
    /// cluster that does not divide the grid, a cooperative grid that does not fit. [`Error::Invalid`](crate::Error::Invalid) where one array is passed twice and
    /// written by a [`Surface`](crate::Surface), or what is passed belongs to another device. [`Error::Driver`](crate::Error::Driver) where the driver refuses, or an
    /// earlier fault on the device comes to light. A panic or a fault of *this* launch shows at a later wait.
    // covers: MODEL-01, ERROR-05
    #[inline]
    pub fn launch<K, A>(&self, kernel: &TypedKernel<K>, grid: Grid, arguments: A) -> Result<()>
    where
        K: SafeKernel,
        A: Arguments<K::Parameters>,
    {
        self.pack_and_enqueue(
            &kernel.function,
            const { &K::ATTRIBUTES },
            &grid,
            None,
            &arguments,
        )
    }

    /// Launches any kernel, `unsafe fn`s too.
    ///
    /// # Safety
    ///
    /// The kernel's own conditions hold, as its documentation gives them.
    #[inline]
    pub unsafe fn launch_unchecked<K, A>(
        &self,
        kernel: &TypedKernel<K>,
        grid: Grid,
        arguments: A,
    ) -> Result<()>
    where
        K: Kernel,
        A: Arguments<K::Parameters>,
    {
        self.pack_and_enqueue(
            &kernel.function,
            const { &K::ATTRIBUTES },
            &grid,
            None,
            &arguments,
        )
    }

    /// Launches a kernel of foreign PTX.
    ///
    /// # Safety
    ///
    /// The entry's parameters are those that `P` describes, and it does with them what its source promises: it stays inside of the
    /// memory that it is given, writes only what is passed by `&mut`, and no two threads race.
    #[inline]
    pub unsafe fn launch_untyped<P, A>(
        &self,
        kernel: &UntypedKernel<P>,
        grid: Grid,
        arguments: A,
    ) -> Result<()>
    where
        A: Arguments<P>,
    {
        self.pack_and_enqueue(&kernel.function, &UNKNOWN, &grid, None, &arguments)
    }

    /// As [`launch`](Self::launch), with options: priority, cache, domains, events.
    ///
    /// # Errors
    ///
    /// Those of [`launch`](Self::launch); [`Error::Limit`](crate::Error::Limit) and [`Error::Invalid`](crate::Error::Invalid) where an option is beyond what the device has, an event
    /// measures time, or the stream is being captured and an event is to be recorded.
    pub fn launch_with<K, A>(
        &self,
        kernel: &TypedKernel<K>,
        grid: Grid,
        options: &LaunchOptions<'_>,
        arguments: A,
    ) -> Result<()>
    where
        K: SafeKernel,
        A: Arguments<K::Parameters>,
    {
        // SAFETY: the kernel is a safe function.
        unsafe { self.launch_unchecked_with(kernel, grid, options, arguments) }
    }

    /// Launches a kernel that may begin before the kernel before it in this stream has ended: as soon as each block of that has signalled
    /// (`dependent::launch_dependents` of the device library) or exited. All memory that it is passed is an
    /// [`AfterPrimary`](warpsmith_device::dependent::AfterPrimary) parameter, which it reaches when everything before it has ended.
    ///
    /// Whether it does begin early is up to the device. It does not where something other than a kernel is before it, where the stream is
    /// being captured, and right after another launch of this kind: a kernel waits for the one before alone, and that need not have waited
    /// for the one before itself.
    ///
    /// ```no_run
    /// # use warpsmith_device::prelude::*;
    /// # use warpsmith_device::dependent::{self, AfterPrimary};
    /// # const PTX: &str = "";
    /// use warpsmith_host::LaunchOptions;
    /// use warpsmith_host::prelude::*;
    ///
    /// #[kernel]
    /// pub fn primary(mut x: PerThread<[f32]>) {
    ///     dependent::launch_dependents();
    ///     if let Some(x) = x.mine() {
    ///         *x = 1.0;
    ///     }
    /// }
    ///
    /// #[kernel]
    /// pub fn secondary(x: AfterPrimary<&[f32]>, y: AfterPrimary<PerThread<[f32]>>) {
    ///     let (x, mut y) = (x.wait(), y.wait());
    ///     if let (Some(x), Some(y)) = (x.get(thread::index()), y.mine()) {
    ///         *y = *x;
    ///     }
    /// }
    ///
    /// # fn main() -> Result<()> {
    /// # let gpu = Gpu::open_default()?;
    /// # let module = gpu.load(PTX)?;
    /// let (first, second) = (module.kernel(primary)?, module.kernel(secondary)?);
    /// let stream = gpu.stream()?;
    /// let (mut x, mut y) = (stream.zeroed::<f32>(1024)?, stream.zeroed::<f32>(1024)?);
    /// let grid = Grid::cover(1024, 128);
    /// stream.launch(&first, grid, (&mut x,))?;
    /// stream.launch_early(&second, grid, &LaunchOptions::new(), (&x, &mut y))?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`launch_with`](Self::launch_with).
    // covers: PDL-02, PDL-03
    pub fn launch_early<K, A>(
        &self,
        kernel: &TypedKernel<K>,
        grid: Grid,
        options: &LaunchOptions<'_>,
        arguments: A,
    ) -> Result<()>
    where
        K: SafeKernel,
        K::Parameters: EarlyParameters,
        A: Arguments<K::Parameters>,
    {
        self.launch_with(kernel, grid, &options.early(Overlap::Unawaited), arguments)
    }

    /// As [`launch_unchecked`](Self::launch_unchecked), with options.
    ///
    /// # Safety
    ///
    /// The kernel's own conditions hold, as its documentation gives them.
    pub unsafe fn launch_unchecked_with<K, A>(
        &self,
        kernel: &TypedKernel<K>,
        grid: Grid,
        options: &LaunchOptions<'_>,
        arguments: A,
    ) -> Result<()>
    where
        K: Kernel,
        A: Arguments<K::Parameters>,
    {
        self.pack_and_enqueue(
            &kernel.function,
            const { &K::ATTRIBUTES },
            &grid,
            Some(options),
            &arguments,
        )
    }

    /// As [`launch_untyped`](Self::launch_untyped), with options.
    ///
    /// # Safety
    ///
    /// As for [`launch_untyped`](Self::launch_untyped).
    pub unsafe fn launch_untyped_with<P, A>(
        &self,
        kernel: &UntypedKernel<P>,
        grid: Grid,
        options: &LaunchOptions<'_>,
        arguments: A,
    ) -> Result<()>
    where
        A: Arguments<P>,
    {
        self.pack_and_enqueue(&kernel.function, &UNKNOWN, &grid, Some(options), &arguments)
    }

    /// A part of each launch: that it is inlined leaves the arguments where they are.
    #[inline(always)]
    fn pack_and_enqueue<P, A>(
        &self,
        kernel: &Arc<Function>,
        attributes: &KernelAttributes,
        grid: &Grid,
        options: Option<&LaunchOptions<'_>>,
        arguments: &A,
    ) -> Result<()>
    where
        A: Arguments<P>,
    {
        let mut words = Words::new();
        let mut packer = Packer::new(self.handle.current_number(), &mut words);
        arguments.pack(&mut packer);
        self.enqueue(kernel, attributes, grid, options, &mut packer)
    }

    fn enqueue(
        &self,
        kernel: &Arc<Function>,
        attributes: &KernelAttributes,
        grid: &Grid,
        options: Option<&LaunchOptions<'_>>,
        packer: &mut Packer<'_>,
    ) -> Result<()> {
        let gpu = &self.gpu;
        if !Arc::ptr_eq(gpu, &kernel.module.gpu) {
            let devices = [&kernel.module.gpu, gpu];
            return Err(wrong_device(CALL, ["the kernel", "the stream"], devices));
        }
        let is_at_home = packer.uses().iter().all(|used| used.is_of(gpu));
        if !is_at_home {
            let mut uses = packer.uses().iter();
            uses.try_for_each(|used| used.check_stream(CALL, self))?;
        }
        check(kernel, attributes, grid, packer)?;
        // Until the launch is enqueued the host cannot come between.
        let launching = kernel.variables.as_deref().map(ModuleVariables::launching);
        let variables_in_order = kernel
            .variables
            .as_deref()
            .is_none_or(|variables| variables.are_used_by(self.handle.current_number()));
        if variables_in_order
            && is_at_home
            && !packer.needs_ordering()
            && !self.handle.is_captured()
            && gpu.order().launch_gate.state().is_open()
        {
            let (launch, _new) = self.number_launch(kernel);
            for used in packer.uses() {
                if used.kind == AccessKind::Write {
                    used.allocation.note_write(WriteMark::of(launch));
                }
            }
            // Where there is a file, too, the gate is not open.
            if !listeners::are_there() {
                return self.call_driver(kernel, grid, options, packer, launch);
            }
            return gpu.traced(
                || Track::of(&self.handle),
                || Work::kernel(&kernel.name, grid.sizes()),
                || self.call_driver(kernel, grid, options, packer, launch),
            );
        }
        let gate = self.enqueue_slowly(kernel, grid, options, packer)?;
        drop(launching);
        if gate.mode() == LaunchMode::Blocking && !self.handle.is_captured() {
            return self.synchronize().map_err(|error| {
                error.while_doing(|| format!("after launching `{}`", kernel.name))
            });
        }
        Ok(())
    }

    /// As [`enqueue`](Self::enqueue) where memory was used in other streams, the stream is captured, or the launch gate has a reason.
    #[cold]
    fn enqueue_slowly(
        &self,
        kernel: &Arc<Function>,
        grid: &Grid,
        options: Option<&LaunchOptions<'_>>,
        packer: &mut Packer<'_>,
    ) -> Result<GateState> {
        self.gpu.bind()?;
        let guard = self.gpu.lock_order();
        let gate = self.gpu.order().launch_gate.state();
        self.gpu.refuse_beside_host_accesses(CALL, &self.handle)?;
        if packer.conditions() != ConditionsOf::Nobody {
            return Err(condition_elsewhere(CALL, kernel));
        }
        let capture = self.gpu.order().capture_of(&guard, &self.handle);
        for passed in packer.graphs() {
            let Some(capture) = &capture else {
                return Err(graph_outside_of_graphs(kernel));
            };
            check_same_device(CALL, &self.gpu, passed.gpu)?;
            capture.use_graph(&guard, &self.handle, passed.graph)?;
        }
        // Until it is enqueued. A captured launch is numbered when its graph is launched; this number is nobody's then.
        let launch = self.handle.timeline().next();
        for used in packer.uses() {
            used.order(CALL, &guard, self, &launch)?;
        }
        if let Some(variables) = &kernel.variables {
            match &capture {
                Some(capture) => {
                    capture.order_use(&guard, variables.clone(), &self.handle, KERNEL_ACCESS)?
                }
                None => {
                    variables.order_use(
                        CALL,
                        &guard,
                        &self.handle,
                        &launch,
                        KERNEL_ACCESS,
                        ViewScope::Shared,
                    )?;
                }
            }
        }
        let parameters = packer.parameters();
        self.gpu.traced(
            || Track::of(&self.handle),
            || Work::kernel(&kernel.name, grid.sizes()),
            || self.call_driver(kernel, grid, options, packer, launch.number),
        )?;
        if let Some(capture) = capture {
            let options = options.map(LaunchOptions::kept_by_node).unwrap_or_default();
            let launch = GraphLaunch::new(kernel, *grid, &options, parameters)?;
            capture.keep_launch(&guard, &self.handle, Arc::new(launch))?;
        }
        Ok(gate)
    }

    /// The number of a launch that uses memory of the device alone, to be kept until it is enqueued; of a kernel that cannot panic, that of the
    /// launch before it.
    #[inline]
    fn number_launch(&self, kernel: &Function) -> (u64, Option<NewLaunch<'_>>) {
        let timeline = self.handle.timeline();
        if kernel.launch_parameters == LaunchParameters::Absent {
            (timeline.after_last(), None)
        } else {
            let new = timeline.next();
            (new.number, Some(new))
        }
    }

    #[inline]
    fn call_driver(
        &self,
        kernel: &Function,
        grid: &Grid,
        options: Option<&LaunchOptions<'_>>,
        packer: &mut Packer<'_>,
        launch: u64,
    ) -> Result<()> {
        if kernel.launch_parameters != LaunchParameters::Absent {
            // A captured launch gets a log when its graph is made ready.
            let (log, launch) = if self.handle.is_captured() {
                (0, 0)
            } else {
                (self.handle.panics().address(), launch)
            };
            packer.launch(log, launch, kernel.number);
        }
        match options {
            None => {
                let mut attributes: LaunchAttributes = LaunchAttributes::none();
                attributes.add_grid(grid);
                self.call_driver_with(kernel, grid, &mut attributes, packer)
            }
            Some(options) => self.call_driver_for(kernel, grid, options, packer),
        }
    }

    /// As [`call_driver_with`](Self::call_driver_with), with the attributes of the options, whose events stand for the launch.
    #[cold]
    fn call_driver_for(
        &self,
        kernel: &Function,
        grid: &Grid,
        options: &LaunchOptions<'_>,
        packer: &mut Packer<'_>,
    ) -> Result<()> {
        if options.events().next().is_some() {
            self.handle.refuse_capture(
                CALL,
                "an event of a launch stands for work, which a captured launch is not",
                "record it at each launch of the graph: `capture.record_external(stream, &event)`",
            )?;
        }
        self.handle.overlapping(options.overlap(), |may_overlap| {
            let mut attributes = options.attributes(grid, may_overlap, &self.gpu)?;
            // The events may be complete before the launch is, but after all that is before it. Until that is noted they say nothing.
            let reach = self.handle.timeline().end();
            for event in options.events() {
                event.set_position(None, Reach::default());
            }
            self.call_driver_with(kernel, grid, &mut attributes, packer)?;
            for event in options.events() {
                event.set_position(None, reach.clone());
            }
            Ok(())
        })
    }

    #[inline]
    fn call_driver_with<const MOST: usize>(
        &self,
        kernel: &Function,
        grid: &Grid,
        attributes: &mut LaunchAttributes<MOST>,
        packer: &mut Packer<'_>,
    ) -> Result<()> {
        let attributes = attributes.as_mut_slice();
        let config = raw::CUlaunchConfig {
            hStream: self.handle.raw(),
            attrs: attributes.as_mut_ptr(),
            numAttrs: attributes.len() as u32,
            ..grid.configuration()
        };
        let (config, function, pointers) = (&config, kernel.raw(), packer.pointers());
        // SAFETY: configuration, attributes and parameters outlive the call; `kernel` keeps the function's module. The parameters are
        // those of the entry: `Arguments` and the signature (`Module::kernel`) see to it for a safe launch, the caller's promise for an
        // unsafe one.
        // The memory among them is alive until its last use: `enqueue` put the use in order, and frees follow that order.
        let code = self.gpu.context().call_in_stream(move || unsafe {
            raw::cuLaunchKernelEx(config, function, pointers, std::ptr::null_mut())
        });
        if code.0 != 0 {
            return Err(launch_failed(kernel, grid, Code(code.0)));
        }
        Ok(())
    }
}
