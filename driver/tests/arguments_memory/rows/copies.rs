//! Copies of bytes in a row.

use crate::common::*;
use crate::row::*;
use crate::world::{BYTES, NOWHERE, ODD, World, changed, device, one};

/// A copy to an address, from another.
type Copy = fn(&World, CUdeviceptr, CUdeviceptr, usize) -> CUresult;

/// Which of the two ends is in memory that the device reaches.
#[derive(Clone, Copy)]
struct Ends {
    to_device: bool,
    from_device: bool,
    in_stream: bool,
}

pub fn rows() -> Vec<Row> {
    let ends = |to_device, from_device, in_stream| Ends {
        to_device,
        from_device,
        in_stream,
    };
    let linear: [((&str, Copy), Ends); 8] = [
        (
            named!(cuMemcpyHtoD_v2, |_w, to, from, n| (to, from as _, n)),
            ends(true, false, false),
        ),
        (
            named!(cuMemcpyHtoDAsync_v2, |w, to, from, n| (
                to, from as _, n, w.stream
            )),
            ends(true, false, true),
        ),
        (
            named!(cuMemcpyDtoH_v2, |_w, to, from, n| (to as _, from, n)),
            ends(false, true, false),
        ),
        (
            named!(cuMemcpyDtoHAsync_v2, |w, to, from, n| (
                to as _, from, n, w.stream
            )),
            ends(false, true, true),
        ),
        (
            named!(cuMemcpyDtoD_v2, |_w, to, from, n| (to, from, n)),
            ends(true, true, false),
        ),
        (
            named!(cuMemcpyDtoDAsync_v2, |w, to, from, n| (
                to, from, n, w.stream
            )),
            ends(true, true, true),
        ),
        (
            named!(cuMemcpy, |_w, to, from, n| (to, from, n)),
            ends(true, true, false),
        ),
        (
            named!(cuMemcpyAsync, |w, to, from, n| (to, from, n, w.stream)),
            ends(true, true, true),
        ),
    ];
    let mut rows = Vec::new();
    for ((function, copy), ends) in linear {
        rows.extend(of_copy(function, copy, ends));
    }
    rows.extend(in_streams());
    rows.extend(of_arrays());
    rows.extend(of_batches());
    rows
}

fn of_copy(function: &'static str, copy: Copy, ends: Ends) -> Vec<Row> {
    // An end that is not looked at may be anywhere in memory that is there.
    let good = |is_device: bool, w: &World| match is_device {
        true => w.pooled,
        false => w.host_address(),
    };
    let is_unified = matches!(function, "cuMemcpy" | "cuMemcpyAsync");
    let mut rows = Vec::new();
    type Address = fn(&World) -> CUdeviceptr;
    // What is wrong, and what the simulator says of it.
    let bad: [(&str, Address, usize, &str); 10] = [
        ("nothing", |_| 0, 16, "0x0 is null"),
        ("freed", |w| w.freed, 16, "that cuMemFree has freed"),
        ("pooled and freed", |w| w.freed_pooled, 16, "has freed"),
        (
            "nowhere",
            |_| NOWHERE,
            16,
            "in no memory that the driver knows",
        ),
        (
            "one byte beyond the end",
            |w| w.memory,
            BYTES + 1,
            "is 4096 bytes before the end of an allocation",
        ),
        (
            "behind the end",
            |w| w.memory + BYTES as u64,
            1,
            "is 0 bytes behind the end of an allocation",
        ),
        ("before the beginning", |w| w.memory - 1, 2, "is refused"),
        ("all bytes that there are", |w| w.memory, usize::MAX, ""),
        (
            "reserved addresses",
            |w| w.range + (2 << 20),
            16,
            "nothing is mapped",
        ),
        ("of a destroyed context", |w| w.orphaned, 16, "has freed"),
    ];
    for (case, address, bytes, says) in bad {
        // To a unified address that the driver does not know it copies as to pageable memory.
        let is_followed = is_unified && matches!(case, "nowhere" | "reserved addresses");
        if is_followed {
            continue;
        }
        // A real driver does not remember what was there.
        let ends_process = is_unified
            && matches!(
                case,
                "freed" | "pooled and freed" | "behind the end" | "before the beginning"
            );
        if ends.to_device {
            let to_bad = move |w: &World| copy(w, address(w), good(ends.from_device, w), bytes);
            let row = Row::new(function, format!("to {case}"), INVALID_VALUE, to_bad);
            rows.push(row.says(says).not_on_gpu_if(ends_process, ENDS_PROCESS));
        }
        if ends.from_device {
            let from_bad = move |w: &World| copy(w, good(ends.to_device, w), address(w), bytes);
            let row = Row::new(function, format!("from {case}"), INVALID_VALUE, from_bad);
            rows.push(row.says(says).not_on_gpu_if(ends_process, ENDS_PROCESS));
        }
    }
    if !ends.to_device {
        let null = move |w: &World| copy(w, 0, w.memory, 16);
        rows.push(Row::new(function, "to a null pointer", INVALID_VALUE, null));
    }
    if !ends.from_device {
        let null = move |w: &World| copy(w, w.memory, 0, 16);
        rows.push(Row::new(
            function,
            "from a null pointer",
            INVALID_VALUE,
            null,
        ));
    }
    let nothing = move |w: &World| copy(w, good(ends.to_device, w), good(ends.from_device, w), 0);
    rows.push(Row::new(function, "no bytes", OK, nothing));
    if !ends.in_stream {
        let bare = move |w: &World| copy(w, good(ends.to_device, w), good(ends.from_device, w), 16);
        rows.push(Row::new(function, "no context", INVALID_CONTEXT, bare).bare());
    }
    rows
}

fn in_streams() -> Vec<Row> {
    rows! { |w|
        cuMemcpyHtoDAsync_v2 {
            "a destroyed stream" [undefined]: INVALID_HANDLE => (w.pooled, w.host, 16, w.destroyed_stream);
            "another kind of handle" [undefined]: INVALID_HANDLE => (w.pooled, w.host, 16, w.array.cast());
            "no context" [bare]: INVALID_CONTEXT => (w.pooled, w.host, 16, null_mut());
        }
        cuMemcpyDtoHAsync_v2 {
            "a destroyed stream" [undefined]: INVALID_HANDLE => (w.host, w.pooled, 16, w.destroyed_stream);
            "no context" [bare]: INVALID_CONTEXT => (w.host, w.pooled, 16, null_mut());
        }
        cuMemcpyDtoDAsync_v2 {
            "a destroyed stream" [undefined]: INVALID_HANDLE => (w.pooled, w.pooled + 64, 16, w.destroyed_stream);
            "no context" [bare]: INVALID_CONTEXT => (w.pooled, w.pooled + 64, 16, null_mut());
        }
        cuMemcpyAsync {
            "a destroyed stream" [undefined]: INVALID_HANDLE => (w.pooled, w.host_address(), 16, w.destroyed_stream);
            "no context" [bare]: INVALID_CONTEXT => (w.pooled, w.host_address(), 16, null_mut());
        }
    }
}

fn of_arrays() -> Vec<Row> {
    rows! { |w|
        cuMemcpyHtoA_v2 {
            "a null array": INVALID_VALUE => (null_mut(), 0, w.host, 16);
            "a destroyed array" [undefined]: INVALID_VALUE => (w.destroyed_array, 0, w.host, 16);
            "an array of a destroyed context" [undefined]: INVALID_VALUE => (w.orphaned_array, 0, w.host, 16);
            "another kind of handle" [undefined]: INVALID_VALUE => (w.pool.cast(), 0, w.host, 16);
            "a null pointer": INVALID_VALUE => (w.array, 0, null(), 16);
            "beyond the row": INVALID_VALUE => (w.array, 0, w.host, 65);
            "an offset beyond the row": INVALID_VALUE => (w.array, 1, w.host, 64);
            "an offset that overflows": INVALID_VALUE => (w.array, usize::MAX, w.host, 16);
            "all bytes that there are": INVALID_VALUE => (w.array, 0, w.host, usize::MAX);
            "no context" [bare]: INVALID_CONTEXT => (w.array, 0, w.host, 16);
        }
        cuMemcpyHtoAAsync_v2 {
            "a null array": INVALID_VALUE => (null_mut(), 0, w.host, 16, w.stream);
            "a destroyed array" [undefined]: INVALID_VALUE => (w.destroyed_array, 0, w.host, 16, w.stream);
            "a null pointer": INVALID_VALUE => (w.array, 0, null(), 16, w.stream);
            "beyond the row": INVALID_VALUE => (w.array, 0, w.host, 65, w.stream);
            "a destroyed stream" [undefined]: INVALID_HANDLE => (w.array, 0, w.host, 16, w.destroyed_stream);
        }
        cuMemcpyAtoH_v2 {
            "a null array": INVALID_VALUE => (w.host, null_mut(), 0, 16);
            "a destroyed array" [undefined]: INVALID_VALUE => (w.host, w.destroyed_array, 0, 16);
            "a null pointer": INVALID_VALUE => (null_mut(), w.array, 0, 16);
            "beyond the row": INVALID_VALUE => (w.host, w.array, 0, 65);
            "an offset that overflows": INVALID_VALUE => (w.host, w.array, usize::MAX, 16);
            "no context" [bare]: INVALID_CONTEXT => (w.host, w.array, 0, 16);
        }
        cuMemcpyAtoHAsync_v2 {
            "a null array": INVALID_VALUE => (w.host, null_mut(), 0, 16, w.stream);
            "a destroyed array" [undefined]: INVALID_VALUE => (w.host, w.destroyed_array, 0, 16, w.stream);
            "a null pointer": INVALID_VALUE => (null_mut(), w.array, 0, 16, w.stream);
            "beyond the row": INVALID_VALUE => (w.host, w.array, 0, 65, w.stream);
            "a destroyed stream" [undefined]: INVALID_HANDLE => (w.host, w.array, 0, 16, w.destroyed_stream);
        }
        cuMemcpyDtoA_v2 {
            "a null array": INVALID_VALUE => (null_mut(), 0, w.memory, 16);
            "a destroyed array" [undefined]: INVALID_VALUE => (w.destroyed_array, 0, w.memory, 16);
            "freed": INVALID_VALUE => (w.array, 0, w.freed, 16);
            "nothing": INVALID_VALUE => (w.array, 0, 0, 16);
            "beyond the row": INVALID_VALUE => (w.array, 0, w.memory, 65);
            "beyond the memory": INVALID_VALUE => (w.array, 0, w.memory + 4090, 16);
            "no context" [bare]: INVALID_CONTEXT => (w.array, 0, w.memory, 16);
        }
        cuMemcpyAtoD_v2 {
            "a null array": INVALID_VALUE => (w.pooled, null_mut(), 0, 16);
            "a destroyed array" [undefined]: INVALID_VALUE => (w.pooled, w.destroyed_array, 0, 16);
            "freed": INVALID_VALUE => (w.freed, w.array, 0, 16);
            "nothing": INVALID_VALUE => (0, w.array, 0, 16);
            "beyond the row": INVALID_VALUE => (w.pooled, w.array, 0, 65);
            "no context" [bare]: INVALID_CONTEXT => (w.pooled, w.array, 0, 16);
        }
        cuMemcpyAtoA_v2 {
            "a null destination": INVALID_VALUE => (null_mut(), 0, w.array, 0, 8);
            "a null source": INVALID_VALUE => (w.array, 0, null_mut(), 0, 8);
            "a destroyed array" [undefined]: INVALID_VALUE => (w.destroyed_array, 0, w.array, 0, 8);
            "beyond the destination": INVALID_VALUE => (w.array, 60, w.array, 0, 8);
            "beyond the source": INVALID_VALUE => (w.array, 0, w.array, 60, 8);
            "no context" [bare]: INVALID_CONTEXT => (w.array, 0, w.array, 8, 8);
        }
    }
}

/// What a copy of a batch has beside its ends.
fn attributes() -> CUmemcpyAttributes {
    CUmemcpyAttributes {
        srcAccessOrder: CUmemcpySrcAccessOrder::CU_MEMCPY_SRC_ACCESS_ORDER_STREAM,
        srcLocHint: device(0),
        dstLocHint: device(0),
        flags: 0,
    }
}

fn of_batches() -> Vec<Row> {
    type Order = CUmemcpySrcAccessOrder;
    rows! { |w|
        cuMemcpyBatchAsync_v2 {
            "null destinations": INVALID_VALUE => (null_mut(), one(w.memory), one(16), 1, at(attributes()), one(0), 1, w.stream);
            "null sources": INVALID_VALUE => (one(w.pooled), null_mut(), one(16), 1, at(attributes()), one(0), 1, w.stream);
            "null sizes": INVALID_VALUE => (one(w.pooled), one(w.memory), null_mut(), 1, at(attributes()), one(0), 1, w.stream);
            "no copies": INVALID_VALUE => (one(w.pooled), one(w.memory), one(16), 0, at(attributes()), one(0), 1, w.stream);
            "null attributes": INVALID_VALUE => (one(w.pooled), one(w.memory), one(16), 1, null_mut(), one(0), 1, w.stream);
            "null indices": INVALID_VALUE => (one(w.pooled), one(w.memory), one(16), 1, at(attributes()), null_mut(), 1, w.stream);
            "no attributes": INVALID_VALUE => (one(w.pooled), one(w.memory), one(16), 1, at(attributes()), one(0), 0, w.stream);
            "more attributes than copies": INVALID_VALUE => (
                one(w.pooled), one(w.memory), one(16), 1, all([attributes(); 2]), all([0, 1]), 2, w.stream,
            );
            "attributes that do not begin with the first copy": INVALID_VALUE => (
                all([w.pooled, w.pooled + 16]), all([w.memory; 2]), all([16; 2]), 2, at(attributes()), one(1), 1, w.stream,
            );
            "attributes out of order": INVALID_VALUE => (
                all([w.pooled, w.pooled + 16]), all([w.memory; 2]), all([16; 2]), 2, all([attributes(); 2]), all([0, 0]), 2,
                w.stream,
            );
            "no order": INVALID_VALUE => (
                one(w.pooled), one(w.memory), one(16), 1, changed(attributes(), |a| a.srcAccessOrder = Order::CU_MEMCPY_SRC_ACCESS_ORDER_INVALID),
                one(0), 1, w.stream,
            );
            "an odd order": INVALID_VALUE => (
                one(w.pooled), one(w.memory), one(16), 1, changed(attributes(), |a| a.srcAccessOrder = CUmemcpySrcAccessOrder_enum(ODD)),
                one(0), 1, w.stream,
            );
            "odd flags": INVALID_VALUE => (
                one(w.pooled), one(w.memory), one(16), 1, changed(attributes(), |a| a.flags = ODD), one(0), 1, w.stream,
            );
            "beyond the source": INVALID_VALUE => (
                one(w.pooled), one(w.memory), one(BYTES + 1), 1, at(attributes()), one(0), 1, w.stream,
            );
            "the second one freed" [not_on_gpu(USES_FREED)]: INVALID_VALUE => (
                all([w.pooled, w.freed]), all([w.memory; 2]), all([16; 2]), 2, at(attributes()), one(0), 1, w.stream,
            );
            "to nothing": INVALID_VALUE => (one(0), one(w.memory), one(16), 1, at(attributes()), one(0), 1, w.stream);
            "in the default stream": INVALID_VALUE => (
                one(w.pooled), one(w.memory), one(16), 1, at(attributes()), one(0), 1, null_mut(),
            );
            "a destroyed stream" [undefined]: INVALID_HANDLE => (
                one(w.pooled), one(w.memory), one(16), 1, at(attributes()), one(0), 1, w.destroyed_stream,
            );
        }
        cuMemcpyBatchAsync {
            "null destinations": INVALID_VALUE => (
                null_mut(), one(w.memory), one(16), 1, at(attributes()), one(0), 1, out(), w.stream,
            );
            "no copies": INVALID_VALUE => (
                one(w.pooled), one(w.memory), one(16), 0, at(attributes()), one(0), 1, out(), w.stream,
            );
            "the second one freed" [not_on_gpu(USES_FREED)]: INVALID_VALUE => (
                all([w.pooled, w.freed]), all([w.memory; 2]), all([16; 2]), 2, at(attributes()), one(0), 1, out(), w.stream,
            );
            "the second one freed, and nobody asks which" [not_on_gpu(USES_FREED)]: INVALID_VALUE => (
                all([w.pooled, w.freed]), all([w.memory; 2]), all([16; 2]), 2, at(attributes()), one(0), 1, null_mut(), w.stream,
            );
        }
    }
}
