//! Kernels, copies and waits: what orders them, and what does not.

use super::*;

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
