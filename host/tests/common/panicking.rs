//! Kernels by hand that panic as those of the device library do, in PTX that is signed.

use warpsmith_host::prelude::*;
use warpsmith_signature::{Kernel, Signature};
use warpsmith_testkit::panicking_entry;

/// `first` and `second` are the same but for their names.
pub const NAMES: [&str; 2] = ["first", "second"];

/// Panics in every thread of block 1 whose number is odd, at this line, unless that is 0; the line is in memory.
pub type Panicking = UntypedKernel<(In<u32>,)>;

/// Panics as [`Panicking`], at a line that is an argument.
pub type PanickingAt = UntypedKernel<(Value<u32>,)>;

pub struct Kernels {
    pub first: Panicking,
    pub second: Panicking,
    pub at: PanickingAt,
}

/// Loads a module of its own.
pub fn kernels(gpu: &Gpu) -> Kernels {
    let module = gpu.load(&ptx()).unwrap_or_else(|error| panic!("{error}"));
    let kernel = |name| module.untyped_kernel(name).expect("the kernel");
    Kernels {
        first: kernel(NAMES[0]),
        second: kernel(NAMES[1]),
        at: module.untyped_kernel("at").expect("the kernel"),
    }
}

/// Launches one with two blocks.
pub fn launch(stream: &Stream, kernel: &Panicking, line: &DeviceBuffer<u32>) {
    // SAFETY: the entry reads one word of a slice.
    unsafe { stream.launch_untyped(kernel, Grid::new(2, 32), (line,)) }.expect("a launch");
}

/// Launches `at`.
pub fn launch_at(stream: &Stream, kernels: &Kernels, line: u32) {
    // SAFETY: the entry takes a number.
    unsafe { stream.launch_untyped(&kernels.at, Grid::new(2, 32), (line,)) }.expect("a launch");
}

pub fn ptx() -> String {
    let in_memory = "ld.param.u64 %a, [line]; ld.global.u32 %line, [%a];";
    let mut text = String::from(".version 7.8\n.target sm_70\n.address_size 64\n");
    for name in NAMES {
        text += &panicking_entry(name, ".param .u64 line, .param .u64 length", in_memory);
    }
    text += &panicking_entry("at", ".param .u32 line", "ld.param.u32 %line, [line];");
    let kernel = |name: &str| Kernel {
        name: name.into(),
        record: vec![],
        takes_launch: true,
        ..Kernel::default()
    };
    let signature = Signature {
        kernels: NAMES.into_iter().chain(["at"]).map(kernel).collect(),
        ..Signature::default()
    };
    // SAFETY: the entries have the launch's parameters, and no records by which a safe launch could be made.
    unsafe { warpsmith_signature::sign(&text, &signature) }
}
