//! Fills of one and two dimensions.

use crate::common::*;
use crate::row::*;
use crate::world::{BYTES, NOWHERE, World};

/// A fill of so many elements.
type Flat = fn(&World, CUdeviceptr, usize) -> CUresult;
/// A fill of a pitch, a width and a height.
type Rows = fn(&World, CUdeviceptr, [usize; 3]) -> CUresult;

pub fn rows() -> Vec<Row> {
    let flat: [((&str, Flat), usize, bool); 6] = [
        (named!(cuMemsetD8_v2, |_w, to, n| (to, 1, n)), 1, false),
        (
            named!(cuMemsetD8Async, |w, to, n| (to, 1, n, w.stream)),
            1,
            true,
        ),
        (named!(cuMemsetD16_v2, |_w, to, n| (to, 1, n)), 2, false),
        (
            named!(cuMemsetD16Async, |w, to, n| (to, 1, n, w.stream)),
            2,
            true,
        ),
        (named!(cuMemsetD32_v2, |_w, to, n| (to, 1, n)), 4, false),
        (
            named!(cuMemsetD32Async, |w, to, n| (to, 1, n, w.stream)),
            4,
            true,
        ),
    ];
    let in_rows: [((&str, Rows), usize, bool); 6] = [
        (
            named!(cuMemsetD2D8_v2, |_w, to, [p, x, y]| (to, p, 1, x, y)),
            1,
            false,
        ),
        (
            named!(cuMemsetD2D8Async, |w, to, [p, x, y]| (
                to, p, 1, x, y, w.stream
            )),
            1,
            true,
        ),
        (
            named!(cuMemsetD2D16_v2, |_w, to, [p, x, y]| (to, p, 1, x, y)),
            2,
            false,
        ),
        (
            named!(cuMemsetD2D16Async, |w, to, [p, x, y]| (
                to, p, 1, x, y, w.stream
            )),
            2,
            true,
        ),
        (
            named!(cuMemsetD2D32_v2, |_w, to, [p, x, y]| (to, p, 1, x, y)),
            4,
            false,
        ),
        (
            named!(cuMemsetD2D32Async, |w, to, [p, x, y]| (
                to, p, 1, x, y, w.stream
            )),
            4,
            true,
        ),
    ];
    let mut rows = Vec::new();
    for ((function, fill), element, in_stream) in flat {
        rows.extend(flat_rows(function, fill, element, in_stream));
    }
    for ((function, fill), element, in_stream) in in_rows {
        rows.extend(pitched_rows(function, fill, element, in_stream));
    }
    rows.extend(in_streams());
    rows
}

fn flat_rows(function: &'static str, fill: Flat, element: usize, in_stream: bool) -> Vec<Row> {
    type Address = fn(&World) -> CUdeviceptr;
    let bad: [(&str, Address, usize); 11] = [
        ("nothing", |_| 0, 4),
        ("freed", |w| w.freed, 4),
        ("pooled and freed", |w| w.freed_pooled, 4),
        ("nowhere", |_| NOWHERE, 4),
        ("pageable memory", |w| w.host_address(), 4),
        (
            "one element beyond the end",
            |w| w.memory,
            BYTES / element + 1,
        ),
        ("behind the end", |w| w.memory + BYTES as u64, 1),
        ("all bytes that there are", |w| w.memory, usize::MAX),
        ("a size that overflows", |w| w.memory, (1 << 63) + 1),
        ("reserved addresses", |w| w.range + (2 << 20), 4),
        ("of a destroyed context", |w| w.orphaned, 4),
    ];
    let mut rows = Vec::new();
    for (case, address, count) in bad {
        let call = move |w: &World| fill(w, address(w), count);
        // A real driver multiplies without a look at what is lost, and does not remember what was there.
        let runs_away =
            case == "all bytes that there are" || (case == "a size that overflows" && element > 1);
        rows.push(
            Row::new(function, case, INVALID_VALUE, call)
                .not_on_gpu_if(runs_away, RUNS_AWAY)
                .not_on_gpu_if(case == "of a destroyed context", USES_FREED),
        );
    }
    if element > 1 {
        let misaligned = move |w: &World| fill(w, w.pooled + element as u64 / 2, 1);
        rows.push(Row::new(function, "misaligned", INVALID_VALUE, misaligned));
    }
    let nothing = move |w: &World| fill(w, w.pooled, 0);
    rows.push(Row::new(function, "no elements", OK, nothing));
    if !in_stream {
        let bare = move |w: &World| fill(w, w.pooled, 4);
        rows.push(Row::new(function, "no context", INVALID_CONTEXT, bare).bare());
    }
    rows
}

fn pitched_rows(function: &'static str, fill: Rows, element: usize, in_stream: bool) -> Vec<Row> {
    type Address = fn(&World) -> CUdeviceptr;
    let bad: [(&str, Address, [usize; 3]); 9] = [
        ("nothing", |_| 0, [64, 4, 2]),
        ("freed", |w| w.freed, [64, 4, 2]),
        ("pageable memory", |w| w.host_address(), [64, 4, 2]),
        ("rows beyond the end", |w| w.memory, [64, 4, BYTES / 64 + 1]),
        ("rows that overlap", |w| w.pooled, [4, 8, 2]),
        ("a pitch that overflows", |w| w.pooled, [1 << 63, 4, 3]),
        ("a width that overflows", |w| w.pooled, [64, usize::MAX, 2]),
        ("a height that overflows", |w| w.pooled, [64, 4, usize::MAX]),
        ("of a destroyed context", |w| w.orphaned, [64, 4, 2]),
    ];
    let mut rows = Vec::new();
    for (case, address, sizes) in bad {
        let call = move |w: &World| fill(w, address(w), sizes);
        // As with flat ones; a fill of too great a height does not return.
        let runs_away = matches!(case, "a pitch that overflows" | "a height that overflows");
        rows.push(
            Row::new(function, case, INVALID_VALUE, call)
                .not_on_gpu_if(runs_away, RUNS_AWAY)
                .not_on_gpu_if(case == "of a destroyed context", USES_FREED),
        );
    }
    if element > 1 {
        let misaligned = move |w: &World| fill(w, w.pooled + element as u64 / 2, [64, 4, 2]);
        rows.push(Row::new(function, "misaligned", INVALID_VALUE, misaligned));
        let pitch = move |w: &World| fill(w, w.pooled, [64 + element / 2, 4, 2]);
        rows.push(Row::new(
            function,
            "a misaligned pitch",
            INVALID_VALUE,
            pitch,
        ));
    }
    for (case, sizes) in [("no width", [64, 0, 2]), ("no height", [64, 4, 0])] {
        let call = move |w: &World| fill(w, w.pooled, sizes);
        rows.push(Row::new(function, case, OK, call));
    }
    if !in_stream {
        let bare = move |w: &World| fill(w, w.pooled, [64, 4, 2]);
        rows.push(Row::new(function, "no context", INVALID_CONTEXT, bare).bare());
    }
    rows
}

fn in_streams() -> Vec<Row> {
    rows! { |w|
        cuMemsetD8Async {
            "a destroyed stream" [undefined]: INVALID_HANDLE => (w.pooled, 1, 4, w.destroyed_stream);
            "another kind of handle" [undefined]: INVALID_HANDLE => (w.pooled, 1, 4, w.array.cast());
            "no context" [bare]: INVALID_CONTEXT => (w.pooled, 1, 4, null_mut());
        }
        cuMemsetD2D32Async {
            "a destroyed stream" [undefined]: INVALID_HANDLE => (w.pooled, 64, 1, 4, 2, w.destroyed_stream);
            "no context" [bare]: INVALID_CONTEXT => (w.pooled, 64, 1, 4, 2, null_mut());
        }
    }
}
