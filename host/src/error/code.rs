//! The driver's result codes as plain numbers, with their names. A code that this version has never heard of stays a number
//! and never becomes undefined behaviour, as it would in a Rust enum.

use core::fmt;

/// A result code of the CUDA driver (`CUresult`).
///
/// ```
/// use warpsmith_host::Code;
///
/// assert_eq!(Code::ILLEGAL_ADDRESS.to_string(), "CUDA_ERROR_ILLEGAL_ADDRESS (700)");
/// assert_eq!(Code(4242).to_string(), "unknown driver code 4242");
/// assert_eq!(Code(4242).name(), None);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Code(pub u32);

macro_rules! codes {
    ($($number:literal $name:ident $text:literal;)*) => {
        impl Code {
            $(#[doc = concat!("`CUDA_ERROR_", stringify!($name), "`: ", $text, ".")]
            pub const $name: Code = Code($number);)*

            /// The driver's name of the code, `None` if this version does not know it.
            pub fn name(self) -> Option<&'static str> {
                match self.0 {
                    0 => Some("CUDA_SUCCESS"),
                    $($number => Some(concat!("CUDA_ERROR_", stringify!($name))),)*
                    _ => None,
                }
            }

            /// What the code means, in words; empty if this version does not know it.
            pub fn description(self) -> &'static str {
                match self.0 {
                    $($number => $text,)*
                    _ => "",
                }
            }
        }
    };
}

codes! {
    1 INVALID_VALUE "an argument is out of its range";
    2 OUT_OF_MEMORY "not enough memory";
    3 NOT_INITIALIZED "the driver is not initialised";
    4 DEINITIALIZED "the driver is shutting down";
    34 STUB_LIBRARY "the loaded driver is a stub";
    46 DEVICE_UNAVAILABLE "the device is busy or unavailable";
    100 NO_DEVICE "there is no CUDA device";
    101 INVALID_DEVICE "there is no device of this number";
    102 DEVICE_NOT_LICENSED "the device has no licence for this";
    200 INVALID_IMAGE "the device code is not valid";
    201 INVALID_CONTEXT "no usable context is current on this thread";
    205 MAP_FAILED "mapping failed";
    209 NO_BINARY_FOR_GPU "the device code does not run on this device's architecture";
    214 ECC_UNCORRECTABLE "an uncorrectable memory error";
    215 UNSUPPORTED_LIMIT "the device does not have this limit";
    217 PEER_ACCESS_UNSUPPORTED "the devices cannot reach each other";
    218 INVALID_PTX "the driver rejects the PTX";
    220 NVLINK_UNCORRECTABLE "an uncorrectable NVLink error";
    221 JIT_COMPILER_NOT_FOUND "the driver's PTX compiler is missing";
    222 UNSUPPORTED_PTX_VERSION "the PTX is newer than the driver";
    223 JIT_COMPILATION_DISABLED "the driver's PTX compiler is disabled";
    225 UNSUPPORTED_DEVSIDE_SYNC "the device code synchronises in an unsupported way";
    300 INVALID_SOURCE "the device code's source is not valid";
    301 FILE_NOT_FOUND "a file is missing";
    302 SHARED_OBJECT_SYMBOL_NOT_FOUND "a symbol is missing in a library";
    303 SHARED_OBJECT_INIT_FAILED "a library failed to start";
    304 OPERATING_SYSTEM "the operating system refused";
    400 INVALID_HANDLE "a handle is not valid here";
    401 ILLEGAL_STATE "the object is in the wrong state";
    402 LOSSY_QUERY "the answer would lose information";
    500 NOT_FOUND "there is no such symbol";
    600 NOT_READY "the work has not finished yet";
    700 ILLEGAL_ADDRESS "a kernel touched memory that it may not touch";
    701 LAUNCH_OUT_OF_RESOURCES "one block needs more registers or shared memory than a multiprocessor has";
    702 LAUNCH_TIMEOUT "a kernel ran too long";
    704 PEER_ACCESS_ALREADY_ENABLED "the devices reach each other already";
    705 PEER_ACCESS_NOT_ENABLED "the devices do not reach each other";
    708 PRIMARY_CONTEXT_ACTIVE "the context is in use already";
    709 CONTEXT_IS_DESTROYED "the context is gone";
    710 ASSERT "an assertion failed on the device";
    712 HOST_MEMORY_ALREADY_REGISTERED "the host memory is registered already";
    713 HOST_MEMORY_NOT_REGISTERED "the host memory is not registered";
    714 HARDWARE_STACK_ERROR "a device stack is corrupt or overflowed";
    715 ILLEGAL_INSTRUCTION "a kernel met an illegal instruction";
    716 MISALIGNED_ADDRESS "a kernel touched a misaligned address";
    717 INVALID_ADDRESS_SPACE "an instruction got an address of the wrong memory space";
    718 INVALID_PC "a kernel jumped out of its code";
    719 LAUNCH_FAILED "a kernel failed";
    720 COOPERATIVE_LAUNCH_TOO_LARGE "the cooperative grid does not fit on the device at once";
    800 NOT_PERMITTED "the operation is not permitted";
    801 NOT_SUPPORTED "the operation is not supported";
    802 SYSTEM_NOT_READY "the system is not ready";
    803 SYSTEM_DRIVER_MISMATCH "display driver and CUDA driver do not match";
    804 COMPAT_NOT_SUPPORTED_ON_DEVICE "forward compatibility is not supported on this device";
    900 STREAM_CAPTURE_UNSUPPORTED "the operation is not permitted while a stream is captured";
    901 STREAM_CAPTURE_INVALIDATED "the capture was invalidated by an earlier error";
    902 STREAM_CAPTURE_MERGE "two separate captures would be merged";
    903 STREAM_CAPTURE_UNMATCHED "the capture did not begin in this stream";
    904 STREAM_CAPTURE_UNJOINED "the capture has a fork that was not joined";
    905 STREAM_CAPTURE_ISOLATION "a captured operation would depend on one that is not captured";
    906 STREAM_CAPTURE_IMPLICIT "the legacy stream is not permitted during this capture";
    907 CAPTURED_EVENT "the event was captured and cannot be asked or waited for";
    908 STREAM_CAPTURE_WRONG_THREAD "the capture began in another thread";
    909 TIMEOUT "the wait ran into its time limit";
    910 GRAPH_EXEC_UPDATE_FAILURE "the graph cannot be updated to this shape";
    912 INVALID_CLUSTER_SIZE "the cluster is too large or does not divide the grid";
    913 FUNCTION_NOT_LOADED "the function is not loaded";
    914 INVALID_RESOURCE_TYPE "the resource has the wrong type";
    999 UNKNOWN "an unknown error inside the driver";
}

impl Code {
    /// Whether the context is lost after this code: every later call answers the same.
    pub fn is_fatal(self) -> bool {
        matches!(self.0, 214 | 220 | 700 | 702 | 709 | 710 | 714..=719 | 721)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => write!(f, "{name} ({})", self.0),
            None => write!(f, "unknown driver code {}", self.0),
        }
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
