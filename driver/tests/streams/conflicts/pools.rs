//! Memory of pools: used before its allocation or after its free, freed wrongly, asked about too late.

use super::*;

#[test]
fn memory_of_a_pool_is_used_between_its_allocation_and_its_free() {
    // covers: GMEM-09, POOL-41, POOL-X03, POOL-X05
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
