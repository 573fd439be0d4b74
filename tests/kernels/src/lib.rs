//! Kernels that the end-to-end tests launch.
#![no_std]
