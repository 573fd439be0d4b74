//! Libraries: code of no context, whose kernels and variables are loaded where they are needed.

use core::ffi::CStr;

use crate::common::graphs::{graph, instantiate, launch};
use crate::common::*;
use warpsmith_testkit::{Side, own_process, ptx};

const PTX: &str = ptx!(
    "7.8",
    "sm_90",
    "
.visible .global .align 4 .u32 counter = 40;
.visible .global .attribute(.managed) .align 4 .u32 shared_by_all = 7;
.visible .entry count(.param .u64 out, .param .u32 value)
{
    .reg .b32 %r<4>; .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [value];
    mov.u64 %rd2, counter;
    atom.global.add.u32 %r2, [%rd2], %r1;
    add.u32 %r3, %r2, %r1;
    st.global.u32 [%rd1], %r3;
    ret;
}
.visible .entry tile()
{
    .shared .align 4 .b8 tile[1024];
    ret;
}
"
);

/// A PTX text as an image.
fn image() -> Vec<u8> {
    let mut text = PTX.as_bytes().to_vec();
    text.push(0);
    text
}

fn load() -> CUlibrary {
    let image = image();
    get!(cuLibraryLoadData(
        image.as_ptr().cast(),
        null_mut(),
        null_mut(),
        0,
        null_mut(),
        null_mut(),
        0
    ))
}

fn kernel(library: CUlibrary, name: &CStr) -> CUkernel {
    get!(cuLibraryGetKernel(library, name.as_ptr()))
}

/// Launches `count` in a stream; what it answers.
fn count(function: CUfunction, out: CUdeviceptr, value: u32, stream: CUstream) -> CUresult {
    let (mut out, mut value) = (out, value);
    let mut parameters: [*mut c_void; 2] = [(&raw mut out).cast(), (&raw mut value).cast()];
    // SAFETY: the kernel has these two parameters.
    unsafe {
        cuLaunchKernel(
            function,
            1,
            1,
            1,
            1,
            1,
            1,
            0,
            stream,
            parameters.as_mut_ptr(),
            null_mut(),
        )
    }
}

/// What `count` gives.
fn counted(function: CUfunction, value: u32, stream: CUstream) -> u32 {
    let out: CUdeviceptr = get!(cuMemAlloc_v2(4));
    assert_eq!(count(function, out, value, stream).0, 0);
    ok!(cuStreamSynchronize(stream));
    let found = download::<u32>(out, 1)[0];
    ok!(cuMemFree_v2(out));
    found
}

fn unload(library: CUlibrary) {
    ok!(cuLibraryUnload(library));
}

// covers: LAZY-03, ENV-10
#[test]
fn a_library_is_loaded_without_a_context_and_each_context_has_variables_of_its_own() {
    let _turn = turn();
    gpu();
    let library = load();
    let kernel = kernel(library, c"count");
    let one: CUcontext = get!(cuCtxGetCurrent());
    let other: CUcontext = get!(cuCtxCreate_v2(0, 0));
    // The kernel as a function that is launched: it is that of the stream's context.
    let there = stream();
    assert_eq!(counted(kernel.cast(), 2, there), 42);
    assert_eq!(counted(kernel.cast(), 3, there), 45);
    let mut popped = null_mut();
    ok!(cuCtxPopCurrent_v2(&mut popped));
    assert_eq!(popped, other);
    ok!(cuCtxSetCurrent(one));
    let here = stream();
    assert_eq!(counted(kernel.cast(), 1, here), 41);
    // In the null stream, of the current context.
    assert_eq!(counted(kernel.cast(), 1, null_mut()), 42);

    let own: CUfunction = get!(cuKernelGetFunction(kernel));
    let same: CUfunction = get!(cuKernelGetFunction(kernel));
    assert_eq!(own, same);
    assert_eq!(counted(own, 1, here), 43);
    let (mut address, mut bytes) = (0, 0);
    ok!(cuLibraryGetGlobal(
        &mut address,
        &mut bytes,
        library,
        c"counter".as_ptr()
    ));
    assert_eq!((download::<u32>(address, 1)[0], bytes), (43, 4));
    fails!(
        500,
        cuLibraryGetGlobal(&mut address, &mut bytes, library, c"nothing".as_ptr())
    );
    ok!(cuStreamDestroy_v2(here));
    ok!(cuCtxDestroy_v2(other));
    unload(library);
}

// covers: LAZY-03
#[test]
fn modules_and_functions_of_a_library_are_those_of_the_current_context() {
    let _turn = turn();
    gpu();
    let library = load();
    let module: CUmodule = get!(cuLibraryGetModule(library));
    let same: CUmodule = get!(cuLibraryGetModule(library));
    assert_eq!(module, same);
    let by_module: CUfunction = get!(cuModuleGetFunction(module, c"count".as_ptr()));
    let by_kernel: CUfunction = get!(cuKernelGetFunction(kernel(library, c"count")));
    let names = [by_module, by_kernel].map(|function| {
        let name: *const c_char = get!(cuFuncGetName(function));
        // SAFETY: the driver keeps the text as long as the function.
        unsafe { CStr::from_ptr(name) }.to_owned()
    });
    assert_eq!(names, [c"count", c"count"]);
    let found: CUmodule = get!(cuFuncGetModule(by_kernel));
    assert_eq!(found, module);
    unload(library);
}

// covers: LAZY-03
#[test]
fn kernels_tell_of_themselves_without_a_context() {
    let _turn = turn();
    gpu();
    let library = load();
    let mut kernels: [CUkernel; 4] = [null_mut(); 4];
    let many: u32 = get!(cuLibraryGetKernelCount(library));
    assert_eq!(many, 2);
    ok!(cuLibraryEnumerateKernels(kernels.as_mut_ptr(), 4, library));
    let mut names: Vec<_> = kernels[..2]
        .iter()
        .map(|&kernel| {
            let name: *const c_char = get!(cuKernelGetName(kernel));
            // SAFETY: the driver keeps the text as long as the kernel.
            unsafe { CStr::from_ptr(name) }.to_owned()
        })
        .collect();
    names.sort();
    assert_eq!(names, [c"count".to_owned(), c"tile".to_owned()]);
    let count = kernel(library, c"count");
    assert!(kernels[..2].contains(&count), "a kernel has one handle");
    let back: CUlibrary = get!(cuKernelGetLibrary(count));
    assert_eq!(back, library);
    let layout = [0, 1].map(|index| {
        let (mut offset, mut size) = (99, 99);
        ok!(cuKernelGetParamInfo(count, index, &mut offset, &mut size));
        (offset, size)
    });
    assert_eq!(layout, [(0, 8), (8, 4)]);
    fails!(1, cuKernelGetParamInfo(count, 2, &mut 0, &mut 0));

    let mut none: CUkernel = null_mut();
    fails!(
        500,
        cuLibraryGetKernel(&mut none, library, c"nothing".as_ptr())
    );
    unload(library);
}

// covers: LAZY-03
#[test]
fn attributes_of_a_kernel_are_a_devices() {
    let _turn = turn();
    gpu();
    let library = load();
    let kernel = kernel(library, c"tile");
    const STATIC: CUfunction_attribute = CUfunction_attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES;
    const DYNAMIC: CUfunction_attribute =
        CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    let told: i32 = get!(cuKernelGetAttribute(STATIC, kernel, 0));
    assert_eq!(told, 1024);
    // Before it is in a context, and after that.
    ok!(cuKernelSetAttribute(DYNAMIC, 100_000, kernel, 0));
    let function: CUfunction = get!(cuKernelGetFunction(kernel));
    let told: i32 = get!(cuFuncGetAttribute(DYNAMIC, function));
    assert_eq!(told, 100_000);
    ok!(cuKernelSetAttribute(DYNAMIC, 60_000, kernel, 0));
    let told: [i32; 2] = [
        get!(cuFuncGetAttribute(DYNAMIC, function)),
        get!(cuKernelGetAttribute(DYNAMIC, kernel, 0)),
    ];
    assert_eq!(told, [60_000; 2]);
    fails!(1, cuKernelSetAttribute(DYNAMIC, 1 << 30, kernel, 0));
    fails!(101, cuKernelSetAttribute(DYNAMIC, 60_000, kernel, 77));
    ok!(cuKernelSetCacheConfig(
        kernel,
        CUfunc_cache::CU_FUNC_CACHE_PREFER_SHARED,
        0
    ));
    let mut blocks = 0;
    ok!(cuOccupancyMaxActiveBlocksPerMultiprocessor(
        &mut blocks,
        kernel.cast(),
        128,
        0
    ));
    assert!(blocks > 0);
    unload(library);
}

// covers: LAZY-03
#[test]
fn a_managed_variable_is_the_same_for_all_contexts() {
    let _turn = turn();
    gpu();
    let library = load();
    let one: CUcontext = get!(cuCtxGetCurrent());
    let managed = || {
        let (mut address, mut bytes) = (0, 0);
        ok!(cuLibraryGetManaged(
            &mut address,
            &mut bytes,
            library,
            c"shared_by_all".as_ptr()
        ));
        assert_eq!(bytes, 4);
        address
    };
    let address = managed();
    ok!(cuCtxSynchronize());
    // SAFETY: managed memory of an aligned word, which no kernel uses.
    let word = unsafe { &mut *(address as *mut u32) };
    assert_eq!(*word, 7);
    *word = 8;
    let other: CUcontext = get!(cuCtxCreate_v2(0, 0));
    assert_eq!(managed(), address);
    assert_eq!(*word, 8, "its first value is written once");
    ok!(cuCtxDestroy_v2(other));
    ok!(cuCtxSetCurrent(one));
    let mut none = 0;
    fails!(
        500,
        cuLibraryGetManaged(&mut none, null_mut(), library, c"counter".as_ptr())
    );
    unload(library);
}

// covers: LAZY-03, GRAPH-04
#[test]
fn a_kernel_is_a_node_of_a_graph() {
    let _turn = turn();
    gpu();
    let library = load();
    let kernel = kernel(library, c"count");
    let context: CUcontext = get!(cuCtxGetCurrent());
    let out: CUdeviceptr = get!(cuMemAlloc_v2(4));
    let (mut address, mut value) = (out, 1_u32);
    let mut pointers: [*mut c_void; 2] = [(&raw mut address).cast(), (&raw mut value).cast()];
    let mut parameters = CUDA_KERNEL_NODE_PARAMS {
        gridDimX: 1,
        gridDimY: 1,
        gridDimZ: 1,
        blockDimX: 1,
        blockDimY: 1,
        blockDimZ: 1,
        kernelParams: pointers.as_mut_ptr(),
        kern: kernel,
        ctx: context,
        ..Default::default()
    };
    let graph = graph();
    let node: CUgraphNode = get!(cuGraphAddKernelNode_v2(
        graph,
        core::ptr::null(),
        0,
        &parameters
    ));
    let (exec, stream) = (instantiate(graph), stream());
    launch(exec, stream);
    assert_eq!(download::<u32>(out, 1), [41]);
    // SAFETY: the pointer is that of `value`, which lives.
    unsafe { pointers[1].cast::<u32>().write(5) };
    parameters.kernelParams = pointers.as_mut_ptr();
    ok!(cuGraphExecKernelNodeSetParams_v2(exec, node, &parameters));
    launch(exec, stream);
    assert_eq!(download::<u32>(out, 1), [46]);
    ok!(cuGraphExecDestroy(exec));
    ok!(cuGraphDestroy(graph));
    ok!(cuMemFree_v2(out));
    ok!(cuStreamDestroy_v2(stream));
    unload(library);
}

// covers: LAZY-03
#[test]
fn a_library_comes_from_a_file_and_broken_ones_do_not_come() {
    let _turn = turn();
    gpu();
    let path = std::env::temp_dir().join(format!("warpsmith-library-{}.ptx", std::process::id()));
    std::fs::write(&path, PTX).expect("there is room");
    let name = std::ffi::CString::new(path.to_str().expect("UTF-8")).expect("no zeros");
    let library: CUlibrary = get!(cuLibraryLoadFromFile(
        name.as_ptr(),
        null_mut(),
        null_mut(),
        0,
        null_mut(),
        null_mut(),
        0
    ));
    std::fs::remove_file(&path).expect("it is there");
    assert_eq!(counted(kernel(library, c"count").cast(), 2, null_mut()), 42);
    unload(library);

    let mut none: CUlibrary = null_mut();
    let load_file = |to: &mut CUlibrary| {
        // SAFETY: the name is a C string, and there are no options.
        unsafe {
            cuLibraryLoadFromFile(
                to,
                name.as_ptr(),
                null_mut(),
                null_mut(),
                0,
                null_mut(),
                null_mut(),
                0,
            )
        }
    };
    assert_eq!(load_file(&mut none).0, 301);
    let broken =
        c".version 7.8\n.target sm_90\n.address_size 64\n.visible .entry broken() { nonsense; }\n";
    let mut room = [0_u8; 512];
    let mut keys = [
        CUjit_option::CU_JIT_ERROR_LOG_BUFFER,
        CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
    ];
    let mut values: [*mut c_void; 2] = [room.as_mut_ptr().cast(), room.len() as *mut c_void];
    // The compiler is called at the latest when a kernel is needed.
    // SAFETY: the image is a C string, the arrays have two entries, and the log has its size.
    let refused = unsafe {
        let loaded = cuLibraryLoadData(
            &mut none,
            broken.as_ptr().cast(),
            keys.as_mut_ptr(),
            values.as_mut_ptr(),
            2,
            null_mut(),
            null_mut(),
            0,
        );
        match loaded.0 {
            0 => cuLibraryGetModule(&mut null_mut(), none),
            _ => loaded,
        }
    };
    assert_eq!(refused.0, 218);
}

// covers: LAZY-03
#[test]
fn what_a_library_had_is_gone_with_it() {
    let _turn = turn();
    if gpu() == Backend::Cuda {
        // Stale handles are not looked up there.
        return;
    }
    let library = load();
    let kernel = kernel(library, c"count");
    let module: CUmodule = get!(cuLibraryGetModule(library));
    let function: CUfunction = get!(cuKernelGetFunction(kernel));
    fails!(800, cuModuleUnload(module));
    let mut pointer = null_mut();
    fails!(
        500,
        cuLibraryGetUnifiedFunction(&mut pointer, library, c"count".as_ptr())
    );
    unload(library);
    fails!(400, cuLibraryUnload(library));
    fails!(400, cuKernelGetFunction(&mut null_mut(), kernel));
    fails!(
        400,
        cuModuleGetFunction(&mut null_mut(), module, c"count".as_ptr())
    );
    let out: CUdeviceptr = get!(cuMemAlloc_v2(4));
    for stale in [function, kernel.cast()] {
        assert_eq!(count(stale, out, 1, null_mut()).0, 400);
    }
    let mut unknown = CUlibraryOption_enum(9);
    let mut value = null_mut();
    let image = image();
    fails!(
        1,
        cuLibraryLoadData(
            &mut null_mut(),
            image.as_ptr().cast(),
            null_mut(),
            null_mut(),
            0,
            &mut unknown,
            &mut value,
            1
        )
    );
    ok!(cuMemFree_v2(out));
}

/// Free bytes of the device's memory.
fn free_memory() -> usize {
    let (mut free, mut total) = (0, 0);
    ok!(cuMemGetInfo_v2(&mut free, &mut total));
    free
}

// covers: LAZY-03
#[test]
fn data_is_loaded_when_it_is_needed_unless_all_is_loaded_at_once() {
    // The variable for data goes before the one for all.
    for (mode, data, name, is_eager) in [
        ("LAZY", "DEFAULT", "lazy", false),
        ("EAGER", "", "eager", true),
        ("LAZY", "EAGER", "eager data", true),
        ("EAGER", "LAZY", "lazy data", false),
    ] {
        let variables = [
            ("CUDA_MODULE_LOADING", mode),
            ("CUDA_MODULE_DATA_LOADING", data),
            ("WARPSMITH_DEVICE", "simulator"),
            ("WARPSMITH_TEST_MODE", name),
        ];
        if std::env::var("WARPSMITH_TEST_MODE").is_ok_and(|own| own != name) {
            continue;
        }
        let Side::Child = own_process(&variables) else {
            continue;
        };
        gpu();
        let large = PTX.replace(
            ".visible .global .align 4 .u32 counter = 40;",
            "
            .visible .global .align 4 .u32 counter = 40;
            .visible .global .align 4 .b8 large[67108864];",
        );
        let text = std::ffi::CString::new(large).unwrap();
        let before = free_memory();
        let library: CUlibrary = get!(cuLibraryLoadData(
            text.as_ptr().cast(),
            null_mut(),
            null_mut(),
            0,
            null_mut(),
            null_mut(),
            0
        ));
        let kernel = kernel(library, c"count");
        assert_eq!(before - free_memory() >= 64 << 20, is_eager);
        let _: CUfunction = get!(cuKernelGetFunction(kernel));
        assert!(before - free_memory() >= 64 << 20);
        unload(library);
        assert_eq!(free_memory(), before);
    }
}
