//! The worked examples on memory of the CUDA C++ Programming Guide, written as a program of this library would be: chapter 10 (virtual
//! memory), 11 (stream-ordered allocation), 12 (memory of graphs) and 19 (unified memory).
//!
//! The library waits where the examples have to say so, so what happens without a wait is shown by driver calls (`driver/tests`).

mod foreign;
mod graphs;
mod hints;
mod pageable;
mod pools;
mod unified;
mod virtual_memory;
