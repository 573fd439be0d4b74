//! What kernels and the driver do together: conditional loops, printing, the device heap, memory that both sides see, kernels that
//! run at the same time.

use std::ffi::CString;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::common::*;
use warpsmith_testkit::{Side, own_process, ptx};

const KERNELS: &str = ptx!(
    "7.8",
    "sm_90",
    "
.extern .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value);
.extern .func (.param .b32 result) vprintf(.param .b64 format, .param .b64 arguments);
.extern .func (.param .b64 result) malloc(.param .b64 size);
.extern .func free(.param .b64 address);

.global .align 1 .b8 line[11] = {110, 117, 109, 98, 101, 114, 32, 37, 100, 10, 0};

// Counts down a word; the loop goes on while it is not zero.
.visible .entry count_down(.param .u64 word, .param .u64 handle)
{
    .reg .b32 %r<3>; .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [word];
    ld.param.u64 %rd2, [handle];
    ld.global.u32 %r1, [%rd1];
    sub.u32 %r2, %r1, 1;
    st.global.u32 [%rd1], %r2;
    {
        .param .b64 a; .param .b32 b;
        st.param.b64 [a], %rd2;
        st.param.b32 [b], %r2;
        call.uni cudaGraphSetConditional, (a, b);
    }
    ret;
}

.visible .entry print(.param .u32 number)
{
    .local .align 8 .b8 arguments[8];
    .reg .b32 %r<3>; .reg .b64 %rd<4>;
    ld.param.u32 %r1, [number];
    st.local.u32 [arguments], %r1;
    mov.u64 %rd1, line;
    cvta.global.u64 %rd1, %rd1;
    mov.u64 %rd2, arguments;
    cvta.local.u64 %rd2, %rd2;
    {
        .param .b64 a; .param .b64 b; .param .b32 c;
        st.param.b64 [a], %rd1;
        st.param.b64 [b], %rd2;
        call.uni (c), vprintf, (a, b);
        ld.param.b32 %r2, [c];
    }
    ret;
}

// Takes memory from the device heap, uses it and gives it back; writes what it read there.
.visible .entry heap(.param .u64 out)
{
    .reg .b32 %r<3>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    {
        .param .b64 a; .param .b64 b;
        st.param.b64 [a], 64;
        call.uni (b), malloc, (a);
        ld.param.b64 %rd2, [b];
    }
    mov.u32 %r1, 77;
    st.u32 [%rd2], %r1;
    ld.u32 %r2, [%rd2];
    st.global.u32 [%rd1], %r2;
    {
        .param .b64 a;
        st.param.b64 [a], %rd2;
        call.uni free, (a);
    }
    ret;
}

// Waits until the first word is not zero, then writes the second.
.visible .entry wait(.param .u64 words)
{
    .reg .pred %p<2>; .reg .b32 %r<3>; .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [words];
LOOP:
    ld.volatile.global.u32 %r1, [%rd1];
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra LOOP;
    mov.u32 %r2, 1;
    st.volatile.global.u32 [%rd1+4], %r2;
    ret;
}

// Each thread adds 1 to the word, so many times.
.visible .entry count_in_system(.param .u64 word, .param .u64 times)
{
    .reg .pred %p<2>; .reg .b32 %r<3>; .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [word];
    ld.param.u32 %r1, [times];
AGAIN:
    atom.relaxed.sys.global.add.u32 %r2, [%rd1], 1;
    sub.u32 %r1, %r1, 1;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra AGAIN;
    ret;
}

// Waits until the first word is 1, then writes 2 to the second.
.visible .entry answer(.param .u64 words)
{
    .reg .pred %p<2>; .reg .b32 %r<2>; .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [words];
LOOK:
    ld.acquire.sys.global.u32 %r1, [%rd1];
    setp.ne.u32 %p1, %r1, 1;
    @%p1 bra LOOK;
    st.release.sys.global.u32 [%rd1+4], 2;
    ret;
}

.visible .entry double(.param .u64 words)
{
    .reg .b32 %r<5>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [words];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    ld.global.u32 %r2, [%rd3];
    shl.b32 %r3, %r2, 1;
    st.global.u32 [%rd3], %r3;
    ret;
}
"
);

fn kernel(name: &str) -> CUfunction {
    let text = CString::new(KERNELS).unwrap();
    let module: CUmodule = get!(cuModuleLoadData(text.as_ptr().cast()));
    let name = CString::new(name).unwrap();
    get!(cuModuleGetFunction(module, name.as_ptr()))
}

/// Launches one block with 64-bit parameters (a 32-bit one takes the low half).
fn launch(kernel: CUfunction, threads: u32, stream: CUstream, parameters: &mut [u64]) {
    let mut pointers: Vec<*mut c_void> = parameters
        .iter_mut()
        .map(|value| (&raw mut *value).cast())
        .collect();
    ok!(cuLaunchKernel(
        kernel,
        1,
        1,
        1,
        threads,
        1,
        1,
        0,
        stream,
        pointers.as_mut_ptr(),
        null_mut()
    ));
}

#[test]
fn a_loop_in_a_graph_ends_when_its_kernel_says_so() {
    // covers: COND-03, COND-06, COND-09
    let _turn = turn();
    gpu();
    let count_down = kernel("count_down");
    let (stream, context): (CUstream, CUcontext) = (stream(), get!(cuCtxGetCurrent()));
    let words = upload(&[10u32, 0]);
    let graph: CUgraph = get!(cuGraphCreate(0));
    let handle: CUgraphConditionalHandle =
        get!(cuGraphConditionalHandleCreate(graph, context, 1, 1));
    let mut parameters = CUgraphNodeParams {
        type_: CUgraphNodeType::CU_GRAPH_NODE_TYPE_CONDITIONAL,
        ..Default::default()
    };
    parameters.__bindgen_anon_1.conditional = CUDA_CONDITIONAL_NODE_PARAMS {
        handle,
        type_: CUgraphConditionalNodeType::CU_GRAPH_COND_TYPE_WHILE,
        size: 1,
        phGraph_out: null_mut(),
        ctx: context,
    };
    let _: CUgraphNode = get!(cuGraphAddNode_v2(graph, null(), null(), 0, &mut parameters));
    // SAFETY: the driver has filled in an array of one graph.
    let body = unsafe { *parameters.__bindgen_anon_1.conditional.phGraph_out };
    let mut values = [words, handle];
    let mut pointers: [*mut c_void; 2] = [(&raw mut values[0]).cast(), (&raw mut values[1]).cast()];
    let node = CUDA_KERNEL_NODE_PARAMS {
        func: count_down,
        gridDimX: 1,
        gridDimY: 1,
        gridDimZ: 1,
        blockDimX: 1,
        blockDimY: 1,
        blockDimZ: 1,
        kernelParams: pointers.as_mut_ptr(),
        ..Default::default()
    };
    let first: CUgraphNode = get!(cuGraphAddKernelNode_v2(body, null(), 0, &node));
    let passes = CUDA_MEMSET_NODE_PARAMS {
        dst: words + 4,
        pitch: 0,
        value: 9,
        elementSize: 4,
        width: 1,
        height: 1,
    };
    let _: CUgraphNode = get!(cuGraphAddMemsetNode(body, &first, 1, &passes, context));
    let exec: CUgraphExec = get!(cuGraphInstantiateWithFlags(graph, 0));
    for start in [10u32, 3] {
        ok!(cuMemcpyHtoD_v2(words, (&raw const start).cast(), 4));
        ok!(cuGraphLaunch(exec, stream));
        ok!(cuStreamSynchronize(stream));
        assert_eq!(download::<u32>(words, 2), [0, 9]);
    }
    ok!(cuGraphExecDestroy(exec));
    ok!(cuGraphDestroy(graph));
    ok!(cuStreamDestroy_v2(stream));
}

#[test]
fn printing_comes_out_at_a_synchronisation() {
    let _turn = turn();
    // A process of its own, whose stdout can be read.
    if let Side::Parent(output) = own_process(&[]) {
        let stdout = output.stdout;
        let at = |text: &str| {
            stdout
                .find(text)
                .unwrap_or_else(|| panic!("no {text:?} in {stdout}"))
        };
        assert_eq!(stdout.matches("number 5\n").count(), 3, "{stdout}");
        assert!(at("launched") < at("number 5"), "{stdout}");
        assert!(at("number 5") < at("synchronised"), "{stdout}");
        return;
    }
    let backend = gpu();
    let (print, stream) = (kernel("print"), stream());
    launch(print, 3, stream, &mut [5]);
    if backend == Backend::Simulator {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    println!("launched");
    ok!(cuStreamSynchronize(stream));
    println!("synchronised");
}

#[test]
fn kernels_have_a_heap() {
    let _turn = turn();
    gpu();
    let out = upload(&[0u32]);
    launch(kernel("heap"), 1, null_mut(), &mut [out]);
    ok!(cuCtxSynchronize());
    assert_eq!(download::<u32>(out, 1), [77]);
    ok!(cuMemFree_v2(out));
}

#[test]
fn a_waiting_kernel_stops_no_other_stream() {
    // covers: STREAM-04, PINNED-05, PINNED-08
    let _turn = turn();
    gpu();
    let (wait, double) = (kernel("wait"), kernel("double"));
    let (one, two) = (stream(), stream());
    let words = pinned::<u32>(2);
    let memory = upload(&[1u32; 32]);
    launch(wait, 1, one, &mut [words as u64]);
    launch(double, 32, two, &mut [memory]);
    ok!(cuStreamSynchronize(two));
    fails!(600, cuStreamQuery(one));
    // SAFETY: two page-locked words, aligned, which live until the end of the test; the kernel accesses them at the same time, with
    // volatile instructions, which are atomic too.
    let [go, done] = unsafe { &*words.cast::<[AtomicU32; 2]>() };
    assert_eq!(done.load(Ordering::Acquire), 0);
    go.store(1, Ordering::Release);
    ok!(cuStreamSynchronize(one));
    assert_eq!(done.load(Ordering::Acquire), 1);
    let mut doubled = [0u32; 32];
    ok!(cuMemcpyDtoHAsync_v2(
        doubled.as_mut_ptr().cast(),
        memory,
        128,
        two
    ));
    ok!(cuStreamSynchronize(two));
    assert_eq!(doubled, [2; 32]);
    ok!(cuMemFreeHost(words.cast()));
    for stream in [one, two] {
        ok!(cuStreamDestroy_v2(stream));
    }
}

#[test]
fn allocating_in_a_stream_waits_for_no_other_and_a_plain_free_for_all() {
    // covers: POOL-08
    let _turn = turn();
    gpu();
    let (one, two) = (stream(), stream());
    let words = pinned::<u32>(2);
    // What the first use of a pool needs is there before the kernel.
    let first: CUdeviceptr = get!(cuMemAllocAsync(4096, two));
    ok!(cuMemFreeAsync(first, two));
    ok!(cuStreamSynchronize(two));
    let plain: CUdeviceptr = get!(cuMemAlloc_v2(4096));
    launch(kernel("wait"), 1, one, &mut [words as u64]);
    for _ in 0..100 {
        let memory: CUdeviceptr = get!(cuMemAllocAsync(4096, two));
        ok!(cuMemsetD32Async(memory, 1, 1024, two));
        ok!(cuMemFreeAsync(memory, two));
    }
    ok!(cuStreamSynchronize(two));
    // SAFETY: two page-locked words, aligned, which live until the end of the test; the kernel accesses them at the same time, with
    // volatile instructions, which are atomic too.
    let [go, done] = unsafe { &*words.cast::<[AtomicU32; 2]>() };
    fails!(600, cuStreamQuery(one));
    assert_eq!(done.load(Ordering::Acquire), 0);
    let free = std::thread::spawn(move || {
        gpu();
        ok!(cuMemFree_v2(plain));
    });
    std::thread::sleep(std::time::Duration::from_millis(100));
    assert!(!free.is_finished(), "the kernel might use the memory");
    go.store(1, Ordering::Release);
    free.join().unwrap();
    assert_eq!(done.load(Ordering::Acquire), 1);
    ok!(cuMemFreeHost(words.cast()));
    for stream in [one, two] {
        ok!(cuStreamDestroy_v2(stream));
    }
}

#[test]
fn host_and_kernel_count_in_one_managed_word() {
    // covers: UM-07
    let _turn = turn();
    gpu();
    let concurrent = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS;
    let concurrent: c_int = get!(cuDeviceGetAttribute(concurrent, 0));
    if concurrent == 0 {
        println!("skipped: the device does not share managed memory with the host");
        return;
    }
    let stream = stream();
    let memory: CUdeviceptr = get!(cuMemAllocManaged(4096, 1));
    ok!(cuMemsetD32Async(memory, 0, 2, stream));
    ok!(cuStreamSynchronize(stream));
    // SAFETY: two words of managed memory, aligned, which live until the end of the test; the kernels access them at the same time, with
    // instructions that are atomic for the whole system.
    let words = unsafe { &*(memory as *const [AtomicU32; 2]) };
    launch(kernel("count_in_system"), 32, stream, &mut [memory, 1000]);
    for _ in 0..1000 {
        words[0].fetch_add(1, Ordering::Relaxed);
    }
    ok!(cuStreamSynchronize(stream));
    assert_eq!(words[0].load(Ordering::Relaxed), 1000 + 32 * 1000);
    // The kernel waits for the host's word, the host for the kernel's.
    words[0].store(0, Ordering::Relaxed);
    launch(kernel("answer"), 1, stream, &mut [memory]);
    words[0].store(1, Ordering::Release);
    let start = std::time::Instant::now();
    while words[1].load(Ordering::Acquire) == 0 {
        assert!(start.elapsed().as_secs() < 20, "no answer");
        std::thread::yield_now();
    }
    ok!(cuStreamSynchronize(stream));
    assert_eq!(words[1].load(Ordering::Relaxed), 2);
    ok!(cuMemFree_v2(memory));
    ok!(cuStreamDestroy_v2(stream));
}

#[test]
fn a_context_can_end_with_a_kernel_that_never_would() {
    // covers: DRV-05
    let _turn = turn();
    if gpu() == Backend::Cuda {
        return;
    }
    let context: CUcontext = get!(cuCtxCreate_v2(0, 0));
    let words = upload(&[0u32; 2]);
    launch(kernel("wait"), 1, stream(), &mut [words]);
    std::thread::sleep(std::time::Duration::from_millis(20));
    ok!(cuCtxDestroy_v2(context));
    gpu();
    let _: CUdeviceptr = get!(cuMemAlloc_v2(16));
}

#[test]
fn all_memory_that_the_driver_knows_is_the_kernels_too() {
    // covers: UM-05, UM-06, UM-08, PINNED-02, MULTI-13
    let _turn = turn();
    gpu();
    let double = kernel("double");
    let managed: CUdeviceptr = get!(cuMemAllocManaged(128, 1));
    let locked = pinned::<u32>(32) as CUdeviceptr;
    let mut range = vec![0u32; 2048];
    ok!(cuMemHostRegister_v2(range.as_mut_ptr().cast(), 8192, 2));
    let registered: CUdeviceptr = get!(cuMemHostGetDevicePointer_v2(range.as_mut_ptr().cast(), 0));
    for (name, address) in [
        ("managed", managed),
        ("page-locked", locked),
        ("registered", registered),
    ] {
        let words = address as *mut u32;
        // SAFETY: 32 words that the device does not use at present.
        unsafe { (0..32).for_each(|i| words.add(i).write_volatile(i as u32 + 1)) };
        launch(double, 32, null_mut(), &mut [address]);
        ok!(cuCtxSynchronize());
        // SAFETY: the context has been waited for, so the device no longer uses the 32 words.
        let sum: u32 = unsafe { (0..32).map(|i| words.add(i).read_volatile()).sum() };
        assert_eq!(sum, 2 * (32 * 33 / 2), "{name}");
    }
    ok!(cuMemHostUnregister(range.as_mut_ptr().cast()));
    ok!(cuMemFree_v2(managed));
    ok!(cuMemFreeHost(locked as *mut c_void));
}
