//! Functions that the simulator has beside the driver's: the structured fault of a context, the last report, and settings.
//!
//! They are found as the driver's own are: by name, in the drop-in library or in the simulator's table of entry points, and as no
//! other driver has them, a program must be ready not to find them. All of them work before `cuInit` and on
//! every thread.
//!
//! | function | what |
//! | --- | --- |
//! | [`warpsmithSimulatorFault`](signature::warpsmithSimulatorFault) | the fault that made this context unusable, as a [`FaultFormat`] says; a null context is the thread's current one |
//! | [`warpsmithSimulatorReport`](signature::warpsmithSimulatorReport) | the text of the fault of the thread's current context, else of the last fault in the process |
//! | [`warpsmithSimulatorConfigure`](signature::warpsmithSimulatorConfigure) | changes a setting by name; 0, or 1 where there is no such setting or value |
//!
//! The two that give text write as much of it as fits into the buffer, without a terminating zero, and answer its full length in
//! bytes: 0 where there is no fault. A null buffer only asks for the length. A context's fault does not change once it has one, so a
//! second call with a buffer of the length that the first one answered gets all of it.

use core::ffi::c_uint;

/// How [`warpsmithSimulatorFault`](signature::warpsmithSimulatorFault) writes the fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct FaultFormat(pub c_uint);

impl FaultFormat {
    /// The report for people: [`Fault`](crate::fault::Fault)'s `Display`.
    pub const TEXT: FaultFormat = FaultFormat(0);
    /// [`Fault`](crate::fault::Fault) as JSON, in UTF-8.
    pub const JSON: FaultFormat = FaultFormat(1);
}

/// The simulator's own functions, as a list for macros: it hands `fn name(args) -> type;` items to the macro it is called with.
#[macro_export]
macro_rules! for_each_extension_function {
    ($callback:ident) => {
        $callback! {
            fn warpsmithSimulatorFault(context: CUcontext, buffer: *mut c_char, size: usize, format: FaultFormat) -> usize;
            fn warpsmithSimulatorReport(buffer: *mut c_char, size: usize) -> usize;
            fn warpsmithSimulatorConfigure(setting: *const c_char, value: *const c_char) -> c_uint;
        }
    };
}

/// Function-pointer types, one for each function, under its name.
#[allow(non_camel_case_types, missing_docs)]
pub mod signature {
    use core::ffi::{c_char, c_uint};

    use super::FaultFormat;
    use crate::driver::CUcontext;

    macro_rules! signatures {
        ($(fn $name:ident($($argument:ident: $kind:ty),* $(,)?) -> $result:ty;)*) => {
            $(pub type $name = unsafe extern "C" fn($($kind),*) -> $result;)*
        };
    }
    crate::for_each_extension_function!(signatures);
}
