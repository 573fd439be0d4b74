//! What the workspace's tests repeat: child processes with a time limit ([`process`]), random data ([`Random`]), the head of a
//! PTX module ([`ptx!`]), kernels with products of matrices ([`wgmma`]).
//!
//! Every crate may have this one as a development dependency; it knows none of them.

pub mod process;
mod ptx;
mod random;
pub mod wgmma;

pub use process::{Side, own_process};
pub use random::Random;
