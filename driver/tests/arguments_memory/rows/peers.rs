//! Copies between contexts, and memory of another device.

use crate::common::*;
use crate::row::*;
use crate::world::{BYTES, NOWHERE, ODD, World, changed};

const DEVICE: CUmemorytype = CUmemorytype::CU_MEMORYTYPE_DEVICE;

/// A row of 16 bytes from one context's memory to another's.
fn deep(w: &World) -> CUDA_MEMCPY3D_PEER {
    CUDA_MEMCPY3D_PEER {
        srcMemoryType: DEVICE,
        srcDevice: w.memory,
        srcContext: w.context,
        srcPitch: 64,
        srcHeight: 4,
        dstMemoryType: DEVICE,
        dstDevice: w.pooled,
        dstContext: w.other,
        dstPitch: 64,
        dstHeight: 4,
        WidthInBytes: 16,
        Height: 2,
        Depth: 2,
        ..Default::default()
    }
}

pub fn rows() -> Vec<Row> {
    let mut rows = copies();
    rows.extend(across());
    rows
}

fn copies() -> Vec<Row> {
    type Peer = fn(&World, [CUdeviceptr; 2], [CUcontext; 2], usize) -> CUresult;
    let peers: [(&str, Peer); 2] = [
        named!(cuMemcpyPeer, |_w, [to, from], [there, here], n| (
            to, there, from, here, n
        )),
        named!(cuMemcpyPeerAsync, |w, [to, from], [there, here], n| (
            to, there, from, here, n, w.stream
        )),
    ];
    type Arguments = fn(&World) -> ([CUdeviceptr; 2], usize);
    let bad: [(&str, Arguments); 8] = [
        ("to nothing", |w| ([0, w.memory], 16)),
        ("from nothing", |w| ([w.pooled, 0], 16)),
        ("to freed memory", |w| ([w.freed, w.memory], 16)),
        ("from freed memory", |w| ([w.pooled, w.freed], 16)),
        ("from nowhere", |w| ([w.pooled, NOWHERE], 16)),
        ("beyond the end", |w| ([w.pooled, w.memory], BYTES + 1)),
        ("all bytes that there are", |w| {
            ([w.pooled, w.memory], usize::MAX)
        }),
        ("from memory of a destroyed context", |w| {
            ([w.pooled, w.orphaned], 16)
        }),
    ];
    let mut rows = Vec::new();
    for (function, peer) in peers {
        for (case, arguments) in bad {
            let call = move |w: &World| {
                let (ends, bytes) = arguments(w);
                peer(w, ends, [w.context, w.other], bytes)
            };
            rows.push(Row::new(function, case, INVALID_VALUE, call));
        }
        let to = move |w: &World| {
            peer(
                w,
                [w.pooled, w.memory],
                [w.destroyed_context, w.context],
                16,
            )
        };
        let from = move |w: &World| {
            peer(
                w,
                [w.pooled, w.memory],
                [w.context, w.destroyed_context],
                16,
            )
        };
        let other = move |w: &World| peer(w, [w.pooled, w.memory], [w.array.cast(), w.context], 16);
        rows.push(Row::new(function, "to a destroyed context", INVALID_CONTEXT, to).undefined());
        rows.push(
            Row::new(function, "from a destroyed context", INVALID_CONTEXT, from).undefined(),
        );
        rows.push(Row::new(function, "another kind of handle", INVALID_CONTEXT, other).undefined());
    }
    rows.extend(rows! { |w|
        cuMemcpyPeerAsync {
            "a destroyed stream" [undefined]: INVALID_HANDLE => (
                w.pooled, w.context, w.memory, w.context, 16, w.destroyed_stream,
            );
        }
        cuMemcpy3DPeer {
            "null" [not_on_gpu(ENDS_PROCESS)]: INVALID_VALUE => (null());
            "an odd type of memory": INVALID_VALUE => (changed(deep(w), |c| c.dstMemoryType = CUmemorytype_enum(ODD)));
            "from nothing": INVALID_VALUE => (changed(deep(w), |c| c.srcDevice = 0));
            "to freed memory": INVALID_VALUE => (changed(deep(w), |c| c.dstDevice = w.freed));
            "slices beyond the end": INVALID_VALUE => (changed(deep(w), |c| c.Depth = BYTES / 256 + 1));
            "rows that overlap": INVALID_VALUE => (changed(deep(w), |c| c.srcPitch = 15));
            "slices that overflow" [not_on_gpu(RUNS_AWAY)]: INVALID_VALUE => (changed(deep(w), |c| c.srcZ = usize::MAX));
            "a destroyed context" [undefined]: INVALID_CONTEXT => (changed(deep(w), |c| c.dstContext = w.destroyed_context));
        }
        cuMemcpy3DPeerAsync {
            "null" [not_on_gpu(ENDS_PROCESS)]: INVALID_VALUE => (null(), w.stream);
            "from nothing": INVALID_VALUE => (changed(deep(w), |c| c.srcDevice = 0), w.stream);
            "to freed memory": INVALID_VALUE => (changed(deep(w), |c| c.dstDevice = w.freed), w.stream);
            "rows that overlap": INVALID_VALUE => (changed(deep(w), |c| c.srcPitch = 15), w.stream);
            "a destroyed context" [undefined]: INVALID_CONTEXT => (
                changed(deep(w), |c| c.srcContext = w.destroyed_context), w.stream,
            );
            "a destroyed stream" [undefined]: INVALID_HANDLE => (at(deep(w)), w.destroyed_stream);
        }
    });
    rows
}

/// Memory of one device where another one's is expected.
fn across() -> Vec<Row> {
    rows! { |w|
        cuMemFree_v2 {
            "inside of another device's memory" [two_devices]: INVALID_VALUE => (w.there().memory + 16);
        }
        cuMemFreeAsync {
            "inside of another device's memory" [two_devices]: INVALID_VALUE => (w.there().memory + 16, w.stream);
        }
        cuMemcpyDtoD_v2 {
            "beyond the end of another device's memory" [two_devices]: INVALID_VALUE => (w.there().memory, w.memory, BYTES + 1);
        }
        cuMemcpyPeer {
            "beyond the end of another device's memory" [two_devices]: INVALID_VALUE => (
                w.there().memory, w.there().context, w.memory, w.context, BYTES + 1,
            );
        }
        cuMemcpyHtoA_v2 {
            "beyond the row of another device's array" [two_devices]: INVALID_VALUE => (w.there().array, 0, w.host, 65);
        }
        cuMemsetD8Async {
            "beyond the end of another device's memory" [two_devices]: INVALID_VALUE => (
                w.there().memory, 1, BYTES + 1, w.there().stream,
            );
        }
    }
}
