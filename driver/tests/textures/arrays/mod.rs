//! CUDA arrays, and copies between them and all other memory.

mod copies;
mod shapes;

use crate::common::*;
use warpsmith_testkit::{Side, own_process, ptx};

const HOST: CUmemorytype = CUmemorytype::CU_MEMORYTYPE_HOST;
const DEVICE: CUmemorytype = CUmemorytype::CU_MEMORYTYPE_DEVICE;
const ARRAY: CUmemorytype = CUmemorytype::CU_MEMORYTYPE_ARRAY;

/// The formats, with the bytes of a component.
const FORMATS: [(CUarray_format, usize); 8] = [
    (CUarray_format::CU_AD_FORMAT_UNSIGNED_INT8, 1),
    (CUarray_format::CU_AD_FORMAT_UNSIGNED_INT16, 2),
    (CUarray_format::CU_AD_FORMAT_UNSIGNED_INT32, 4),
    (CUarray_format::CU_AD_FORMAT_SIGNED_INT8, 1),
    (CUarray_format::CU_AD_FORMAT_SIGNED_INT16, 2),
    (CUarray_format::CU_AD_FORMAT_SIGNED_INT32, 4),
    (CUarray_format::CU_AD_FORMAT_HALF, 2),
    (CUarray_format::CU_AD_FORMAT_FLOAT, 4),
];
const U8: CUarray_format = FORMATS[0].0;
const U32: CUarray_format = FORMATS[2].0;

/// Runs the calling test on the simulator in a process of its own with `variables` set. What it printed, where it is told to us.
fn in_child(variables: &[(&str, &str)]) -> Option<String> {
    let variables = [&[("WARPSMITH_DEVICE", "simulator")][..], variables].concat();
    match own_process(&variables) {
        Side::Child => None,
        Side::Parent(output) => Some(output.text()),
    }
}

fn described(
    [width, height, depth]: [usize; 3],
    format: CUarray_format,
    components: u32,
    flags: u32,
) -> CUDA_ARRAY3D_DESCRIPTOR {
    CUDA_ARRAY3D_DESCRIPTOR {
        Width: width,
        Height: height,
        Depth: depth,
        Format: format,
        NumChannels: components,
        Flags: flags,
    }
}

fn array(extents: [usize; 3], format: CUarray_format, components: u32) -> CUarray {
    get!(cuArray3DCreate_v2(&described(
        extents, format, components, 0
    )))
}

/// A flat array of bytes.
fn bytes(width: usize, height: usize) -> CUarray {
    let descriptor = CUDA_ARRAY_DESCRIPTOR {
        Width: width,
        Height: height,
        Format: U8,
        NumChannels: 1,
    };
    get!(cuArrayCreate_v2(&descriptor))
}

/// A copy of a box of `extents` bytes, rows and slices, whose ends are not given yet.
fn copy_of([width, height, depth]: [usize; 3]) -> CUDA_MEMCPY3D {
    CUDA_MEMCPY3D {
        WidthInBytes: width,
        Height: height,
        Depth: depth,
        srcPitch: width,
        srcHeight: height,
        dstPitch: width,
        dstHeight: height,
        ..Default::default()
    }
}

fn from_host(copy: CUDA_MEMCPY3D, data: &[u8]) -> CUDA_MEMCPY3D {
    CUDA_MEMCPY3D {
        srcMemoryType: HOST,
        srcHost: data.as_ptr().cast(),
        ..copy
    }
}

fn to_host(copy: CUDA_MEMCPY3D, data: &mut [u8]) -> CUDA_MEMCPY3D {
    CUDA_MEMCPY3D {
        dstMemoryType: HOST,
        dstHost: data.as_mut_ptr().cast(),
        ..copy
    }
}

fn from_array(copy: CUDA_MEMCPY3D, array: CUarray) -> CUDA_MEMCPY3D {
    CUDA_MEMCPY3D {
        srcMemoryType: ARRAY,
        srcArray: array,
        ..copy
    }
}

fn to_array(copy: CUDA_MEMCPY3D, array: CUarray) -> CUDA_MEMCPY3D {
    CUDA_MEMCPY3D {
        dstMemoryType: ARRAY,
        dstArray: array,
        ..copy
    }
}

fn pattern(count: usize) -> Vec<u8> {
    (0..count).map(|i| (i * 31 % 251) as u8).collect()
}

fn fill(array: CUarray, extents: [usize; 3], data: &[u8]) {
    ok!(cuMemcpy3D_v2(&to_array(
        from_host(copy_of(extents), data),
        array
    )));
}

fn contents(array: CUarray, extents: [usize; 3]) -> Vec<u8> {
    let mut data = vec![0; extents.iter().product()];
    ok!(cuMemcpy3D_v2(&to_host(
        from_array(copy_of(extents), array),
        &mut data
    )));
    data
}
