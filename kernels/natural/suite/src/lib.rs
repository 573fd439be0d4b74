//! The host side of the natural kernels: for each pair of `kernels/natural` a problem and a CPU oracle; and the report of the benchmark that
//! holds ours against nvcc's.

mod cases;
mod problem;
mod report;

pub use report::{Report, Row};

use warpsmith_suite::{Set, twins};

/// The natural kernels.
pub static NATURAL: Set = Set {
    name: "natural",
    ptx: include_str!(concat!(env!("OUT_DIR"), "/natural.ptx")),
    cases: cases::cases,
    twins: twins::Source {
        within: "natural",
        tree: concat!(env!("CARGO_MANIFEST_DIR"), "/../twins"),
    },
    bench: |gpu, options, progress| Report::measure(gpu, options, progress)?.written(),
};
