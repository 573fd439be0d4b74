//! Records what a GPU's arithmetic answers, and compares a device with what was recorded.
//!
//! For each instruction that computes on registers alone, and for additions in memory, there is a [`program`](program::Program): a kernel, its input bytes, which follow
//! from a seed, and the number of bytes it writes. [`device`] runs programs through the driver's interface, on a GPU or on the
//! simulator; [`recording`] keeps what they wrote, compressed; [`compare`] says where a device answers something else. The files
//! under `data` were written on the GPU that each names.
//!
//! What programs there are follows from the instruction tables ([`variants`]); [`lanewise`], [`carry`], [`atomic`],
//! [`matrix`], [`wmma`], [`warpgroup`] and [`sweep`] make them.

pub mod atomic;
pub mod bounds;
pub mod carry;
pub mod compare;
pub mod deviations;
pub mod device;
pub mod families;
pub mod floats;
pub mod lanewise;
pub mod matrix;
pub mod program;
pub mod recording;
pub mod sweep;
pub mod values;
pub mod variants;
pub mod warpgroup;
pub mod wmma;
