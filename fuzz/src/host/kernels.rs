//! The kernels of the programs.

use anyhow::Result;
use warpsmith_host::prelude::*;
use warpsmith_signature::{Kernel, Signature};
use warpsmith_testkit::panicking_entry;

const ADD: &str = "
.visible .entry add(.param .u64 p, .param .u64 n, .param .u32 v)
{
    .reg .pred %c;
    .reg .b32 %r<6>;
    .reg .b64 %d<5>;
    ld.param.u64 %d1, [p];
    ld.param.u64 %d2, [n];
    ld.param.u32 %r1, [v];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.u32 %r2, %r2, %r3, %r4;
    cvt.u64.u32 %d3, %r2;
    setp.ge.u64 %c, %d3, %d2;
    @%c bra end;
    mad.wide.u32 %d4, %r2, 4, %d1;
    ld.global.u32 %r5, [%d4];
    add.u32 %r5, %r5, %r1;
    st.global.u32 [%d4], %r5;
end:
    ret;
}
";

/// `y[i] += v`
pub type Add = UntypedKernel<(Out<u32>, Value<u32>)>;

/// Panics in some threads of its second block, at a line that is its argument; not if that is 0.
pub type Panics = UntypedKernel<(Value<u32>,)>;

pub struct Kernels {
    pub add: Add,
    pub panics: Panics,
}

/// Blocks and threads of `panics`.
pub fn panics_grid() -> Grid {
    Grid::new(2, 32)
}

/// Loads a module of its own.
pub fn load(gpu: &Gpu) -> Result<Kernels> {
    let mut text = String::from(".version 7.0\n.target sm_70\n.address_size 64\n");
    text += ADD;
    text += &panicking_entry("panics", ".param .u32 line", "ld.param.u32 %line, [line];");
    let kernel = |name: &str, takes_launch| Kernel {
        name: name.into(),
        record: vec![],
        takes_launch,
        variables: vec![],
        panics: vec![],
    };
    let signature = Signature {
        kernels: vec![kernel("add", false), kernel("panics", true)],
        variables: vec![],
        ..Signature::default()
    };
    // SAFETY: `panics` has the launch's parameters, `add` has none, and neither has a record by which a safe launch could be made.
    let module = gpu.load(&unsafe { warpsmith_signature::sign(&text, &signature) })?;
    Ok(Kernels {
        add: module.untyped_kernel("add")?,
        panics: module.untyped_kernel("panics")?,
    })
}
