//! Sizes that no memory has: whatever a program passes, nothing outside of its memory is touched.

use crate::common::*;

const HOST: CUmemorytype = CUmemorytype::CU_MEMORYTYPE_HOST;
const DEVICE: CUmemorytype = CUmemorytype::CU_MEMORYTYPE_DEVICE;

/// Twice this is nothing.
const HALF: usize = 1 << 63;

#[test]
fn fills_whose_size_does_not_fit_are_refused() {
    // A real driver executes some of these, and the context does not survive it.
    let _turn = turn();
    if gpu() == Backend::Cuda {
        return;
    }
    let memory = upload(&[7u32; 1024]);
    let stream = stream();
    for (pitch, width, height) in [
        (HALF, 16, 3),
        (HALF, 1, 3),
        (1 << 62, 16, 5),
        (usize::MAX - 7, 8, 2),
        (1 << 40, 16, 2),
        (4096, usize::MAX, 2),
        (usize::MAX, usize::MAX, usize::MAX),
    ] {
        let pitch = pitch & !3;
        fails!(1, cuMemsetD2D8_v2(memory, pitch, 0x41, width, height));
        fails!(1, cuMemsetD2D16_v2(memory, pitch, 0x41, width, height));
        fails!(1, cuMemsetD2D32_v2(memory, pitch, 0x41, width, height));
        fails!(
            1,
            cuMemsetD2D32Async(memory, pitch, 0x41, width, height, stream)
        );
    }
    // The product of width and element is small again.
    fails!(1, cuMemsetD32_v2(memory, 0x41, (1 << 62) + 1));
    fails!(1, cuMemsetD16Async(memory, 0x41, HALF + 1, stream));
    let graph: CUgraph = get!(cuGraphCreate(0));
    let context: CUcontext = get!(cuCtxGetCurrent());
    let parameters = CUDA_MEMSET_NODE_PARAMS {
        dst: memory,
        pitch: HALF,
        value: 1,
        elementSize: 4,
        width: 2,
        height: 3,
    };
    let mut node = null_mut();
    fails!(
        1,
        cuGraphAddMemsetNode(&mut node, graph, null(), 0, &parameters, context)
    );
    ok!(cuGraphDestroy(graph));
    ok!(cuStreamSynchronize(stream));
    assert_eq!(download::<u32>(memory, 1024), [7; 1024]);
    // A fill of nothing reaches nowhere, wherever its rows would be.
    ok!(cuMemsetD2D8_v2(memory, 1 << 20, 0x41, 16, 0));
    ok!(cuMemFree_v2(memory));
    ok!(cuStreamDestroy_v2(stream));
}

#[test]
fn copies_whose_size_does_not_fit_are_refused() {
    // A real driver executes some of these, and the context does not survive it.
    let _turn = turn();
    if gpu() == Backend::Cuda {
        return;
    }
    let memory = upload(&[7u8; 4096]);
    let victim = [1u8; 64];
    let mut host = [2u8; 64];
    // From the memory to the victim in steps: the distance of both, as a pitch or as a slice.
    let distance = (victim.as_ptr() as usize).wrapping_sub(memory as usize);
    let flat = CUDA_MEMCPY2D {
        srcMemoryType: HOST,
        srcHost: host.as_ptr().cast(),
        srcPitch: 16,
        dstMemoryType: DEVICE,
        dstDevice: memory,
        dstPitch: 16,
        WidthInBytes: 16,
        Height: 2,
        ..Default::default()
    };
    let stream = stream();
    for wrong in [
        CUDA_MEMCPY2D {
            dstPitch: HALF,
            Height: 3,
            ..flat
        },
        CUDA_MEMCPY2D {
            srcPitch: HALF,
            Height: 3,
            ..flat
        },
        CUDA_MEMCPY2D {
            dstPitch: distance,
            ..flat
        },
        CUDA_MEMCPY2D {
            dstPitch: HALF,
            dstY: 2,
            Height: 1,
            ..flat
        },
        CUDA_MEMCPY2D {
            dstXInBytes: distance,
            Height: 1,
            ..flat
        },
        CUDA_MEMCPY2D {
            WidthInBytes: 1 << 32,
            Height: 1 << 32,
            srcPitch: 1 << 32,
            dstPitch: 1 << 32,
            ..flat
        },
    ] {
        fails!(1, cuMemcpy2D_v2(&wrong));
        fails!(1, cuMemcpy2DAsync_v2(&wrong, stream));
    }
    let deep = CUDA_MEMCPY3D {
        srcMemoryType: DEVICE,
        srcDevice: memory,
        srcPitch: 16,
        srcHeight: 1,
        dstMemoryType: DEVICE,
        dstDevice: memory + 2048,
        dstPitch: 16,
        dstHeight: 1,
        WidthInBytes: 16,
        Height: 1,
        Depth: 2,
        ..Default::default()
    };
    for wrong in [
        CUDA_MEMCPY3D {
            dstPitch: distance,
            ..deep
        },
        CUDA_MEMCPY3D {
            dstPitch: 1 << 32,
            dstHeight: 1 << 32,
            ..deep
        },
        CUDA_MEMCPY3D {
            dstPitch: 1 << 32,
            dstHeight: 1 << 31,
            Depth: 3,
            ..deep
        },
        CUDA_MEMCPY3D {
            srcHeight: usize::MAX,
            ..deep
        },
        CUDA_MEMCPY3D {
            srcZ: usize::MAX / 16 + 1,
            ..deep
        },
        CUDA_MEMCPY3D {
            WidthInBytes: 1 << 31,
            Height: 1 << 31,
            Depth: 8,
            ..deep
        },
    ] {
        fails!(1, cuMemcpy3D_v2(&wrong));
        fails!(1, cuMemcpy3DAsync_v2(&wrong, stream));
    }
    fails!(1, cuMemcpyHtoD_v2(memory, host.as_ptr().cast(), usize::MAX));
    fails!(1, cuMemcpyDtoH_v2(host.as_mut_ptr().cast(), memory, HALF));
    fails!(1, cuMemcpyDtoD_v2(memory, memory + 16, usize::MAX - 15));
    ok!(cuStreamSynchronize(stream));
    assert_eq!(download::<u8>(memory, 4096), [7; 4096]);
    assert_eq!((victim, host), ([1; 64], [2; 64]));
    ok!(cuMemFree_v2(memory));
    ok!(cuStreamDestroy_v2(stream));
}

#[test]
fn allocations_that_do_not_fit_are_refused() {
    let _turn = turn();
    gpu();
    let stream = stream();
    let (mut memory, mut pitch) = (0, 0);
    for size in [1 << 50, HALF, usize::MAX, usize::MAX - 4095] {
        fails!(2, cuMemAlloc_v2(&mut memory, size));
        fails!(2, cuMemAllocAsync(&mut memory, size, stream));
        let mut host = null_mut();
        fails!(2, cuMemHostAlloc(&mut host, size, 0));
    }
    // SAFETY: the arguments are valid or checked by the driver.
    let result = unsafe { cuMemAllocPitch_v2(&mut memory, &mut pitch, usize::MAX - 15, 2, 4) };
    assert!(matches!(result.0, 1 | 2), "{}", result.0);
    // SAFETY: the arguments are valid or checked by the driver.
    let result = unsafe { cuMemAllocPitch_v2(&mut memory, &mut pitch, 1 << 33, 1 << 33, 4) };
    assert!(matches!(result.0, 1 | 2), "{}", result.0);
    ok!(cuStreamDestroy_v2(stream));
}

#[test]
fn launches_with_sizes_that_do_not_fit_are_refused() {
    const KERNEL: &core::ffi::CStr =
        c".version 7.8\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }\n";
    let _turn = turn();
    gpu();
    let module: CUmodule = get!(cuModuleLoadData(KERNEL.as_ptr().cast()));
    let function: CUfunction = get!(cuModuleGetFunction(module, c"k".as_ptr()));
    for [x, y, z] in [
        [4096, 4096, 256],
        [1 << 16, 1 << 16, 1],
        [u32::MAX, u32::MAX, u32::MAX],
        [1 << 31, 2, 1],
    ] {
        let none = null_mut();
        fails!(
            1,
            cuLaunchKernel(function, 1, 1, 1, x, y, z, 0, none, null_mut(), null_mut())
        );
    }
    // A size that wraps around when the static size is added; the driver 580 answers 16 for it.
    let wraps = (gpu() == Backend::Simulator).then_some(usize::MAX);
    for dynamic in [1 << 30].into_iter().chain(wraps) {
        let blocks: c_int = get!(cuOccupancyMaxActiveBlocksPerMultiprocessor(
            function, 128, dynamic
        ));
        assert_eq!(blocks, 0, "{dynamic} bytes");
    }
    ok!(cuModuleUnload(module));
}
