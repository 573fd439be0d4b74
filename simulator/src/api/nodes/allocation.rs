//! Nodes that allocate and free memory.

use std::sync::Arc;

use super::add::add;
use crate::api::device::index;
use crate::api::entry::*;
use crate::api::graph::dependency_list;
use crate::context::current;
use crate::graph::{GRAPHS, Graph, NODES, add_allocation};
use crate::memory::graph_memory::{self, Placement};
use crate::streams::Operation;
use crate::streams::capture::Dependency;

driver_calls! {
    Ready fn cuGraphAddMemAllocNode(
        phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize,
        nodeParams: *mut CUDA_MEM_ALLOC_NODE_PARAMS,
    ) {
        let graph = GRAPHS.get(hGraph)?;
        let wish = nodeParams.as_mut().ok_or(code::INVALID_VALUE)?;
        let after = dependency_list(dependencies, core::ptr::null(), numDependencies)?;
        if phGraphNode.is_null() {
            return Err(code::INVALID_VALUE);
        }
        phGraphNode.write(add_allocation_node(&graph, &after, wish)?);
    }

    Ready fn cuGraphAddMemFreeNode(
        phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize,
        dptr: CUdeviceptr,
    ) {
        add(phGraphNode, hGraph, dependencies, numDependencies, free(dptr)?)?;
    }

    Ready fn cuGraphMemAllocNodeGetParams(hNode: CUgraphNode, params_out: *mut CUDA_MEM_ALLOC_NODE_PARAMS) {
        let Some(Operation::GraphAllocate(allocation)) = NODES.get(hNode)?.single_operation() else {
            return Err(code::INVALID_VALUE);
        };
        let placement = &allocation.placement;
        let mut location = CUmemLocation {
            type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE,
            ..Default::default()
        };
        location.__bindgen_anon_1.id = placement.device as c_int;
        put(params_out, CUDA_MEM_ALLOC_NODE_PARAMS {
            poolProps: CUmemPoolProps {
                allocType: CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
                location,
                ..Default::default()
            },
            // They live as long as the node.
            accessDescs: placement.access.as_ptr(),
            accessDescCount: placement.access.len(),
            bytesize: placement.bytes,
            dptr: allocation.pointer(),
        })?;
    }

    Ready fn cuGraphMemFreeNodeGetParams(hNode: CUgraphNode, dptr_out: *mut CUdeviceptr) {
        match NODES.get(hNode)?.single_operation() {
            Some(Operation::GraphFree(allocation, _)) => put(dptr_out, allocation.pointer())?,
            _ => return Err(code::INVALID_VALUE),
        }
    }
}

/// What frees the allocation of a node at an address.
pub(super) fn free(address: CUdeviceptr) -> Result<Operation> {
    let allocation = graph_memory::find(address as usize).ok_or(code::INVALID_VALUE)?;
    Ok(Operation::GraphFree(allocation, "a free node"))
}

/// Adds an allocation node, and writes the address into its parameters.
///
/// # Safety
///
/// The array of `wish` is null or valid for its count.
pub(super) unsafe fn add_allocation_node(
    graph: &Graph,
    after: &[Dependency],
    wish: &mut CUDA_MEM_ALLOC_NODE_PARAMS,
) -> Result<CUgraphNode> {
    let properties = &wish.poolProps;
    let no_handles = CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_NONE;
    if properties.allocType != CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED
        || properties.handleTypes != no_handles
        || wish.bytesize == 0
        || (wish.accessDescs.is_null() && wish.accessDescCount > 0)
    {
        return Err(code::INVALID_VALUE);
    }
    // SAFETY: the array is not null where it has entries, so it is valid for its count by the caller's contract; a location that is a device
    // has a number in its union.
    let access = (0..wish.accessDescCount).map(|i| unsafe { *wish.accessDescs.add(i) });
    let access: Arc<[CUmemAccessDesc]> = access.collect();
    for granted in access.iter() {
        on_device(&granted.location)?;
        if granted.flags != CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE {
            return Err(code::INVALID_VALUE);
        }
    }
    let placement = Placement {
        bytes: wish.bytesize,
        // As measured, other than in a list of rights.
        device: on_device(&properties.location).map_err(|_| code::INVALID_VALUE)?,
        context: current()?.id(),
        access,
        made_by: "cuGraphAddMemAllocNode",
    };
    let (node, allocation) = add_allocation(graph, after, placement)?;
    wish.dptr = allocation.pointer();
    Ok(node.handle as CUgraphNode)
}

/// The device of a location, which must be one.
fn on_device(location: &CUmemLocation) -> Result<usize> {
    if location.type_ != CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE {
        return Err(code::INVALID_VALUE);
    }
    // SAFETY: a location is made of integers alone.
    index(unsafe { location.__bindgen_anon_1.id })
}
