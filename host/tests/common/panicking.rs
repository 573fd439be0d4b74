//! Kernels by hand that panic as those of the device library do, in PTX that is signed.

use warpsmith_host::prelude::*;
use warpsmith_signature::{Kernel, Signature};

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
        text += &entry(name, ".param .u64 line, .param .u64 length", in_memory);
    }
    text += &entry("at", ".param .u32 line", "ld.param.u32 %line, [line];");
    let kernel = |name: &str| Kernel {
        name: name.into(),
        record: vec![],
        takes_launch: true,
        variables: vec![],
    };
    let signature = Signature {
        kernels: NAMES.into_iter().chain(["at"]).map(kernel).collect(),
        variables: vec![],
    };
    // SAFETY: the entries have the launch's parameters, and no records by which a safe launch could be made.
    unsafe { warpsmith_signature::sign(&text, &signature) }
}

fn entry(name: &str, parameters: &str, load_line: &str) -> String {
    format!(
        "
.visible .entry {name}({parameters}, .param .u64 log, .param .u64 launch)
{{
    .reg .pred %p;
    .reg .b32 %line, %t, %v;
    .reg .b64 %a, %log, %id, %g, %r, %end, %old;
    {load_line}
    setp.eq.u32 %p, %line, 0;
    @%p bra end;
    mov.u32 %v, %ctaid.x;
    setp.ne.u32 %p, %v, 1;
    @%p bra end;
    mov.u32 %t, %tid.x;
    and.b32 %v, %t, 1;
    setp.eq.u32 %p, %v, 0;
    @%p bra end;
    ld.param.u64 %log, [log];
    setp.eq.u64 %p, %log, 0;
    @%p bra end;
    ld.volatile.u32 %v, [%log];
    cvt.u64.u32 %g, %v;
    shl.b64 %g, %g, 24;
    ld.param.u64 %id, [launch];
    or.b64 %id, %id, %g;
    add.u64 %r, %log, 24;
    add.u64 %end, %log, 3416;
again:
    atom.acq_rel.sys.cas.b64 %old, [%r], 0, %id;
    setp.eq.u64 %p, %old, 0;
    @%p bra claimed;
    setp.eq.u64 %p, %old, %id;
    @%p bra end;
    add.u64 %r, %r, 848;
    setp.ne.u64 %p, %r, %end;
    @%p bra again;
    atom.acq_rel.sys.cas.b64 %old, [%log+8], 0, %id;
    red.relaxed.sys.max.u64 [%log+16], %id;
    fence.acq_rel.sys;
    bra end;
claimed:
    st.u32 [%r+16], 1;      // block.x
    st.u32 [%r+28], %t;     // thread.x
    mov.u32 %v, %nctaid.x;
    st.u32 [%r+40], %v;
    mov.u32 %v, %ntid.x;
    st.u32 [%r+52], %v;
    st.u32 [%r+64], %line;
    st.u32 [%r+68], 5;      // column
    st.u32 [%r+72], 4;      // \"k.rs\"
    st.u32 [%r+76], 4;      // \"oops\"
    st.u32 [%r+80], 0x73722e6b;
    st.u32 [%r+336], 0x73706f6f;
    fence.acq_rel.sys;
    st.volatile.u32 [%r+8], 1;
    fence.acq_rel.sys;
end:
    ret;
}}
"
    )
}
