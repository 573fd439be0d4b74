//! Batches of copies of boxes (CUDA 13.0). Drivers that lack them say so, and the test is skipped there.

use super::managed_batches::{is_missing, is_ok};
use crate::common::texels::array_of;
use crate::common::*;

fn in_memory(address: CUdeviceptr, row: usize, rows: usize) -> CUmemcpy3DOperand {
    CUmemcpy3DOperand {
        type_: CUmemcpy3DOperandType::CU_MEMCPY_OPERAND_TYPE_POINTER,
        op: CUmemcpy3DOperand_st__bindgen_ty_1 {
            ptr: CUmemcpy3DOperand_st__bindgen_ty_1__bindgen_ty_1 {
                ptr: address,
                rowLength: row,
                layerHeight: rows,
                locHint: CUmemLocation::default(),
            },
        },
    }
}

fn in_array(array: CUarray, [x, y, z]: [usize; 3]) -> CUmemcpy3DOperand {
    CUmemcpy3DOperand {
        type_: CUmemcpy3DOperandType::CU_MEMCPY_OPERAND_TYPE_ARRAY,
        op: CUmemcpy3DOperand_st__bindgen_ty_1 {
            array: CUmemcpy3DOperand_st__bindgen_ty_1__bindgen_ty_2 {
                array,
                offset: CUoffset3D { x, y, z },
            },
        },
    }
}

fn copy(
    dst: CUmemcpy3DOperand,
    src: CUmemcpy3DOperand,
    [width, height, depth]: [usize; 3],
) -> CUDA_MEMCPY3D_BATCH_OP {
    CUDA_MEMCPY3D_BATCH_OP {
        src,
        dst,
        extent: CUextent3D {
            width,
            height,
            depth,
        },
        srcAccessOrder: CUmemcpySrcAccessOrder::CU_MEMCPY_SRC_ACCESS_ORDER_STREAM,
        flags: 0,
    }
}

fn copies(copies: &mut [CUDA_MEMCPY3D_BATCH_OP], stream: CUstream) -> CUresult {
    // SAFETY: the array has as many values, whose memory lives until the stream was waited for.
    unsafe { cuMemcpy3DBatchAsync_v2(copies.len(), copies.as_mut_ptr(), 0, stream) }
}

#[test]
fn a_batch_of_copies_takes_boxes_of_memory_and_of_arrays() {
    gpu();
    let stream = stream();
    let numbers: Vec<u32> = (0..24).collect();
    // 4 words in a row, 3 rows, 2 layers.
    let from = upload(&numbers);
    let (one, two) = (upload(&[99_u32; 24]), upload(&[99_u32; 8]));
    let format = CUarray_format::CU_AD_FORMAT_UNSIGNED_INT32;
    let array = array_of([4, 3, 2], format, 1, 0);
    let into_array = copy(in_array(array, [0; 3]), in_memory(from, 4, 3), [4, 3, 2]);
    // In bytes, as no array takes part: the middle row of both layers, packed.
    let rows = copy(
        in_memory(two, 0, 0),
        in_memory(from + 16, 16, 3),
        [16, 1, 2],
    );
    let answer = copies(&mut [into_array, rows], stream);
    if is_missing(answer) {
        return;
    }
    is_ok(answer);
    // Out of the array, in texels: two columns of two rows of the second layer, into rows of 4 with a height of 3.
    is_ok(copies(
        &mut [copy(
            in_memory(one, 4, 3),
            in_array(array, [1, 1, 1]),
            [2, 2, 1],
        )],
        stream,
    ));
    ok!(cuStreamSynchronize(stream));
    assert_eq!(download::<u32>(two, 8), [4, 5, 6, 7, 16, 17, 18, 19]);
    let expected = [17, 18, 99, 99, 21, 22, 99, 99];
    assert_eq!(download::<u32>(one, 8), expected);
    let invalid = CUresult::CUDA_ERROR_INVALID_VALUE;
    let good = copy(in_memory(one, 4, 3), in_array(array, [0; 3]), [4, 3, 2]);
    for extent in [[0, 1, 1], [1, 0, 1], [1, 1, 0], [5, 1, 1], [1, 1, 3]] {
        let mut bad = [copy(good.dst, good.src, extent)];
        assert_eq!(copies(&mut bad, stream), invalid, "{extent:?}");
    }
    let narrow = copy(in_memory(one, 3, 3), good.src, [4, 3, 2]);
    let low = copy(in_memory(one, 4, 2), good.src, [4, 3, 2]);
    let wide = array_of([4, 3, 2], format, 2, 0);
    let unlike = copy(in_array(wide, [0; 3]), good.src, [4, 3, 2]);
    let unordered = CUDA_MEMCPY3D_BATCH_OP {
        srcAccessOrder: CUmemcpySrcAccessOrder::CU_MEMCPY_SRC_ACCESS_ORDER_INVALID,
        ..good
    };
    for bad in [narrow, low, unlike, unordered] {
        assert_eq!(copies(&mut [good, bad], stream), invalid);
    }
    assert_eq!(copies(&mut [], stream), invalid);
    assert_eq!(copies(&mut [good], null_mut()), invalid);
    // The form of CUDA 12.8 tells which copy it is.
    let (mut failed, mut both) = (77, [good, narrow]);
    // SAFETY: the array has two values, whose memory is there; the driver writes to `failed`.
    let answer = unsafe { cuMemcpy3DBatchAsync(2, both.as_mut_ptr(), &mut failed, 0, stream) };
    assert_eq!((answer, failed), (invalid, 1));
    ok!(cuStreamSynchronize(stream));
    for array in [array, wide] {
        ok!(cuArrayDestroy(array));
    }
    for memory in [from, one, two] {
        ok!(cuMemFree_v2(memory));
    }
    ok!(cuStreamDestroy_v2(stream));
}
