//! Batches of prefetches and of discards of managed memory (CUDA 13.0). Drivers that lack them say so, and the tests are skipped there.

use crate::common::*;
use warpsmith_testkit::{Side, own_process};

const PAGE: usize = 2 << 20;

/// Runs the calling test on the simulator in a process of its own with `variables` set. What it printed, where it is told to us.
fn in_child(variables: &[(&str, &str)]) -> Option<String> {
    let variables = [&[("WARPSMITH_DEVICE", "simulator")][..], variables].concat();
    match own_process(&variables) {
        Side::Child => None,
        Side::Parent(output) => Some(output.expect_success().text()),
    }
}

fn location(kind: CUmemLocationType, id: c_int) -> CUmemLocation {
    let mut location = CUmemLocation {
        type_: kind,
        ..Default::default()
    };
    location.__bindgen_anon_1.id = id;
    location
}

fn device() -> CUmemLocation {
    location(CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE, 0)
}

fn host() -> CUmemLocation {
    location(CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST, 0)
}

fn prefetch(
    ranges: &[(CUdeviceptr, usize)],
    places: &[(usize, CUmemLocation)],
    flags: u64,
    stream: CUstream,
) -> CUresult {
    let (mut addresses, mut sizes): (Vec<_>, Vec<_>) = ranges.iter().copied().unzip();
    let (mut firsts, mut locations): (Vec<_>, Vec<_>) = places.iter().copied().unzip();
    // SAFETY: the arrays have as many values as is said, and outlive the call.
    unsafe {
        cuMemPrefetchBatchAsync(
            addresses.as_mut_ptr(),
            sizes.as_mut_ptr(),
            ranges.len(),
            locations.as_mut_ptr(),
            firsts.as_mut_ptr(),
            places.len(),
            flags,
            stream,
        )
    }
}

fn discard(ranges: &[(CUdeviceptr, usize)], flags: u64, stream: CUstream) -> CUresult {
    let (mut addresses, mut sizes): (Vec<_>, Vec<_>) = ranges.iter().copied().unzip();
    // SAFETY: the arrays have as many values as is said, and outlive the call.
    unsafe {
        cuMemDiscardBatchAsync(
            addresses.as_mut_ptr(),
            sizes.as_mut_ptr(),
            ranges.len(),
            flags,
            stream,
        )
    }
}

fn discard_and_prefetch(
    ranges: &[(CUdeviceptr, usize)],
    to: CUmemLocation,
    stream: CUstream,
) -> CUresult {
    let (mut addresses, mut sizes): (Vec<_>, Vec<_>) = ranges.iter().copied().unzip();
    let (mut to, mut first) = (to, 0);
    // SAFETY: the arrays have as many values as is said, and outlive the call.
    unsafe {
        cuMemDiscardAndPrefetchBatchAsync(
            addresses.as_mut_ptr(),
            sizes.as_mut_ptr(),
            ranges.len(),
            &mut to,
            &mut first,
            1,
            0,
            stream,
        )
    }
}

/// The device that a range was sent to last: -1 for the host, -2 where that differs.
fn sent_to(address: CUdeviceptr, bytes: usize) -> c_int {
    let mut answer = 0;
    ok!(cuMemRangeGetAttribute(
        (&raw mut answer).cast(),
        4,
        CUmem_range_attribute::CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION,
        address,
        bytes
    ));
    answer
}

/// Whether a driver that answered so has no such batches.
pub fn is_missing(answer: CUresult) -> bool {
    let missing = answer == CUresult::CUDA_ERROR_NOT_SUPPORTED;
    if missing {
        println!("skipped: the driver has no such batches");
    }
    missing
}

pub fn is_ok(answer: CUresult) {
    assert_eq!(answer, CUresult::CUDA_SUCCESS);
}

#[test]
fn each_part_of_a_batch_goes_where_it_says() {
    // covers: UM-21
    gpu();
    let stream = stream();
    let memory: CUdeviceptr = get!(cuMemAllocManaged(4 * PAGE, 1));
    let page = |number: usize| (memory + (number * PAGE) as u64, PAGE);
    let places = [(0, device()), (2, host())];
    let answer = prefetch(&[page(0), page(3), page(1), page(2)], &places, 0, stream);
    if is_missing(answer) {
        return;
    }
    is_ok(answer);
    ok!(cuStreamSynchronize(stream));
    let there: Vec<_> = (0..4).map(|number| sent_to(page(number).0, PAGE)).collect();
    assert_eq!(there, [0, -1, -1, 0]);
    ok!(cuMemFree_v2(memory));
    ok!(cuStreamDestroy_v2(stream));
}

#[test]
fn batches_that_cannot_be_are_refused() {
    let backend = gpu();
    let stream = stream();
    let memory: CUdeviceptr = get!(cuMemAllocManaged(2 * PAGE, 1));
    let plain: CUdeviceptr = get!(cuMemAlloc_v2(PAGE));
    let good = [(memory, PAGE), (memory + PAGE as u64, PAGE)];
    let to = [(0, device())];
    let answer = prefetch(&good, &to, 0, stream);
    if is_missing(answer) {
        return;
    }
    is_ok(answer);
    let invalid = CUresult::CUDA_ERROR_INVALID_VALUE;
    // The batch is empty, has flags, or is the legacy default stream's.
    assert_eq!(prefetch(&[], &to, 0, stream), invalid);
    assert_eq!(prefetch(&good, &to, 1, stream), invalid);
    assert_eq!(prefetch(&good, &to, 0, null_mut()), invalid);
    assert_eq!(discard(&[], 0, stream), invalid);
    assert_eq!(discard(&good, 1, stream), invalid);
    assert_eq!(discard(&good, 0, null_mut()), invalid);
    // Memory that is not managed.
    assert_eq!(prefetch(&[(plain, PAGE)], &to, 0, stream), invalid);
    assert_eq!(discard(&[good[0], (plain, PAGE)], 0, stream), invalid);
    // The parts begin with the first range, and each behind the one before; driver 580 takes an empty part.
    let parts: &[&[usize]] = match backend {
        Backend::Simulator => &[&[1], &[0, 0], &[0, 2], &[]],
        Backend::Cuda => &[&[1]],
    };
    for firsts in parts {
        let places: Vec<_> = firsts.iter().map(|&first| (first, device())).collect();
        assert_eq!(prefetch(&good, &places, 0, stream), invalid, "{firsts:?}");
    }
    // No place.
    let nowhere = location(CUmemLocationType::CU_MEM_LOCATION_TYPE_INVALID, 0);
    assert_ne!(
        prefetch(&good, &[(0, nowhere)], 0, stream),
        CUresult::CUDA_SUCCESS
    );
    ok!(cuStreamSynchronize(stream));
    ok!(cuMemFree_v2(plain));
    ok!(cuMemFree_v2(memory));
    ok!(cuStreamDestroy_v2(stream));
}

/// What the header leaves undefined, or does not tell: a GPU may answer otherwise.
#[test]
fn the_simulator_refuses_ranges_that_overlap_captures_and_devices_that_cannot_share() {
    let Some(printed) = in_child(&[]) else {
        gpu();
        let stream = stream();
        let memory: CUdeviceptr = get!(cuMemAllocManaged(8192, 1));
        let overlapping = [(memory + 2000, 1000), (memory, 2001)];
        let invalid = CUresult::CUDA_ERROR_INVALID_VALUE;
        assert_eq!(discard(&overlapping, 0, stream), invalid);
        assert_eq!(
            discard_and_prefetch(&overlapping, device(), stream),
            invalid
        );
        is_ok(prefetch(&overlapping, &[(0, host())], 0, stream));
        is_ok(discard(&[(memory + 2000, 1000), (memory, 2000)], 0, stream));
        ok!(cuStreamBeginCapture_v2(
            stream,
            CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED
        ));
        let captured = CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        assert_eq!(discard(&[(memory, 8)], 0, stream), captured);
        assert_eq!(
            prefetch(&[(memory, 8)], &[(0, host())], 0, stream),
            captured
        );
        return;
    };
    assert_eq!(
        printed.matches("two of its ranges overlap at").count(),
        2,
        "{printed}"
    );
}

#[test]
fn a_device_that_cannot_share_managed_memory_has_no_batches_of_it() {
    if in_child(&[("WARPSMITH_SIMULATOR_ATTRIBUTES", "89=0")]).is_some() {
        return;
    }
    gpu();
    let stream = stream();
    let memory: CUdeviceptr = get!(cuMemAllocManaged(4096, 1));
    assert!(is_missing(prefetch(
        &[(memory, 4096)],
        &[(0, host())],
        0,
        stream
    )));
    assert!(is_missing(discard(&[(memory, 4096)], 0, stream)));
}

#[test]
fn what_is_written_after_a_discard_stays() {
    gpu();
    let stream = stream();
    let words = 3 * PAGE / 4;
    let memory: CUdeviceptr = get!(cuMemAllocManaged(4 * words, 1));
    ok!(cuMemsetD32Async(memory, 7, words, stream));
    // The middle, and then the whole: the neighbours of what is discarded keep what they have.
    let middle = (memory + PAGE as u64 + 100, PAGE);
    let answer = discard(&[middle], 0, stream);
    if is_missing(answer) {
        return;
    }
    is_ok(answer);
    ok!(cuStreamSynchronize(stream));
    let host = memory as *mut u32;
    let (from, to) = ((PAGE + 100) / 4, (2 * PAGE + 100) / 4);
    for index in (0..from).chain(to..words) {
        // SAFETY: a word of the memory, of which nothing is enqueued.
        assert_eq!(unsafe { host.add(index).read() }, 7, "{index}");
    }
    is_ok(discard_and_prefetch(
        &[(memory, 4 * words)],
        device(),
        stream,
    ));
    ok!(cuMemsetD32Async(memory, 9, words, stream));
    ok!(cuStreamSynchronize(stream));
    assert_eq!(sent_to(memory, 4 * words), 0);
    for index in 0..words {
        // SAFETY: a word of the memory, of which nothing is enqueued.
        assert_eq!(unsafe { host.add(index).read() }, 9, "{index}");
    }
    ok!(cuMemFree_v2(memory));
    ok!(cuStreamDestroy_v2(stream));
}

/// `copy(from, to)`: eight threads copy a word each.
const COPY: &core::ffi::CStr = c".version 7.0
.target sm_70
.address_size 64
.visible .entry copy(.param .u64 from, .param .u64 to)
{
    .reg .b64 %from, %to, %at;
    .reg .b32 %index, %word;
    ld.param.u64 %from, [from];
    ld.param.u64 %to, [to];
    mov.u32 %index, %tid.x;
    mul.wide.u32 %at, %index, 4;
    add.u64 %from, %from, %at;
    add.u64 %to, %to, %at;
    ld.global.u32 %word, [%from];
    st.global.u32 [%to], %word;
    ret;
}
";

fn launch_copy(kernel: CUfunction, from: CUdeviceptr, to: CUdeviceptr, stream: CUstream) {
    let (mut from, mut to) = (from, to);
    let mut parameters = [(&raw mut from).cast(), (&raw mut to).cast()];
    ok!(cuLaunchKernel(
        kernel,
        1,
        1,
        1,
        8,
        1,
        1,
        0,
        stream,
        parameters.as_mut_ptr(),
        null_mut()
    ));
    ok!(cuStreamSynchronize(stream));
}

/// A GPU does not tell.
#[test]
fn reads_of_what_was_discarded_are_named_until_something_writes_there() {
    let Some(printed) = in_child(&[]) else {
        gpu();
        let stream = stream();
        let module: CUmodule = get!(cuModuleLoadData(COPY.as_ptr().cast()));
        let kernel: CUfunction = get!(cuModuleGetFunction(module, c"copy".as_ptr()));
        let memory: CUdeviceptr = get!(cuMemAllocManaged(4096, 1));
        let other: CUdeviceptr = get!(cuMemAlloc_v2(4096));
        let host = memory as *mut u32;
        ok!(cuMemsetD32Async(memory, 5, 1024, stream));
        is_ok(discard(&[(memory, 2048)], 0, stream));
        ok!(cuStreamSynchronize(stream));
        // The device writes a part, the host another one by its own stores.
        ok!(cuMemsetD32Async(memory, 1, 8, stream));
        ok!(cuStreamSynchronize(stream));
        for index in 8..16 {
            // SAFETY: a word of the memory, of which nothing is enqueued.
            unsafe { host.add(index).write(2) };
        }
        launch_copy(kernel, memory, other, stream);
        launch_copy(kernel, memory + 32, other, stream);
        launch_copy(kernel, memory + 2048, other, stream);
        ok!(cuMemcpyDtoDAsync_v2(other, memory, 64, stream));
        ok!(cuStreamSynchronize(stream));
        eprintln!("so far nothing");
        ok!(cuMemcpyDtoDAsync_v2(other, memory, 68, stream));
        ok!(cuStreamSynchronize(stream));
        // Half of its threads.
        launch_copy(kernel, memory + 48, other, stream);
        // What is allocated there next is another thing.
        ok!(cuMemFree_v2(memory));
        return;
    };
    let start = printed
        .find("so far nothing")
        .expect("the child comes there");
    let (before, after) = printed.split_at(start);
    for found in ["contents were discarded", "reads managed memory"] {
        assert!(!before.contains(found), "{printed}");
    }
    let of_copy = "a copy of 68 bytes from";
    assert_eq!(after.matches(of_copy).count(), 1, "{printed}");
    let of_kernel = "a read of 4 bytes of managed memory whose contents were discarded";
    assert_eq!(after.matches(of_kernel).count(), 1, "{printed}");
    assert!(
        after.contains("in kernel copy, block (0,0,0), thread (4,0,0)"),
        "{printed}"
    );
}

/// The same program without the check, and without reports.
#[test]
fn without_the_check_nothing_is_named() {
    let off = [
        ("WARPSMITH_CHECKS", "none"),
        ("WARPSMITH_CHECKS", "default"),
    ];
    let reports = ["1", "0"];
    for (check, report) in off.into_iter().zip(reports) {
        let Some(printed) = in_child(&[check, ("WARPSMITH_REPORT", report)]) else {
            gpu();
            let stream = stream();
            let memory: CUdeviceptr = get!(cuMemAllocManaged(4096, 1));
            is_ok(discard(&[(memory, 2048)], 0, stream));
            ok!(cuMemcpyDtoDAsync_v2(memory + 2048, memory, 64, stream));
            ok!(cuStreamSynchronize(stream));
            return;
        };
        assert!(!printed.contains("discarded"), "{printed}");
    }
}
