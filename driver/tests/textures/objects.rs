//! Texture and surface objects: what they may be made of, and what they say of themselves.

use crate::common::texels::array_of;
use crate::common::*;

const U8: CUarray_format = CUarray_format::CU_AD_FORMAT_UNSIGNED_INT8;
const U32: CUarray_format = CUarray_format::CU_AD_FORMAT_UNSIGNED_INT32;
const F32: CUarray_format = CUarray_format::CU_AD_FORMAT_FLOAT;
const CLAMP: CUaddress_mode = CUaddress_mode::CU_TR_ADDRESS_MODE_CLAMP;
const LINEAR: CUfilter_mode = CUfilter_mode::CU_TR_FILTER_MODE_LINEAR;

fn array(extents: [usize; 3], format: CUarray_format, flags: u32) -> CUarray {
    let descriptor = CUDA_ARRAY3D_DESCRIPTOR {
        Width: extents[0],
        Height: extents[1],
        Depth: extents[2],
        Format: format,
        NumChannels: 1,
        Flags: flags,
    };
    get!(cuArray3DCreate_v2(&descriptor))
}

fn of_array(array: CUarray) -> CUDA_RESOURCE_DESC {
    let mut resource = CUDA_RESOURCE_DESC {
        resType: CUresourcetype::CU_RESOURCE_TYPE_ARRAY,
        ..Default::default()
    };
    resource.res.array.hArray = array;
    resource
}

fn linear(address: CUdeviceptr, format: CUarray_format, bytes: usize) -> CUDA_RESOURCE_DESC {
    let mut resource = CUDA_RESOURCE_DESC {
        resType: CUresourcetype::CU_RESOURCE_TYPE_LINEAR,
        ..Default::default()
    };
    resource.res.linear = CUDA_RESOURCE_DESC_st__bindgen_ty_1__bindgen_ty_3 {
        devPtr: address,
        format,
        numChannels: 1,
        sizeInBytes: bytes,
    };
    resource
}

fn pitched(address: CUdeviceptr, [width, height, pitch]: [usize; 3]) -> CUDA_RESOURCE_DESC {
    let mut resource = CUDA_RESOURCE_DESC {
        resType: CUresourcetype::CU_RESOURCE_TYPE_PITCH2D,
        ..Default::default()
    };
    resource.res.pitch2D = CUDA_RESOURCE_DESC_st__bindgen_ty_1__bindgen_ty_4 {
        devPtr: address,
        format: F32,
        numChannels: 1,
        width,
        height,
        pitchInBytes: pitch,
    };
    resource
}

fn clamped(filter: CUfilter_mode, flags: u32) -> CUDA_TEXTURE_DESC {
    CUDA_TEXTURE_DESC {
        addressMode: [CLAMP; 3],
        filterMode: filter,
        flags,
        ..Default::default()
    }
}

fn texture(resource: &CUDA_RESOURCE_DESC, sampling: &CUDA_TEXTURE_DESC) -> CUtexObject {
    get!(cuTexObjectCreate(resource, sampling, null()))
}

#[test]
fn a_texture_object_says_what_it_was_made_of() {
    let _turn = turn();
    gpu();
    let array = array([64, 32, 0], F32, 0);
    let sampling = CUDA_TEXTURE_DESC {
        borderColor: [1.0, 2.0, 3.0, 4.0],
        ..clamped(LINEAR, CU_TRSF_NORMALIZED_COORDINATES)
    };
    let object = texture(&of_array(array), &sampling);
    assert_ne!(object, 0);
    let resource: CUDA_RESOURCE_DESC = get!(cuTexObjectGetResourceDesc(object));
    assert_eq!(resource.resType, CUresourcetype::CU_RESOURCE_TYPE_ARRAY);
    // SAFETY: the type says that the field is set.
    assert_eq!(unsafe { resource.res.array.hArray }, array);
    let is: CUDA_TEXTURE_DESC = get!(cuTexObjectGetTextureDesc(object));
    assert_eq!(is.addressMode, [CLAMP; 3]);
    assert_eq!(
        (is.filterMode, is.flags),
        (LINEAR, CU_TRSF_NORMALIZED_COORDINATES)
    );
    // An H200's driver tells no border color back.
    if gpu() == Backend::Simulator {
        assert_eq!(is.borderColor, sampling.borderColor);
    }
    // Without a view nothing is told of it.
    let mut view = CUDA_RESOURCE_VIEW_DESC {
        width: 77,
        ..Default::default()
    };
    ok!(cuTexObjectGetResourceViewDesc(&mut view, object));
    assert_eq!(view.width, 77);
    ok!(cuTexObjectDestroy(object));
    ok!(cuArrayDestroy(array));
}

#[test]
fn a_view_gives_the_texels_another_format() {
    let _turn = turn();
    gpu();
    let array = array([64, 32, 0], U32, 0);
    let view = CUDA_RESOURCE_VIEW_DESC {
        format: CUresourceViewFormat::CU_RES_VIEW_FORMAT_FLOAT_1X32,
        width: 64,
        height: 32,
        ..Default::default()
    };
    // As floats they may be filtered.
    let sampling = clamped(LINEAR, 0);
    let resource = of_array(array);
    let object: CUtexObject = get!(cuTexObjectCreate(&resource, &sampling, &view));
    let is: CUDA_RESOURCE_VIEW_DESC = get!(cuTexObjectGetResourceViewDesc(object));
    assert_eq!((is.format, is.width, is.height), (view.format, 64, 32));
    ok!(cuTexObjectDestroy(object));
    let mut none = 0;
    for wrong in [
        CUDA_RESOURCE_VIEW_DESC { width: 65, ..view },
        CUDA_RESOURCE_VIEW_DESC {
            lastLayer: 1,
            ..view
        },
        CUDA_RESOURCE_VIEW_DESC {
            firstLayer: 1,
            ..view
        },
        CUDA_RESOURCE_VIEW_DESC {
            lastMipmapLevel: 1,
            ..view
        },
        CUDA_RESOURCE_VIEW_DESC {
            format: CUresourceViewFormat_enum(99),
            ..view
        },
        CUDA_RESOURCE_VIEW_DESC {
            format: CUresourceViewFormat::CU_RES_VIEW_FORMAT_FLOAT_2X32,
            ..view
        },
    ] {
        if gpu() == Backend::Simulator {
            fails!(
                1,
                cuTexObjectCreate(&mut none, &resource, &sampling, &wrong)
            );
        }
    }
    // Memory with an address has no views; an H200's driver does not look.
    if gpu() == Backend::Simulator {
        let memory = upload(&[0u32; 64]);
        let resource = linear(memory, U32, 256);
        let point = clamped(CUfilter_mode::CU_TR_FILTER_MODE_POINT, 0);
        fails!(1, cuTexObjectCreate(&mut none, &resource, &point, &view));
        ok!(cuMemFree_v2(memory));
    }
    ok!(cuArrayDestroy(array));
}

/// The manual's rules of views of compressed blocks: of words of 32 bits, two or four, and four times as wide and high.
#[test]
fn a_view_of_blocks_is_of_words_and_four_times_as_large() {
    let backend = gpu();
    let blocks = |extents, words, flags| array_of(extents, U32, words, flags);
    let sampling = clamped(LINEAR, 0);
    let mut object = 0;
    let create = |array: CUarray, view: &CUDA_RESOURCE_VIEW_DESC, object: &mut CUtexObject| {
        // SAFETY: all pointers are valid during the call.
        unsafe { cuTexObjectCreate(object, &of_array(array), &sampling, view) }.0
    };
    let view = CUDA_RESOURCE_VIEW_DESC {
        format: CUresourceViewFormat::CU_RES_VIEW_FORMAT_UNSIGNED_BC1,
        width: 32,
        height: 16,
        ..Default::default()
    };
    let small = blocks([8, 4, 0], 2, 0);
    let large = blocks([8, 4, 0], 4, 0);
    for number in 25..=34 {
        let view = CUDA_RESOURCE_VIEW_DESC {
            format: CUresourceViewFormat_enum(number),
            ..view
        };
        let (fits, other) = match number {
            // BC1 and BC4.
            25 | 28 | 29 => (small, large),
            _ => (large, small),
        };
        // The simulator decompresses nothing.
        let expected = if backend == Backend::Simulator {
            801
        } else {
            0
        };
        assert_eq!(
            create(fits, &view, &mut object),
            expected,
            "format {number}"
        );
        if backend == Backend::Cuda {
            ok!(cuTexObjectDestroy(object));
        } else {
            assert_eq!(create(other, &view, &mut object), 1, "format {number}");
        }
    }
    if backend == Backend::Simulator {
        let floats = array_of([8, 4, 0], F32, 2, 0);
        assert_eq!(create(floats, &view, &mut object), 1, "words alone");
        for (width, height) in [(8, 4), (32, 4), (8, 16), (31, 16)] {
            let wrong = CUDA_RESOURCE_VIEW_DESC {
                width,
                height,
                ..view
            };
            assert_eq!(create(small, &wrong, &mut object), 1, "{width} x {height}");
        }
        ok!(cuArrayDestroy(floats));
    }
    ok!(cuArrayDestroy(small));
    ok!(cuArrayDestroy(large));
}

#[test]
fn a_view_has_layers_where_the_array_has() {
    if gpu() != Backend::Simulator {
        return;
    }
    let sampling = clamped(CUfilter_mode::CU_TR_FILTER_MODE_POINT, 0);
    for (extents, flags, first, last, fits) in [
        ([4, 4, 3], CUDA_ARRAY3D_LAYERED, 0, 2, true),
        ([4, 4, 3], CUDA_ARRAY3D_LAYERED, 1, 1, true),
        ([4, 4, 3], CUDA_ARRAY3D_LAYERED, 0, 3, false),
        ([4, 4, 3], CUDA_ARRAY3D_LAYERED, 2, 1, false),
        // Slices of a volume and faces of a cube are no layers.
        ([4, 4, 3], 0, 0, 0, true),
        ([4, 4, 3], 0, 0, 2, false),
        ([4, 4, 6], CUDA_ARRAY3D_CUBEMAP, 0, 0, true),
        ([4, 4, 6], CUDA_ARRAY3D_CUBEMAP, 0, 5, false),
    ] {
        let array = array_of(extents, U32, 1, flags);
        let view = CUDA_RESOURCE_VIEW_DESC {
            format: CUresourceViewFormat::CU_RES_VIEW_FORMAT_FLOAT_1X32,
            width: extents[0],
            height: extents[1],
            depth: extents[2],
            firstLayer: first,
            lastLayer: last,
            ..Default::default()
        };
        let mut object = 0;
        // SAFETY: all pointers are valid during the call.
        let made = unsafe { cuTexObjectCreate(&mut object, &of_array(array), &sampling, &view) };
        let expected = if fits { 0 } else { 1 };
        assert_eq!(made.0, expected, "{extents:?} {flags} {first} {last}");
        if fits {
            ok!(cuTexObjectDestroy(object));
        }
        ok!(cuArrayDestroy(array));
    }
}

#[test]
fn memory_with_an_address_must_be_aligned_for_textures() {
    let _turn = turn();
    gpu();
    let (mut memory, mut pitch) = (0, 0);
    ok!(cuMemAllocPitch_v2(&mut memory, &mut pitch, 260, 16, 4));
    let point = clamped(CUfilter_mode::CU_TR_FILTER_MODE_POINT, 0);
    for resource in [
        linear(memory, F32, 4096),
        linear(memory + 512, U8, 100),
        pitched(memory, [65, 16, pitch]),
        pitched(memory + 512, [8, 2, 32]),
    ] {
        ok!(cuTexObjectDestroy(texture(&resource, &point)));
    }
    let mut none = 0;
    for resource in [
        linear(memory + 4, F32, 256),
        linear(memory + 256, F32, 256),
        pitched(memory + 4, [8, 2, pitch]),
        pitched(memory, [8, 2, 36]),
        pitched(memory, [8, 65_001, pitch]),
    ] {
        fails!(1, cuTexObjectCreate(&mut none, &resource, &point, null()));
    }
    if gpu() == Backend::Simulator {
        // Nothing, more than a texture may have, beyond the memory, and rows that overlap: an H200's driver takes them.
        for resource in [
            linear(memory, F32, 0),
            linear(memory, F32, 5 << 28),
            pitched(memory, [0, 2, pitch]),
        ] {
            fails!(1, cuTexObjectCreate(&mut none, &resource, &point, null()));
        }
        let beyond = linear(memory, F32, 1 << 20);
        fails!(1, cuTexObjectCreate(&mut none, &beyond, &point, null()));
        let narrow = pitched(memory, [65, 2, 256]);
        fails!(1, cuTexObjectCreate(&mut none, &narrow, &point, null()));
    }
    ok!(cuMemFree_v2(memory));
}

/// What a driver leaves undefined, or follows: it takes integers to be filtered, for example, and null handles.
#[test]
fn descriptions_that_mean_nothing_are_refused() {
    let _turn = turn();
    if gpu() == Backend::Cuda {
        return;
    }
    let (bytes, words) = (array([8, 8, 0], U8, 0), array([8, 8, 0], U32, 0));
    let point = clamped(CUfilter_mode::CU_TR_FILTER_MODE_POINT, 0);
    let mut none = 0;
    let resource = of_array(bytes);
    fails!(1, cuTexObjectCreate(null_mut(), &resource, &point, null()));
    fails!(1, cuTexObjectCreate(&mut none, null(), &point, null()));
    fails!(1, cuTexObjectCreate(&mut none, &resource, null(), null()));
    fails!(
        1,
        cuTexObjectCreate(&mut none, &of_array(null_mut()), &point, null())
    );
    let flagged = CUDA_RESOURCE_DESC {
        flags: 1,
        ..resource
    };
    fails!(1, cuTexObjectCreate(&mut none, &flagged, &point, null()));
    let other = CUDA_RESOURCE_DESC {
        resType: CUresourcetype_enum(9),
        ..resource
    };
    fails!(1, cuTexObjectCreate(&mut none, &other, &point, null()));
    for wrong in [
        CUDA_TEXTURE_DESC {
            addressMode: [CLAMP, CUaddress_mode_enum(4), CLAMP],
            ..point
        },
        CUDA_TEXTURE_DESC {
            filterMode: CUfilter_mode_enum(2),
            ..point
        },
        CUDA_TEXTURE_DESC {
            flags: 0x100,
            ..point
        },
        // Integers are not filtered.
        clamped(LINEAR, CU_TRSF_READ_AS_INTEGER),
    ] {
        fails!(1, cuTexObjectCreate(&mut none, &resource, &wrong, null()));
    }
    fails!(
        1,
        cuTexObjectCreate(&mut none, &of_array(words), &clamped(LINEAR, 0), null())
    );
    // Small ones become floats.
    ok!(cuTexObjectDestroy(texture(&resource, &clamped(LINEAR, 0))));
    // A structure of zeros wraps, which without normalised coordinates means to clamp.
    let object = texture(&resource, &CUDA_TEXTURE_DESC::default());
    ok!(cuTexObjectDestroy(object));
    fails!(1, cuTexObjectDestroy(object));
    let mut is = CUDA_TEXTURE_DESC::default();
    fails!(1, cuTexObjectGetTextureDesc(&mut is, object));
    ok!(cuArrayDestroy(bytes));
    ok!(cuArrayDestroy(words));
}

// covers: SURF-03
#[test]
fn surfaces_are_of_arrays_that_were_made_for_them() {
    let _turn = turn();
    gpu();
    let (with, without) = (
        array([64, 32, 0], F32, CUDA_ARRAY3D_SURFACE_LDST),
        array([64, 32, 0], F32, 0),
    );
    let surface: CUsurfObject = get!(cuSurfObjectCreate(&of_array(with)));
    // The same array may have a texture, too.
    let object = texture(&of_array(with), &clamped(LINEAR, 0));
    let is: CUDA_RESOURCE_DESC = get!(cuSurfObjectGetResourceDesc(surface));
    // SAFETY: a surface is of an array.
    assert_eq!(unsafe { is.res.array.hArray }, with);
    ok!(cuTexObjectDestroy(object));
    ok!(cuSurfObjectDestroy(surface));
    let mut none = 0;
    let memory = upload(&[0f32; 64]);
    fails!(1, cuSurfObjectCreate(&mut none, &linear(memory, F32, 256)));
    if gpu() == Backend::Simulator {
        // An H200's driver makes one all the same.
        fails!(1, cuSurfObjectCreate(&mut none, &of_array(without)));
        fails!(1, cuSurfObjectDestroy(surface));
        fails!(1, cuSurfObjectCreate(null_mut(), &of_array(with)));
        fails!(1, cuSurfObjectCreate(&mut none, &of_array(null_mut())));
    }
    ok!(cuMemFree_v2(memory));
    ok!(cuArrayDestroy(with));
    ok!(cuArrayDestroy(without));
}
