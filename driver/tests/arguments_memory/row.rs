//! A row of the table: a call with one bad argument, and the code that answers it.

use core::fmt;

use crate::common::*;
use crate::world::World;

pub const OK: c_uint = 0;
pub const INVALID_VALUE: c_uint = 1;
pub const OUT_OF_MEMORY: c_uint = 2;
pub const INVALID_DEVICE: c_uint = 101;
pub const INVALID_CONTEXT: c_uint = 201;
pub const INVALID_HANDLE: c_uint = 400;
pub const NOT_FOUND: c_uint = 500;
pub const ALREADY_REGISTERED: c_uint = 712;
pub const NOT_REGISTERED: c_uint = 713;
pub const NOT_PERMITTED: c_uint = 800;
pub const NOT_SUPPORTED: c_uint = 801;
pub const UNKNOWN: c_uint = 999;

pub struct Row {
    pub function: &'static str,
    pub case: String,
    pub code: c_uint,
    pub call: Box<dyn Fn(&World) -> CUresult>,
    /// What a real driver answers, if it is another code.
    pub on_gpu: Option<c_uint>,
    /// Whether a real driver would follow the argument.
    pub is_undefined: bool,
    /// Why it is not asked of a real driver.
    pub not_on_gpu: Option<&'static str>,
    pub needs_two_devices: bool,
    /// Called without a current context.
    pub is_bare: bool,
    /// What the simulator says of it.
    pub says: Option<&'static str>,
}

impl Row {
    pub fn new(
        function: &'static str,
        case: impl Into<String>,
        code: c_uint,
        call: impl Fn(&World) -> CUresult + 'static,
    ) -> Self {
        Self {
            function,
            case: case.into(),
            code,
            call: Box::new(call),
            on_gpu: None,
            is_undefined: false,
            not_on_gpu: None,
            needs_two_devices: false,
            is_bare: false,
            says: None,
        }
    }

    /// A real driver follows the handle or the address.
    pub fn undefined(self) -> Self {
        Self {
            is_undefined: true,
            ..self
        }
    }

    /// Not asked of a real driver, which was seen to spoil the process or the device, or to answer as it likes: the reason.
    pub fn not_on_gpu(self, reason: &'static str) -> Self {
        Self {
            not_on_gpu: Some(reason),
            ..self
        }
    }

    /// The same, in rows of several cases.
    pub fn not_on_gpu_if(self, is_seen: bool, reason: &'static str) -> Self {
        match is_seen {
            true => self.not_on_gpu(reason),
            false => self,
        }
    }

    /// A real driver answers this code.
    pub fn gpu(self, code: c_uint) -> Self {
        Self {
            on_gpu: Some(code),
            ..self
        }
    }

    pub fn two_devices(self) -> Self {
        Self {
            needs_two_devices: true,
            ..self
        }
    }

    /// No context is current.
    pub fn bare(self) -> Self {
        Self {
            is_bare: true,
            ..self
        }
    }

    /// The simulator writes this.
    pub fn says(self, text: &'static str) -> Self {
        Self {
            says: Some(text),
            ..self
        }
    }

    /// Whether it is asked of a driver.
    pub fn is_asked_of(&self, backend: Backend) -> bool {
        backend == Backend::Simulator || !(self.is_undefined || self.not_on_gpu.is_some())
    }

    pub fn expected(&self, backend: Backend) -> c_uint {
        match backend {
            Backend::Simulator => self.code,
            Backend::Cuda => self.on_gpu.unwrap_or(self.code),
        }
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.function, self.case)
    }
}

/// The call ends the process of a real driver, which follows the address.
pub const ENDS_PROCESS: &str = "ends the process";
/// A real driver begins work that wraps around all addresses, or never ends.
pub const RUNS_AWAY: &str = "runs away";
/// A real driver begins work on memory that is nobody's, or by then another's.
pub const USES_FREED: &str = "uses freed memory";

/// Rows: `|world| FUNCTION { CASE [MARKS]: CODE => (ARGUMENTS); }`, the marks being methods of [`Row`].
macro_rules! rows {
    (|$world:ident| $($function:ident {
        $($case:literal $([$($mark:ident $(($value:expr))?),*])?: $code:expr => ($($argument:expr),* $(,)?);)*
    })*) => {
        vec![$($(
            $crate::row::Row::new(stringify!($function), $case, $code, |$world: &$crate::world::World| {
                let _ = $world;
                // SAFETY: every pointer is null or valid for its type, and other values are such as the driver finds out; rows for
                // which that holds on the simulator alone are marked, and run on it alone.
                unsafe { $function($($argument),*) }
            })$($(.$mark($($value)?))*)?,
        )*)*]
    };
}
pub(crate) use rows;

/// A function of the driver with its name, for rows that several functions have: `named!(FUNCTION, |PARAMETERS| ARGUMENTS)`.
macro_rules! named {
    ($function:ident, |$($parameter:pat_param),*| ($($argument:expr),* $(,)?)) => {
        (stringify!($function), |$($parameter),*| {
            // SAFETY: as the rows that use it say.
            unsafe { $function($($argument),*) }
        })
    };
}
pub(crate) use named;

/// A place for a result, which stays as long as the process.
pub fn out<T>() -> *mut T {
    #[repr(align(128))]
    struct Place(#[expect(dead_code, reason = "the driver writes it")] [u64; 64]);
    const { assert!(size_of::<T>() <= size_of::<Place>()) };
    Box::leak(Box::new(Place([0; 64])) as Box<Place>) as *mut Place as *mut T
}

/// A value behind a pointer, which stays as long as the process.
pub fn at<T>(value: T) -> *mut T {
    Box::leak(Box::new(value))
}

/// The first of several values behind a pointer.
pub fn all<T, const N: usize>(values: [T; N]) -> *mut T {
    Box::leak(Box::new(values)).as_mut_ptr()
}
