//! The library that kernels are written with: threads, warps, shared memory, barriers, atomics, matrix units.
#![no_std]
