//! The CUDA driver's C interface as Rust sees it: types, function lists and function-pointer types. It knows no implementation; the
//! simulator implements it and the driver seam calls through it, so both sides agree by construction.

pub mod extension;
pub mod fault;
mod functions;
mod types;

pub use core::ffi::{
    c_char, c_int, c_longlong, c_short, c_uchar, c_uint, c_ulonglong, c_ushort, c_void,
};
pub use types::*;

/// The legacy default stream by its explicit handle.
pub const CU_STREAM_LEGACY: CUstream = 1 as CUstream;
/// The calling thread's own default stream by its explicit handle.
pub const CU_STREAM_PER_THREAD: CUstream = 2 as CUstream;
/// `cuMemHostAlloc`: pinned for every context.
pub const CU_MEMHOSTALLOC_PORTABLE: c_uint = 1;
/// `cuMemHostAlloc`: mapped into the device's address space.
pub const CU_MEMHOSTALLOC_DEVICEMAP: c_uint = 2;
/// `cuMemHostAlloc`: write-combined, slow to read from the host.
pub const CU_MEMHOSTALLOC_WRITECOMBINED: c_uint = 4;
/// `cuMemHostRegister`: pinned for every context.
pub const CU_MEMHOSTREGISTER_PORTABLE: c_uint = 1;
/// `cuMemHostRegister`: mapped into the device's address space.
pub const CU_MEMHOSTREGISTER_DEVICEMAP: c_uint = 2;
/// `cuMemHostRegister`: memory of an I/O device.
pub const CU_MEMHOSTREGISTER_IOMEMORY: c_uint = 4;
/// `cuMemHostRegister`: the device only reads.
pub const CU_MEMHOSTREGISTER_READ_ONLY: c_uint = 8;
/// `cuLaunchKernel`'s `extra`: end of the list.
pub const CU_LAUNCH_PARAM_END: usize = 0;
/// `cuLaunchKernel`'s `extra`: pointer to the packed parameters follows.
pub const CU_LAUNCH_PARAM_BUFFER_POINTER: usize = 1;
/// `cuLaunchKernel`'s `extra`: pointer to their size follows.
pub const CU_LAUNCH_PARAM_BUFFER_SIZE: usize = 2;
/// The CPU as a device of `cuMemAdvise` and `cuMemPrefetchAsync`.
pub const CU_DEVICE_CPU: CUdevice = -1;
/// No device (an answer of `cuMemRangeGetAttribute`).
pub const CU_DEVICE_INVALID: CUdevice = -2;
/// `cuGraphConditionalHandleCreate`: reset the value to the default at every launch.
pub const CU_GRAPH_COND_ASSIGN_DEFAULT: c_uint = 1;
/// A kernel node's port that fires when the kernel has completed.
pub const CU_GRAPH_KERNEL_NODE_PORT_DEFAULT: u8 = 0;

/// Function-pointer types, one for each driver function, under its name.
#[allow(non_camel_case_types, missing_docs)]
pub mod signature {
    use super::*;

    macro_rules! signatures {
        ($(fn $name:ident($($argument:ident: $kind:ty),* $(,)?) -> $result:ty;)*) => {
            $(pub type $name = unsafe extern "C" fn($($kind),*) -> $result;)*
        };
    }
    crate::for_each_established_function!(signatures);
    crate::for_each_newer_function!(signatures);
    crate::for_each_per_thread_function!(signatures);
}
