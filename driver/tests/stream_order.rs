//! Conflicts between whole pieces of work that nothing orders. A GPU runs such work in some order and says nothing, so all of this
//! is shown on the simulator alone.

mod common;
use common::graphs::kernel_node;
use common::*;

use warpsmith_abi::fault::{Fault, FaultKind};
use warpsmith_driver::{fault, simulator_report};

const PTX: &core::ffi::CStr = c"
.version 8.0
.target sm_90
.address_size 64
.visible .entry put(.param .u64 out, .param .u32 value)
{
    .reg .b32 %r; .reg .b64 %a;
    ld.param.u64 %a, [out];
    ld.param.u32 %r, [value];
    st.global.u32 [%a], %r;
    ret;
}
.visible .entry take(.param .u64 out, .param .u64 from)
{
    .reg .b32 %r; .reg .b64 %a; .reg .b64 %b;
    ld.param.u64 %a, [out];
    ld.param.u64 %b, [from];
    ld.global.u32 %r, [%b];
    st.global.u32 [%a], %r;
    ret;
}
.visible .entry count(.param .u64 out)
{
    .reg .b64 %a;
    ld.param.u64 %a, [out];
    red.relaxed.gpu.global.add.u32 [%a], 1;
    ret;
}
.visible .entry first(.param .u64 out)
{
    .reg .b64 %a;
    ld.param.u64 %a, [out];
    griddepcontrol.launch_dependents;
    st.global.u32 [%a], 7;
    ret;
}
.visible .entry patient(.param .u64 out)
{
    .reg .b32 %r; .reg .b64 %a;
    ld.param.u64 %a, [out];
    griddepcontrol.wait;
    ld.global.u32 %r, [%a];
    add.u32 %r, %r, 1;
    st.global.u32 [%a], %r;
    ret;
}
.visible .entry hasty(.param .u64 out)
{
    .reg .b32 %r; .reg .b64 %a;
    ld.param.u64 %a, [out];
    ld.global.u32 %r, [%a];
    add.u32 %r, %r, 1;
    st.global.u32 [%a], %r;
    griddepcontrol.wait;
    ret;
}
.visible .entry tell_gpu(.param .u64 data, .param .u64 flag)
{
    .reg .b64 %a; .reg .b64 %f;
    ld.param.u64 %a, [data];
    ld.param.u64 %f, [flag];
    st.global.u32 [%a], 5;
    st.release.gpu.global.u32 [%f], 1;
    ret;
}
.visible .entry hear_gpu(.param .u64 data, .param .u64 flag)
{
    .reg .b32 %r; .reg .b64 %a; .reg .b64 %f; .reg .pred %p;
    ld.param.u64 %a, [data];
    ld.param.u64 %f, [flag];
again:
    ld.acquire.gpu.global.u32 %r, [%f];
    setp.eq.u32 %p, %r, 0;
    @%p bra again;
    ld.global.u32 %r, [%a];
    st.global.u32 [%a+4], %r;
    ret;
}
.visible .entry tell_sys(.param .u64 data, .param .u64 flag)
{
    .reg .b64 %a; .reg .b64 %f;
    ld.param.u64 %a, [data];
    ld.param.u64 %f, [flag];
    st.global.u32 [%a], 5;
    st.release.sys.global.u32 [%f], 1;
    ret;
}
.visible .entry hear_sys(.param .u64 data, .param .u64 flag)
{
    .reg .b32 %r; .reg .b64 %a; .reg .b64 %f; .reg .pred %p;
    ld.param.u64 %a, [data];
    ld.param.u64 %f, [flag];
again:
    ld.acquire.sys.global.u32 %r, [%f];
    setp.eq.u32 %p, %r, 0;
    @%p bra again;
    ld.global.u32 %r, [%a];
    st.global.u32 [%a+4], %r;
    ret;
}
.visible .entry keep(.param .u64 out, .param .u64 from)
{
    .reg .b32 %r; .reg .b64 %a; .reg .b64 %b;
    ld.param.u64 %a, [out];
    ld.param.u64 %b, [from];
    ld.global.nc.u32 %r, [%b];
    st.global.u32 [%a], %r;
    ret;
}
";

/// A context of its own, which a fault ends; the test's calls go there until it is dropped.
struct Own {
    context: CUcontext,
    module: CUmodule,
}

impl Own {
    /// `None` on a GPU.
    fn new() -> Option<Own> {
        if gpu() == Backend::Cuda {
            return None;
        }
        assert!(warpsmith_driver::configure_simulator("stderr", "off"));
        assert!(warpsmith_driver::configure_simulator("checks", "all"));
        Some(Own::here())
    }

    fn here() -> Own {
        let context: CUcontext = get!(cuCtxCreate_v2(0, 0));
        let module: CUmodule = get!(cuModuleLoadData(PTX.as_ptr().cast()));
        Own { context, module }
    }

    fn function(&self, name: &core::ffi::CStr) -> CUfunction {
        get!(cuModuleGetFunction(self.module, name.as_ptr()))
    }

    fn launch(&self, name: &core::ffi::CStr, stream: CUstream, arguments: &[u64]) {
        self.launch_with(name, stream, arguments, &mut []);
    }

    fn launch_with(
        &self,
        name: &core::ffi::CStr,
        stream: CUstream,
        arguments: &[u64],
        attributes: &mut [CUlaunchAttribute],
    ) {
        let mut arguments = arguments.to_vec();
        let mut pointers: Vec<*mut c_void> = arguments
            .iter_mut()
            .map(|argument| core::ptr::from_mut(argument).cast())
            .collect();
        let configuration = CUlaunchConfig {
            gridDimX: 1,
            gridDimY: 1,
            gridDimZ: 1,
            blockDimX: 1,
            blockDimY: 1,
            blockDimZ: 1,
            hStream: stream,
            attrs: attributes.as_mut_ptr(),
            numAttrs: attributes.len() as c_uint,
            ..Default::default()
        };
        ok!(cuLaunchKernelEx(
            &configuration,
            self.function(name),
            pointers.as_mut_ptr(),
            null_mut()
        ));
    }

    fn node(
        &self,
        graph: CUgraph,
        after: &[CUgraphNode],
        name: &core::ffi::CStr,
        arguments: &[u64],
    ) -> CUgraphNode {
        kernel_node(graph, after, self.function(name), 1, arguments)
    }

    /// Waits, and expects nothing wrong.
    fn is_silent(&self) {
        ok!(cuCtxSynchronize());
        assert_eq!(fault(null_mut()), None);
    }

    /// Waits, and gives the conflict that was found; in words, it has both sides.
    fn conflict(&self) -> Fault {
        fails!(719, cuCtxSynchronize());
        let found = fault(self.context).expect("a conflict");
        assert_eq!(found.kind, FaultKind::StreamOrder, "{found}");
        assert_eq!(found.work.len(), 2, "{found}");
        let text = found.to_string();
        for side in &found.work {
            assert!(
                text.contains(&side.what) && text.contains(&side.place),
                "{text}"
            );
        }
        found
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        // SAFETY: nothing uses the context after the test.
        let _ = unsafe { cuCtxDestroy_v2(self.context) };
    }
}

fn launched(graph: CUgraph, times: usize, stream: CUstream) {
    let exec: CUgraphExec = get!(cuGraphInstantiateWithFlags(graph, 0));
    for _ in 0..times {
        ok!(cuGraphLaunch(exec, stream));
    }
}

/// Time enough for the simulator to execute what was submitted; it orders nothing.
fn pause() {
    std::thread::sleep(std::time::Duration::from_millis(50));
}

fn has_both(found: &Fault, one: &str, other: &str) {
    let texts: Vec<_> = found
        .work
        .iter()
        .map(|side| format!("{} in {} {}", side.what, side.place, side.does))
        .collect();
    assert!(
        texts.iter().any(|text| text.contains(one))
            && texts.iter().any(|text| text.contains(other)),
        "{texts:?}"
    );
}

#[test]
fn branches_of_a_diamond_that_write_one_buffer_are_found() {
    // covers: GRAPH-03, GRAPH-08
    let _turn = turn();
    for with_edge in [false, true] {
        let Some(own) = Own::new() else { return };
        let memory: CUdeviceptr = get!(cuMemAlloc_v2(64));
        let graph: CUgraph = get!(cuGraphCreate(0));
        let a = own.node(graph, &[], c"put", &[memory, 1]);
        let b = own.node(graph, &[a], c"put", &[memory + 8, 2]);
        let join: CUgraphNode = get!(cuGraphAddEmptyNode(graph, [b].as_ptr(), 1));
        let before_c = if with_edge { vec![a, join] } else { vec![a] };
        let c = own.node(graph, &before_c, c"put", &[memory + 8, 3]);
        own.node(graph, &[b, c], c"take", &[memory, memory + 8]);
        // After a conflict the context takes no second launch.
        launched(graph, if with_edge { 2 } else { 1 }, stream());
        if with_edge {
            own.is_silent();
            continue;
        }
        let found = own.conflict();
        let of_node = |node: CUgraphNode| format!("node {:#x} of a graph", node as usize);
        has_both(&found, &of_node(b), &of_node(c));
        let access = found.access.expect("the byte");
        assert_eq!(access.address, memory + 8);
        assert_eq!(access.nearest.expect("the allocation").base, memory);
    }
}

#[test]
fn streams_conflict_unless_an_event_orders_them() {
    let _turn = turn();
    for ordered in [false, true] {
        let Some(own) = Own::new() else { return };
        let memory: CUdeviceptr = get!(cuMemAlloc_v2(64));
        let (one, other) = (stream(), stream());
        let event: CUevent = get!(cuEventCreate(0));
        own.launch(c"put", one, &[memory, 1]);
        // Reached long before the other kernel is launched, which orders nothing by itself.
        ok!(cuEventRecord(event, one));
        if ordered {
            ok!(cuStreamWaitEvent(other, event, 0));
        }
        pause();
        own.launch(c"take", other, &[memory + 4, memory]);
        if ordered {
            own.is_silent();
        } else {
            let found = own.conflict();
            has_both(
                &found,
                &format!("{:#x}", one as usize),
                &format!("{:#x}", other as usize),
            );
            has_both(&found, "kernel `put`", "kernel `take`");
        }
    }
}

#[test]
fn an_event_that_is_recorded_again_orders_what_was_recorded_when_the_wait_was_issued() {
    let _turn = turn();
    for late in [false, true] {
        let Some(own) = Own::new() else { return };
        let memory: CUdeviceptr = get!(cuMemAlloc_v2(64));
        let (one, other) = (stream(), stream());
        let event: CUevent = get!(cuEventCreate(0));
        ok!(cuEventRecord(event, one));
        if !late {
            own.launch(c"put", one, &[memory, 1]);
            ok!(cuEventRecord(event, one));
        }
        ok!(cuStreamWaitEvent(other, event, 0));
        if late {
            own.launch(c"put", one, &[memory, 1]);
            ok!(cuEventRecord(event, one));
        }
        own.launch(c"put", other, &[memory, 2]);
        match late {
            true => drop(own.conflict()),
            false => own.is_silent(),
        }
    }
}

#[test]
fn the_legacy_stream_orders_blocking_streams_alone() {
    let _turn = turn();
    for flags in [0, 1] {
        let Some(own) = Own::new() else { return };
        let memory: CUdeviceptr = get!(cuMemAlloc_v2(64));
        let (one, other): (CUstream, CUstream) =
            (get!(cuStreamCreate(flags)), get!(cuStreamCreate(flags)));
        own.launch(c"put", one, &[memory, 1]);
        own.launch(c"put", null_mut(), &[memory + 16, 1]);
        own.launch(c"put", other, &[memory, 2]);
        match flags {
            0 => own.is_silent(),
            _ => drop(own.conflict()),
        }
    }
}

#[test]
fn waits_of_the_host_order_what_it_does_later() {
    let _turn = turn();
    for wait in 0..6 {
        let Some(own) = Own::new() else { return };
        let memory: CUdeviceptr = get!(cuMemAlloc_v2(64));
        let (one, other) = (stream(), stream());
        let event: CUevent = get!(cuEventCreate(0));
        own.launch(c"put", one, &[memory, 1]);
        ok!(cuEventRecord(event, one));
        match wait {
            0 => ok!(cuStreamSynchronize(one)),
            1 => ok!(cuEventSynchronize(event)),
            2 => ok!(cuCtxSynchronize()),
            // SAFETY: the stream was made above and is not destroyed yet.
            3 => while unsafe { cuStreamQuery(one) }.0 != 0 {},
            // SAFETY: the event was made above and is not destroyed yet.
            4 => while unsafe { cuEventQuery(event) }.0 != 0 {},
            // No wait for this stream.
            _ => ok!(cuStreamSynchronize(other)),
        }
        ok!(cuMemsetD8Async(memory, 3, 32, other));
        match wait {
            5 => drop(own.conflict()),
            _ => own.is_silent(),
        }
    }
}

#[test]
fn a_copy_of_the_host_conflicts_with_a_stream_it_does_not_wait_for() {
    let _turn = turn();
    let Some(own) = Own::new() else { return };
    let memory: CUdeviceptr = get!(cuMemAlloc_v2(64));
    let one = stream();
    own.launch(c"put", one, &[memory, 1]);
    let mut bytes = [0u8; 64];
    // The call itself finds it, or has not come so far.
    // SAFETY: the buffer is as long as the copy.
    let _ = unsafe { cuMemcpyDtoH_v2(bytes.as_mut_ptr().cast(), memory, 64) };
    has_both(&own.conflict(), "kernel `put`", "a copy of 64 bytes");
}

#[test]
fn atomics_of_two_grids_may_meet_and_plain_accesses_may_not() {
    let _turn = turn();
    for plain in [false, true] {
        let Some(own) = Own::new() else { return };
        let memory: CUdeviceptr = get!(cuMemAlloc_v2(64));
        ok!(cuMemsetD8_v2(memory, 0, 64));
        ok!(cuCtxSynchronize());
        own.launch(c"count", stream(), &[memory]);
        match plain {
            false => own.launch(c"count", stream(), &[memory]),
            true => own.launch(c"put", stream(), &[memory, 1]),
        }
        match plain {
            false => own.is_silent(),
            true => drop(own.conflict()),
        }
    }
}

fn attribute(id: CUlaunchAttributeID, value: CUlaunchAttributeValue) -> CUlaunchAttribute {
    CUlaunchAttribute {
        id,
        value,
        ..Default::default()
    }
}

#[test]
fn a_dependent_grid_that_does_not_wait_is_found() {
    let _turn = turn();
    for (dependent, is_silent) in [(c"patient", true), (c"hasty", false)] {
        let Some(own) = Own::new() else { return };
        let memory: CUdeviceptr = get!(cuMemAlloc_v2(64));
        let one = stream();
        let mut early = [attribute(
            CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
            CUlaunchAttributeValue {
                programmaticStreamSerializationAllowed: 1,
            },
        )];
        own.launch(c"first", one, &[memory]);
        own.launch_with(dependent, one, &[memory], &mut early);
        match is_silent {
            true => own.is_silent(),
            false => has_both(&own.conflict(), "kernel `first`", "kernel `hasty`"),
        }
    }
}

#[test]
fn kernels_that_speak_through_memory_need_a_scope_that_holds_both() {
    // covers: DOMAIN-03
    let _turn = turn();
    for (tell, hear, domains, is_silent) in [
        (c"tell_gpu", c"hear_gpu", [0, 0], true),
        (c"tell_gpu", c"hear_gpu", [0, 1], false),
        (c"tell_sys", c"hear_sys", [0, 1], true),
    ] {
        let Some(own) = Own::new() else { return };
        let memory: CUdeviceptr = get!(cuMemAlloc_v2(64));
        ok!(cuMemsetD8_v2(memory, 0, 64));
        ok!(cuCtxSynchronize());
        for (kernel, domain) in [tell, hear].into_iter().zip(domains) {
            let mut domain = [attribute(
                CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN,
                CUlaunchAttributeValue {
                    memSyncDomain: CUlaunchMemSyncDomain(domain),
                },
            )];
            own.launch_with(kernel, stream(), &[memory, memory + 32], &mut domain);
        }
        match is_silent {
            true => own.is_silent(),
            false => has_both(&own.conflict(), "tell_gpu", "hear_gpu"),
        }
    }
}

#[test]
fn what_a_launch_reads_by_the_read_only_path_it_does_not_write() {
    // covers: CC-14
    let _turn = turn();
    for (target, is_silent) in [(4, true), (0, false)] {
        let Some(own) = Own::new() else { return };
        let memory: CUdeviceptr = get!(cuMemAlloc_v2(64));
        let one = stream();
        // Another launch may write it.
        own.launch(c"put", one, &[memory, 1]);
        own.launch(c"keep", one, &[memory + target, memory]);
        if is_silent {
            own.is_silent();
            continue;
        }
        fails!(719, cuCtxSynchronize());
        let found = fault(own.context).expect("a fault");
        assert_eq!(found.kind, FaultKind::Race, "{found}");
        let text = found.to_string();
        assert!(text.contains("kernel `keep` in stream"), "{text}");
        assert!(
            text.contains(&format!(
                "writes memory at {:#x} that it reads",
                memory + target
            )),
            "{text}"
        );
    }
}

#[test]
fn words_that_streams_wait_for_order_them() {
    let _turn = turn();
    let Some(own) = Own::new() else { return };
    let memory: CUdeviceptr = get!(cuMemAlloc_v2(64));
    ok!(cuMemsetD8_v2(memory, 0, 64));
    ok!(cuCtxSynchronize());
    let (one, other) = (stream(), stream());
    ok!(cuStreamWaitValue32_v2(other, memory + 32, 1, 0));
    own.launch(c"take", other, &[memory + 4, memory]);
    own.launch(c"put", one, &[memory, 1]);
    ok!(cuStreamWriteValue32_v2(one, memory + 32, 1, 0));
    own.is_silent();
}

/// A semaphore that another interface could have made.
fn external_semaphore() -> CUexternalSemaphore {
    use std::os::fd::IntoRawFd;
    let flags = rustix::event::EventfdFlags::NONBLOCK | rustix::event::EventfdFlags::CLOEXEC;
    let file = rustix::event::eventfd(0, flags).expect("the system has room");
    let description = CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC {
        type_: CUexternalSemaphoreHandleType::CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD,
        handle: CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC_st__bindgen_ty_1 {
            fd: file.into_raw_fd(),
        },
        ..Default::default()
    };
    get!(cuImportExternalSemaphore(&description))
}

// covers: INTEROP-10
#[test]
fn external_semaphores_order_streams_and_graphs() {
    let _turn = turn();
    for in_graph in [false, true] {
        let Some(own) = Own::new() else { return };
        let memory: CUdeviceptr = get!(cuMemAlloc_v2(64));
        let (mut to_other, mut back) = (external_semaphore(), external_semaphore());
        let (one, other) = (stream(), stream());
        let (signal, wait) = (Default::default(), Default::default());
        own.launch(c"put", one, &[memory, 1]);
        ok!(cuSignalExternalSemaphoresAsync(&to_other, &signal, 1, one));
        if in_graph {
            let graph: CUgraph = get!(cuGraphCreate(0));
            let waits = CUDA_EXT_SEM_WAIT_NODE_PARAMS {
                extSemArray: &mut to_other,
                paramsArray: &wait,
                numExtSems: 1,
            };
            let signals = CUDA_EXT_SEM_SIGNAL_NODE_PARAMS {
                extSemArray: &mut back,
                paramsArray: &signal,
                numExtSems: 1,
            };
            let first: CUgraphNode = get!(cuGraphAddExternalSemaphoresWaitNode(
                graph,
                null_mut(),
                0,
                &waits
            ));
            let put = own.node(graph, &[first], c"put", &[memory, 2]);
            let _: CUgraphNode = get!(cuGraphAddExternalSemaphoresSignalNode(
                graph, &put, 1, &signals
            ));
            launched(graph, 1, other);
        } else {
            ok!(cuWaitExternalSemaphoresAsync(&to_other, &wait, 1, other));
            own.launch(c"put", other, &[memory, 2]);
            ok!(cuSignalExternalSemaphoresAsync(&back, &signal, 1, other));
        }
        ok!(cuWaitExternalSemaphoresAsync(&back, &wait, 1, one));
        own.launch(c"put", one, &[memory, 3]);
        own.is_silent();
        // Without them it is a conflict.
        own.launch(c"put", other, &[memory, 4]);
        pause();
        own.launch(c"put", one, &[memory, 5]);
        own.conflict();
    }
}

#[test]
fn memory_of_a_pool_is_used_between_its_allocation_and_its_free() {
    // covers: GMEM-09, POOL-41
    let _turn = turn();
    // The use before the allocation, after the free, and not before it.
    for case in 0..6 {
        let Some(own) = Own::new() else { return };
        let (one, other) = (stream(), stream());
        let event: CUevent = get!(cuEventCreate(0));
        let flag = Flag::new();
        let memory: CUdeviceptr = get!(cuMemAllocAsync(64, one));
        let order = |from: CUstream, to: CUstream| {
            ok!(cuEventRecord(event, from));
            ok!(cuStreamWaitEvent(to, event, 0));
        };
        match case {
            // Used in another stream, which does not come after the allocation.
            0 => own.launch(c"put", other, &[memory, 1]),
            // Freed while another stream may use it.
            1 => {
                order(one, other);
                own.launch(c"put", other, &[memory, 1]);
                pause();
                ok!(cuMemFreeAsync(memory, one));
            }
            // As it should be.
            2 => {
                order(one, other);
                own.launch(c"put", other, &[memory, 1]);
                order(other, one);
                ok!(cuMemFreeAsync(memory, one));
            }
            // The kernel says that it is done, which is not its end.
            3 => {
                order(one, other);
                own.launch(c"tell_sys", other, &[memory, flag.address()]);
                while flag.get() == 0 {}
                ok!(cuMemFreeAsync(memory, one));
            }
            // The host frees it and has waited for nothing.
            4 => {
                own.launch(c"put", one, &[memory, 1]);
                pause();
                // SAFETY: the simulator finds out about the use.
                let _ = unsafe { cuMemFree_v2(memory) };
            }
            _ => {
                own.launch(c"put", one, &[memory, 1]);
                ok!(cuStreamSynchronize(one));
                ok!(cuMemFree_v2(memory));
            }
        }
        match case {
            0 => has_both(&own.conflict(), "cuMemAllocAsync", "kernel `put`"),
            1 => has_both(&own.conflict(), "cuMemFreeAsync", "kernel `put`"),
            3 => has_both(&own.conflict(), "cuMemFreeAsync", "kernel `tell_sys`"),
            4 => has_both(&own.conflict(), "cuMemFree", "kernel `put`"),
            _ => own.is_silent(),
        }
    }
}

#[test]
fn a_use_that_comes_after_the_free_names_who_has_freed() {
    // covers: POOL-41
    let _turn = turn();
    for copy in [false, true] {
        let Some(own) = Own::new() else { return };
        let (one, other) = (stream(), stream());
        let (memory, back): (CUdeviceptr, CUdeviceptr) =
            (get!(cuMemAllocAsync(64, one)), get!(cuMemAlloc_v2(64)));
        let gate = Gate::new();
        gate.block(other);
        if copy {
            ok!(cuMemcpyDtoDAsync_v2(back, memory, 64, other));
        } else {
            own.launch(c"put", other, &[memory, 1]);
        }
        ok!(cuMemFreeAsync(memory, one));
        pause();
        gate.open();
        fails!(700, cuCtxSynchronize());
        let found = fault(own.context).expect("a use after the free");
        let user = if copy {
            "a copy of 64 bytes"
        } else {
            "kernel `put`"
        };
        has_both(&found, "cuMemFreeAsync", user);
        has_both(
            &found,
            &format!("{:#x}", one as usize),
            &format!("{:#x}", other as usize),
        );
    }
}

#[test]
fn a_copy_of_a_pools_memory_wants_its_streams_context() {
    // covers: POOL-37
    let _turn = turn();
    let Some(own) = Own::new() else { return };
    let one = stream();
    let memory: CUdeviceptr = get!(cuMemAllocAsync(64, one));
    let plain: CUdeviceptr = get!(cuMemAlloc_v2(64));
    let source = pinned::<u32>(1);
    let copy = |to| ok!(cuMemcpyHtoDAsync_v2(to, source.cast(), 4, one));
    let is_told = || {
        let report = simulator_report();
        report.is_some_and(|text| text.contains("copy of a pool's memory"))
    };
    copy(memory);
    assert!(!is_told());
    let other: CUcontext = get!(cuCtxCreate_v2(0, 0));
    copy(plain);
    assert!(!is_told(), "that memory has no stream");
    copy(memory);
    let report = simulator_report().expect("a report");
    assert!(
        report.contains(&format!("stream {:#x}", one as usize))
            && report.contains("cuCtxSetCurrent"),
        "{report}"
    );
    ok!(cuCtxDestroy_v2(other));
    own.is_silent();
}

#[test]
fn wrong_frees_and_questions_about_freed_memory_are_named() {
    // covers: POOL-38, POOL-41
    let _turn = turn();
    let Some(own) = Own::new() else { return };
    let (one, other) = (stream(), stream());
    let gate = Gate::new();
    let memory: CUdeviceptr = get!(cuMemAllocAsync(64, one));
    let mut kind = 0u32;
    let key = CUpointer_attribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
    ok!(cuPointerGetAttribute((&raw mut kind).cast(), key, memory));
    let nothing_yet = |report: Option<String>| report.is_none_or(|text| !text.contains("query"));
    assert!(nothing_yet(simulator_report()));
    gate.block(one);
    ok!(cuMemFreeAsync(memory, one));
    let names = |text: &str, both: [&str; 2]| {
        let report = simulator_report().expect("a report");
        assert!(
            report.contains(text) && both.iter().all(|side| report.contains(side)),
            "{report}"
        );
    };
    let in_one = format!("stream {:#x}", one as usize);
    // The stream has not come so far: the driver still answers.
    // SAFETY: the attribute has four bytes.
    let _ = unsafe { cuPointerGetAttribute((&raw mut kind).cast(), key, memory) };
    names("query of freed memory", ["cuPointerGetAttribute", &in_one]);
    fails!(1, cuMemFreeAsync(memory, other));
    let in_other = format!("stream {:#x}", other as usize);
    names("double free", [&in_other, &in_one]);
    gate.open();
    ok!(cuStreamSynchronize(one));
    fails!(1, cuMemFreeAsync(memory, other));
    names("double free", [&in_other, "cuMemFreeAsync"]);
    let pinned = pinned::<u32>(1);
    fails!(1, cuMemFreeAsync(pinned as CUdeviceptr, other));
    names("free of a foreign pointer", [&in_other, "cuMemHostAlloc"]);
    let plain: CUdeviceptr = get!(cuMemAlloc_v2(64));
    fails!(1, cuMemFreeAsync(plain + 8, other));
    names("free of a foreign pointer", [&in_other, "cuMemAlloc"]);
    own.is_silent();
}
