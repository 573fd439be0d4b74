//! The way of every launch into a stream: checks, order, the launch's number, the driver's call.

use std::sync::Arc;

use warpsmith_driver::raw;

use super::arguments::{Arguments, packed};
use super::attributes::{CALL, LaunchAttributes};
use super::check::{check, condition_elsewhere, graph_outside_of_graphs, launch_failed};
use super::function::Function;
use super::graph_launch::GraphLaunch;
use super::grid::Grid;
use super::kernel_launch::{KernelLaunch, LaunchableKernel};
use super::options::LaunchOptions;
use super::packer::{ConditionsOf, Packer};
use crate::error::{Code, Result};
use crate::gpu::open_device::check_same_device;
use crate::module::origin::LaunchParameters;
use crate::module::variables::{KERNEL_ACCESS, ModuleVariables};
use crate::order::access::{AccessKind, ViewScope};
use crate::order::history::OrderedMemory;
use crate::order::launch_gate::{GateState, LaunchMode};
use crate::panics::timeline::{NewLaunch, Reach};
use crate::panics::write_mark::WriteMark;
use crate::stream::Stream;
use crate::trace::listeners;
use crate::trace::track::Track;
use crate::trace::work::Work;

impl Stream {
    /// # Safety
    ///
    /// The kernel's own conditions hold, as its documentation or its source gives them.
    #[inline(always)]
    pub(super) unsafe fn pack_and_enqueue<K: LaunchableKernel>(
        &self,
        kernel: &K,
        grid: Grid,
        options: Option<&LaunchOptions<'_>>,
        arguments: &impl Arguments<K::Parameters>,
    ) -> Result<()> {
        packed(self.handle.current_number(), arguments, |packer| {
            let launch = KernelLaunch::new(kernel, grid, options);
            // SAFETY: `Arguments` packs what fits the kernel's parameters, which `Module::kernel` has compared with the entry's; its other
            // conditions hold (the caller).
            unsafe { self.enqueue(&launch, packer) }
        })
    }

    /// # Safety
    ///
    /// What was packed fits the parameters of the entry, and the kernel's own conditions hold.
    unsafe fn enqueue(&self, launch: &KernelLaunch<'_>, packer: &mut Packer<'_>) -> Result<()> {
        let gpu = &self.gpu;
        let function = launch.function;
        check_same_device(
            CALL,
            ("the kernel", &function.module.gpu),
            ("the stream", gpu),
        )?;
        let is_at_home = packer.uses().iter().all(|used| used.is_of(gpu));
        if !is_at_home {
            let mut uses = packer.uses().iter();
            uses.try_for_each(|used| used.check_stream(CALL, self))?;
        }
        check(launch, packer)?;
        // Until the launch is enqueued the host cannot come between.
        let launching = function.variables.as_deref();
        let launching = launching.map(ModuleVariables::launching);
        let variables_in_order = function
            .variables
            .as_deref()
            .is_none_or(|variables| variables.are_used_by(self.handle.current_number()));
        if variables_in_order
            && is_at_home
            && !packer.needs_ordering()
            && !self.handle.is_captured()
            // Events are recorded under the order lock, so that a recording and what is noted of it are one.
            && launch.options.is_none_or(|options| options.events().next().is_none())
            && gpu.order().launch_gate.state().is_open()
        {
            let (number, _new) = self.number_launch(function);
            for used in packer.uses() {
                if used.kind == AccessKind::Write {
                    used.allocation.note_write(WriteMark::of(number));
                }
            }
            // Where there is a file, too, the gate is not open.
            if !listeners::are_there() {
                // SAFETY: the caller's promise; all memory was used by this stream alone (`needs_ordering`).
                return unsafe { self.call_driver(launch, packer, number) };
            }
            return gpu.traced(
                || Track::of(&self.handle),
                || Work::kernel(&function.name, launch.grid.sizes()),
                // SAFETY: the caller's promise; all memory was used by this stream alone (`needs_ordering`).
                || unsafe { self.call_driver(launch, packer, number) },
            );
        }
        // SAFETY: the caller's promise.
        let gate = unsafe { self.enqueue_slowly(launch, packer) }?;
        drop(launching);
        if gate.mode() == LaunchMode::Blocking && !self.handle.is_captured() {
            return self.synchronize().map_err(|error| {
                error.while_doing(|| format!("after launching `{}`", function.name))
            });
        }
        Ok(())
    }

    /// As [`enqueue`](Self::enqueue) where memory was used in other streams, the stream is captured, or the launch gate has a reason.
    ///
    /// # Safety
    ///
    /// As for [`enqueue`](Self::enqueue).
    #[cold]
    unsafe fn enqueue_slowly(
        &self,
        launch: &KernelLaunch<'_>,
        packer: &mut Packer<'_>,
    ) -> Result<GateState> {
        self.gpu.bind()?;
        let function = launch.function;
        let guard = self.gpu.lock_order();
        let gate = self.gpu.order().launch_gate.state();
        self.gpu.refuse_beside_host_accesses(CALL, &self.handle)?;
        if packer.conditions() != ConditionsOf::Nobody {
            return Err(condition_elsewhere(CALL, function));
        }
        let capture = self.gpu.order().capture_of(&guard, &self.handle);
        for passed in packer.graphs() {
            let Some(capture) = &capture else {
                return Err(graph_outside_of_graphs(function));
            };
            check_same_device(
                CALL,
                ("the graph that is passed", passed.gpu),
                ("the stream", &self.gpu),
            )?;
            capture.use_graph(&guard, &self.handle, passed.graph)?;
        }
        // Until it is enqueued. A captured launch is numbered when its graph is launched; this number is nobody's then.
        let numbered = self.handle.timeline().next();
        for used in packer.uses() {
            used.order(CALL, &guard, self, &numbered)?;
        }
        if let Some(variables) = &function.variables {
            match &capture {
                Some(capture) => {
                    capture.order_use(&guard, variables.clone(), &self.handle, KERNEL_ACCESS)?
                }
                None => {
                    variables.order_use(
                        CALL,
                        &guard,
                        &self.handle,
                        &numbered,
                        KERNEL_ACCESS,
                        ViewScope::Shared,
                    )?;
                }
            }
        }
        let parameters = packer.parameters();
        self.gpu.traced(
            || Track::of(&self.handle),
            || Work::kernel(&function.name, launch.grid.sizes()),
            // SAFETY: the caller's promise; all uses were put in order by the lines before.
            || unsafe { self.call_driver(launch, packer, numbered.number) },
        )?;
        if let Some(capture) = capture {
            let options = launch
                .options
                .map(LaunchOptions::kept_by_node)
                .unwrap_or_default();
            let kept = KernelLaunch {
                options: Some(&options),
                ..*launch
            };
            let launch = GraphLaunch::new(&kept, parameters)?;
            capture.keep_launch(&guard, &self.handle, Arc::new(launch))?;
        }
        Ok(gate)
    }

    /// The number of a launch that uses memory of the device alone, to be kept until it is enqueued; of a kernel that cannot panic, that of the
    /// launch before it.
    #[inline]
    fn number_launch(&self, function: &Function) -> (u64, Option<NewLaunch<'_>>) {
        let timeline = self.handle.timeline();
        if function.launch_parameters == LaunchParameters::Absent {
            (timeline.after_last(), None)
        } else {
            let new = timeline.next();
            (new.number, Some(new))
        }
    }

    /// # Safety
    ///
    /// What was packed fits the parameters of the entry, and the kernel's own conditions hold. The uses of the memory among it are in order.
    #[inline]
    unsafe fn call_driver(
        &self,
        launch: &KernelLaunch<'_>,
        packer: &mut Packer<'_>,
        number: u64,
    ) -> Result<()> {
        let function = launch.function;
        if function.launch_parameters != LaunchParameters::Absent {
            // A captured launch gets a log when its graph is made ready.
            let (log, number) = if self.handle.is_captured() {
                (0, 0)
            } else {
                (self.handle.panics().address(), number)
            };
            packer.launch(log, number, function.number);
        }
        match launch.options {
            None => {
                let mut attributes: LaunchAttributes = LaunchAttributes::none();
                attributes.add_grid(&launch.grid);
                // SAFETY: the caller's promise; what the launch itself adds to the parameters stands behind those of the source.
                unsafe { self.call_driver_with(launch, &mut attributes, packer) }
            }
            // SAFETY: the caller's promise; what the launch itself adds to the parameters stands behind those of the source.
            Some(options) => unsafe { self.call_driver_for(launch, options, packer) },
        }
    }

    /// As [`call_driver_with`](Self::call_driver_with), with the attributes of the options, whose events stand for the launch.
    ///
    /// # Safety
    ///
    /// As for [`call_driver_with`](Self::call_driver_with).
    #[cold]
    unsafe fn call_driver_for(
        &self,
        launch: &KernelLaunch<'_>,
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
            let mut attributes = options.attributes(&launch.grid, may_overlap, &self.gpu)?;
            // The events may be complete before the launch is, but after all that is before it. Until that is noted they say nothing.
            let reach = self.handle.timeline().end();
            for event in options.events() {
                event.set_position(None, Reach::default());
            }
            // SAFETY: the caller's promise.
            unsafe { self.call_driver_with(launch, &mut attributes, packer) }?;
            for event in options.events() {
                event.set_position(None, reach.clone());
            }
            Ok(())
        })
    }

    /// # Safety
    ///
    /// What was packed fits all parameters of the entry, and the kernel's own conditions hold. The uses of the memory among it are in order.
    #[inline]
    unsafe fn call_driver_with<const MOST: usize>(
        &self,
        launch: &KernelLaunch<'_>,
        attributes: &mut LaunchAttributes<MOST>,
        packer: &mut Packer<'_>,
    ) -> Result<()> {
        let attributes = attributes.as_mut_slice();
        let config = raw::CUlaunchConfig {
            hStream: self.handle.raw(),
            attrs: attributes.as_mut_ptr(),
            numAttrs: attributes.len() as u32,
            ..launch.grid.configuration()
        };
        let stream = config.hStream;
        let (config, function, pointers) = (&config, launch.function.raw(), packer.pointers());
        // SAFETY: configuration, attributes and parameters outlive the call; `launch` keeps the function and its module. The parameters are
        // those of the entry (the caller). The memory among them is alive until its last use: its uses are in order (the caller), and frees
        // follow that order.
        let code = self.gpu.context().call_in_stream(stream, move || unsafe {
            raw::cuLaunchKernelEx(config, function, pointers, std::ptr::null_mut())
        });
        if code.0 != 0 {
            return Err(launch_failed(launch.function, &launch.grid, Code(code.0)));
        }
        Ok(())
    }
}
