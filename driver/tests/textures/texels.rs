//! Texture fetches in kernels: which texel, with which weights, and what is refused. A failure names the first coordinates that differ.

use crate::common::texels::*;
use crate::common::*;
use warpsmith_abi::fault::FaultKind;

#[test]
fn a_point_fetch_of_each_texel_is_the_source() {
    let _turn = turn();
    gpu();
    for (geometry, extents) in [("1d", [17, 0, 0]), ("2d", [9, 5, 0]), ("3d", [5, 4, 3])] {
        let [width, height, depth] = extents.map(|extent: usize| extent.max(1));
        let texels = numbers(width * height * depth);
        let array = filled(extents, F32, 0, &texels);
        let object = texture(array, CLAMP, POINT, 0);
        let at: Vec<_> = (0..texels.len())
            .map(|index| {
                [
                    index % width,
                    index / width % height,
                    index / width / height,
                ]
                .map(|number| number as f32 + 0.25)
            })
            .collect();
        compare(geometry, &at, &fetched(geometry, object, &at), &texels, 0);
        ok!(cuTexObjectDestroy(object));
        ok!(cuArrayDestroy(array));
    }
}

#[test]
fn integers_come_back_whole_or_as_shares() {
    // covers: TEX-04
    let _turn = turn();
    gpu();
    let read = |format, texels: &[u8], flags| {
        let array = filled([4, 0, 0], format, 0, texels);
        let object = texture(array, CLAMP, POINT, flags);
        let at: Vec<_> = (0..4).map(|x| [(x as f32).to_bits(), 0, 0, 0]).collect();
        let body = "tex.1d.v4.u32.f32 {%v0, %v1, %v2, %v3}, [%o, {%c0}];";
        let found = run(body, object, &at);
        ok!(cuTexObjectDestroy(object));
        ok!(cuArrayDestroy(array));
        found.iter().map(|texel| texel[0]).collect::<Vec<_>>()
    };
    let texels = [255, 0, 0x80, 0x81];
    assert_eq!(
        read(U8, &texels, CU_TRSF_READ_AS_INTEGER),
        [255, 0, 128, 129]
    );
    let signed = [-1_i32, 0, -128, -127].map(i32::cast_unsigned);
    assert_eq!(read(I8, &texels, CU_TRSF_READ_AS_INTEGER), signed);
    let shares = |format| {
        read(format, &texels, 0)
            .into_iter()
            .map(f32::from_bits)
            .collect::<Vec<_>>()
    };
    assert_eq!(shares(U8), [1.0, 0.0, 128.0 / 255.0, 129.0 / 255.0]);
    assert_eq!(shares(I8), [-1.0 / 127.0, 0.0, -1.0, -1.0]);
}

#[test]
fn halves_are_filtered_as_floats() {
    // covers: TEX-13
    let _turn = turn();
    gpu();
    let floats = [1.0_f32, 2.5, -4.0, 0.125];
    let halves = [0x3c00_u16, 0x4100, 0xc400, 0x3000];
    let at: Vec<_> = (0..100)
        .map(|step| [step as f32 * 0.05, 0.0, 0.0])
        .collect();
    let (as_halves, as_floats) = (
        filled([4, 0, 0], HALF, 0, &halves),
        filled([4, 0, 0], F32, 0, &floats),
    );
    let of = |array| fetched("1d", texture(array, CLAMP, LINEAR, 0), &at);
    // The sum is rounded to a half, to the one farther from zero where it lies between two.
    let rounded = |sum: f32| f32::from_bits((sum.to_bits() + 0x1000) & !0x1fff);
    let expected: Vec<_> = of(as_floats).into_iter().map(rounded).collect();
    compare("halves", &at, &of(as_halves), &expected, 0);
}

#[test]
fn coordinates_count_texels_or_the_extent() {
    // covers: TEX-05
    let _turn = turn();
    gpu();
    let texels = numbers(64 * 32);
    let array = filled([64, 32, 0], F32, 0, &texels);
    let at: Vec<_> = (0..texels.len())
        .map(|index| [(index % 64) as f32 + 0.5, (index / 64) as f32 + 0.5, 0.0])
        .collect();
    let shares: Vec<_> = at
        .iter()
        .map(|[x, y, _]| [x / 64.0, y / 32.0, 0.0])
        .collect();
    let plain = fetched("2d", texture(array, CLAMP, POINT, 0), &at);
    let normalised = texture(array, CLAMP, POINT, CU_TRSF_NORMALIZED_COORDINATES);
    compare("texels", &at, &plain, &texels, 0);
    compare(
        "normalised",
        &shares,
        &fetched("2d", normalised, &shares),
        &texels,
        0,
    );
}

#[test]
fn outside_are_the_nearest_texel_or_the_border() {
    // covers: TEX-06, TEX-08
    let _turn = turn();
    gpu();
    let texels = numbers(8);
    let array = filled([8, 0, 0], F32, 0, &texels);
    let at: Vec<_> = (-12..=44)
        .map(|quarter| [quarter as f32 * 0.25, 0.0, 0.0])
        .collect();
    let nearest: Vec<_> = at
        .iter()
        .map(|at| texels[(at[0].floor() as i32).clamp(0, 7) as usize])
        .collect();
    let bordered: Vec<_> = at
        .iter()
        .map(|at| match at[0] {
            x if (0.0..8.0).contains(&x) => texels[x as usize],
            _ => 0.0,
        })
        .collect();
    compare(
        "clamp",
        &at,
        &fetched("1d", texture(array, CLAMP, POINT, 0), &at),
        &nearest,
        0,
    );
    compare(
        "border",
        &at,
        &fetched("1d", texture(array, BORDER, POINT, 0), &at),
        &bordered,
        0,
    );
}

#[test]
fn normalised_coordinates_repeat_or_turn_back() {
    // covers: TEX-07
    let _turn = turn();
    gpu();
    let texels = numbers(8);
    let array = filled([8, 0, 0], F32, 0, &texels);
    // Between the texels' bounds, where rounding decides nothing.
    let at: Vec<_> = (-50..=50)
        .map(|step| [step as f32 * 0.05 + 0.003, 0.0, 0.0])
        .collect();
    let model = |mirrors: bool| -> Vec<f32> {
        let texel = |x: f32| {
            let fraction = x - x.floor();
            let within = match mirrors && x.floor() as i32 % 2 != 0 {
                true => 1.0 - fraction,
                false => fraction,
            };
            texels[((within * 8.0) as usize).min(7)]
        };
        at.iter().map(|at| texel(at[0])).collect()
    };
    let of = |mode| {
        fetched(
            "1d",
            texture(array, mode, POINT, CU_TRSF_NORMALIZED_COORDINATES),
            &at,
        )
    };
    compare("wrap", &at, &of(WRAP), &model(false), 0);
    compare("mirror", &at, &of(MIRROR), &model(true), 0);
}

#[test]
fn linear_filtering_has_weights_of_8_bits() {
    // covers: TEX-09
    let _turn = turn();
    gpu();
    const WIDTH: usize = 16;
    const HEIGHT: usize = 8;
    let texels: Vec<f32> = (0..WIDTH * HEIGHT)
        .map(|index| (index * 37 % 101) as f32)
        .collect();
    let array = filled([WIDTH, HEIGHT, 0], F32, 0, &texels);
    let mut state = 12345_u32;
    let mut random = |most: f32| {
        state = state.wrapping_mul(1664525).wrapping_add(1013904223);
        (state >> 8) as f32 / 16777216.0 * most
    };
    let at: Vec<_> = (0..10_000)
        .map(|_| [random(18.0) - 1.0, random(10.0) - 1.0, 0.0])
        .collect();
    // The texel before, and the weight of the one behind.
    let split = |x: f32| {
        let rounded = (f64::from(x) * 256.0).round() / 256.0 - 0.5;
        (rounded.floor() as i32, rounded - rounded.floor())
    };
    let texel = |x: i32, y: i32| {
        let (x, y) = (x.clamp(0, WIDTH as i32 - 1), y.clamp(0, HEIGHT as i32 - 1));
        f64::from(texels[y as usize * WIDTH + x as usize])
    };
    let expected: Vec<_> = at
        .iter()
        .map(|&[x, y, _]| {
            let ((i, a), (j, b)) = (split(x), split(y));
            // The texels behind along y have weights of 8 bits, too: a half is rounded up on the right, and down on the left.
            let right = (a * b * 256.0 + 0.5).floor() / 256.0;
            let left = ((1.0 - a) * b * 256.0 - 0.5).ceil() / 256.0;
            let above = (1.0 - a - left) * texel(i, j) + (a - right) * texel(i + 1, j);
            let below = left * texel(i, j + 1) + right * texel(i + 1, j + 1);
            (above + below) as f32
        })
        .collect();
    let found = fetched("2d", texture(array, CLAMP, LINEAR, 0), &at);
    compare("linear", &at, &found, &expected, 1);
}

#[test]
fn layers_are_not_filtered_into_each_other() {
    // covers: TEX-14
    let _turn = turn();
    gpu();
    let texels: Vec<f32> = (0..3 * 16).map(|index| (index / 16) as f32 + 1.0).collect();
    let array = filled([4, 4, 3], F32, CUDA_ARRAY3D_LAYERED, &texels);
    let line = filled([16, 0, 3], F32, CUDA_ARRAY3D_LAYERED, &texels);
    let at: Vec<_> = (0..3 * 40)
        .map(|index: u32| {
            let x = (index % 40) as f32 * 0.1;
            [index / 40, x.to_bits(), x.to_bits(), 0]
        })
        .collect();
    for (array, body) in [
        (
            array,
            "tex.a2d.v4.f32.f32 {%v0, %v1, %v2, %v3}, [%o, {%c0, %c1, %c2, %c3}];",
        ),
        (
            line,
            "tex.a1d.v4.f32.f32 {%v0, %v1, %v2, %v3}, [%o, {%c0, %c1}];",
        ),
    ] {
        let found = run(body, texture(array, CLAMP, LINEAR, 0), &at);
        for (at, texel) in at.iter().zip(&found) {
            assert_eq!(
                f32::from_bits(texel[0]),
                at[0] as f32 + 1.0,
                "{body} {at:?}"
            );
        }
    }
}

#[test]
fn linear_and_pitched_memory_is_fetched() {
    let _turn = turn();
    gpu();
    let texels = numbers(512);
    let memory = upload(&texels);
    let mut linear = CUDA_RESOURCE_DESC {
        resType: CUresourcetype::CU_RESOURCE_TYPE_LINEAR,
        ..Default::default()
    };
    linear.res.linear = CUDA_RESOURCE_DESC_st__bindgen_ty_1__bindgen_ty_3 {
        devPtr: memory,
        format: F32,
        numChannels: 1,
        sizeInBytes: 2048,
    };
    let at: Vec<_> = (0..512).map(|x: u32| [x, 0, 0, 0]).collect();
    let body = "tex.1d.v4.f32.s32 {%v0, %v1, %v2, %v3}, [%o, {%c0}];";
    let found = run(body, texture_of(&linear, CLAMP, POINT, 0), &at);
    for (found, expected) in found.iter().zip(&texels) {
        assert_eq!(f32::from_bits(found[0]), *expected);
    }
    let mut pitched = CUDA_RESOURCE_DESC {
        resType: CUresourcetype::CU_RESOURCE_TYPE_PITCH2D,
        ..Default::default()
    };
    pitched.res.pitch2D = CUDA_RESOURCE_DESC_st__bindgen_ty_1__bindgen_ty_4 {
        devPtr: memory,
        format: F32,
        numChannels: 1,
        width: 100,
        height: 4,
        pitchInBytes: 512,
    };
    let at: Vec<_> = (0..400)
        .map(|i| [(i % 100) as f32, (i / 100) as f32, 0.0])
        .collect();
    let expected: Vec<_> = (0..400).map(|i| texels[i / 100 * 128 + i % 100]).collect();
    let found = fetched("2d", texture_of(&pitched, CLAMP, POINT, 0), &at);
    compare("pitched", &at, &found, &expected, 0);
}

/// What only the simulator finds: on a device these are undefined.
#[test]
fn what_a_fetch_must_not_read_is_found() {
    // covers: SURF-08, SURF-09
    let _turn = turn();
    if gpu() == Backend::Cuda {
        return;
    }
    let fetch = "tex.1d.v4.u32.s32 {%v0, %v1, %v2, %v3}, [%o, {%c0}];";
    let store_and_load = "
        sust.b.1d.b32.trap [%o, {%c0}], %c1;
        bar.sync 0;
        suld.b.1d.b32.trap %v0, [%o, {%c0}];";
    let flags = CUDA_ARRAY3D_SURFACE_LDST;
    let fresh = || array_of([8, 0, 0], U32, 1, flags);
    let check = |make: &dyn Fn() -> u64, body: &str, code, kind| {
        let context: CUcontext = get!(cuCtxCreate_v2(0, 0));
        let object = make();
        let (result, _) = launch(body, object, &[[0; 4]]);
        expect_fault(Backend::Simulator, context, result, code, kind);
    };
    let new = || texture(fresh(), CLAMP, POINT, CU_TRSF_READ_AS_INTEGER);
    check(&new, fetch, 719, FaultKind::Uninitialised);
    check(&|| surface(fresh()), store_and_load, 719, FaultKind::Race);
    let destroyed = || {
        let object = new();
        ok!(cuTexObjectDestroy(object));
        object
    };
    check(&destroyed, fetch, 700, FaultKind::UseAfterFree);
    let of_destroyed = || {
        let array = fresh();
        let object = texture(array, CLAMP, POINT, CU_TRSF_READ_AS_INTEGER);
        ok!(cuArrayDestroy(array));
        object
    };
    check(&of_destroyed, fetch, 700, FaultKind::UseAfterFree);
}

#[test]
fn what_one_launch_writes_the_next_reads() {
    // covers: SURF-08
    let _turn = turn();
    gpu();
    let array = array_of([8, 0, 0], U32, 1, CUDA_ARRAY3D_SURFACE_LDST);
    let at = [[4, 9, 0, 0]];
    run("sust.b.1d.b32.trap [%o, {%c0}], %c1;", surface(array), &at);
    let found = run("suld.b.1d.b32.trap %v0, [%o, {%c0}];", surface(array), &at);
    assert_eq!(found[0][0], 9);
    let object = texture(array, CLAMP, POINT, CU_TRSF_READ_AS_INTEGER);
    let fetch = "tex.1d.v4.u32.f32 {%v0, %v1, %v2, %v3}, [%o, {%c0}];";
    assert_eq!(run(fetch, object, &[[1.5_f32.to_bits(), 0, 0, 0]])[0][0], 9);
}

/// The four texels of a plane of 4 x 4 that the guide's examples have, and others around them.
fn gatherable() -> CUarray {
    let texels: Vec<[u8; 4]> = (0..16)
        .map(|index: u8| [index, 100 + index, 200 - index, 255])
        .collect();
    let array = array_of([4, 4, 0], U8, 4, CUDA_ARRAY3D_TEXTURE_GATHER);
    fill(array, [4, 4, 0], &texels);
    array
}

fn gathered(component: &str, object: CUtexObject, [x, y]: [f32; 2]) -> [u32; 4] {
    let body =
        format!("tld4.{component}.2d.v4.u32.f32 {{%v0, %v1, %v2, %v3}}, [%o, {{%c0, %c1}}];");
    run(&body, object, &[[x.to_bits(), y.to_bits(), 0, 0]])[0]
}

#[test]
fn a_component_of_four_texels_is_gathered() {
    // covers: TEX-17
    let _turn = turn();
    gpu();
    let array = gatherable();
    let object = texture(array, CLAMP, POINT, CU_TRSF_READ_AS_INTEGER);
    // Texel (x, y) is x + 4 y; from below on the left, counterclockwise.
    for (component, expected) in [
        ("r", [9, 10, 6, 5]),
        ("g", [109, 110, 106, 105]),
        ("b", [191, 190, 194, 195]),
        ("a", [255; 4]),
    ] {
        assert_eq!(gathered(component, object, [2.0, 2.0]), expected);
    }
    // The fraction is rounded to 8 bits before the texels are chosen.
    assert_eq!(gathered("r", object, [2.49805, 2.0]), [10, 11, 7, 6]);
    assert_eq!(gathered("r", object, [2.496, 2.0]), [9, 10, 6, 5]);
    // Outside are the nearest ones.
    assert_eq!(gathered("r", object, [0.0, 0.0]), [0; 4]);
    assert_eq!(gathered("r", object, [4.0, 4.0]), [15; 4]);
    let floats = texture(array, CLAMP, LINEAR, 0);
    let found = gathered("a", floats, [2.0, 2.0]);
    assert_eq!(found, [1.0_f32.to_bits(); 4]);
    ok!(cuArrayDestroy(array));
}

#[test]
fn other_arrays_are_not_gathered() {
    // covers: TEX-17
    let _turn = turn();
    if gpu() == Backend::Cuda {
        return;
    }
    let context: CUcontext = get!(cuCtxCreate_v2(0, 0));
    let array = filled([4, 4, 0], U32, 0, &[1_u32; 16]);
    let object = texture(array, CLAMP, POINT, CU_TRSF_READ_AS_INTEGER);
    let body = "tld4.r.2d.v4.u32.f32 {%v0, %v1, %v2, %v3}, [%o, {%c0, %c1}];";
    let (result, _) = launch(body, object, &[[0; 4]]);
    let kind = FaultKind::IllegalInstruction;
    expect_fault(Backend::Simulator, context, result, 715, kind);
}

#[test]
fn colours_become_linear_light() {
    // covers: TEX-12
    let _turn = turn();
    gpu();
    let texels: Vec<[u8; 4]> = (0..=255)
        .map(|value| [value, 255 - value, 10, value])
        .collect();
    let array = array_of([256, 0, 0], U8, 4, 0);
    fill(array, [256, 0, 0], &texels);
    let object = texture(array, CLAMP, POINT, CU_TRSF_SRGB);
    let at: Vec<_> = (0..256)
        .map(|x| [(x as f32 + 0.5).to_bits(), 0, 0, 0])
        .collect();
    let body = "tex.1d.v4.f32.f32 {%v0, %v1, %v2, %v3}, [%o, {%c0}];";
    let linear = |value: u8| match f64::from(value) / 255.0 {
        low if low <= 0.04045 => low / 12.92,
        high => ((high + 0.055) / 1.055).powf(2.4),
    };
    for (texel, found) in texels.iter().zip(run(body, object, &at)) {
        let found = found.map(f32::from_bits);
        for component in 0..3 {
            let expected = linear(texel[component]);
            // A device has a table of 8 bits (H200).
            let differs = (f64::from(found[component]) - expected).abs();
            assert!(
                differs < 1.0 / 256.0,
                "{texel:?}: {found:?}, not {expected}"
            );
        }
        let last = f64::from(found[3]) - f64::from(texel[3]) / 255.0;
        assert!(last.abs() < 1e-6, "the fourth is no colour: {found:?}");
    }
    ok!(cuArrayDestroy(array));
}
