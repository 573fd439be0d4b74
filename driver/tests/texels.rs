//! Texture fetches and surface accesses in kernels: which texel, with which weights, and what is refused. A failure names the first
//! coordinates that differ.

mod common;
use common::*;

use std::ffi::CString;
use warpsmith_abi::fault::FaultKind;
use warpsmith_driver::fault;
use warpsmith_testkit::{Side, own_process};

const U8: CUarray_format = CUarray_format::CU_AD_FORMAT_UNSIGNED_INT8;
const I8: CUarray_format = CUarray_format::CU_AD_FORMAT_SIGNED_INT8;
const U32: CUarray_format = CUarray_format::CU_AD_FORMAT_UNSIGNED_INT32;
const HALF: CUarray_format = CUarray_format::CU_AD_FORMAT_HALF;
const F32: CUarray_format = CUarray_format::CU_AD_FORMAT_FLOAT;
const CLAMP: CUaddress_mode = CUaddress_mode::CU_TR_ADDRESS_MODE_CLAMP;
const BORDER: CUaddress_mode = CUaddress_mode::CU_TR_ADDRESS_MODE_BORDER;
const WRAP: CUaddress_mode = CUaddress_mode::CU_TR_ADDRESS_MODE_WRAP;
const MIRROR: CUaddress_mode = CUaddress_mode::CU_TR_ADDRESS_MODE_MIRROR;
const POINT: CUfilter_mode = CUfilter_mode::CU_TR_FILTER_MODE_POINT;
const LINEAR: CUfilter_mode = CUfilter_mode::CU_TR_FILTER_MODE_LINEAR;

/// A kernel whose threads each load `%c0..%c3`, execute the body, and store `%v0..%v3`; `%o` is the object.
fn source(body: &str) -> CString {
    let text = format!(
        "
.version 8.0
.target sm_90
.address_size 64
.visible .entry go(.param .u64 object, .param .u64 at, .param .u64 out, .param .u32 count)
{{
    .reg .pred %p; .reg .b32 %c<4>, %v<4>, %i<5>; .reg .b64 %o, %a<3>;
    mov.u32 %i0, %ctaid.x; mov.u32 %i1, %ntid.x; mov.u32 %i2, %tid.x;
    mad.lo.u32 %i3, %i0, %i1, %i2;
    ld.param.u32 %i4, [count];
    setp.ge.u32 %p, %i3, %i4;
    @%p ret;
    ld.param.u64 %o, [object]; ld.param.u64 %a0, [at]; ld.param.u64 %a1, [out];
    mul.wide.u32 %a2, %i3, 16;
    add.u64 %a0, %a0, %a2; add.u64 %a1, %a1, %a2;
    ld.global.v4.b32 {{%c0, %c1, %c2, %c3}}, [%a0];
    mov.b32 %v0, 0; mov.b32 %v1, 0; mov.b32 %v2, 0; mov.b32 %v3, 0;
    {body}
    st.global.v4.b32 [%a1], {{%v0, %v1, %v2, %v3}};
    ret;
}}
"
    );
    CString::new(text).expect("no zero in it")
}

/// Launches the kernel with this body on each of the coordinates and gives what the launch's end answers.
fn launch(body: &str, object: u64, at: &[[u32; 4]]) -> (CUresult, CUdeviceptr) {
    let source = source(body);
    let module: CUmodule = get!(cuModuleLoadData(source.as_ptr().cast()));
    let function: CUfunction = get!(cuModuleGetFunction(module, c"go".as_ptr()));
    let (mut object, mut input, mut count) = (object, upload(at), at.len() as u32);
    let mut output = upload(&vec![[0_u32; 4]; at.len()]);
    let mut parameters: [*mut c_void; 4] = [
        (&raw mut object).cast(),
        (&raw mut input).cast(),
        (&raw mut output).cast(),
        (&raw mut count).cast(),
    ];
    let blocks = count.div_ceil(128);
    ok!(cuLaunchKernel(
        function,
        blocks,
        1,
        1,
        128,
        1,
        1,
        0,
        null_mut(),
        parameters.as_mut_ptr(),
        null_mut()
    ));
    // SAFETY: it takes nothing.
    (unsafe { cuCtxSynchronize() }, output)
}

fn run(body: &str, object: u64, at: &[[u32; 4]]) -> Vec<[u32; 4]> {
    let (result, output) = launch(body, object, at);
    assert_eq!(result.0, 0, "{body}");
    download(output, at.len())
}

/// Fetches floats at these coordinates, the first component of each.
fn fetched(geometry: &str, object: CUtexObject, at: &[[f32; 3]]) -> Vec<f32> {
    let coordinates = match geometry {
        "1d" => "%c0",
        "2d" => "%c0, %c1",
        _ => "%c0, %c1, %c2, %c2",
    };
    let body =
        format!("tex.{geometry}.v4.f32.f32 {{%v0, %v1, %v2, %v3}}, [%o, {{{coordinates}}}];");
    let bits: Vec<_> = at
        .iter()
        .map(|&[x, y, z]| [x, y, z, 0.0].map(f32::to_bits))
        .collect();
    let texels = run(&body, object, &bits);
    texels
        .iter()
        .map(|texel| f32::from_bits(texel[0]))
        .collect()
}

fn array_of(extents: [usize; 3], format: CUarray_format, components: u32, flags: u32) -> CUarray {
    let descriptor = CUDA_ARRAY3D_DESCRIPTOR {
        Width: extents[0],
        Height: extents[1],
        Depth: extents[2],
        Format: format,
        NumChannels: components,
        Flags: flags,
    };
    get!(cuArray3DCreate_v2(&descriptor))
}

fn fill<T: Copy>(array: CUarray, extents: [usize; 3], texels: &[T]) {
    let [width, height, depth] = extents.map(|extent| extent.max(1));
    assert_eq!(texels.len(), width * height * depth);
    let copy = CUDA_MEMCPY3D {
        srcMemoryType: CUmemorytype::CU_MEMORYTYPE_HOST,
        srcHost: texels.as_ptr().cast(),
        srcPitch: width * size_of::<T>(),
        srcHeight: height,
        dstMemoryType: CUmemorytype::CU_MEMORYTYPE_ARRAY,
        dstArray: array,
        WidthInBytes: width * size_of::<T>(),
        Height: height,
        Depth: depth,
        ..Default::default()
    };
    ok!(cuMemcpy3D_v2(&copy));
}

fn filled<T: Copy>(
    extents: [usize; 3],
    format: CUarray_format,
    flags: u32,
    texels: &[T],
) -> CUarray {
    let array = array_of(extents, format, 1, flags);
    fill(array, extents, texels);
    array
}

fn resource(array: CUarray) -> CUDA_RESOURCE_DESC {
    let mut resource = CUDA_RESOURCE_DESC {
        resType: CUresourcetype::CU_RESOURCE_TYPE_ARRAY,
        ..Default::default()
    };
    resource.res.array.hArray = array;
    resource
}

fn texture(array: CUarray, mode: CUaddress_mode, filter: CUfilter_mode, flags: u32) -> CUtexObject {
    texture_of(&resource(array), mode, filter, flags)
}

fn texture_of(
    resource: &CUDA_RESOURCE_DESC,
    mode: CUaddress_mode,
    filter: CUfilter_mode,
    flags: u32,
) -> CUtexObject {
    let sampling = CUDA_TEXTURE_DESC {
        addressMode: [mode; 3],
        filterMode: filter,
        flags,
        ..Default::default()
    };
    get!(cuTexObjectCreate(resource, &sampling, null()))
}

fn surface(array: CUarray) -> CUsurfObject {
    get!(cuSurfObjectCreate(&resource(array)))
}

fn numbers(count: usize) -> Vec<f32> {
    (0..count).map(|number| number as f32 + 1.0).collect()
}

/// Compares what was fetched, to this many units in the last place, and names the first coordinates that differ.
fn compare(what: &str, at: &[[f32; 3]], found: &[f32], expected: &[f32], ulps: u32) {
    let differs = |a: f32, b: f32| a.to_bits().abs_diff(b.to_bits()) > ulps && a != b;
    let wrong: Vec<_> = (0..at.len())
        .filter(|&index| differs(found[index], expected[index]))
        .collect();
    if let Some(&first) = wrong.first() {
        panic!(
            "{what}: {} of {} differ, first at {:?}: fetched {:?} ({:#x}), expected {:?} ({:#x})",
            wrong.len(),
            at.len(),
            at[first],
            found[first],
            found[first].to_bits(),
            expected[first],
            expected[first].to_bits()
        );
    }
}

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

#[test]
fn outside_a_surface_are_nothing_or_the_nearest_texel() {
    // covers: SURF-05
    let _turn = turn();
    gpu();
    let texels: Vec<u32> = (1..=8).collect();
    let array = filled([8, 0, 0], U32, CUDA_ARRAY3D_SURFACE_LDST, &texels);
    let at: Vec<[u32; 4]> = [-4_i32, 0, 28, 32]
        .map(|x| [x.cast_unsigned(), 0, 0, 0])
        .to_vec();
    let read = |mode: &str| -> Vec<u32> {
        let body = format!("suld.b.1d.b32.{mode} %v0, [%o, {{%c0}}];");
        let found = run(&body, surface(array), &at);
        found.iter().map(|texel| texel[0]).collect()
    };
    assert_eq!(read("clamp"), [1, 1, 8, 8]);
    assert_eq!(read("zero"), [0, 1, 8, 0]);
    // A write outside is dropped.
    let body = "mov.b32 %v1, 77; sust.b.1d.b32.zero [%o, {%c0}], %v1;";
    run(body, surface(array), &at[..1]);
    run(body, surface(array), &at[3..]);
    assert_eq!(read("clamp"), [1, 1, 8, 8]);
    run(
        "mov.b32 %v1, 77; sust.b.1d.b32.clamp [%o, {%c0}], %v1;",
        surface(array),
        &at[3..],
    );
    assert_eq!(read("clamp"), [1, 1, 77, 77]);
}

#[test]
fn surface_x_counts_bytes() {
    let _turn = turn();
    gpu();
    let texels = numbers(4 * 3 * 2);
    let array = array_of([4, 3, 2], F32, 1, CUDA_ARRAY3D_SURFACE_LDST);
    let at: Vec<[u32; 4]> = (0..24)
        .map(|i| [i % 4, i / 4 % 3, i / 12, texels[i as usize].to_bits()])
        .collect();
    let store = "shl.b32 %v0, %c0, 2; sust.b.3d.b32.trap [%o, {%v0, %c1, %c2, %c2}], %c3;";
    run(store, surface(array), &at);
    let floats: Vec<_> = at
        .iter()
        .map(|at| [at[0] as f32, at[1] as f32, at[2] as f32])
        .collect();
    compare(
        "stored",
        &floats,
        &fetched("3d", texture(array, CLAMP, POINT, 0), &floats),
        &texels,
        0,
    );
    let load = "shl.b32 %v1, %c0, 2; suld.b.3d.b32.trap %v0, [%o, {%v1, %c1, %c2, %c2}];";
    let found: Vec<_> = run(load, surface(array), &at)
        .iter()
        .map(|v| f32::from_bits(v[0]))
        .collect();
    compare("loaded", &floats, &found, &texels, 0);
    let pairs = run(
        "suld.b.3d.v2.b32.trap {%v0, %v1}, [%o, {8, 1, 1, 0}];",
        surface(array),
        &at[..1],
    );
    assert_eq!(pairs[0][..2], [texels[18].to_bits(), texels[19].to_bits()]);
}

#[test]
fn a_surface_access_behind_the_last_byte_traps() {
    trapped(32, 700, FaultKind::IllegalAddress);
}

#[test]
fn a_surface_access_before_the_first_byte_traps() {
    trapped(-4, 700, FaultKind::IllegalAddress);
}

#[test]
fn a_surface_access_at_a_byte_inside_of_a_texel_traps() {
    trapped(1, 716, FaultKind::MisalignedAddress);
}

/// Reads at this byte of a surface of 8 words, in a process of its own; it has to fail with this code, and in the simulator as this.
fn trapped(at: i32, code: u32, kind: FaultKind) {
    let Side::Child = own_process(&[]) else {
        return;
    };
    let backend = gpu();
    let context: CUcontext = get!(cuCtxCreate_v2(0, 0));
    let texels: Vec<u32> = (1..=8).collect();
    let array = filled([8, 0, 0], U32, CUDA_ARRAY3D_SURFACE_LDST, &texels);
    let body = "suld.b.1d.b32.trap %v0, [%o, {%c0}];";
    let result = launch(body, surface(array), &[[at.cast_unsigned(), 0, 0, 0]]).0;
    expect_fault(backend, context, result, code, kind);
}

fn expect_fault(
    backend: Backend,
    context: CUcontext,
    result: CUresult,
    code: u32,
    kind: FaultKind,
) {
    assert_eq!(result.0, code);
    if backend == Backend::Simulator {
        let fault = fault(context).expect("a fault");
        assert_eq!(fault.kind, kind, "{fault}");
        assert_eq!(fault.origin.expect("a kernel's").kernel, "go");
        ok!(cuCtxSetCurrent(null_mut()));
        gpu();
    }
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
