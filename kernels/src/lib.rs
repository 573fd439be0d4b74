//! The reference suite's kernels.
#![no_std]
