//! Kernels that fetch and store texels, and arrays, textures and surfaces for them.

use std::ffi::CString;

use warpsmith_abi::fault::FaultKind;
use warpsmith_driver::fault;

use super::*;

pub const U8: CUarray_format = CUarray_format::CU_AD_FORMAT_UNSIGNED_INT8;
pub const I8: CUarray_format = CUarray_format::CU_AD_FORMAT_SIGNED_INT8;
pub const U32: CUarray_format = CUarray_format::CU_AD_FORMAT_UNSIGNED_INT32;
pub const HALF: CUarray_format = CUarray_format::CU_AD_FORMAT_HALF;
pub const F32: CUarray_format = CUarray_format::CU_AD_FORMAT_FLOAT;
pub const CLAMP: CUaddress_mode = CUaddress_mode::CU_TR_ADDRESS_MODE_CLAMP;
pub const BORDER: CUaddress_mode = CUaddress_mode::CU_TR_ADDRESS_MODE_BORDER;
pub const WRAP: CUaddress_mode = CUaddress_mode::CU_TR_ADDRESS_MODE_WRAP;
pub const MIRROR: CUaddress_mode = CUaddress_mode::CU_TR_ADDRESS_MODE_MIRROR;
pub const POINT: CUfilter_mode = CUfilter_mode::CU_TR_FILTER_MODE_POINT;
pub const LINEAR: CUfilter_mode = CUfilter_mode::CU_TR_FILTER_MODE_LINEAR;

/// A kernel whose threads each load `%c0..%c3`, execute the body, and store `%v0..%v3`; `%o` is the object.
pub fn source(body: &str) -> CString {
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
pub fn launch(body: &str, object: u64, at: &[[u32; 4]]) -> (CUresult, CUdeviceptr) {
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

pub fn run(body: &str, object: u64, at: &[[u32; 4]]) -> Vec<[u32; 4]> {
    let (result, output) = launch(body, object, at);
    assert_eq!(result.0, 0, "{body}");
    download(output, at.len())
}

/// Fetches floats at these coordinates, the first component of each.
pub fn fetched(geometry: &str, object: CUtexObject, at: &[[f32; 3]]) -> Vec<f32> {
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

pub fn array_of(
    extents: [usize; 3],
    format: CUarray_format,
    components: u32,
    flags: u32,
) -> CUarray {
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

pub fn fill<T: Copy>(array: CUarray, extents: [usize; 3], texels: &[T]) {
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

/// What an array of the current device holds.
pub fn contents<T: Copy + Default>(array: CUarray, extents: [usize; 3]) -> Vec<T> {
    let [width, height, depth] = extents.map(|extent| extent.max(1));
    let mut texels = vec![T::default(); width * height * depth];
    let copy = CUDA_MEMCPY3D {
        srcMemoryType: CUmemorytype::CU_MEMORYTYPE_ARRAY,
        srcArray: array,
        dstMemoryType: CUmemorytype::CU_MEMORYTYPE_HOST,
        dstHost: texels.as_mut_ptr().cast(),
        dstPitch: width * size_of::<T>(),
        dstHeight: height,
        WidthInBytes: width * size_of::<T>(),
        Height: height,
        Depth: depth,
        ..Default::default()
    };
    ok!(cuMemcpy3D_v2(&copy));
    texels
}

pub fn filled<T: Copy>(
    extents: [usize; 3],
    format: CUarray_format,
    flags: u32,
    texels: &[T],
) -> CUarray {
    let array = array_of(extents, format, 1, flags);
    fill(array, extents, texels);
    array
}

pub fn resource(array: CUarray) -> CUDA_RESOURCE_DESC {
    let mut resource = CUDA_RESOURCE_DESC {
        resType: CUresourcetype::CU_RESOURCE_TYPE_ARRAY,
        ..Default::default()
    };
    resource.res.array.hArray = array;
    resource
}

pub fn texture(
    array: CUarray,
    mode: CUaddress_mode,
    filter: CUfilter_mode,
    flags: u32,
) -> CUtexObject {
    texture_of(&resource(array), mode, filter, flags)
}

pub fn texture_of(
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

pub fn surface(array: CUarray) -> CUsurfObject {
    get!(cuSurfObjectCreate(&resource(array)))
}

pub fn numbers(count: usize) -> Vec<f32> {
    (0..count).map(|number| number as f32 + 1.0).collect()
}

/// Compares what was fetched, to this many units in the last place, and names the first coordinates that differ.
pub fn compare(what: &str, at: &[[f32; 3]], found: &[f32], expected: &[f32], ulps: u32) {
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

pub fn expect_fault(
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
