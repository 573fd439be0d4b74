//! The driver's result codes as plain numbers, with their names. A code that this version has never heard of stays a number
//! and never becomes undefined behaviour, as it would in a Rust enum.

use core::fmt;

use warpsmith_driver::raw::CUresult;

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

            /// What the code means, in words; empty if this version does not know it.
            pub fn description(self) -> &'static str {
                match self.0 {
                    $($number => $text,)*
                    _ => "",
                }
            }
        }

        #[cfg(test)]
        const CONSTANTS: &[(&str, Code)] = &[$((concat!("CUDA_ERROR_", stringify!($name)), Code::$name),)*];
    };
}

codes! {
    1 INVALID_VALUE "an argument is out of its range";
    2 OUT_OF_MEMORY "not enough memory";
    3 NOT_INITIALIZED "the driver is not initialised";
    4 DEINITIALIZED "the driver is shutting down";
    5 PROFILER_DISABLED "a profiling tool runs the program, which then cannot profile itself";
    6 PROFILER_NOT_INITIALIZED "the profiler is not initialised";
    7 PROFILER_ALREADY_STARTED "the profiler runs already";
    8 PROFILER_ALREADY_STOPPED "the profiler does not run";
    34 STUB_LIBRARY "the loaded driver is a stub";
    36 CALL_REQUIRES_NEWER_DRIVER "the call needs a newer driver";
    46 DEVICE_UNAVAILABLE "the device is busy or unavailable";
    47 MULTICAST_RESOURCE_FULL "the device has no room for another multicast object";
    100 NO_DEVICE "there is no CUDA device";
    101 INVALID_DEVICE "there is no device of this number";
    102 DEVICE_NOT_LICENSED "the device has no licence for this";
    200 INVALID_IMAGE "the device code is not valid";
    201 INVALID_CONTEXT "no usable context is current on this thread";
    202 CONTEXT_ALREADY_CURRENT "the context is current already";
    205 MAP_FAILED "mapping failed";
    206 UNMAP_FAILED "unmapping failed";
    207 ARRAY_IS_MAPPED "the array is mapped and cannot be destroyed";
    208 ALREADY_MAPPED "the resource is mapped already";
    209 NO_BINARY_FOR_GPU "the device code does not run on this device's architecture";
    210 ALREADY_ACQUIRED "the resource is acquired already";
    211 NOT_MAPPED "the resource is not mapped";
    212 NOT_MAPPED_AS_ARRAY "the resource is not mapped as an array";
    213 NOT_MAPPED_AS_POINTER "the resource is not mapped as a pointer";
    214 ECC_UNCORRECTABLE "an uncorrectable memory error";
    215 UNSUPPORTED_LIMIT "the device does not have this limit";
    216 CONTEXT_ALREADY_IN_USE "another thread has the context";
    217 PEER_ACCESS_UNSUPPORTED "the devices cannot reach each other";
    218 INVALID_PTX "the driver rejects the PTX";
    219 INVALID_GRAPHICS_CONTEXT "the graphics context is not valid";
    220 NVLINK_UNCORRECTABLE "an uncorrectable NVLink error";
    221 JIT_COMPILER_NOT_FOUND "the driver's PTX compiler is missing";
    222 UNSUPPORTED_PTX_VERSION "the PTX is newer than the driver";
    223 JIT_COMPILATION_DISABLED "the driver's PTX compiler is disabled";
    224 UNSUPPORTED_EXEC_AFFINITY "the device does not have this execution affinity";
    225 UNSUPPORTED_DEVSIDE_SYNC "the device code synchronises in an unsupported way";
    226 CONTAINED "an error of the hardware or of an access to another device, which was contained";
    227 INSUFFICIENT_LOADER_VERSION "the driver's loader is too old";
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
    702 LAUNCH_TIMEOUT "a kernel ran longer than the system allows on this device";
    703 LAUNCH_INCOMPATIBLE_TEXTURING "a launch binds textures in a way that the kernel does not";
    704 PEER_ACCESS_ALREADY_ENABLED "the devices reach each other already";
    705 PEER_ACCESS_NOT_ENABLED "the devices do not reach each other";
    708 PRIMARY_CONTEXT_ACTIVE "the context is in use already";
    709 CONTEXT_IS_DESTROYED "the context was destroyed or reset";
    710 ASSERT "an assertion failed on the device";
    711 TOO_MANY_PEERS "the device cannot reach more other devices";
    712 HOST_MEMORY_ALREADY_REGISTERED "the host memory is registered already";
    713 HOST_MEMORY_NOT_REGISTERED "the host memory is not registered";
    714 HARDWARE_STACK_ERROR "a thread's stack overflowed or is corrupt";
    715 ILLEGAL_INSTRUCTION "a kernel met an illegal instruction";
    716 MISALIGNED_ADDRESS "a kernel touched a misaligned address";
    717 INVALID_ADDRESS_SPACE "an instruction got an address of the wrong memory space";
    718 INVALID_PC "a kernel jumped out of its code";
    719 LAUNCH_FAILED "a kernel was stopped: by a trap, or by an access that has no code of its own";
    720 COOPERATIVE_LAUNCH_TOO_LARGE "the cooperative grid does not fit on the device at once";
    721 TENSOR_MEMORY_LEAK "a block ended with tensor memory that it had not freed";
    800 NOT_PERMITTED "the operation is not permitted";
    801 NOT_SUPPORTED "the operation is not supported";
    802 SYSTEM_NOT_READY "the system is not ready";
    803 SYSTEM_DRIVER_MISMATCH "display driver and CUDA driver do not match";
    804 COMPAT_NOT_SUPPORTED_ON_DEVICE "forward compatibility is not supported on this device";
    805 MPS_CONNECTION_FAILED "no connection to the MPS daemon";
    806 MPS_RPC_FAILURE "a call to the MPS server failed";
    807 MPS_SERVER_NOT_READY "the MPS server takes no client now";
    808 MPS_MAX_CLIENTS_REACHED "the MPS server has as many clients as it can have";
    809 MPS_MAX_CONNECTIONS_REACHED "the device has as many connections as MPS allows";
    810 MPS_CLIENT_TERMINATED "the MPS server has ended this client";
    811 CDP_NOT_SUPPORTED "a kernel uses dynamic parallelism, which this module cannot have";
    812 CDP_VERSION_MISMATCH "a kernel uses another version of dynamic parallelism than the driver";
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
    911 EXTERNAL_DEVICE "a device or a process outside of CUDA has signalled an error";
    912 INVALID_CLUSTER_SIZE "the cluster is too large or does not divide the grid";
    913 FUNCTION_NOT_LOADED "the function is not loaded";
    914 INVALID_RESOURCE_TYPE "the resource has the wrong type";
    915 INVALID_RESOURCE_CONFIGURATION "the resources do not suffice, or cannot be used for this";
    916 KEY_ROTATION "the rotation of keys has failed";
    917 STREAM_DETACHED "the stream is detached and takes no more work";
    918 GRAPH_RECAPTURE_FAILURE "the new capture does not fit the graph that it was to replace";
    919 FABRIC_NOT_READY "the NVLink fabric is not ready";
    999 UNKNOWN "an unknown error inside the driver";
}

impl Code {
    /// The driver's name of the code, `None` if the header that this crate was made from does not have it.
    pub fn name(self) -> Option<&'static str> {
        CUresult(self.0).name()
    }

    /// Whether the context is lost after this code: later calls answer the same, and nothing of this process on the device is left. What each of
    /// these codes means, and what to do, is in the book: "When a call fails, and when a kernel does" (`docs/src/howto/faults.md`).
    ///
    /// ```
    /// use warpsmith_host::Code;
    ///
    /// assert!(Code::ILLEGAL_ADDRESS.is_fatal() && Code::ECC_UNCORRECTABLE.is_fatal());
    /// assert!(!Code::OUT_OF_MEMORY.is_fatal() && !Code::NOT_PERMITTED.is_fatal());
    /// ```
    // covers: ERROR-02
    pub fn is_fatal(self) -> bool {
        matches!(
            self.0,
            214 | 220 | 226 | 700 | 702 | 709 | 710 | 714..=719 | 721 | 810 | 911
        )
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Every code of the driver's header but success has a text, and the constants have the header's numbers.
    #[test]
    fn every_code_of_the_header_is_explained() {
        for number in 1..1000 {
            let code = Code(number);
            let is_explained = !code.description().is_empty();
            assert_eq!(is_explained, code.name().is_some(), "{code}");
        }
        for (name, code) in CONSTANTS {
            assert_eq!(code.name(), Some(*name));
        }
    }
}
