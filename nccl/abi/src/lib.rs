//! The part of NCCL's C interface that warpsmith uses, from `nccl.h` of NCCL 2.32: [`for_each_nccl_function`] lists what has been the same
//! since 2.18, which is the oldest that is loaded, and [`for_each_newer_nccl_function`] what came later, which the simulator has too.
//!
//! Both sides know it: the library that loads NCCL, and the simulator's implementation of the same functions. It knows no
//! implementation. Enumerations are newtype integers: a value that is newer than the header is still a value.
#![allow(non_camel_case_types, non_snake_case)]

mod float8;

use core::ffi::{c_char, c_int, c_uint, c_void};

pub use float8::{F8E4M3, F8E5M2};

/// A communicator's handle points to this.
#[repr(C)]
#[derive(Debug)]
pub struct ncclComm {
    _unused: [u8; 0],
}

/// A communicator.
pub type ncclComm_t = *mut ncclComm;

/// A stream, as the CUDA runtime and the driver name it alike.
pub type cudaStream_t = *mut c_void;

/// What says which ranks come together.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ncclUniqueId {
    /// Opaque.
    pub internal: [c_char; NCCL_UNIQUE_ID_BYTES],
}

/// The size of [`ncclUniqueId`].
pub const NCCL_UNIQUE_ID_BYTES: usize = 128;

/// What a field of [`ncclConfig_t`] holds that is left to NCCL.
pub const NCCL_CONFIG_UNDEF_INT: c_int = c_int::MIN;

/// [`ncclConfig_t::magic`].
pub const NCCL_API_MAGIC: c_uint = 0xcafe_beef;

/// The color of a rank that becomes part of no new communicator.
pub const NCCL_SPLIT_NOCOLOR: c_int = -1;

/// How a communicator is made: the structure as it was in NCCL 2.18, which later versions take, too, by its `size` and `version`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ncclConfig_t {
    /// `size_of::<ncclConfig_t>()`.
    pub size: usize,
    /// [`NCCL_API_MAGIC`].
    pub magic: c_uint,
    /// [`ncclConfig_t::VERSION`].
    pub version: c_uint,
    /// 0: calls return `ncclInProgress` instead of waiting for other ranks.
    pub blocking: c_int,
    /// The blocks of a cluster of NCCL's kernels.
    pub cgaClusterSize: c_int,
    /// The least number of blocks of NCCL's kernels.
    pub minCTAs: c_int,
    /// The greatest.
    pub maxCTAs: c_int,
    /// The network to use.
    pub netName: *const c_char,
    /// 1: communicators that are split off share this one's resources.
    pub splitShare: c_int,
    /// Padding in 2.18, a field of later versions: [`NCCL_CONFIG_UNDEF_INT`].
    pub reserved: c_int,
}

impl ncclConfig_t {
    /// The version of NCCL whose structure this is: 2.18.1.
    pub const VERSION: c_uint = 21801;

    /// What leaves all to NCCL.
    pub const DEFAULT: ncclConfig_t = ncclConfig_t {
        size: size_of::<ncclConfig_t>(),
        magic: NCCL_API_MAGIC,
        version: ncclConfig_t::VERSION,
        blocking: NCCL_CONFIG_UNDEF_INT,
        cgaClusterSize: NCCL_CONFIG_UNDEF_INT,
        minCTAs: NCCL_CONFIG_UNDEF_INT,
        maxCTAs: NCCL_CONFIG_UNDEF_INT,
        netName: core::ptr::null(),
        splitShare: NCCL_CONFIG_UNDEF_INT,
        reserved: NCCL_CONFIG_UNDEF_INT,
    };
}

macro_rules! enumeration {
    ($(#[$doc:meta])* $name:ident { $($value:ident = $number:literal,)* }) => {
        $(#[$doc])*
        #[repr(transparent)]
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub struct $name(pub c_uint);

        #[allow(non_upper_case_globals, missing_docs)]
        impl $name {
            $(pub const $value: $name = $name($number);)*

            /// The name in the header, `None` for a value that it lacks.
            pub fn name(self) -> Option<&'static str> {
                match self.0 {
                    $($number => Some(stringify!($value)),)*
                    _ => None,
                }
            }
        }
    };
}

enumeration! {
    /// What a function answers.
    ncclResult_t {
        ncclSuccess = 0,
        ncclUnhandledCudaError = 1,
        ncclSystemError = 2,
        ncclInternalError = 3,
        ncclInvalidArgument = 4,
        ncclInvalidUsage = 5,
        ncclRemoteError = 6,
        ncclInProgress = 7,
        ncclTimeout = 8,
    }
}

enumeration! {
    /// A reduction. Those that `ncclRedOpCreatePreMulSum` makes are beyond [`ncclRedOp_t::BUILT_IN`].
    ncclRedOp_t {
        ncclSum = 0,
        ncclProd = 1,
        ncclMax = 2,
        ncclMin = 3,
        ncclAvg = 4,
    }
}

impl ncclRedOp_t {
    /// `ncclNumOps`: how many reductions there are that nobody made, and the least value of one that was made.
    pub const BUILT_IN: c_uint = 5;
}

enumeration! {
    /// Where the factor of a reduction is that was made.
    ncclScalarResidence_t {
        ncclScalarDevice = 0,
        ncclScalarHostImmediate = 1,
    }
}

enumeration! {
    /// A type of elements.
    ncclDataType_t {
        ncclInt8 = 0,
        ncclUint8 = 1,
        ncclInt32 = 2,
        ncclUint32 = 3,
        ncclInt64 = 4,
        ncclUint64 = 5,
        ncclFloat16 = 6,
        ncclFloat32 = 7,
        ncclFloat64 = 8,
        ncclBfloat16 = 9,
        ncclFloat8e4m3 = 10,
        ncclFloat8e5m2 = 11,
    }
}

/// The functions that NCCL has had since 2.18, as a list for macros: it hands `fn name(args) -> type;` items to the macro it is called
/// with.
#[macro_export]
macro_rules! for_each_nccl_function {
    ($callback:ident) => {
        $callback! {
            fn ncclGetVersion(version: *mut c_int) -> ncclResult_t;
            fn ncclGetUniqueId(id: *mut ncclUniqueId) -> ncclResult_t;
            fn ncclCommInitRank(comm: *mut ncclComm_t, ranks: c_int, id: ncclUniqueId, rank: c_int) -> ncclResult_t;
            fn ncclCommInitRankConfig(comm: *mut ncclComm_t, ranks: c_int, id: ncclUniqueId, rank: c_int, config: *mut ncclConfig_t) -> ncclResult_t;
            fn ncclCommInitAll(comms: *mut ncclComm_t, devices: c_int, list: *const c_int) -> ncclResult_t;
            fn ncclCommSplit(comm: ncclComm_t, color: c_int, key: c_int, split: *mut ncclComm_t, config: *mut ncclConfig_t) -> ncclResult_t;
            fn ncclCommFinalize(comm: ncclComm_t) -> ncclResult_t;
            fn ncclCommDestroy(comm: ncclComm_t) -> ncclResult_t;
            fn ncclCommAbort(comm: ncclComm_t) -> ncclResult_t;
            fn ncclCommGetAsyncError(comm: ncclComm_t, error: *mut ncclResult_t) -> ncclResult_t;
            fn ncclCommCount(comm: ncclComm_t, count: *mut c_int) -> ncclResult_t;
            fn ncclCommCuDevice(comm: ncclComm_t, device: *mut c_int) -> ncclResult_t;
            fn ncclCommUserRank(comm: ncclComm_t, rank: *mut c_int) -> ncclResult_t;
            fn ncclGetErrorString(result: ncclResult_t) -> *const c_char;
            fn ncclGetLastError(comm: ncclComm_t) -> *const c_char;
            fn ncclRedOpCreatePreMulSum(op: *mut ncclRedOp_t, scalar: *mut c_void, kind: ncclDataType_t, residence: ncclScalarResidence_t, comm: ncclComm_t) -> ncclResult_t;
            fn ncclRedOpDestroy(op: ncclRedOp_t, comm: ncclComm_t) -> ncclResult_t;
            fn ncclAllReduce(send: *const c_void, receive: *mut c_void, count: usize, kind: ncclDataType_t, op: ncclRedOp_t, comm: ncclComm_t, stream: cudaStream_t) -> ncclResult_t;
            fn ncclBroadcast(send: *const c_void, receive: *mut c_void, count: usize, kind: ncclDataType_t, root: c_int, comm: ncclComm_t, stream: cudaStream_t) -> ncclResult_t;
            fn ncclBcast(buffer: *mut c_void, count: usize, kind: ncclDataType_t, root: c_int, comm: ncclComm_t, stream: cudaStream_t) -> ncclResult_t;
            fn ncclReduce(send: *const c_void, receive: *mut c_void, count: usize, kind: ncclDataType_t, op: ncclRedOp_t, root: c_int, comm: ncclComm_t, stream: cudaStream_t) -> ncclResult_t;
            fn ncclAllGather(send: *const c_void, receive: *mut c_void, count: usize, kind: ncclDataType_t, comm: ncclComm_t, stream: cudaStream_t) -> ncclResult_t;
            fn ncclReduceScatter(send: *const c_void, receive: *mut c_void, count: usize, kind: ncclDataType_t, op: ncclRedOp_t, comm: ncclComm_t, stream: cudaStream_t) -> ncclResult_t;
            fn ncclSend(send: *const c_void, count: usize, kind: ncclDataType_t, peer: c_int, comm: ncclComm_t, stream: cudaStream_t) -> ncclResult_t;
            fn ncclRecv(receive: *mut c_void, count: usize, kind: ncclDataType_t, peer: c_int, comm: ncclComm_t, stream: cudaStream_t) -> ncclResult_t;
            fn ncclGroupStart() -> ncclResult_t;
            fn ncclGroupEnd() -> ncclResult_t;
        }
    };
}

/// The functions that came later, as [`for_each_nccl_function`].
#[macro_export]
macro_rules! for_each_newer_nccl_function {
    ($callback:ident) => {
        $callback! {
            fn ncclMemAlloc(pointer: *mut *mut c_void, bytes: usize) -> ncclResult_t;
            fn ncclMemFree(pointer: *mut c_void) -> ncclResult_t;
            fn ncclCommRegister(comm: ncclComm_t, buffer: *mut c_void, bytes: usize, handle: *mut *mut c_void) -> ncclResult_t;
            fn ncclCommDeregister(comm: ncclComm_t, handle: *mut c_void) -> ncclResult_t;
            fn ncclAlltoAll(send: *const c_void, receive: *mut c_void, count: usize, kind: ncclDataType_t, comm: ncclComm_t, stream: cudaStream_t) -> ncclResult_t;
            fn ncclGather(send: *const c_void, receive: *mut c_void, count: usize, kind: ncclDataType_t, root: c_int, comm: ncclComm_t, stream: cudaStream_t) -> ncclResult_t;
            fn ncclScatter(send: *const c_void, receive: *mut c_void, count: usize, kind: ncclDataType_t, root: c_int, comm: ncclComm_t, stream: cudaStream_t) -> ncclResult_t;
        }
    };
}

/// Function-pointer types, one for each function, under its name.
#[allow(missing_docs)]
pub mod signature {
    use super::*;

    macro_rules! signatures {
        ($(fn $name:ident($($argument:ident: $kind:ty),* $(,)?) -> $result:ty;)*) => {
            $(pub type $name = unsafe extern "C" fn($($kind),*) -> $result;)*
        };
    }
    crate::for_each_nccl_function!(signatures);
    crate::for_each_newer_nccl_function!(signatures);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_structures_have_the_sizes_of_2_18() {
        assert_eq!(size_of::<ncclConfig_t>(), 48);
        assert_eq!(size_of::<ncclUniqueId>(), 128);
    }

    #[test]
    fn values_have_names() {
        assert_eq!(ncclResult_t(6).name(), Some("ncclRemoteError"));
        assert_eq!(ncclResult_t(77).name(), None);
    }
}
