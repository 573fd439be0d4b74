//! Pieces of work and sections of the program as spans of the `tracing` crate.

use tracing::level_filters::LevelFilter;
use tracing::{Span, debug_span, info_span};

use super::track::NameOfTrack;
use super::work::{Sizes, Work};
use crate::context::choice::DeviceChoice;

/// By which subscribers pick the spans of this crate.
const TARGET: &str = "warpsmith";

/// Whether a subscriber may take spans of work.
#[inline(always)]
pub(super) fn are_taken() -> bool {
    LevelFilter::current() >= LevelFilter::DEBUG
}

/// A span's name is one of a few that a program has; what the work is called is the field `name`.
pub(super) fn of_work(device: DeviceChoice, track: u64, work: &Work<'_>) -> Span {
    let Work {
        name,
        category,
        sizes,
        ..
    } = work;
    let (name, track) = (&**name, NameOfTrack(track));
    macro_rules! span {
        ($kind:literal, $($sizes:tt)*) => {
            debug_span!(target: TARGET, $kind, name, %device, %track, $($sizes)*)
        };
    }
    match (sizes, *category) {
        (
            Sizes::Kernel {
                grid,
                block,
                cluster,
                dynamic_shared_bytes,
            },
            _,
        ) => span!(
            "kernel",
            ?grid,
            ?block,
            cluster = cluster.as_ref().map(tracing::field::debug),
            dynamic_shared_bytes
        ),
        (Sizes::Graph { kernels }, _) => span!("graph", kernels),
        (Sizes::Bytes { bytes }, "copy") => span!("copy", bytes),
        (Sizes::Bytes { bytes }, "set") => span!("set", bytes),
        (Sizes::Bytes { bytes }, "memory") => span!("memory", bytes),
        (Sizes::Bytes { bytes }, _) => span!("library", bytes),
        (Sizes::None {}, _) => of_section(name),
    }
}

/// Programs name their sections themselves.
pub(super) fn of_section(name: &str) -> Span {
    info_span!(target: TARGET, "section", name)
}
