//! Formats, extents, layers and lifetimes.

use super::*;

// covers: SURF-01, MEM-08
#[test]
fn every_format_and_extent_keeps_what_is_copied_to_it() {
    let _turn = turn();
    gpu();
    for (format, size) in FORMATS {
        for components in [1, 2, 4] {
            for extents in [[17, 0, 0], [9, 5, 0], [5, 4, 3]] {
                let array = array(extents, format, components);
                let is: CUDA_ARRAY3D_DESCRIPTOR = get!(cuArray3DGetDescriptor_v2(array));
                assert_eq!([is.Width, is.Height, is.Depth], extents);
                assert_eq!(
                    (is.Format, is.NumChannels, is.Flags),
                    (format, components, 0)
                );
                let row = extents[0] * size * components as usize;
                let shape = [row, extents[1].max(1), extents[2].max(1)];
                let data = pattern(shape.iter().product());
                fill(array, shape, &data);
                assert_eq!(contents(array, shape), data);
                ok!(cuArrayDestroy(array));
            }
        }
    }
}

#[test]
fn layers_and_faces_are_slices() {
    let _turn = turn();
    gpu();
    for (extents, flags) in [
        ([8, 0, 3], CUDA_ARRAY3D_LAYERED),
        ([8, 4, 3], CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_SURFACE_LDST),
        ([8, 8, 6], CUDA_ARRAY3D_CUBEMAP),
        ([8, 8, 12], CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED),
    ] {
        let array: CUarray = get!(cuArray3DCreate_v2(&described(extents, U8, 1, flags)));
        let shape = extents.map(|extent: usize| extent.max(1));
        let data = pattern(shape.iter().product());
        fill(array, shape, &data);
        let mut last = from_array(copy_of([shape[0], shape[1], 1]), array);
        last.srcZ = shape[2] - 1;
        let mut layer = vec![0; shape[0] * shape[1]];
        ok!(cuMemcpy3D_v2(&to_host(last, &mut layer)));
        assert_eq!(layer, data[data.len() - layer.len()..], "{extents:?}");
        let is: CUDA_ARRAY3D_DESCRIPTOR = get!(cuArray3DGetDescriptor_v2(array));
        assert_eq!((is.Depth, is.Flags), (extents[2], flags));
        ok!(cuArrayDestroy(array));
    }
}

#[test]
fn what_no_array_is_is_refused() {
    let _turn = turn();
    gpu();
    let mut array = null_mut();
    let wrong = [
        // No width, and a depth without a height.
        described([0, 0, 0], U8, 1, 0),
        described([0, 4, 0], U8, 1, 0),
        described([4, 0, 4], U8, 1, 0),
        // Components and formats that do not exist.
        described([4, 4, 0], U8, 0, 0),
        described([4, 4, 0], U8, 3, 0),
        described([4, 4, 0], U8, 8, 0),
        described([4, 4, 0], CUarray_format_enum(7), 1, 0),
        // Larger than the device has them.
        described([131_073, 0, 0], U8, 1, 0),
        described([4, 65_537, 0], U8, 1, 0),
        described([16_385, 4, 4], U8, 1, 0),
        described([32_769, 0, 2], U8, 1, CUDA_ARRAY3D_LAYERED),
        described([4, 4, 2049], U8, 1, CUDA_ARRAY3D_LAYERED),
        described([32_769, 0, 0], U8, 1, CUDA_ARRAY3D_SURFACE_LDST),
        // Layers without a number, cubes with other sides and faces.
        described([4, 4, 0], U8, 1, CUDA_ARRAY3D_LAYERED),
        described([4, 5, 6], U8, 1, CUDA_ARRAY3D_CUBEMAP),
        described([4, 4, 7], U8, 1, CUDA_ARRAY3D_CUBEMAP),
        described([4, 4, 12], U8, 1, CUDA_ARRAY3D_CUBEMAP),
        described(
            [4, 4, 7],
            U8,
            1,
            CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED,
        ),
        // Gathering is for flat arrays.
        described([4, 4, 4], U8, 1, CUDA_ARRAY3D_TEXTURE_GATHER),
    ];
    for descriptor in wrong {
        // SAFETY: the arguments are valid for the call.
        let result = unsafe { cuArray3DCreate_v2(&mut array, &descriptor) };
        assert_eq!(result.0, 1, "{descriptor:?}");
    }
    if gpu() == Backend::Simulator {
        fails!(
            1,
            cuArray3DCreate_v2(null_mut(), &described([4, 0, 0], U8, 1, 0))
        );
        fails!(1, cuArray3DCreate_v2(&mut array, null()));
        // What a driver has and the simulator has not.
        let nv12 = CUarray_format::CU_AD_FORMAT_NV12;
        fails!(
            801,
            cuArray3DCreate_v2(&mut array, &described([4, 4, 0], nv12, 1, 0))
        );
        fails!(
            801,
            cuArray3DCreate_v2(&mut array, &described([4, 4, 0], U8, 1, 0x40))
        );
    }
}

/// A real driver follows handles, null ones, too.
#[test]
fn a_handle_that_is_none_is_found_out() {
    let _turn = turn();
    if gpu() == Backend::Cuda {
        return;
    }
    let gone = bytes(16, 4);
    ok!(cuArrayDestroy(gone));
    let mut descriptor = described([0; 3], U8, 1, 0);
    let mut flat = CUDA_ARRAY_DESCRIPTOR::default();
    let mut data = [0u8; 16];
    for handle in [null_mut(), gone] {
        fails!(400, cuArrayDestroy(handle));
        fails!(400, cuArray3DGetDescriptor_v2(&mut descriptor, handle));
        fails!(400, cuArrayGetDescriptor_v2(&mut flat, handle));
        fails!(1, cuMemcpyAtoH_v2(data.as_mut_ptr().cast(), handle, 0, 4));
        fails!(1, cuMemcpyHtoA_v2(handle, 0, data.as_ptr().cast(), 4));
        let copy = to_host(from_array(copy_of([4, 1, 1]), handle), &mut data);
        fails!(1, cuMemcpy3D_v2(&copy));
    }
    let array = bytes(16, 4);
    fails!(1, cuArray3DGetDescriptor_v2(null_mut(), array));
    fails!(1, cuArrayGetDescriptor_v2(null_mut(), array));
    ok!(cuArrayGetDescriptor_v2(&mut flat, array));
    assert_eq!((flat.Width, flat.Height), (16, 4));
    ok!(cuArrayDestroy(array));
}

#[test]
fn an_array_is_destroyed_after_what_was_enqueued_before() {
    let _turn = turn();
    gpu();
    let stream = stream();
    let locked = pinned::<u8>(64);
    for _ in 0..20 {
        let array = bytes(64, 0);
        let flag = Flag::new();
        ok!(cuMemcpyHtoAAsync_v2(array, 0, locked.cast(), 64, stream));
        ok!(cuMemcpyAtoHAsync_v2(locked.cast(), array, 0, 64, stream));
        flag.set_on(stream, 1);
        ok!(cuArrayDestroy(array));
        ok!(cuStreamSynchronize(stream));
        assert_eq!(flag.get(), 1);
    }
    ok!(cuMemFreeHost(locked.cast()));
    ok!(cuStreamDestroy_v2(stream));
}

#[test]
fn arrays_take_the_devices_memory_and_end_with_their_context() {
    if in_child(&[("WARPSMITH_SIMULATOR_MEMORY", "64M")]).is_some() {
        return;
    }
    let _turn = turn();
    gpu();
    let free = || {
        let (mut free, mut total) = (0, 0);
        ok!(cuMemGetInfo_v2(&mut free, &mut total));
        free
    };
    let before = free();
    let array = bytes(1 << 10, 16 << 10);
    assert!(before - free() >= 16 << 20);
    ok!(cuArrayDestroy(array));
    assert_eq!(free(), before);
    let descriptor = described([1 << 14, 1 << 13, 0], U8, 1, 0);
    let mut none = null_mut();
    fails!(2, cuArray3DCreate_v2(&mut none, &descriptor));
    let device: CUdevice = get!(cuCtxGetDevice());
    let mut context = null_mut();
    ok!(cuCtxCreate_v2(&mut context, 0, device));
    let array = bytes(1 << 10, 16 << 10);
    ok!(cuCtxDestroy_v2(context));
    gpu();
    assert_eq!(free(), before);
    fails!(400, cuArrayDestroy(array));
}
