//! What the workspace's tests repeat: child processes with a time limit ([`process`]), random data ([`Random`]), the head of a
//! PTX module ([`ptx!`]), kernels that panic ([`panicking_entry`]), the simulator as a program's driver ([`dropin`]), the language of file tests
//! ([`file_test`]), kernels with products of matrices ([`wgmma`]), what an observer writes down ([`Lines`]), foreign programs and the libraries
//! that they load ([`foreign`]), sizes where Miri interprets tests ([`cases`], [`stride`]).
//!
//! Every crate may have this one as a development dependency; it knows none of them.

pub mod dropin;
pub mod file_test;
pub mod foreign;
mod interpreted;
mod lines;
mod panicking;
pub mod process;
mod ptx;
mod random;
pub mod wgmma;

pub use interpreted::{cases, stride};
pub use lines::Lines;
pub use panicking::panicking_entry;
pub use process::{Side, own_process};
pub use random::Random;
