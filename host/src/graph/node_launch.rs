//! The launch that a kernel node makes: what it must fit, what it uses and keeps, and its form for the driver.

use std::sync::Arc;

use warpsmith_driver::raw;

use super::contents::{Contents, RecordedKernel};
use crate::error::{Node, Result};
use crate::gpu::open_device::{OpenDevice, check_same_device};
use crate::launch::{
    ConditionsOf, Function, GraphLaunch, Grid, KernelLaunch, Packer, check, condition_elsewhere,
};
use crate::memory::PeerAccess;
use crate::module::origin::LaunchParameters;
use crate::module::variables::KERNEL_ACCESS;
use crate::order::memory_use::MemoryUse;

/// A launch that fits a node.
pub(super) struct NodeLaunch<'a> {
    launch: &'a KernelLaunch<'a>,
    pub(super) recorded: Arc<GraphLaunch>,
    /// All memory that it uses: its arguments, the variables of its module, and what the graphs use that it may launch.
    pub(super) uses: Vec<MemoryUse>,
}

impl<'a> NodeLaunch<'a> {
    /// Of a node of a graph of the device `graph`; the node is of the kernel's device. `memory_of` is the number of the whole graph.
    ///
    /// # Errors
    ///
    /// Something is of another device than the kernel; a graph or a condition is passed to a kernel of another device than the graph's; a
    /// condition is of another graph; the shape or the arguments are beyond what the kernel or the device can have; a node cannot have such an option.
    pub(super) fn new(
        launch: &'a KernelLaunch<'a>,
        graph: &Arc<OpenDevice>,
        memory_of: u64,
        packer: &Packer<'_>,
    ) -> Result<NodeLaunch<'a>> {
        const CALL: &str = "cuGraphAddKernelNode";
        let function = launch.function;
        let gpu = &function.module.gpu;
        if ![ConditionsOf::Nobody, ConditionsOf::Graph(memory_of)].contains(&packer.conditions()) {
            return Err(condition_elsewhere(CALL, function));
        }
        for used in packer.uses() {
            used.check_device(CALL, "the kernel", gpu)?;
            used.check_writable(CALL)?;
        }
        for passed in packer.graphs() {
            check_same_device(
                CALL,
                ("the graph that is passed", passed.gpu),
                ("the kernel", gpu),
            )?;
        }
        // What kernels of another device than the graph's do with these no driver was asked.
        if !packer.graphs().is_empty() || packer.conditions() != ConditionsOf::Nobody {
            check_same_device(CALL, ("the kernel", gpu), ("the graph", graph))?;
        }
        check(launch, packer)?;
        Ok(NodeLaunch {
            launch,
            recorded: Arc::new(GraphLaunch::new(launch, packer.parameters())?),
            uses: uses_of(launch, packer),
        })
    }

    /// The device of the node.
    pub(super) fn gpu(&self) -> &Arc<OpenDevice> {
        &self.launch.function.module.gpu
    }

    pub(super) fn function(&self) -> &Function {
        self.launch.function
    }

    pub(super) fn grid(&self) -> &Grid {
        &self.launch.grid
    }

    /// Whether nothing but its parameters leads it to memory that others use: variables are used from the beginning.
    pub(super) fn may_be_early(&self) -> bool {
        self.launch.function.variables.is_none()
    }

    /// Whether it is passed where panics are told.
    pub(super) fn may_panic(&self) -> bool {
        self.launch.function.launch_parameters != LaunchParameters::Absent
    }

    /// The launch in the driver's form, with what a kernel that can panic is passed besides. It is good until the packer is used again.
    pub(super) fn parameters(
        &self,
        packer: &mut Packer<'_>,
        log: u64,
    ) -> raw::CUDA_KERNEL_NODE_PARAMS {
        let KernelLaunch { function, grid, .. } = self.launch;
        if self.may_panic() {
            packer.launch(log, 0, function.number);
        }
        raw::CUDA_KERNEL_NODE_PARAMS {
            func: function.raw(),
            gridDimX: grid.blocks.x,
            gridDimY: grid.blocks.y,
            gridDimZ: grid.blocks.z,
            blockDimX: grid.threads.x,
            blockDimY: grid.threads.y,
            blockDimZ: grid.threads.z,
            sharedMemBytes: grid.shared,
            kernelParams: packer.pointers(),
            ..Default::default()
        }
    }

    /// What the graph keeps for the node.
    pub(super) fn contents(&self, node: Node, packer: &Packer<'_>) -> Contents {
        let peers = packer.uses().iter().filter_map(|used| used.peer());
        let mut contents = Contents {
            launches: vec![RecordedKernel {
                node: Some(node),
                launch: self.recorded.clone(),
            }],
            // What lets it use memory of other devices.
            kept: peers.filter_map(PeerAccess::keeper).collect(),
            passed_conditions: packer.passed_conditions().to_vec(),
            ..Contents::default()
        };
        for used in &self.uses {
            contents.add_use(used);
        }
        for passed in packer.graphs() {
            contents.keep_launchable(passed.graph);
        }
        contents
    }
}

fn uses_of(launch: &KernelLaunch<'_>, packer: &Packer<'_>) -> Vec<MemoryUse> {
    let memory = packer.uses().iter().map(|used| MemoryUse {
        memory: used.allocation.clone(),
        access: used.access(),
    });
    let variables = launch.function.variables.iter();
    let variables = variables.map(|variables| MemoryUse {
        memory: variables.clone(),
        access: KERNEL_ACCESS,
    });
    let launchable = packer
        .graphs()
        .iter()
        .flat_map(|passed| passed.graph.uses.iter().cloned());
    memory.chain(variables).chain(launchable).collect()
}
