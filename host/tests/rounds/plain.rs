//! The driver's calls by themselves, without this library: by as much as a process grows of these, it may grow of what makes the same calls.

use std::ffi::{CStr, CString};
use std::ptr::null_mut;

use warpsmith_driver::raw::{
    self, CUjit_option, CUjitInputType, CUlinkState, CUmodule, CUresult, CUstream,
};

use crate::common::panicking;

macro_rules! ok {
    ($call:expr) => {{
        // SAFETY: of each call: handles and texts are alive, and results are local variables.
        let code: CUresult = unsafe { $call };
        assert_eq!(code.0, 0, stringify!($call));
    }};
}

/// Options for logs of 64 KiB each, as this library asks for them.
struct Logs {
    options: [CUjit_option; 4],
    values: [*mut core::ffi::c_void; 4],
    _buffers: [Box<[u8]>; 2],
}

impl Logs {
    fn new() -> Logs {
        const BYTES: usize = 64 << 10;
        let mut buffers = [(); 2].map(|()| vec![0_u8; BYTES].into_boxed_slice());
        let [infos, errors] = buffers.each_mut().map(|buffer| buffer.as_mut_ptr().cast());
        Logs {
            options: [
                CUjit_option::CU_JIT_INFO_LOG_BUFFER,
                CUjit_option::CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
                CUjit_option::CU_JIT_ERROR_LOG_BUFFER,
                CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
            ],
            values: [infos, BYTES as *mut _, errors, BYTES as *mut _],
            _buffers: buffers,
        }
    }
}

fn load(text: &CStr) -> Option<CUmodule> {
    let (mut module, mut logs) = (null_mut(), Logs::new());
    // SAFETY: the text ends with a zero, and the logs live longer than the call.
    let code = unsafe {
        raw::cuModuleLoadDataEx(
            &mut module,
            text.as_ptr().cast(),
            4,
            logs.options.as_mut_ptr(),
            logs.values.as_mut_ptr(),
        )
    };
    (code.0 == 0).then_some(module)
}

/// Loads a text that the compiler rejects, and links one of which something is missing.
pub fn rejected(wrong: &str, incomplete: &str) {
    let wrong = CString::new(wrong).expect("a text");
    assert!(load(&wrong).is_none());
    let (incomplete, mut logs) = (CString::new(incomplete).expect("a text"), Logs::new());
    let mut state: CUlinkState = null_mut();
    ok!(raw::cuLinkCreate_v2(
        4,
        logs.options.as_mut_ptr(),
        logs.values.as_mut_ptr(),
        &mut state
    ));
    ok!(raw::cuLinkAddData_v2(
        state,
        CUjitInputType::CU_JIT_INPUT_PTX,
        incomplete.as_ptr().cast_mut().cast(),
        incomplete.as_bytes_with_nul().len(),
        c"user".as_ptr(),
        0,
        null_mut(),
        null_mut()
    ));
    let (mut image, mut bytes) = (null_mut(), 0);
    // SAFETY: the state is alive, and results are local variables.
    let code = unsafe { raw::cuLinkComplete(state, &mut image, &mut bytes) };
    assert_ne!(code.0, 0);
    ok!(raw::cuLinkDestroy(state));
}

/// Opens the first device's context, uses some of all that there is, and closes it: the same calls as are made of this library's.
pub fn opened_and_closed(round: usize) {
    let (mut device, mut context) = (0, null_mut());
    ok!(raw::cuDeviceGet(&mut device, 0));
    if round.is_multiple_of(5) {
        ok!(raw::cuDevicePrimaryCtxReset_v2(device));
    }
    ok!(raw::cuDevicePrimaryCtxRetain(&mut context, device));
    ok!(raw::cuCtxSetCurrent(context));
    let (mut pinned, mut managed, mut words) = (null_mut(), 0, 0);
    ok!(raw::cuMemHostAlloc(&mut pinned, 400, 0));
    ok!(raw::cuMemAllocManaged(&mut managed, 400, 1));
    let (mut stream, mut graph, mut exec): (CUstream, _, _) = (null_mut(), null_mut(), null_mut());
    ok!(raw::cuStreamCreate(&mut stream, 1));
    ok!(raw::cuMemAllocAsync(&mut words, 400, stream));
    ok!(raw::cuGraphCreate(&mut graph, 0));
    ok!(raw::cuGraphInstantiateWithFlags(&mut exec, graph, 0));
    ok!(raw::cuGraphLaunch(exec, stream));
    launched();
    ok!(raw::cuGraphExecDestroy(exec));
    ok!(raw::cuGraphDestroy(graph));
    ok!(raw::cuMemFreeAsync(words, stream));
    ok!(raw::cuStreamSynchronize(stream));
    ok!(raw::cuStreamDestroy_v2(stream));
    ok!(raw::cuMemFree_v2(managed));
    ok!(raw::cuMemFreeHost(pinned));
    ok!(raw::cuCtxSetCurrent(null_mut()));
    ok!(raw::cuDevicePrimaryCtxRelease_v2(device));
}

/// Loads the kernels that panic, and launches one in a stream of its own, where it has no log and ends.
pub fn launched() {
    let text = CString::new(panicking::ptx()).expect("a text");
    let module = load(&text).expect("the kernels");
    let mut stream: CUstream = null_mut();
    ok!(raw::cuStreamCreate(&mut stream, 1));
    let mut function = null_mut();
    for name in [c"first", c"second", c"at"] {
        ok!(raw::cuModuleGetFunction(
            &mut function,
            module,
            name.as_ptr()
        ));
    }
    let (mut line, mut log, mut launch) = (7_u32, 0_u64, 0_u64);
    let mut parameters: [*mut core::ffi::c_void; 3] = [
        (&raw mut line).cast(),
        (&raw mut log).cast(),
        (&raw mut launch).cast(),
    ];
    ok!(raw::cuLaunchKernel(
        function,
        2,
        1,
        1,
        32,
        1,
        1,
        0,
        stream,
        parameters.as_mut_ptr(),
        null_mut()
    ));
    ok!(raw::cuStreamSynchronize(stream));
    ok!(raw::cuStreamDestroy_v2(stream));
    ok!(raw::cuModuleUnload(module));
}
