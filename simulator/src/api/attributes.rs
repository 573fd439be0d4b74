//! Attributes of streams, kernel nodes and launches: the driver's unions, read and written.

use super::entry::*;
use crate::graph::{NODES, Node, NodeOperation};
use crate::streams::{
    self, Attribute, EVENTS, Event, Holder, Launch, LaunchRequest, Operation, Window,
};

driver_calls! {
    Ready fn cuStreamSetAttribute(hStream: CUstream, attr: CUstreamAttrID, param: *const CUstreamAttrValue) {
        let stream = streams::find(hStream)?;
        stream.set_attribute(read(Holder::Stream, attr, parameters(param)?)?)?;
    }

    Ready fn cuStreamGetAttribute(hStream: CUstream, attr: CUstreamAttrID, value: *mut CUstreamAttrValue) {
        let attribute = streams::find(hStream)?.attributes().get(attr).ok_or(code::INVALID_VALUE)?;
        put(value, value_of(&attribute))?;
    }

    Ready fn cuStreamCopyAttributes(dstStream: CUstream, srcStream: CUstream) {
        let (to, from) = (streams::find(dstStream)?, streams::find(srcStream)?);
        if to.context_id != from.context_id {
            return Err(code::INVALID_VALUE);
        }
        to.copy_attributes(&from);
    }

    Ready fn cuGraphKernelNodeSetAttribute(
        hNode: CUgraphNode, attr: CUkernelNodeAttrID, value: *const CUkernelNodeAttrValue,
    ) {
        let node = NODES.get(hNode)?;
        let launch = launch_of(&node)?;
        let mut request = request_of(&launch);
        let attribute = read(Holder::Node, attr, parameters(value)?)?;
        request.set(attribute, launch.function.device)?;
        set(&node, launch, request)?;
    }

    Ready fn cuGraphKernelNodeGetAttribute(
        hNode: CUgraphNode, attr: CUkernelNodeAttrID, value_out: *mut CUkernelNodeAttrValue,
    ) {
        let launch = launch_of(&*NODES.get(hNode)?)?;
        let attribute = match attr {
            CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_COOPERATIVE => Attribute::Cooperative(launch.shape.cooperative),
            CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION => Attribute::Cluster(launch.shape.cluster),
            CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PRIORITY => Attribute::Priority(launch.shape.priority.unwrap_or(0)),
            hint => launch.hints.get(hint).ok_or(code::INVALID_VALUE)?,
        };
        put(value_out, value_of(&attribute))?;
    }

    Ready fn cuGraphKernelNodeCopyAttributes(dst: CUgraphNode, src: CUgraphNode) {
        let (to, from) = (NODES.get(dst)?, NODES.get(src)?);
        let (old, model) = (launch_of(&to)?, launch_of(&from)?);
        let mut request = request_of(&model);
        request.shape.grid = old.shape.grid;
        request.shape.block = old.shape.block;
        request.shape.dynamic_shared = old.shape.dynamic_shared;
        set(&to, old, request)?;
    }
}

/// What a kernel node launches.
fn launch_of(node: &Node) -> Result<Launch> {
    match node.single_operation() {
        Some(Operation::Kernel(launch)) => Ok(launch),
        _ => Err(code::INVALID_VALUE),
    }
}

fn request_of(launch: &Launch) -> LaunchRequest {
    LaunchRequest {
        shape: launch.shape,
        hints: launch.hints,
        ..LaunchRequest::default()
    }
}

/// Changes what a node launches, if its kernel can be launched so.
fn set(node: &Node, old: Launch, request: LaunchRequest) -> Result {
    let shape = request.shape.check(&old.function)?;
    request.hints.check(shape.cluster)?;
    let launch = Launch {
        shape,
        hints: request.hints,
        ..old
    };
    node.set_operation(NodeOperation::Single(Operation::Kernel(launch)));
    Ok(())
}

/// The attribute of this kind, if the holder can have it.
///
/// # Safety
///
/// The value is one of the attribute's type.
pub(super) unsafe fn read(
    holder: Holder,
    id: CUlaunchAttributeID,
    value: &CUlaunchAttributeValue,
) -> Result<Attribute> {
    use CUlaunchAttributeID as Id;
    if !holder.may_have(id) {
        return Err(code::INVALID_VALUE);
    }
    // SAFETY: the value is one of this attribute's type by the caller's contract.
    unsafe {
        Ok(match id {
            Id::CU_LAUNCH_ATTRIBUTE_IGNORE => Attribute::Ignored,
            Id::CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW => {
                let CUaccessPolicyWindow {
                    base_ptr,
                    num_bytes,
                    hitRatio,
                    hitProp,
                    missProp,
                } = value.accessPolicyWindow;
                Attribute::Window(Window {
                    base: base_ptr as usize,
                    bytes: num_bytes,
                    hit_ratio: hitRatio,
                    hit: hitProp,
                    miss: missProp,
                })
            }
            Id::CU_LAUNCH_ATTRIBUTE_COOPERATIVE => Attribute::Cooperative(value.cooperative != 0),
            Id::CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY => {
                Attribute::SynchronizationPolicy(value.syncPolicy)
            }
            Id::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION => {
                let CUlaunchAttributeValue_union__bindgen_ty_1 { x, y, z } = value.clusterDim;
                Attribute::Cluster([x, y, z])
            }
            Id::CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE => {
                Attribute::ClusterScheduling(value.clusterSchedulingPolicyPreference)
            }
            Id::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION => {
                Attribute::EarlyStart(value.programmaticStreamSerializationAllowed != 0)
            }
            Id::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT => {
                let given = value.programmaticEvent;
                Attribute::ProgrammaticEvent {
                    event: event(given.event, given.flags)?,
                    at_block_start: given.triggerAtBlockStart != 0,
                }
            }
            Id::CU_LAUNCH_ATTRIBUTE_PRIORITY => Attribute::Priority(value.priority),
            Id::CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP => {
                Attribute::DomainMap(value.memSyncDomainMap)
            }
            Id::CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN => Attribute::Domain(value.memSyncDomain),
            Id::CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION => {
                let CUlaunchAttributeValue_union__bindgen_ty_4 { x, y, z } =
                    value.preferredClusterDim;
                Attribute::PreferredCluster([x, y, z])
            }
            Id::CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT => {
                let given = value.launchCompletionEvent;
                Attribute::CompletionEvent(event(given.event, given.flags)?)
            }
            Id::CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT => {
                Attribute::Carveout(value.sharedMemCarveout)
            }
            _ => return Err(code::INVALID_VALUE),
        })
    }
}

/// The event that a launch records; it cannot be recorded as one outside of a capture.
fn event(handle: CUevent, flags: c_int) -> Result<std::sync::Arc<Event>> {
    if flags != 0 {
        return Err(code::INVALID_VALUE);
    }
    EVENTS.get(handle)
}

/// The attribute as the driver's union, which is zero beyond it.
fn value_of(attribute: &Attribute) -> CUlaunchAttributeValue {
    let mut value = CUlaunchAttributeValue::default();
    match *attribute {
        Attribute::Window(window) => {
            value.accessPolicyWindow = CUaccessPolicyWindow {
                base_ptr: window.base as *mut c_void,
                num_bytes: window.bytes,
                hitRatio: window.hit_ratio,
                hitProp: window.hit,
                missProp: window.miss,
            };
        }
        Attribute::Cooperative(cooperative) => value.cooperative = c_int::from(cooperative),
        Attribute::SynchronizationPolicy(policy) => value.syncPolicy = policy,
        Attribute::Cluster([x, y, z]) => {
            value.clusterDim = CUlaunchAttributeValue_union__bindgen_ty_1 { x, y, z };
        }
        Attribute::ClusterScheduling(policy) => value.clusterSchedulingPolicyPreference = policy,
        Attribute::Priority(priority) => value.priority = priority,
        Attribute::DomainMap(map) => value.memSyncDomainMap = map,
        Attribute::Domain(domain) => value.memSyncDomain = domain,
        Attribute::PreferredCluster([x, y, z]) => {
            value.preferredClusterDim = CUlaunchAttributeValue_union__bindgen_ty_4 { x, y, z };
        }
        // Of launches alone, which nobody can ask for them.
        Attribute::Ignored
        | Attribute::EarlyStart(_)
        | Attribute::ProgrammaticEvent { .. }
        | Attribute::CompletionEvent(_)
        | Attribute::Carveout(_) => {}
    }
    value
}
