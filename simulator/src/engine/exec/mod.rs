//! Execution: warps of 32 lanes with divergence ([`warp`], [`schedule`], [`frame`]), blocks and clusters with their
//! barriers ([`block`]).

pub(crate) mod block;
pub(crate) mod frame;
pub(crate) mod isa;
pub(crate) mod lanes;
pub(crate) mod schedule;
pub(crate) mod warp;
pub(crate) mod windows;
