//! Mipmapped arrays: their levels, and which of them a fetch reads.

use crate::common::texels::*;
use crate::common::*;
use warpsmith_abi::fault::FaultKind;

const NORMALISED: u32 = CU_TRSF_NORMALIZED_COORDINATES;

fn described(extents: [usize; 3], flags: u32) -> CUDA_ARRAY3D_DESCRIPTOR {
    CUDA_ARRAY3D_DESCRIPTOR {
        Width: extents[0],
        Height: extents[1],
        Depth: extents[2],
        Format: F32,
        NumChannels: 1,
        Flags: flags,
    }
}

fn mipmapped(extents: [usize; 3], flags: u32, levels: u32) -> CUmipmappedArray {
    get!(cuMipmappedArrayCreate(&described(extents, flags), levels))
}

fn level(array: CUmipmappedArray, level: u32) -> CUarray {
    get!(cuMipmappedArrayGetLevel(array, level))
}

fn extents_of(array: CUarray) -> [usize; 3] {
    let is: CUDA_ARRAY3D_DESCRIPTOR = get!(cuArray3DGetDescriptor_v2(array));
    [is.Width, is.Height, is.Depth]
}

/// A mipmapped array of which each texel is its level's number, of lines of the layer's number times 10.
fn numbered(extents: [usize; 3], flags: u32, levels: u32) -> CUmipmappedArray {
    let whole = mipmapped(extents, flags, levels);
    for number in 0..levels {
        let array = level(whole, number);
        let extents = extents_of(array);
        let [width, height, depth] = extents.map(|extent| extent.max(1));
        let layered = flags & CUDA_ARRAY3D_LAYERED != 0;
        let texels: Vec<f32> = (0..width * height * depth)
            .map(|index| {
                let layer = if layered { index / (width * height) } else { 0 };
                number as f32 + 10.0 * layer as f32
            })
            .collect();
        fill(array, extents, &texels);
    }
    whole
}

fn resource_of(array: CUmipmappedArray) -> CUDA_RESOURCE_DESC {
    let mut resource = CUDA_RESOURCE_DESC {
        resType: CUresourcetype::CU_RESOURCE_TYPE_MIPMAPPED_ARRAY,
        ..Default::default()
    };
    resource.res.mipmap.hMipmappedArray = array;
    resource
}

/// A texture that reads all levels.
fn sampled(filter: CUfilter_mode) -> CUDA_TEXTURE_DESC {
    CUDA_TEXTURE_DESC {
        addressMode: [CLAMP; 3],
        filterMode: POINT,
        mipmapFilterMode: filter,
        // Weights as the description has them, without a driver's shortcuts.
        flags: NORMALISED | CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION,
        maxMipmapLevelClamp: 15.0,
        ..Default::default()
    }
}

fn object(array: CUmipmappedArray, sampling: &CUDA_TEXTURE_DESC) -> CUtexObject {
    get!(cuTexObjectCreate(&resource_of(array), sampling, null()))
}

/// Fetches in the middle at these levels of detail.
fn at_levels(object: CUtexObject, details: &[f32]) -> Vec<f32> {
    let at: Vec<_> = details
        .iter()
        .map(|&detail| [0.5_f32.to_bits(), 0.5_f32.to_bits(), detail.to_bits(), 0])
        .collect();
    let body = "tex.level.2d.v4.f32.f32 {%v0, %v1, %v2, %v3}, [%o, {%c0, %c1}], %c2;";
    let found = run(body, object, &at);
    found.iter().map(|texel| f32::from_bits(texel[0])).collect()
}

// covers: TEX-12
#[test]
fn each_level_is_half_as_long() {
    let _turn = turn();
    gpu();
    for (extents, flags, levels, expected) in [
        (
            [8, 5, 0],
            0,
            9,
            vec![[8, 5, 0], [4, 2, 0], [2, 1, 0], [1, 1, 0]],
        ),
        ([9, 0, 0], 0, 3, vec![[9, 0, 0], [4, 0, 0], [2, 0, 0]]),
        (
            [4, 2, 8],
            0,
            4,
            vec![[4, 2, 8], [2, 1, 4], [1, 1, 2], [1, 1, 1]],
        ),
        (
            [4, 4, 5],
            CUDA_ARRAY3D_LAYERED,
            3,
            vec![[4, 4, 5], [2, 2, 5], [1, 1, 5]],
        ),
        (
            [2, 2, 6],
            CUDA_ARRAY3D_CUBEMAP,
            2,
            vec![[2, 2, 6], [1, 1, 6]],
        ),
    ] {
        let whole = mipmapped(extents, flags, levels);
        for (number, &expected) in expected.iter().enumerate() {
            let array = level(whole, number as u32);
            assert_eq!(extents_of(array), expected, "level {number} of {extents:?}");
        }
        let mut none = null_mut();
        fails!(
            1,
            cuMipmappedArrayGetLevel(&mut none, whole, expected.len() as u32)
        );
        ok!(cuMipmappedArrayDestroy(whole));
    }
}

// covers: TEX-12
#[test]
fn levels_keep_what_is_copied_to_them() {
    let _turn = turn();
    gpu();
    let whole = mipmapped([8, 4, 0], CUDA_ARRAY3D_SURFACE_LDST, 3);
    for number in 0..3 {
        let array = level(whole, number);
        let texels = numbers(32 >> (2 * number));
        fill(array, extents_of(array), &texels);
        // A level is a texture and a surface by itself.
        let (width, height) = (8 >> number, 4 >> number);
        let at: Vec<[f32; 3]> = (0..texels.len())
            .map(|index| {
                [
                    (index % width) as f32 + 0.5,
                    (index / width) as f32 + 0.5,
                    0.0,
                ]
            })
            .collect();
        assert_eq!(texels.len(), width * height);
        let found = fetched("2d", texture(array, CLAMP, POINT, 0), &at);
        compare("level", &at, &found, &texels, 0);
        let bits = run(
            "suld.b.2d.b32.trap %v0, [%o, {4, 0}];",
            surface(array),
            &[[0; 4]],
        );
        if width > 1 {
            assert_eq!(bits[0][0], texels[1].to_bits());
        }
    }
    ok!(cuMipmappedArrayDestroy(whole));
}

// covers: TEX-12
#[test]
fn a_level_of_detail_picks_the_nearest_level() {
    let _turn = turn();
    gpu();
    let whole = numbered([16, 16, 0], 0, 5);
    let details = [-3.0, 0.0, 0.4, 0.6, 1.0, 1.75, 2.25, 3.0, 4.0, 9.0];
    let nearest = [0.0, 0.0, 0.0, 1.0, 1.0, 2.0, 2.0, 3.0, 4.0, 4.0];
    let of = |sampling: &CUDA_TEXTURE_DESC| at_levels(object(whole, sampling), &details);
    assert_eq!(of(&sampled(POINT)), nearest);
    // Between the bounds of the description.
    let bounded = CUDA_TEXTURE_DESC {
        minMipmapLevelClamp: 1.0,
        maxMipmapLevelClamp: 3.0,
        ..sampled(POINT)
    };
    assert_eq!(
        of(&bounded),
        nearest.map(|level: f32| level.clamp(1.0, 3.0))
    );
    // A description of zeros reads the first level alone.
    let zeros = CUDA_TEXTURE_DESC {
        maxMipmapLevelClamp: 0.0,
        ..sampled(POINT)
    };
    assert_eq!(of(&zeros), [0.0; 10]);
    // A fetch without a word of it reads the first level.
    let at = [[0.5_f32.to_bits(), 0.5_f32.to_bits(), 0, 0]];
    for mode in ["", ".base"] {
        let body = format!("tex{mode}.2d.v4.f32.f32 {{%v0, %v1, %v2, %v3}}, [%o, {{%c0, %c1}}];");
        let found = run(&body, object(whole, &sampled(POINT)), &at);
        assert_eq!(f32::from_bits(found[0][0]), 0.0);
    }
    ok!(cuMipmappedArrayDestroy(whole));
}

// covers: TEX-12
#[test]
fn two_levels_are_weighed() {
    let _turn = turn();
    gpu();
    let whole = numbered([16, 16, 0], 0, 5);
    let details: Vec<f32> = (0..64).map(|step| step as f32 / 16.0).collect();
    let found = at_levels(object(whole, &sampled(LINEAR)), &details);
    for (detail, found) in details.iter().zip(found) {
        // Each texel is its level's number, and the weights have at least 8 bits.
        assert!((found - detail).abs() <= 1.0 / 256.0, "{detail}: {found}");
    }
    let biased = CUDA_TEXTURE_DESC {
        mipmapLevelBias: 1.5,
        ..sampled(LINEAR)
    };
    let found = at_levels(object(whole, &biased), &[0.5, 1.0]);
    // That it is added to a level that was asked for, too, is what graphics interfaces have; the manual leaves it open.
    if gpu() == Backend::Simulator {
        assert_eq!(found, [2.0, 2.5]);
    }
    ok!(cuMipmappedArrayDestroy(whole));
}

// covers: TEX-12
#[test]
fn levels_of_every_geometry_are_fetched() {
    let _turn = turn();
    gpu();
    for (geometry, extents, flags, coordinates, expected) in [
        ("1d", [16, 0, 0], 0, "%c1", 2.0),
        ("2d", [16, 16, 0], 0, "%c1, %c1", 2.0),
        ("3d", [16, 16, 16], 0, "%c1, %c1, %c1, %c1", 2.0),
        ("a1d", [16, 0, 3], CUDA_ARRAY3D_LAYERED, "%c0, %c1", 12.0),
        (
            "a2d",
            [16, 16, 3],
            CUDA_ARRAY3D_LAYERED,
            "%c0, %c1, %c1, %c1",
            12.0,
        ),
        (
            "cube",
            [16, 16, 6],
            CUDA_ARRAY3D_CUBEMAP,
            "%c1, %c1, %c1, %c1",
            2.0,
        ),
        // Faces are layers.
        (
            "acube",
            [16, 16, 12],
            CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED,
            "%c0, %c1, %c2, %c2",
            62.0,
        ),
    ] {
        let whole = numbered(extents, flags, 4);
        let object = object(whole, &sampled(POINT));
        let at = [[1, 0.5_f32.to_bits(), 0.25_f32.to_bits(), 2.0_f32.to_bits()]];
        let body = format!(
            "tex.level.{geometry}.v4.f32.f32 {{%v0, %v1, %v2, %v3}}, [%o, {{{coordinates}}}], %c3;"
        );
        let found = run(&body, object, &at);
        assert_eq!(f32::from_bits(found[0][0]), expected, "{geometry}");
        ok!(cuTexObjectDestroy(object));
        ok!(cuMipmappedArrayDestroy(whole));
    }
}

// covers: TEX-12
#[test]
fn gradients_along_an_axis_pick_the_level_whose_texels_they_span() {
    let _turn = turn();
    gpu();
    for (geometry, extents, flags, coordinates, gradient, expected) in [
        ("1d", [16, 0, 0], 0, "%c1", "{%c2}, {%c3}", 2.0),
        (
            "2d",
            [16, 16, 0],
            0,
            "%c1, %c1",
            "{%c2, %c3}, {%c3, %c3}",
            2.0,
        ),
        (
            "2d",
            [16, 16, 0],
            0,
            "%c1, %c1",
            "{%c3, %c3}, {%c3, %c2}",
            2.0,
        ),
        (
            "3d",
            [16, 16, 16],
            0,
            "%c1, %c1, %c1, %c1",
            "{%c3, %c3, %c2, %c3}, {%c3, %c3, %c3, %c3}",
            2.0,
        ),
        (
            "a1d",
            [16, 0, 3],
            CUDA_ARRAY3D_LAYERED,
            "%c0, %c1",
            "{%c2}, {%c3}",
            12.0,
        ),
        (
            "a2d",
            [16, 16, 3],
            CUDA_ARRAY3D_LAYERED,
            "%c0, %c1, %c1, %c1",
            "{%c2, %c3}, {%c3, %c3}",
            12.0,
        ),
    ] {
        let whole = numbered(extents, flags, 5);
        // Four of 16 texels, and none.
        let at = [[1, 0.5_f32.to_bits(), 0.25_f32.to_bits(), 0]];
        let body = format!(
            "tex.grad.{geometry}.v4.f32.f32 {{%v0, %v1, %v2, %v3}}, [%o, {{{coordinates}}}], {gradient};"
        );
        let found = run(&body, object(whole, &sampled(POINT)), &at);
        assert_eq!(
            f32::from_bits(found[0][0]),
            expected,
            "{geometry} {gradient}"
        );
        ok!(cuMipmappedArrayDestroy(whole));
    }
}

#[test]
fn a_view_shows_some_levels() {
    let _turn = turn();
    let backend = gpu();
    let whole = numbered([16, 8, 0], 0, 4);
    let view = CUDA_RESOURCE_VIEW_DESC {
        width: 16,
        height: 8,
        format: CUresourceViewFormat::CU_RES_VIEW_FORMAT_FLOAT_1X32,
        firstMipmapLevel: 1,
        lastMipmapLevel: 2,
        ..Default::default()
    };
    let (resource, sampling) = (resource_of(whole), sampled(POINT));
    let mut none = 0;
    for wrong in [
        CUDA_RESOURCE_VIEW_DESC {
            format: CUresourceViewFormat::CU_RES_VIEW_FORMAT_NONE,
            ..view
        },
        // The extents are the array's, whatever the first level is.
        CUDA_RESOURCE_VIEW_DESC {
            width: 8,
            height: 4,
            ..view
        },
    ] {
        fails!(
            1,
            cuTexObjectCreate(&mut none, &resource, &sampling, &wrong)
        );
    }
    let object: CUtexObject = get!(cuTexObjectCreate(&resource, &sampling, &view));
    assert_eq!(at_levels(object, &[0.0, 1.0, 2.0]), [1.0, 2.0, 2.0]);
    if backend == Backend::Simulator {
        for (first, last) in [(2, 1), (0, 4)] {
            let wrong = CUDA_RESOURCE_VIEW_DESC {
                firstMipmapLevel: first,
                lastMipmapLevel: last,
                ..view
            };
            fails!(
                1,
                cuTexObjectCreate(&mut none, &resource, &sampling, &wrong)
            );
        }
    }
    ok!(cuMipmappedArrayDestroy(whole));
}

#[test]
fn a_texture_says_how_long_its_levels_are() {
    let _turn = turn();
    gpu();
    let whole = numbered([16, 8, 0], 0, 3);
    let object = object(whole, &sampled(POINT));
    let body = "
        txq.height.b32 %v0, [%o];
        txq.width.b32 %v1, [%o];
        txq.level.width.b32 %v2, [%o], 2;
        txq.level.height.b32 %v3, [%o], 1;";
    assert_eq!(run(body, object, &[[0; 4]])[0], [8, 16, 4, 4]);
    ok!(cuMipmappedArrayDestroy(whole));
}

#[test]
fn what_no_mipmapped_array_is_is_refused() {
    let _turn = turn();
    let backend = gpu();
    let mut none = null_mut();
    for wrong in [
        described([0, 0, 0], 0),
        described([4, 0, 4], 0),
        described([4, 5, 6], CUDA_ARRAY3D_CUBEMAP),
    ] {
        fails!(1, cuMipmappedArrayCreate(&mut none, &wrong, 1));
    }
    if backend == Backend::Cuda {
        return;
    }
    // What a driver follows, or leaves undefined.
    fails!(1, cuMipmappedArrayCreate(&mut none, null(), 1));
    fails!(
        1,
        cuMipmappedArrayCreate(null_mut(), &described([4, 0, 0], 0), 1)
    );
    fails!(
        801,
        cuMipmappedArrayCreate(&mut none, &described([4, 0, 0], 0x40), 1)
    );
    let wide = described([32_769, 0, 0], 0);
    fails!(1, cuMipmappedArrayCreate(&mut none, &wide, 1));
    let whole = mipmapped([4, 4, 0], 0, 0);
    let array = level(whole, 0);
    fails!(400, cuArrayDestroy(array));
    let mut sparse = CUDA_ARRAY_SPARSE_PROPERTIES::default();
    fails!(1, cuArrayGetSparseProperties(&mut sparse, array));
    fails!(1, cuMipmappedArrayGetSparseProperties(&mut sparse, whole));
    let mut needed = CUDA_ARRAY_MEMORY_REQUIREMENTS::default();
    fails!(1, cuArrayGetMemoryRequirements(&mut needed, array, 0));
    // Levels differ in their extents, so that texels are no measure.
    let mut object = 0;
    let in_texels = CUDA_TEXTURE_DESC {
        flags: 0,
        ..sampled(POINT)
    };
    let resource = resource_of(whole);
    fails!(
        1,
        cuTexObjectCreate(&mut object, &resource, &in_texels, null())
    );
    ok!(cuMipmappedArrayDestroy(whole));
    fails!(400, cuMipmappedArrayDestroy(whole));
    let mut gone = null_mut();
    fails!(400, cuMipmappedArrayGetLevel(&mut gone, whole, 0));
    fails!(
        1,
        cuTexObjectCreate(&mut object, &resource, &sampled(POINT), null())
    );
    let mut is = CUDA_ARRAY3D_DESCRIPTOR::default();
    fails!(400, cuArray3DGetDescriptor_v2(&mut is, array));
}

#[test]
fn a_fetch_from_a_destroyed_mipmapped_array_is_found() {
    let _turn = turn();
    if gpu() == Backend::Cuda {
        return;
    }
    let context: CUcontext = get!(cuCtxCreate_v2(0, 0));
    let whole = numbered([4, 4, 0], 0, 2);
    let object = object(whole, &sampled(POINT));
    ok!(cuMipmappedArrayDestroy(whole));
    let body = "tex.level.2d.v4.f32.f32 {%v0, %v1, %v2, %v3}, [%o, {%c0, %c1}], %c2;";
    let (result, _) = launch(body, object, &[[0; 4]]);
    expect_fault(
        Backend::Simulator,
        context,
        result,
        700,
        FaultKind::UseAfterFree,
    );
}
