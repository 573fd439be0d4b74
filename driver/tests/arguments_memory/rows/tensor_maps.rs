//! Tensor maps, which the simulator does not make.

use crate::common::*;
use crate::row::*;
use crate::world::World;

type Interleave = CUtensorMapInterleave;
type Swizzle = CUtensorMapSwizzle;
type Promotion = CUtensorMapL2promotion;
type Fill = CUtensorMapFloatOOBfill;

/// What a test changes of a map of 64 x 64 bytes in boxes of 16 x 16.
struct Map {
    rank: u32,
    address: *mut c_void,
    row: u64,
    side: u32,
}

fn encode(w: &World, change: impl FnOnce(&mut Map)) -> CUresult {
    let mut map = Map {
        rank: 2,
        address: w.memory as *mut c_void,
        row: 64,
        side: 16,
    };
    change(&mut map);
    // SAFETY: all pointers are null or valid for as many values as the rank says.
    unsafe {
        cuTensorMapEncodeTiled(
            out(),
            CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_UINT8,
            map.rank,
            map.address,
            all([64u64; 6]),
            all([map.row; 6]),
            all([map.side; 6]),
            all([1u32; 6]),
            Interleave::CU_TENSOR_MAP_INTERLEAVE_NONE,
            Swizzle::CU_TENSOR_MAP_SWIZZLE_NONE,
            Promotion::CU_TENSOR_MAP_L2_PROMOTION_NONE,
            Fill::CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
        )
    }
}

pub fn rows() -> Vec<Row> {
    type Change = fn(&mut Map);
    let changes: [(&str, Change); 5] = [
        ("no dimensions", |map| map.rank = 0),
        ("six dimensions", |map| map.rank = 6),
        ("a misaligned address", |map| {
            map.address = map.address.wrapping_byte_add(4)
        }),
        ("a misaligned row", |map| map.row = 68),
        ("a box of 257", |map| map.side = 257),
    ];
    let mut rows = Vec::new();
    for (case, change) in changes {
        let call = move |w: &World| encode(w, change);
        rows.push(Row::new("cuTensorMapEncodeTiled", case, NOT_SUPPORTED, call).gpu(INVALID_VALUE));
    }
    rows.extend(rows! { |w|
        cuTensorMapEncodeIm2col {
            "null" [gpu(INVALID_VALUE)]: NOT_SUPPORTED => (
                null_mut(), CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_UINT8, 3, w.memory as *mut c_void, all([64u64; 5]),
                all([64u64; 5]), all([0; 5]), all([0; 5]), 16, 16, all([1u32; 5]), Interleave::CU_TENSOR_MAP_INTERLEAVE_NONE,
                Swizzle::CU_TENSOR_MAP_SWIZZLE_NONE, Promotion::CU_TENSOR_MAP_L2_PROMOTION_NONE,
                Fill::CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
            );
        }
        cuTensorMapReplaceAddress {
            "null" [not_on_gpu(ENDS_PROCESS)]: NOT_SUPPORTED => (null_mut(), w.memory as *mut c_void);
            "a map that is none" [gpu(OK)]: NOT_SUPPORTED => (out(), w.memory as *mut c_void);
        }
    });
    rows
}
