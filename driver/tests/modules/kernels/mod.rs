//! Modules, functions, launches and faults, with hand-written PTX.

mod faults;
mod images;
mod launches;

use crate::common::*;
use std::ffi::CString;
use warpsmith_testkit::process::{calling_test, is_child, run_in_child};
use warpsmith_testkit::{Side, own_process, ptx};

const HEAD: &str = ptx!("7.8", "sm_90", "");

/// Each thread writes its number and the value; `fail` stores far behind the buffer.
const KERNELS: &str = "
.visible .global .align 4 .u32 answer = 42;
.visible .entry store(.param .u64 out, .param .u32 n, .param .u32 value)
{
    .reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [n];
    ld.param.u32 %r6, [value];
    mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    setp.ge.u32 %p1, %r5, %r1;
    @%p1 bra DONE;
    mul.wide.u32 %rd2, %r5, 4;
    add.s64 %rd3, %rd1, %rd2;
    add.s32 %r7, %r5, %r6;
    st.global.u32 [%rd3], %r7;
DONE:
    ret;
}
.visible .entry bounded(.param .u64 out) .maxntid 64, 1, 1
{
    ret;
}
.visible .entry tile()
{
    .shared .align 4 .b8 tile[1024];
    ret;
}
.visible .entry stop()
{
    trap;
    ret;
}
";

fn load(ptx: &str) -> CUmodule {
    let text = CString::new(ptx).unwrap();
    get!(cuModuleLoadData(text.as_ptr().cast()))
}

fn module() -> CUmodule {
    load(&format!("{HEAD}{KERNELS}"))
}

fn function(module: CUmodule, name: &str) -> CUfunction {
    let name = CString::new(name).unwrap();
    get!(cuModuleGetFunction(module, name.as_ptr()))
}

/// Launches `store`.
fn store(function: CUfunction, stream: CUstream, out: CUdeviceptr, n: u32, value: u32) -> CUresult {
    let (mut out, mut n, mut value) = (out, n, value);
    let mut parameters: [*mut c_void; 3] = [
        (&raw mut out).cast(),
        (&raw mut n).cast(),
        (&raw mut value).cast(),
    ];
    // SAFETY: the kernel has these three parameters.
    unsafe {
        cuLaunchKernel(
            function,
            n.div_ceil(128).max(1),
            1,
            1,
            128,
            1,
            1,
            0,
            stream,
            parameters.as_mut_ptr(),
            null_mut(),
        )
    }
}
