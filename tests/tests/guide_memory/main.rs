//! Worked examples on memory of the CUDA C++ Programming Guide, written as a program of this library would be: chapters 11 (stream-ordered
//! allocation), 12 (memory of graphs) and 19 (unified memory).

mod graphs;
mod pools;
mod unified;
