//! Several devices in a process of its own, with kernels that add to a word of one.

use crate::common::*;
use warpsmith_driver::fault;
use warpsmith_testkit::process::is_child;
use warpsmith_testkit::{Side, own_process};

/// Runs the calling test in a process of its own, which sees two simulated devices. `true` there.
pub fn with_two_devices() -> bool {
    with_devices("2")
}

/// As [`with_two_devices`], with so many.
pub fn with_devices(count: &str) -> bool {
    let variables = [
        ("WARPSMITH_DEVICE", "simulator"),
        ("WARPSMITH_SIMULATOR_DEVICES", count),
        ("WARPSMITH_REPORT", "0"),
    ];
    matches!(own_process(&variables), Side::Child)
}

/// Runs the calling test in a process of its own, which sees two GPUs if there are two, else two simulated devices. `true` there.
pub fn on_two_devices() -> bool {
    if is_child() {
        return true;
    }
    gpu();
    let simulated = [
        ("WARPSMITH_DEVICE", "simulator"),
        ("WARPSMITH_SIMULATOR_DEVICES", "2"),
        ("WARPSMITH_REPORT", "0"),
    ];
    let count: c_int = get!(cuDeviceGetCount());
    let variables = match count {
        0 | 1 => &simulated[..],
        _ => &[],
    };
    matches!(own_process(variables), Side::Child)
}

/// Adds to a word, plainly or atomically for the whole system; the second is slow to begin.
const PTX: &core::ffi::CStr = c"
.version 7.8
.target sm_90
.address_size 64
.visible .entry add(.param .u64 at, .param .u64 by)
{
    .reg .b32 %r<4>; .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [at];
    ld.param.u32 %r1, [by];
    ld.global.u32 %r2, [%rd1];
    add.u32 %r3, %r1, %r2;
    st.global.u32 [%rd1], %r3;
    ret;
}
.visible .entry count(.param .u64 at, .param .u64 by)
{
    .reg .b32 %r<2>; .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [at];
    ld.param.u32 %r1, [by];
    red.sys.global.add.u32 [%rd1], %r1;
    ret;
}
";

/// A device's primary context, made current, with the kernels.
pub struct Device {
    pub context: CUcontext,
    module: CUmodule,
}

impl Device {
    pub fn new(ordinal: CUdevice) -> Device {
        let context: CUcontext = get!(cuDevicePrimaryCtxRetain(ordinal));
        ok!(cuCtxSetCurrent(context));
        Device::of_current(context)
    }

    /// The current context, with the kernels.
    pub fn of_current(context: CUcontext) -> Device {
        let module = get!(cuModuleLoadData(PTX.as_ptr().cast()));
        Device { context, module }
    }

    pub fn function(&self, name: &core::ffi::CStr) -> CUfunction {
        get!(cuModuleGetFunction(self.module, name.as_ptr()))
    }

    pub fn enter(&self) {
        ok!(cuCtxSetCurrent(self.context));
    }

    /// Launches a kernel of so many threads in a stream of this device, which is current afterwards.
    pub fn launch(&self, name: &core::ffi::CStr, threads: u32, stream: CUstream, at: CUdeviceptr) {
        self.enter();
        let function = self.function(name);
        let mut arguments = [at, 1];
        let [first, second] = &mut arguments;
        let mut parameters: [*mut c_void; 2] =
            [(&raw mut *first).cast(), (&raw mut *second).cast()];
        let (parameters, none) = (parameters.as_mut_ptr(), null_mut());
        ok!(cuLaunchKernel(
            function, 1, 1, 1, threads, 1, 1, 0, stream, parameters, none
        ));
    }

    /// Adds 1 to a word on the default stream.
    pub fn add(&self, at: CUdeviceptr) {
        self.launch(c"add", 1, null_mut(), at);
    }
}

pub fn two_devices() -> [Device; 2] {
    gpu();
    let second = Device::new(1);
    [Device::new(0), second]
}

/// Both devices: what a wrong access of `device` says, in a context that is lost by it.
pub fn fault_of(device: CUdevice, address: CUdeviceptr) -> String {
    let before: CUcontext = get!(cuCtxGetCurrent());
    let context: CUcontext = get!(cuCtxCreate_v2(0, device));
    let lost = Device::of_current(context);
    lost.add(address);
    fails!(700, cuCtxSynchronize());
    let text = fault(context).expect("a fault").to_string();
    ok!(cuCtxDestroy_v2(context));
    ok!(cuCtxSetCurrent(before));
    text
}
