//! The macros of the device library: `#[kernel]`, `shared!`, `gpu_println!`.
