//! Conflicts between whole pieces of work that nothing orders. A GPU runs such work in some order and says nothing, so all of this
//! is shown on the simulator alone.

mod pools;
mod work;

use crate::common::graphs::kernel_node;
use crate::common::*;
use warpsmith_abi::fault::{Fault, FaultKind};
use warpsmith_driver::{fault, simulator_report};

const PTX: &core::ffi::CStr = c"
.version 8.0
.target sm_90
.address_size 64
.visible .entry put(.param .u64 out, .param .u32 value)
{
    .reg .b32 %r; .reg .b64 %a;
    ld.param.u64 %a, [out];
    ld.param.u32 %r, [value];
    st.global.u32 [%a], %r;
    ret;
}
.visible .entry take(.param .u64 out, .param .u64 from)
{
    .reg .b32 %r; .reg .b64 %a; .reg .b64 %b;
    ld.param.u64 %a, [out];
    ld.param.u64 %b, [from];
    ld.global.u32 %r, [%b];
    st.global.u32 [%a], %r;
    ret;
}
.visible .entry count(.param .u64 out)
{
    .reg .b64 %a;
    ld.param.u64 %a, [out];
    red.relaxed.gpu.global.add.u32 [%a], 1;
    ret;
}
.visible .entry first(.param .u64 out)
{
    .reg .b64 %a;
    ld.param.u64 %a, [out];
    griddepcontrol.launch_dependents;
    st.global.u32 [%a], 7;
    ret;
}
.visible .entry patient(.param .u64 out)
{
    .reg .b32 %r; .reg .b64 %a;
    ld.param.u64 %a, [out];
    griddepcontrol.wait;
    ld.global.u32 %r, [%a];
    add.u32 %r, %r, 1;
    st.global.u32 [%a], %r;
    ret;
}
.visible .entry hasty(.param .u64 out)
{
    .reg .b32 %r; .reg .b64 %a;
    ld.param.u64 %a, [out];
    ld.global.u32 %r, [%a];
    add.u32 %r, %r, 1;
    st.global.u32 [%a], %r;
    griddepcontrol.wait;
    ret;
}
.visible .entry tell_gpu(.param .u64 data, .param .u64 flag)
{
    .reg .b64 %a; .reg .b64 %f;
    ld.param.u64 %a, [data];
    ld.param.u64 %f, [flag];
    st.global.u32 [%a], 5;
    st.release.gpu.global.u32 [%f], 1;
    ret;
}
.visible .entry hear_gpu(.param .u64 data, .param .u64 flag)
{
    .reg .b32 %r; .reg .b64 %a; .reg .b64 %f; .reg .pred %p;
    ld.param.u64 %a, [data];
    ld.param.u64 %f, [flag];
again:
    ld.acquire.gpu.global.u32 %r, [%f];
    setp.eq.u32 %p, %r, 0;
    @%p bra again;
    ld.global.u32 %r, [%a];
    st.global.u32 [%a+4], %r;
    ret;
}
.visible .entry tell_sys(.param .u64 data, .param .u64 flag)
{
    .reg .b64 %a; .reg .b64 %f;
    ld.param.u64 %a, [data];
    ld.param.u64 %f, [flag];
    st.global.u32 [%a], 5;
    st.release.sys.global.u32 [%f], 1;
    ret;
}
.visible .entry hear_sys(.param .u64 data, .param .u64 flag)
{
    .reg .b32 %r; .reg .b64 %a; .reg .b64 %f; .reg .pred %p;
    ld.param.u64 %a, [data];
    ld.param.u64 %f, [flag];
again:
    ld.acquire.sys.global.u32 %r, [%f];
    setp.eq.u32 %p, %r, 0;
    @%p bra again;
    ld.global.u32 %r, [%a];
    st.global.u32 [%a+4], %r;
    ret;
}
.visible .entry keep(.param .u64 out, .param .u64 from)
{
    .reg .b32 %r; .reg .b64 %a; .reg .b64 %b;
    ld.param.u64 %a, [out];
    ld.param.u64 %b, [from];
    ld.global.nc.u32 %r, [%b];
    st.global.u32 [%a], %r;
    ret;
}
";

/// A context of its own, which a fault ends; the test's calls go there until it is dropped.
struct Own {
    context: CUcontext,
    module: CUmodule,
    _checks: Checks,
}

impl Own {
    /// `None` on a GPU.
    fn new() -> Option<Own> {
        if gpu() == Backend::Cuda {
            return None;
        }
        assert!(warpsmith_driver::configure_simulator("stderr", "off"));
        let checks = Checks::set("all");
        let context: CUcontext = get!(cuCtxCreate_v2(0, 0));
        let module: CUmodule = get!(cuModuleLoadData(PTX.as_ptr().cast()));
        Some(Own {
            context,
            module,
            _checks: checks,
        })
    }

    fn function(&self, name: &core::ffi::CStr) -> CUfunction {
        get!(cuModuleGetFunction(self.module, name.as_ptr()))
    }

    fn launch(&self, name: &core::ffi::CStr, stream: CUstream, arguments: &[u64]) {
        self.launch_with(name, stream, arguments, &mut []);
    }

    fn launch_with(
        &self,
        name: &core::ffi::CStr,
        stream: CUstream,
        arguments: &[u64],
        attributes: &mut [CUlaunchAttribute],
    ) {
        let mut arguments = arguments.to_vec();
        let mut pointers: Vec<*mut c_void> = arguments
            .iter_mut()
            .map(|argument| core::ptr::from_mut(argument).cast())
            .collect();
        let configuration = CUlaunchConfig {
            gridDimX: 1,
            gridDimY: 1,
            gridDimZ: 1,
            blockDimX: 1,
            blockDimY: 1,
            blockDimZ: 1,
            hStream: stream,
            attrs: attributes.as_mut_ptr(),
            numAttrs: attributes.len() as c_uint,
            ..Default::default()
        };
        ok!(cuLaunchKernelEx(
            &configuration,
            self.function(name),
            pointers.as_mut_ptr(),
            null_mut()
        ));
    }

    fn node(
        &self,
        graph: CUgraph,
        after: &[CUgraphNode],
        name: &core::ffi::CStr,
        arguments: &[u64],
    ) -> CUgraphNode {
        kernel_node(graph, after, self.function(name), 1, arguments)
    }

    /// Waits, and expects nothing wrong.
    fn is_silent(&self) {
        ok!(cuCtxSynchronize());
        assert_eq!(fault(null_mut()), None);
    }

    /// Waits, and gives the conflict that was found; in words, it has both sides.
    fn conflict(&self) -> Fault {
        fails!(719, cuCtxSynchronize());
        let found = fault(self.context).expect("a conflict");
        assert_eq!(found.kind, FaultKind::StreamOrder, "{found}");
        assert_eq!(found.work.len(), 2, "{found}");
        let text = found.to_string();
        for side in &found.work {
            assert!(
                text.contains(&side.what) && text.contains(&side.place),
                "{text}"
            );
        }
        found
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        // SAFETY: nothing uses the context after the test.
        let _ = unsafe { cuCtxDestroy_v2(self.context) };
    }
}

fn launched(graph: CUgraph, times: usize, stream: CUstream) {
    let exec: CUgraphExec = get!(cuGraphInstantiateWithFlags(graph, 0));
    for _ in 0..times {
        ok!(cuGraphLaunch(exec, stream));
    }
}

/// Time enough for the simulator to execute what was submitted; it orders nothing.
fn pause() {
    std::thread::sleep(std::time::Duration::from_millis(50));
}

fn has_both(found: &Fault, one: &str, other: &str) {
    let texts: Vec<_> = found
        .work
        .iter()
        .map(|side| format!("{} in {} {}", side.what, side.place, side.does))
        .collect();
    assert!(
        texts.iter().any(|text| text.contains(one))
            && texts.iter().any(|text| text.contains(other)),
        "{texts:?}"
    );
}
