//! Managed memory: prefetches, advice, ranges, batches, attachment; and windows of the L2 cache.

use crate::common::*;
use crate::row::*;
use crate::world::{BYTES, NO_DEVICE, ODD, World, changed, device, location, one};

const ALL: usize = 16 * BYTES;
const PREFERRED: CUmem_advise = CUmem_advise::CU_MEM_ADVISE_SET_PREFERRED_LOCATION;
const READ_MOSTLY: CUmem_range_attribute =
    CUmem_range_attribute::CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY;
const ACCESSED_BY: CUmem_range_attribute =
    CUmem_range_attribute::CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY;
type Place = CUmemLocationType;

fn nowhere() -> CUmemLocation {
    location(Place::CU_MEM_LOCATION_TYPE_INVALID, 0)
}

pub fn rows() -> Vec<Row> {
    let mut rows = hints();
    rows.extend(ranges());
    rows.extend(batches());
    rows.extend(attachment());
    rows
}

/// Ranges that are no managed memory.
type Range = fn(&World) -> (CUdeviceptr, usize);
const BAD_RANGES: [(&str, Range); 7] = [
    ("nothing", |_| (0, BYTES)),
    ("no bytes", |w| (w.managed, 0)),
    ("beyond the end", |w| (w.managed, ALL + 1)),
    ("all bytes that there are", |w| (w.managed, usize::MAX)),
    ("freed", |w| (w.freed_managed, BYTES)),
    ("plain memory", |w| (w.memory, BYTES)),
    ("page-locked memory", |w| (w.pinned as CUdeviceptr, BYTES)),
];

fn hints() -> Vec<Row> {
    type Hint = fn(&World, CUdeviceptr, usize) -> CUresult;
    let hints: [(&str, Hint); 4] = [
        named!(cuMemPrefetchAsync, |w, p, n| (p, n, 0, w.stream)),
        named!(cuMemPrefetchAsync_v2, |w, p, n| (
            p,
            n,
            device(0),
            0,
            w.stream
        )),
        named!(cuMemAdvise, |_w, p, n| (p, n, PREFERRED, 0)),
        named!(cuMemAdvise_v2, |_w, p, n| (p, n, PREFERRED, device(0))),
    ];
    let mut rows = Vec::new();
    for (function, hint) in hints {
        for (case, range) in BAD_RANGES {
            let call = move |w: &World| {
                let (address, bytes) = range(w);
                hint(w, address, bytes)
            };
            // A real driver takes all addresses for a range; it refuses advice for them.
            let runs_away = function.contains("Prefetch") && case == "all bytes that there are";
            let row = Row::new(function, case, INVALID_VALUE, call);
            rows.push(row.not_on_gpu_if(runs_away, RUNS_AWAY));
        }
    }
    rows.extend(rows! { |w|
        cuMemPrefetchAsync {
            "no such device": INVALID_DEVICE => (w.managed, ALL, NO_DEVICE, w.stream);
            "a negative device": INVALID_DEVICE => (w.managed, ALL, -3, w.stream);
            "a destroyed stream" [undefined]: INVALID_HANDLE => (w.managed, ALL, 0, w.destroyed_stream);
            "no context" [bare]: INVALID_CONTEXT => (w.managed, ALL, 0, null_mut());
        }
        cuMemPrefetchAsync_v2 {
            "no such device": INVALID_DEVICE => (w.managed, ALL, device(NO_DEVICE), 0, w.stream);
            "no location": INVALID_VALUE => (w.managed, ALL, nowhere(), 0, w.stream);
            "an odd location": INVALID_VALUE => (w.managed, ALL, location(CUmemLocationType_enum(ODD), 0), 0, w.stream);
            "no such node": INVALID_VALUE => (w.managed, ALL, location(Place::CU_MEM_LOCATION_TYPE_HOST_NUMA, NO_DEVICE), 0, w.stream);
            "a flag": INVALID_VALUE => (w.managed, ALL, device(0), 1, w.stream);
            "a destroyed stream" [undefined]: INVALID_HANDLE => (w.managed, ALL, device(0), 0, w.destroyed_stream);
            "no context" [bare]: INVALID_CONTEXT => (w.managed, ALL, device(0), 0, null_mut());
        }
        cuMemAdvise {
            "no advice": INVALID_VALUE => (w.managed, ALL, CUmem_advise(0), 0);
            "an odd advice": INVALID_VALUE => (w.managed, ALL, CUmem_advise(ODD), 0);
            "no such device": INVALID_DEVICE => (w.managed, ALL, PREFERRED, NO_DEVICE);
            "no context" [bare]: INVALID_CONTEXT => (w.managed, ALL, PREFERRED, 0);
        }
        cuMemAdvise_v2 {
            "no advice": INVALID_VALUE => (w.managed, ALL, CUmem_advise(0), device(0));
            "an odd advice": INVALID_VALUE => (w.managed, ALL, CUmem_advise(ODD), device(0));
            "no such device": INVALID_VALUE => (w.managed, ALL, PREFERRED, device(NO_DEVICE));
            "no location": INVALID_VALUE => (w.managed, ALL, PREFERRED, nowhere());
            "no context" [bare]: INVALID_CONTEXT => (w.managed, ALL, PREFERRED, device(0));
        }
    });
    rows
}

fn ranges() -> Vec<Row> {
    let mut rows = Vec::new();
    for (case, range) in BAD_RANGES {
        let call = move |w: &World| {
            let (address, bytes) = range(w);
            // SAFETY: the result has its place.
            unsafe { cuMemRangeGetAttribute(out(), 4, READ_MOSTLY, address, bytes) }
        };
        let row = Row::new("cuMemRangeGetAttribute", case, INVALID_VALUE, call);
        rows.push(match case {
            "all bytes that there are" => row.gpu(OK),
            _ => row,
        });
    }
    rows.extend(rows! { |w|
        cuMemRangeGetAttribute {
            "null result": INVALID_VALUE => (null_mut(), 4, READ_MOSTLY, w.managed, ALL);
            "no room": INVALID_VALUE => (out(), 0, READ_MOSTLY, w.managed, ALL);
            "room of another size": INVALID_VALUE => (out(), 3, READ_MOSTLY, w.managed, ALL);
            "room for two": INVALID_VALUE => (out(), 8, READ_MOSTLY, w.managed, ALL);
            "room for no whole device": INVALID_VALUE => (out(), 5, ACCESSED_BY, w.managed, ALL);
            "no attribute": INVALID_VALUE => (out(), 4, CUmem_range_attribute(0), w.managed, ALL);
            "an odd attribute": INVALID_VALUE => (out(), 4, CUmem_range_attribute(ODD), w.managed, ALL);
            "no context" [bare]: INVALID_CONTEXT => (out(), 4, READ_MOSTLY, w.managed, ALL);
        }
        cuMemRangeGetAttributes {
            "null results": INVALID_VALUE => (null_mut(), one(4), one(READ_MOSTLY), 1, w.managed, ALL);
            "null sizes": INVALID_VALUE => (one(out()), null_mut(), one(READ_MOSTLY), 1, w.managed, ALL);
            "null attributes": INVALID_VALUE => (one(out()), one(4), null_mut(), 1, w.managed, ALL);
            "a null result": INVALID_VALUE => (one(null_mut()), one(4), one(READ_MOSTLY), 1, w.managed, ALL);
            "an odd attribute": INVALID_VALUE => (one(out()), one(4), one(CUmem_range_attribute(ODD)), 1, w.managed, ALL);
            "freed": INVALID_VALUE => (one(out()), one(4), one(READ_MOSTLY), 1, w.freed_managed, BYTES);
            "no context" [bare]: INVALID_CONTEXT => (one(out()), one(4), one(READ_MOSTLY), 1, w.managed, ALL);
        }
    });
    rows
}

fn batches() -> Vec<Row> {
    rows! { |w|
        cuMemPrefetchBatchAsync {
            "null addresses": INVALID_VALUE => (null_mut(), one(BYTES), 1, one(device(0)), one(0), 1, 0, w.stream);
            "null sizes": INVALID_VALUE => (one(w.managed), null_mut(), 1, one(device(0)), one(0), 1, 0, w.stream);
            "no ranges": INVALID_VALUE => (one(w.managed), one(BYTES), 0, one(device(0)), one(0), 1, 0, w.stream);
            "null locations": INVALID_VALUE => (one(w.managed), one(BYTES), 1, null_mut(), one(0), 1, 0, w.stream);
            "null indices": INVALID_VALUE => (one(w.managed), one(BYTES), 1, one(device(0)), null_mut(), 1, 0, w.stream);
            "no locations": INVALID_VALUE => (one(w.managed), one(BYTES), 1, one(device(0)), one(0), 0, 0, w.stream);
            "more locations than ranges": INVALID_VALUE => (
                one(w.managed), one(BYTES), 1, all([device(0); 2]), all([0, 1]), 2, 0, w.stream,
            );
            "locations that do not begin with the first range": INVALID_VALUE => (
                all([w.managed; 2]), all([BYTES; 2]), 2, one(device(0)), one(1), 1, 0, w.stream,
            );
            "no such device": INVALID_VALUE => (one(w.managed), one(BYTES), 1, one(device(NO_DEVICE)), one(0), 1, 0, w.stream);
            "no location": INVALID_VALUE => (one(w.managed), one(BYTES), 1, one(nowhere()), one(0), 1, 0, w.stream);
            "a flag": INVALID_VALUE => (one(w.managed), one(BYTES), 1, one(device(0)), one(0), 1, 1, w.stream);
            "plain memory": INVALID_VALUE => (one(w.memory), one(BYTES), 1, one(device(0)), one(0), 1, 0, w.stream);
            "the second one freed": INVALID_VALUE => (
                all([w.managed, w.freed_managed]), all([BYTES; 2]), 2, one(device(0)), one(0), 1, 0, w.stream,
            );
            "beyond the end": INVALID_VALUE => (one(w.managed), one(ALL + 1), 1, one(device(0)), one(0), 1, 0, w.stream);
            "in the default stream": INVALID_VALUE => (
                one(w.managed), one(BYTES), 1, one(device(0)), one(0), 1, 0, null_mut(),
            );
            "a destroyed stream" [undefined]: INVALID_HANDLE => (
                one(w.managed), one(BYTES), 1, one(device(0)), one(0), 1, 0, w.destroyed_stream,
            );
        }
        cuMemDiscardBatchAsync {
            "null addresses": INVALID_VALUE => (null_mut(), one(BYTES), 1, 0, w.stream);
            "null sizes": INVALID_VALUE => (one(w.managed), null_mut(), 1, 0, w.stream);
            "no ranges": INVALID_VALUE => (one(w.managed), one(BYTES), 0, 0, w.stream);
            "a flag": INVALID_VALUE => (one(w.managed), one(BYTES), 1, 1, w.stream);
            "plain memory": INVALID_VALUE => (one(w.memory), one(BYTES), 1, 0, w.stream);
            "the second one freed": INVALID_VALUE => (all([w.managed, w.freed_managed]), all([BYTES; 2]), 2, 0, w.stream);
            "beyond the end": INVALID_VALUE => (one(w.managed), one(ALL + 1), 1, 0, w.stream);
            "ranges that overlap" [undefined, says("overlap")]: INVALID_VALUE => (
                all([w.managed, w.managed + 4096]), all([2 * BYTES; 2]), 2, 0, w.stream,
            );
            "in the default stream": INVALID_VALUE => (one(w.managed), one(BYTES), 1, 0, null_mut());
            "a destroyed stream" [undefined]: INVALID_HANDLE => (one(w.managed), one(BYTES), 1, 0, w.destroyed_stream);
        }
        cuMemDiscardAndPrefetchBatchAsync {
            "null addresses": INVALID_VALUE => (null_mut(), one(BYTES), 1, one(device(0)), one(0), 1, 0, w.stream);
            "no ranges": INVALID_VALUE => (one(w.managed), one(BYTES), 0, one(device(0)), one(0), 1, 0, w.stream);
            "null locations": INVALID_VALUE => (one(w.managed), one(BYTES), 1, null_mut(), one(0), 1, 0, w.stream);
            "no such device": INVALID_VALUE => (one(w.managed), one(BYTES), 1, one(device(NO_DEVICE)), one(0), 1, 0, w.stream);
            "a flag": INVALID_VALUE => (one(w.managed), one(BYTES), 1, one(device(0)), one(0), 1, 1, w.stream);
            "plain memory": INVALID_VALUE => (one(w.memory), one(BYTES), 1, one(device(0)), one(0), 1, 0, w.stream);
            "ranges that overlap" [undefined, says("overlap")]: INVALID_VALUE => (
                all([w.managed, w.managed + 4096]), all([2 * BYTES; 2]), 2, one(device(0)), one(0), 1, 0, w.stream,
            );
            "in the default stream": INVALID_VALUE => (
                one(w.managed), one(BYTES), 1, one(device(0)), one(0), 1, 0, null_mut(),
            );
        }
    }
}

/// A window on the world's memory.
fn window(w: &World) -> CUstreamAttrValue {
    let mut value = CUstreamAttrValue::default();
    value.accessPolicyWindow = CUaccessPolicyWindow {
        base_ptr: w.memory as *mut c_void,
        num_bytes: BYTES,
        hitRatio: 1.0,
        hitProp: CUaccessProperty::CU_ACCESS_PROPERTY_PERSISTING,
        missProp: CUaccessProperty::CU_ACCESS_PROPERTY_STREAMING,
    };
    value
}

fn attachment() -> Vec<Row> {
    const WINDOW: CUstreamAttrID = CUstreamAttrID::CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW;
    rows! { |w|
        cuStreamAttachMemAsync {
            "nothing": INVALID_VALUE => (w.stream, 0, 0, 4);
            "plain memory": INVALID_VALUE => (w.stream, w.memory, 0, 4);
            "freed": INVALID_VALUE => (w.stream, w.freed_managed, 0, 4);
            "inside of an allocation": INVALID_VALUE => (w.stream, w.managed + 4096, 0, 4);
            "a part": INVALID_VALUE => (w.stream, w.managed, BYTES, 4);
            "beyond the end": INVALID_VALUE => (w.stream, w.managed, ALL + 1, 4);
            "no flag" [not_on_gpu(ENDS_PROCESS)]: INVALID_VALUE => (w.stream, w.managed, 0, 0);
            "two flags": INVALID_VALUE => (w.stream, w.managed, 0, 3);
            "odd flags": INVALID_VALUE => (w.stream, w.managed, 0, ODD);
            "to the default stream alone": INVALID_VALUE => (null_mut(), w.managed, 0, 4);
            "a destroyed stream" [undefined]: INVALID_HANDLE => (w.destroyed_stream, w.managed, 0, 4);
            "no context" [bare]: INVALID_CONTEXT => (null_mut(), w.managed, 0, 1);
        }
        cuStreamSetAttribute {
            "a null window" [not_on_gpu(ENDS_PROCESS)]: INVALID_VALUE => (w.stream, WINDOW, null());
            "a window larger than the device has": INVALID_VALUE => (
                w.stream, WINDOW, changed(window(w), |v| v.accessPolicyWindow.num_bytes = 1 << 40),
            );
            "a share of more than all": INVALID_VALUE => (
                w.stream, WINDOW, changed(window(w), |v| v.accessPolicyWindow.hitRatio = 1.5),
            );
            "a negative share": INVALID_VALUE => (
                w.stream, WINDOW, changed(window(w), |v| v.accessPolicyWindow.hitRatio = -0.5),
            );
            "misses that persist": INVALID_VALUE => (
                w.stream, WINDOW,
                changed(window(w), |v| v.accessPolicyWindow.missProp = CUaccessProperty::CU_ACCESS_PROPERTY_PERSISTING),
            );
        }
        cuCtxResetPersistingL2Cache {
            "no context" [bare]: INVALID_CONTEXT => ();
        }
        cuFlushGPUDirectRDMAWrites {
            "an odd target" [gpu(INVALID_VALUE)]: NOT_SUPPORTED => (
                CUflushGPUDirectRDMAWritesTarget_enum(ODD),
                CUflushGPUDirectRDMAWritesScope::CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER,
            );
        }
    }
}
