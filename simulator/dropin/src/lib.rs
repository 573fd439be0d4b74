//! The simulator as a drop-in `libcuda.so.1`.
