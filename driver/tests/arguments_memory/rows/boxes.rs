//! Copies of two and three dimensions.

use crate::common::*;
use crate::row::*;
use crate::world::{BYTES, NOWHERE, ODD, World, changed, device, one};

const HOST: CUmemorytype = CUmemorytype::CU_MEMORYTYPE_HOST;
const DEVICE: CUmemorytype = CUmemorytype::CU_MEMORYTYPE_DEVICE;
const ARRAY: CUmemorytype = CUmemorytype::CU_MEMORYTYPE_ARRAY;

/// Two rows of 16 bytes out of rows of 64, from device memory to other device memory.
fn flat(w: &World) -> CUDA_MEMCPY2D {
    CUDA_MEMCPY2D {
        srcMemoryType: DEVICE,
        srcDevice: w.memory,
        srcHost: w.host,
        srcArray: w.array,
        srcPitch: 64,
        dstMemoryType: DEVICE,
        dstDevice: w.pooled,
        dstHost: w.host,
        dstArray: w.array,
        dstPitch: 64,
        WidthInBytes: 16,
        Height: 2,
        ..Default::default()
    }
}

/// The same, twice.
fn deep(w: &World) -> CUDA_MEMCPY3D {
    let flat = flat(w);
    CUDA_MEMCPY3D {
        srcMemoryType: flat.srcMemoryType,
        srcDevice: flat.srcDevice,
        srcHost: flat.srcHost,
        srcArray: w.box_array,
        srcPitch: 64,
        srcHeight: 4,
        dstMemoryType: flat.dstMemoryType,
        dstDevice: flat.dstDevice,
        dstHost: flat.dstHost,
        dstArray: w.box_array,
        dstPitch: 64,
        dstHeight: 4,
        WidthInBytes: 4,
        Height: 2,
        Depth: 2,
        ..Default::default()
    }
}

/// A copy that is described by a structure.
type Copy<T> = fn(&World, *const T) -> CUresult;

pub fn rows() -> Vec<Row> {
    let flat_copies: [(&str, Copy<CUDA_MEMCPY2D>); 3] = [
        named!(cuMemcpy2D_v2, |_w, copy| (copy)),
        named!(cuMemcpy2DUnaligned_v2, |_w, copy| (copy)),
        named!(cuMemcpy2DAsync_v2, |w, copy| (copy, w.stream)),
    ];
    let deep_copies: [(&str, Copy<CUDA_MEMCPY3D>); 2] = [
        named!(cuMemcpy3D_v2, |_w, copy| (copy)),
        named!(cuMemcpy3DAsync_v2, |w, copy| (copy, w.stream)),
    ];
    let mut rows = Vec::new();
    for (function, copy) in flat_copies {
        let null = move |w: &World| copy(w, null());
        rows.push(Row::new(function, "null", INVALID_VALUE, null));
        for (case, code, is_undefined, change) in flat_changes() {
            let call = move |w: &World| copy(w, changed(flat(w), |copy| change(w, copy)));
            rows.push(as_measured(Row {
                is_undefined,
                ..Row::new(function, case, code, call)
            }));
        }
    }
    for (function, copy) in deep_copies {
        let null = move |w: &World| copy(w, null());
        rows.push(Row::new(function, "null", INVALID_VALUE, null));
        for (case, code, is_undefined, change) in deep_changes() {
            let call = move |w: &World| copy(w, changed(deep(w), |copy| change(w, copy)));
            rows.push(as_measured(Row {
                is_undefined,
                ..Row::new(function, case, code, call)
            }));
        }
    }
    rows.extend(others());
    rows
}

/// A real driver multiplies without a look at what is lost, and finds a start behind the end where another allocation follows.
fn as_measured(row: Row) -> Row {
    match &*row.case {
        "rows before it beyond the end" => row.gpu(OK),
        "rows that overflow" | "a pitch that overflows" | "slices that overflow" => {
            row.not_on_gpu(RUNS_AWAY)
        }
        _ => row,
    }
}

/// What is wrong, what answers it, whether a real driver follows it, and the change.
type Change<T> = (&'static str, c_uint, bool, fn(&World, &mut T));

fn flat_changes() -> Vec<Change<CUDA_MEMCPY2D>> {
    vec![
        ("from no type of memory", INVALID_VALUE, false, |_, c| {
            c.srcMemoryType = CUmemorytype_enum(0);
        }),
        ("to an odd type of memory", INVALID_VALUE, false, |_, c| {
            c.dstMemoryType = CUmemorytype_enum(ODD);
        }),
        ("from nothing", INVALID_VALUE, false, |_, c| c.srcDevice = 0),
        ("to nothing", INVALID_VALUE, false, |_, c| c.dstDevice = 0),
        ("from a null pointer", INVALID_VALUE, false, |_, c| {
            (c.srcMemoryType, c.srcHost) = (HOST, null());
        }),
        ("to a null pointer", INVALID_VALUE, false, |_, c| {
            (c.dstMemoryType, c.dstHost) = (HOST, null_mut());
        }),
        ("from freed memory", INVALID_VALUE, false, |w, c| {
            c.srcDevice = w.freed;
        }),
        ("to freed memory", INVALID_VALUE, false, |w, c| {
            c.dstDevice = w.freed;
        }),
        ("from nowhere", INVALID_VALUE, false, |_, c| {
            c.srcDevice = NOWHERE;
        }),
        (
            "to the memory of a destroyed context",
            INVALID_VALUE,
            false,
            |w, c| {
                c.dstDevice = w.orphaned;
            },
        ),
        ("rows beyond the end", INVALID_VALUE, false, |_, c| {
            (c.dstPitch, c.Height) = (64, BYTES / 64 + 1);
        }),
        ("an offset beyond the end", INVALID_VALUE, false, |_, c| {
            c.srcXInBytes = BYTES - 64 - 15;
        }),
        (
            "rows before it beyond the end",
            INVALID_VALUE,
            false,
            |_, c| {
                c.dstY = BYTES / 64 - 1;
            },
        ),
        ("rows that overflow", INVALID_VALUE, false, |_, c| {
            c.dstY = usize::MAX
        }),
        ("an offset that overflows", INVALID_VALUE, false, |_, c| {
            c.srcXInBytes = usize::MAX;
        }),
        ("a pitch that overflows", INVALID_VALUE, false, |_, c| {
            (c.dstPitch, c.Height) = (1 << 63, 3);
        }),
        (
            "rows that overlap in the source",
            INVALID_VALUE,
            false,
            |_, c| c.srcPitch = 15,
        ),
        (
            "rows that overlap in the destination",
            INVALID_VALUE,
            false,
            |_, c| c.dstPitch = 15,
        ),
        ("a width that overflows", INVALID_VALUE, false, |_, c| {
            c.WidthInBytes = usize::MAX;
        }),
        ("a null array", INVALID_VALUE, true, |_, c| {
            (c.dstMemoryType, c.dstArray) = (ARRAY, null_mut());
        }),
        ("a destroyed array", INVALID_VALUE, true, |w, c| {
            (c.dstMemoryType, c.dstArray) = (ARRAY, w.destroyed_array);
        }),
        ("another kind of handle", INVALID_VALUE, true, |w, c| {
            (c.srcMemoryType, c.srcArray) = (ARRAY, w.pool.cast());
        }),
        ("beyond the array's row", INVALID_VALUE, false, |_, c| {
            (c.dstMemoryType, c.dstXInBytes) = (ARRAY, 1);
        }),
        ("beyond the array's rows", INVALID_VALUE, false, |_, c| {
            (c.srcMemoryType, c.srcY) = (ARRAY, 3);
        }),
        (
            "an array's row that overflows",
            INVALID_VALUE,
            false,
            |_, c| {
                (c.srcMemoryType, c.srcY) = (ARRAY, usize::MAX);
            },
        ),
        ("no width", OK, false, |_, c| c.WidthInBytes = 0),
        ("no height", OK, false, |_, c| c.Height = 0),
    ]
}

fn deep_changes() -> Vec<Change<CUDA_MEMCPY3D>> {
    vec![
        ("from no type of memory", INVALID_VALUE, false, |_, c| {
            c.srcMemoryType = CUmemorytype_enum(0);
        }),
        ("to an odd type of memory", INVALID_VALUE, false, |_, c| {
            c.dstMemoryType = CUmemorytype_enum(ODD);
        }),
        ("from nothing", INVALID_VALUE, false, |_, c| c.srcDevice = 0),
        ("to a null pointer", INVALID_VALUE, false, |_, c| {
            (c.dstMemoryType, c.dstHost) = (HOST, null_mut());
        }),
        ("from freed memory", INVALID_VALUE, false, |w, c| {
            c.srcDevice = w.freed;
        }),
        ("to freed memory", INVALID_VALUE, false, |w, c| {
            c.dstDevice = w.freed;
        }),
        ("slices beyond the end", INVALID_VALUE, false, |_, c| {
            c.Depth = BYTES / 256 + 1;
        }),
        (
            "slices before it beyond the end",
            INVALID_VALUE,
            false,
            |_, c| {
                c.srcZ = BYTES / 256 - 1;
            },
        ),
        ("slices that overflow", INVALID_VALUE, false, |_, c| {
            c.dstZ = usize::MAX
        }),
        ("rows that overlap", INVALID_VALUE, false, |_, c| {
            c.srcPitch = 3
        }),
        ("slices that overlap", INVALID_VALUE, false, |_, c| {
            c.dstHeight = 1
        }),
        ("a level of the source", INVALID_VALUE, false, |_, c| {
            (c.srcMemoryType, c.srcLOD) = (ARRAY, 1);
        }),
        (
            "a level of the destination",
            INVALID_VALUE,
            false,
            |_, c| {
                (c.dstMemoryType, c.dstLOD) = (ARRAY, 1);
            },
        ),
        ("a null array", INVALID_VALUE, true, |_, c| {
            (c.dstMemoryType, c.dstArray) = (ARRAY, null_mut());
        }),
        ("a destroyed array", INVALID_VALUE, true, |w, c| {
            (c.srcMemoryType, c.srcArray) = (ARRAY, w.destroyed_array);
        }),
        ("beyond the array's row", INVALID_VALUE, false, |_, c| {
            (c.dstMemoryType, c.dstXInBytes) = (ARRAY, 5);
        }),
        ("beyond the array's rows", INVALID_VALUE, false, |_, c| {
            (c.srcMemoryType, c.srcY) = (ARRAY, 3);
        }),
        ("beyond the array's slices", INVALID_VALUE, false, |_, c| {
            (c.srcMemoryType, c.srcZ) = (ARRAY, 1);
        }),
        ("no depth", OK, false, |_, c| c.Depth = 0),
    ]
}

fn at_pointer(address: CUdeviceptr) -> CUmemcpy3DOperand {
    let mut operand = CUmemcpy3DOperand {
        type_: CUmemcpy3DOperandType::CU_MEMCPY_OPERAND_TYPE_POINTER,
        ..Default::default()
    };
    operand.op.ptr.ptr = address;
    operand.op.ptr.locHint = device(0);
    operand
}

fn in_array(array: CUarray, x: usize) -> CUmemcpy3DOperand {
    let mut operand = CUmemcpy3DOperand {
        type_: CUmemcpy3DOperandType::CU_MEMCPY_OPERAND_TYPE_ARRAY,
        ..Default::default()
    };
    operand.op.array = CUmemcpy3DOperand_st__bindgen_ty_1__bindgen_ty_2 {
        array,
        offset: CUoffset3D { x, y: 0, z: 0 },
    };
    operand
}

/// A box of 16 bytes of a batch.
fn operation(w: &World) -> CUDA_MEMCPY3D_BATCH_OP {
    CUDA_MEMCPY3D_BATCH_OP {
        src: at_pointer(w.memory),
        dst: at_pointer(w.pooled),
        extent: CUextent3D {
            width: 16,
            height: 1,
            depth: 1,
        },
        srcAccessOrder: CUmemcpySrcAccessOrder::CU_MEMCPY_SRC_ACCESS_ORDER_STREAM,
        flags: 0,
    }
}

fn others() -> Vec<Row> {
    rows! { |w|
        cuMemcpy2D_v2 {
            "no context" [bare]: INVALID_CONTEXT => (at(flat(w)));
        }
        cuMemcpy2DUnaligned_v2 {
            "no context" [bare]: INVALID_CONTEXT => (at(flat(w)));
        }
        cuMemcpy2DAsync_v2 {
            "no context" [bare]: INVALID_CONTEXT => (at(flat(w)), null_mut());
            "a destroyed stream" [undefined]: INVALID_HANDLE => (at(flat(w)), w.destroyed_stream);
        }
        cuMemcpy3D_v2 {
            "no context" [bare]: INVALID_CONTEXT => (at(deep(w)));
        }
        cuMemcpy3DAsync_v2 {
            "no context" [bare]: INVALID_CONTEXT => (at(deep(w)), null_mut());
            "a destroyed stream" [undefined]: INVALID_HANDLE => (at(deep(w)), w.destroyed_stream);
        }
        cuMemcpy3DBatchAsync_v2 {
            "null": INVALID_VALUE => (1, null_mut(), 0, w.stream);
            "no copies": INVALID_VALUE => (0, one(operation(w)), 0, w.stream);
            "odd flags": INVALID_VALUE => (1, one(operation(w)), ODD.into(), w.stream);
            "in the default stream": INVALID_VALUE => (1, one(operation(w)), 0, null_mut());
            "a destroyed stream" [undefined]: INVALID_HANDLE => (1, one(operation(w)), 0, w.destroyed_stream);
            "an odd operand": INVALID_VALUE => (
                1, changed(operation(w), |o| o.src.type_ = CUmemcpy3DOperandType_enum(ODD)), 0, w.stream,
            );
            "from nothing": INVALID_VALUE => (1, changed(operation(w), |o| o.src = at_pointer(0)), 0, w.stream);
            "to freed memory" [not_on_gpu(USES_FREED)]: INVALID_VALUE => (1, changed(operation(w), |o| o.dst = at_pointer(w.freed)), 0, w.stream);
            "beyond the end": INVALID_VALUE => (1, changed(operation(w), |o| o.extent.width = BYTES + 1), 0, w.stream);
            "no width": INVALID_VALUE => (1, changed(operation(w), |o| o.extent.width = 0), 0, w.stream);
            "a width that overflows": INVALID_VALUE => (
                1, changed(operation(w), |o| o.extent.width = usize::MAX), 0, w.stream,
            );
            "rows that overlap": INVALID_VALUE => (
                1, changed(operation(w), |o| {
                    o.extent.height = 2;
                    o.src.op.ptr.rowLength = 15;
                }), 0, w.stream,
            );
            "a destroyed array" [undefined]: INVALID_VALUE => (
                1, changed(operation(w), |o| o.dst = in_array(w.destroyed_array, 0)), 0, w.stream,
            );
            "beyond the array's row": INVALID_VALUE => (
                1, changed(operation(w), |o| o.dst = in_array(w.array, 1)), 0, w.stream,
            );
            "no order": INVALID_VALUE => (
                1, changed(operation(w), |o| o.srcAccessOrder = CUmemcpySrcAccessOrder_enum(0)), 0, w.stream,
            );
            "the second one to freed memory" [not_on_gpu(USES_FREED)]: INVALID_VALUE => (
                2, all([operation(w), CUDA_MEMCPY3D_BATCH_OP { dst: at_pointer(w.freed), ..operation(w) }]), 0, w.stream,
            );
        }
        cuMemcpy3DBatchAsync {
            "null": INVALID_VALUE => (1, null_mut(), out(), 0, w.stream);
            "no copies": INVALID_VALUE => (0, one(operation(w)), out(), 0, w.stream);
            "to freed memory" [not_on_gpu(ENDS_PROCESS)]: INVALID_VALUE => (
                1, changed(operation(w), |o| o.dst = at_pointer(w.freed)), out(), 0, w.stream,
            );
            "to freed memory, and nobody asks which" [not_on_gpu(USES_FREED)]: INVALID_VALUE => (
                1, changed(operation(w), |o| o.dst = at_pointer(w.freed)), null_mut(), 0, w.stream,
            );
        }
    }
}
