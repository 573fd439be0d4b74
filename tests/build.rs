//! Builds the test kernels to PTX, once for each architecture that some intrinsic came with.

use std::path::Path;

use warpsmith_builder::toolchain::Toolchain;
use warpsmith_builder::{Arch, CudaBuilder};

fn main() {
    let out = std::env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    for arch in [Arch::Sm70, Arch::Sm80, Arch::Sm90] {
        let target = Path::new(&out).join(format!("{}.ptx", arch.name()));
        if let Err(error) = CudaBuilder::new("kernels")
            .arch(arch)
            .copy_to(target)
            .build()
        {
            eprintln!("{error}");
            std::process::exit(1);
        }
    }
    // What the snapshots are of.
    let llvm = Toolchain::find().ok().and_then(|t| t.llvm_major());
    println!(
        "cargo::rustc-env=WARPSMITH_TESTS_LLVM={}",
        llvm.unwrap_or_default()
    );
}
