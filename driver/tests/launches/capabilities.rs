//! What a device can do and what it bears: the targets it takes, the limits of a launch at their values and one above,
//! how many blocks fit on a multiprocessor.

use std::ffi::CString;

use crate::common::*;
use warpsmith_testkit::process::{calling_test, run_in_child};
use warpsmith_testkit::{Side, own_process, ptx};

/// Tells a child of a test the first number of its device's compute capability.
const LEVEL: &str = "WARPSMITH_TEST_LEVEL";

/// A block of `tile` has a kilobyte of shared memory; `vector` reads 16 bytes.
const KERNELS: &str = "
.visible .entry nothing() { ret; }
.visible .entry tile()
{
    .shared .align 4 .b8 tile[1024];
    ret;
}
.visible .entry vector(.param .u64 from, .param .u64 out)
{
    .reg .b32 %r<5>; .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [from];
    ld.param.u64 %rd2, [out];
    ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1];
    add.u32 %r1, %r1, %r2;
    add.u32 %r1, %r1, %r3;
    add.u32 %r1, %r1, %r4;
    st.global.u32 [%rd2], %r1;
    ret;
}
";

fn load(head: &str, kernels: &str) -> Result<CUmodule, u32> {
    let text = CString::new(format!("{head}{kernels}")).expect("PTX");
    let mut module = null_mut();
    // SAFETY: the image is a C string.
    let result = unsafe { cuModuleLoadData(&mut module, text.as_ptr().cast()) };
    if result.0 == 0 {
        Ok(module)
    } else {
        Err(result.0)
    }
}

fn function(module: CUmodule, name: &str) -> CUfunction {
    let name = CString::new(name).expect("a name");
    get!(cuModuleGetFunction(module, name.as_ptr()))
}

fn kernel(name: &str) -> CUfunction {
    function(
        load(ptx!("7.8", "sm_90", ""), KERNELS).expect("it loads"),
        name,
    )
}

/// Launches a kernel with 64-bit parameters.
fn launch(
    kernel: CUfunction,
    grid: [u32; 3],
    block: [u32; 3],
    shared: u32,
    parameters: &mut [u64],
) -> u32 {
    let mut pointers: Vec<*mut c_void> = parameters
        .iter_mut()
        .map(|value| (&raw mut *value).cast())
        .collect();
    let [x, y, z] = grid;
    let [width, height, depth] = block;
    // SAFETY: each caller passes as many parameters as its kernel has, of 64 bits.
    unsafe {
        cuLaunchKernel(
            kernel,
            x,
            y,
            z,
            width,
            height,
            depth,
            shared,
            null_mut(),
            pointers.as_mut_ptr(),
            null_mut(),
        )
    }
    .0
}

fn attribute(attribute: CUdevice_attribute) -> u32 {
    let value: c_int = get!(cuDeviceGetAttribute(attribute, 0));
    value as u32
}

#[test]
fn ptx_of_specific_features_is_for_one_architecture() {
    // covers: CC-02
    let _turn = turn();
    gpu();
    let plain = ".visible .entry k() { ret; }";
    let takes = |head| load(head, plain).is_ok();
    if let Ok(level) = std::env::var(LEVEL) {
        // The child: a simulated device of another architecture.
        assert!(takes(ptx!("7.0", "sm_80", "")));
        assert_eq!(takes(ptx!("8.0", "sm_90", "")), level == "10");
        assert_eq!(load(ptx!("8.0", "sm_90a", ""), plain), Err(218));
        return;
    }
    let fence = ".visible .entry k() { wgmma.fence.sync.aligned; ret; }";
    ok!(cuModuleUnload(
        load(ptx!("8.0", "sm_90a", ""), fence).expect("sm_90a has wgmma")
    ));
    assert_eq!(load(ptx!("8.0", "sm_90", ""), fence), Err(218));
    assert!(takes(ptx!("7.0", "sm_70", "")) && takes(ptx!("7.0", "sm_80", "")));
    assert!(!takes(ptx!("8.6", "sm_100", "")));
    for level in ["8", "10"] {
        run_in_child(
            &calling_test(),
            &[
                ("WARPSMITH_DEVICE", "simulator"),
                (
                    "WARPSMITH_SIMULATOR_ATTRIBUTES",
                    &format!("75={level},76=0"),
                ),
                (LEVEL, level),
            ],
        );
    }
}

#[test]
fn each_limit_of_a_launch_holds_at_its_value_and_not_above() {
    // covers: CC-05
    let _turn = turn();
    gpu();
    let nothing = kernel("nothing");
    let try_launch = |grid, block| launch(nothing, grid, block, 0, &mut []);
    for block in [[1024, 1, 1], [1, 1024, 1], [1, 1, 64], [32, 32, 1]] {
        assert_eq!(try_launch([1; 3], block), 0, "{block:?}");
    }
    for block in [
        [1025, 1, 1],
        [1, 1025, 1],
        [1, 1, 65],
        [32, 33, 1],
        [0, 1, 1],
        [1, 0, 1],
        [1, 1, 0],
    ] {
        assert_eq!(try_launch([1; 3], block), 1, "{block:?}");
    }
    for grid in [[1, 65_535, 1], [1, 1, 65_535]] {
        assert_eq!(try_launch(grid, [1; 3]), 0, "{grid:?}");
    }
    for grid in [
        [1 << 31, 1, 1],
        [1, 65_536, 1],
        [1, 1, 65_536],
        [0, 1, 1],
        [1, 0, 1],
        [1, 1, 0],
    ] {
        assert_eq!(try_launch(grid, [1; 3]), 1, "{grid:?}");
    }
    ok!(cuCtxSynchronize());

    // Of a kernel of more than 64 registers a block of 1024 threads needs more than the 64 K that there are.
    let (mut loads, mut stores) = (String::new(), String::new());
    for i in 0..120 {
        loads += &format!("ld.volatile.global.u32 %v{i}, [%rd1+{}];\n", 4 * i);
        stores += &format!("st.volatile.global.u32 [%rd1+{}], %v{};\n", 4 * i, 119 - i);
    }
    let many = format!(
        ".visible .entry many(.param .u64 words)
{{
    .reg .b32 %v<120>; .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [words];
    {loads}{stores}
    ret;
}}"
    );
    let many = function(
        load(ptx!("7.8", "sm_90", ""), &many).expect("it loads"),
        "many",
    );
    let registers: c_int = get!(cuFuncGetAttribute(
        CUfunction_attribute::CU_FUNC_ATTRIBUTE_NUM_REGS,
        many
    ));
    assert!((65..=255).contains(&registers), "{registers}");
    let most: c_int = get!(cuFuncGetAttribute(
        CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
        many
    ));
    assert!(most < 1024 && most % 32 == 0, "{most}");
    let words = upload(&[0u32; 120]);
    assert_eq!(
        launch(many, [1; 3], [most as u32, 1, 1], 0, &mut [words]),
        0
    );
    for threads in [most as u32 + 1, 1024] {
        assert_eq!(
            launch(many, [1; 3], [threads, 1, 1], 0, &mut [words]),
            701,
            "{threads} threads"
        );
    }
    ok!(cuCtxSynchronize());
    ok!(cuMemFree_v2(words));
}

#[test]
fn more_than_48_kilobytes_of_dynamic_shared_memory_need_permission() {
    // covers: CC-06
    let _turn = turn();
    gpu();
    let allow = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    let head = ptx!("7.8", "sm_90", "");
    let of_static = |bytes: usize| {
        let kernel = format!(
            ".visible .entry k(.param .u64 out)
{{
    .shared .align 4 .b8 bytes[{bytes}];
    .reg .b32 %r<2>; .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    st.volatile.shared.u32 [bytes+{}], 1;
    ld.volatile.shared.u32 %r1, [bytes+{}];
    st.global.u32 [%rd1], %r1;
    ret;
}}",
            bytes - 4,
            bytes - 4
        );
        load(head, &kernel)
    };
    // The driver's compiler takes more than ptxas does, and such a kernel needs no permission.
    let most = attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
    let out = upload(&[0u32]);
    for (bytes, dynamic) in [
        (48 << 10, 0),
        (49 << 10, most as usize - (49 << 10)),
        (most as usize, 0),
    ] {
        let module = of_static(bytes).expect("it loads");
        let kernel = function(module, "k");
        let allowed: c_int = get!(cuFuncGetAttribute(allow, kernel));
        assert_eq!(allowed as usize, dynamic, "{bytes} bytes of static memory");
        assert_eq!(launch(kernel, [1; 3], [1; 3], 0, &mut [out]), 0);
        ok!(cuCtxSynchronize());
        ok!(cuModuleUnload(module));
    }
    assert_eq!(download::<u32>(out, 1), [1]);
    assert_eq!(of_static(most as usize + 4), Err(218));

    let last_word = "
.extern .shared .align 16 .b8 dynamic[];
.visible .entry last_word(.param .u64 at, .param .u64 out)
{
    .reg .b32 %r<3>; .reg .b64 %rd<3>;
    ld.param.u32 %r1, [at];
    ld.param.u64 %rd2, [out];
    mov.u32 %r2, dynamic;
    add.u32 %r1, %r1, %r2;
    st.volatile.shared.u32 [%r1], 7;
    ld.volatile.shared.u32 %r2, [%r1];
    st.global.u32 [%rd2], %r2;
    ret;
}";
    let module = load(head, last_word).expect("it loads");
    let kernel = function(module, "last_word");
    let try_launch = |bytes: u32| {
        launch(
            kernel,
            [1; 3],
            [1; 3],
            bytes,
            &mut [u64::from(bytes - 4), out],
        )
    };
    assert_eq!(try_launch(most), 1);
    assert_eq!(try_launch((48 << 10) + 4), 1);
    fails!(1, cuFuncSetAttribute(kernel, allow, most as c_int + 1));
    ok!(cuFuncSetAttribute(kernel, allow, most as c_int));
    assert_eq!(try_launch(most), 0);
    ok!(cuCtxSynchronize());
    assert_eq!(download::<u32>(out, 1), [7]);
    assert_eq!(try_launch(most + 4), 1);
    ok!(cuMemFree_v2(out));
    ok!(cuModuleUnload(module));
}

/// The kernel needs few registers, so that threads, blocks and shared memory are what limits.
#[test]
fn blocks_that_fit_on_a_multiprocessor() {
    // covers: CC-08, SHMEM-06
    let _turn = turn();
    gpu();
    let tile = kernel("tile");
    let allow = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    let most = attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
    let own: c_int = get!(cuFuncGetAttribute(
        CUfunction_attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
        tile
    ));
    let own = own as u32;
    assert_eq!(own, 1024);
    ok!(cuFuncSetAttribute(tile, allow, (most - own) as c_int));
    let reserved =
        attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
    let shared =
        attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
    assert_eq!(shared, most + reserved);
    let warps =
        attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR) / 32;
    let slots = attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
    for threads in [
        1_u32, 32, 33, 64, 96, 128, 192, 256, 384, 512, 768, 1000, 1024,
    ] {
        for dynamic in [
            0_u32,
            1,
            100,
            1024,
            6000,
            16 << 10,
            31 << 10,
            48 << 10,
            100 << 10,
            most - own,
        ] {
            let mut blocks = 0;
            ok!(cuOccupancyMaxActiveBlocksPerMultiprocessor(
                &mut blocks,
                tile,
                threads as c_int,
                dynamic as usize
            ));
            let expected = slots
                .min(warps / threads.div_ceil(32))
                .min(shared / (own + reserved + dynamic).next_multiple_of(128));
            assert_eq!(
                blocks as u32, expected,
                "{threads} threads, {dynamic} bytes of dynamic shared memory"
            );
        }
    }
    // What is too much for one block does not fit, and is refused.
    assert_eq!(launch(tile, [1; 3], [32, 1, 1], most - own, &mut []), 0);
    assert_eq!(launch(tile, [1; 3], [32, 1, 1], most - own + 1, &mut []), 1);
    ok!(cuCtxSynchronize());
}

/// In a process of its own: the context is lost.
#[test]
fn a_misaligned_vector_is_a_fault_that_stays() {
    // covers: MEM-15
    let _turn = turn();
    let Side::Child = own_process(&[("WARPSMITH_REPORT", "0")]) else {
        return;
    };
    let backend = gpu();
    let vector = kernel("vector");
    let words = upload(&[1u32, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(
        launch(vector, [1; 3], [1; 3], 0, &mut [words + 16, words]),
        0
    );
    ok!(cuCtxSynchronize());
    assert_eq!(download::<u32>(words, 1), [5 + 6 + 7 + 8]);
    assert_eq!(
        launch(vector, [1; 3], [1; 3], 0, &mut [words + 8, words]),
        0
    );
    fails!(716, cuCtxSynchronize());
    fails!(716, cuMemAlloc_v2(&mut 0, 16));
    if backend == Backend::Simulator {
        let report = warpsmith_driver::simulator_report().expect("a report");
        for part in ["misaligned", "16 bytes", "vector"] {
            assert!(report.contains(part), "{report}");
        }
    }
}

/// A hint: the next larger size that the device has is taken, and no launch fails for it.
#[test]
fn a_kernel_prefers_a_share_of_shared_memory() {
    // covers: CC-07
    let _turn = turn();
    gpu();
    let tile = kernel("tile");
    let id = CUfunction_attribute::CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT;
    let read = || -> c_int { get!(cuFuncGetAttribute(id, tile)) };
    assert_eq!(read(), -1, "the driver chooses");
    for share in [0, 50, 100, 1, -1] {
        ok!(cuFuncSetAttribute(tile, id, share));
        assert_eq!(read(), share);
        let (grid, block) = ([1, 1, 1], [32, 1, 1]);
        assert_eq!(launch(tile, grid, block, 0, &mut []), 0, "{share} percent");
        ok!(cuCtxSynchronize());
    }
    ok!(cuFuncSetAttribute(tile, id, 25));
    for share in [-2, 101, 1000, c_int::MIN, c_int::MAX] {
        fails!(1, cuFuncSetAttribute(tile, id, share));
        assert_eq!(read(), 25);
    }
    // The older form has four values.
    for value in 0..4 {
        ok!(cuFuncSetCacheConfig(tile, CUfunc_cache(value)));
        assert_eq!(launch(tile, [1, 1, 1], [32, 1, 1], 0, &mut []), 0);
    }
    fails!(1, cuFuncSetCacheConfig(tile, CUfunc_cache(4)));
    ok!(cuCtxSynchronize());
}
