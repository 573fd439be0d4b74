//! The cases, one file each: inputs, launch, and the same computation on the CPU.

mod nbody;
mod radix_histogram;
mod saxpy;
mod smith_waterman;
mod softmax_warp;

use warpsmith_suite::Case;

/// All cases, by name.
pub(crate) fn cases() -> &'static [Case] {
    static CASES: [Case; 5] = [
        nbody::CASE,
        radix_histogram::CASE,
        saxpy::CASE,
        smith_waterman::CASE,
        softmax_warp::CASE,
    ];
    &CASES
}

/// What the files of the cases use.
mod prelude {
    pub(super) use crate::problem::{below, case, draw, exactly, nearly, problem};
    pub(super) use anyhow::Result;
    pub(super) use warpsmith_host::prelude::*;
    pub(super) use warpsmith_natural as kernels;
    pub(super) use warpsmith_suite::case::Problem;
    pub(super) use warpsmith_suite::launch_pair;
    pub(super) use warpsmith_suite::session::Session;
}
