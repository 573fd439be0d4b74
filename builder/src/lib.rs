//! Compiles a kernel crate to PTX with stock rustc and a PTX linker over rustc's own LLVM.
