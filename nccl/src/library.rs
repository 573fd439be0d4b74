//! NCCL's functions: from its library, loaded at run time, or the simulator's.

use std::ffi::{CString, c_void};
use std::fmt;
use std::path::Path;
use std::sync::OnceLock;

use libloading::os::unix::Library as SharedLibrary;
use warpsmith_driver::{Backend, raw};
use warpsmith_nccl_abi::*;
use warpsmith_nccl_simulator::Driver;

use crate::environment;
use crate::error::{Error, Library, Result};

macro_rules! functions {
    ($(fn $name:ident($($argument:ident: $kind:ty),* $(,)?) -> $result:ty;)*) => {
        /// NCCL's functions, also those that this crate does not call: for work beside its own, on [`Communicator::as_raw`].
        ///
        /// [`Communicator::as_raw`]: crate::Communicator::as_raw
        #[allow(non_snake_case)]
        pub struct Functions {
            $(
                #[doc = concat!("NCCL's `", stringify!($name), "`.")]
                pub $name: signature::$name,
            )*
            /// What came later than these.
            pub newer: NewerFunctions,
        }

        impl Functions {
            /// Looks up every function; the error is the name of one that is missing.
            ///
            /// # Safety
            ///
            /// What `find` answers for a name is the address of a function of the name's type in [`signature`], valid until the process
            /// ends.
            pub(crate) unsafe fn resolve(find: &dyn Fn(&str) -> Option<*const c_void>) -> Result<Functions, &'static str> {
                Ok(Functions {
                    $($name: {
                        let address = find(stringify!($name)).ok_or(stringify!($name))?;
                        // SAFETY: this function's condition.
                        unsafe { std::mem::transmute::<*const c_void, signature::$name>(address) }
                    },)*
                    // SAFETY: this function's condition.
                    newer: unsafe { NewerFunctions::resolve(find) },
                })
            }
        }
    };
}

warpsmith_nccl_abi::for_each_nccl_function!(functions);

macro_rules! newer_functions {
    ($(fn $name:ident($($argument:ident: $kind:ty),* $(,)?) -> $result:ty;)*) => {
        /// The functions that came after NCCL 2.18, which an older library lacks.
        #[allow(non_snake_case)]
        pub struct NewerFunctions {
            $(
                #[doc = concat!("NCCL's `", stringify!($name), "`.")]
                pub $name: Option<signature::$name>,
            )*
        }

        impl NewerFunctions {
            /// Looks them up.
            ///
            /// # Safety
            ///
            /// As for [`Functions::resolve`].
            unsafe fn resolve(find: &dyn Fn(&str) -> Option<*const c_void>) -> NewerFunctions {
                NewerFunctions {
                    $($name: find(stringify!($name)).map(|address| {
                        // SAFETY: this function's condition.
                        unsafe { std::mem::transmute::<*const c_void, signature::$name>(address) }
                    }),)*
                }
            }
        }
    };
}

warpsmith_nccl_abi::for_each_newer_nccl_function!(newer_functions);

macro_rules! driver_of_the_seam {
    ($($name:ident),*) => {
        Driver { $($name: raw::$name,)* }
    };
}

/// Which implementation answers, and its functions.
pub(crate) struct Loaded {
    pub(crate) functions: Functions,
    pub(crate) is_simulator: bool,
    pub(crate) version: Version,
}

impl Loaded {
    fn of(functions: Functions, is_simulator: bool) -> Loaded {
        let version = version_of(&functions).unwrap_or(Version::of(0));
        Loaded {
            functions,
            is_simulator,
            version,
        }
    }
}

/// What NCCL says that it is.
///
/// # Errors
///
/// Its code.
pub(crate) fn version_of(functions: &Functions) -> Result<Version, ncclResult_t> {
    let mut version = 0;
    // SAFETY: NCCL writes one number to `version`, which outlives the call.
    match unsafe { (functions.ncclGetVersion)(&mut version) } {
        ncclResult_t::ncclSuccess => Ok(Version::of(version)),
        code => Err(code),
    }
}

/// NCCL, found once in a process, for the driver that the process runs on.
///
/// # Errors
///
/// It cannot be loaded.
pub(crate) fn loaded() -> Result<&'static Loaded> {
    static LOADED: OnceLock<std::result::Result<Loaded, Vec<(String, String)>>> = OnceLock::new();
    let loaded = LOADED.get_or_init(|| {
        let wanted = environment::library();
        let on_simulator = warpsmith_driver::backend() == Some(Backend::Simulator);
        if on_simulator || wanted.as_deref() == Some("simulator") {
            let driver = warpsmith_nccl_simulator::for_each_driver_function!(driver_of_the_seam);
            warpsmith_nccl_simulator::set_driver(Ok(driver));
            // SAFETY: the simulator compiles each of its functions against the signature of its name.
            let functions = unsafe { Functions::resolve(&warpsmith_nccl_simulator::entry_point) };
            return match functions {
                Ok(functions) => Ok(Loaded::of(functions, true)),
                Err(name) => Err(vec![("simulator".into(), format!("it has no {name}"))]),
            };
        }
        let places = match wanted {
            Some(file) => vec![file],
            None => places(),
        };
        let mut tried = Vec::new();
        for place in places {
            match load(&place) {
                Ok(functions) => return Ok(Loaded::of(functions, false)),
                Err(reason) => tried.push((place, reason)),
            }
        }
        Err(tried)
    });
    loaded.as_ref().map_err(|tried| {
        Error::Library(Box::new(Library {
            tried: tried.clone(),
        }))
    })
}

/// Where NCCL may be: wherever the dynamic linker finds it, then what pip put into the cache.
fn places() -> Vec<String> {
    let in_cache = environment::cache_folder()
        .map(|cache| cache.join("nvidia-nccl/nvidia/nccl/lib/libnccl.so.2"))
        .filter(|file| Path::is_file(file))
        .map(|file| file.display().to_string());
    std::iter::once("libnccl.so.2".to_owned())
        .chain(in_cache)
        .collect()
}

fn load(file: &str) -> std::result::Result<Functions, String> {
    // SAFETY: NCCL's constructors may run in any process and on any thread: Python loads it this way at any time.
    let library = unsafe { SharedLibrary::new(file) }.map_err(|error| {
        // The dynamic linker's own words are below libloading's.
        match std::error::Error::source(&error) {
            Some(source) => source.to_string(),
            None => error.to_string(),
        }
    })?;
    let find = |name: &str| {
        let symbol = CString::new(name).ok()?;
        // SAFETY: only the symbol's address is taken, whatever its type.
        let found = unsafe { library.get::<*const c_void>(symbol.as_bytes_with_nul()) };
        Some(found.ok()?.into_raw().cast_const())
    };
    // SAFETY: NCCL's symbols have these types since 2.18, which a library that has all of them is not older than; it is never unloaded
    // (below).
    let functions = unsafe { Functions::resolve(&find) }
        .map_err(|name| format!("it has no {name}: NCCL 2.18 or newer is needed"))?;
    match version_of(&functions) {
        Ok(version) if version >= OLDEST => {}
        Ok(version) => {
            return Err(format!(
                "it is version {version}, and 2.18 or newer is needed"
            ));
        }
        Err(code) => return Err(format!("ncclGetVersion answers {}", code.0)),
    }
    // Its threads outlive any caller.
    std::mem::forget(library);
    Ok(functions)
}

/// 2.18.1: the first with `ncclCommFinalize`, configurations and communicators that do not block as they are used here.
const OLDEST: Version = Version {
    major: 2,
    minor: 18,
    patch: 1,
};

/// A version of NCCL.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Version {
    /// 2 of 2.32.3.
    pub major: u32,
    /// 32 of 2.32.3.
    pub minor: u32,
    /// 3 of 2.32.3.
    pub patch: u32,
}

impl Version {
    pub(crate) fn of(code: i32) -> Version {
        let code = code.max(0) as u32;
        // The minor version has three digits since 2.9.
        let (major, rest) = match code {
            10000.. => (code / 10000, code % 10000),
            _ => (code / 1000, code % 1000),
        };
        Version {
            major,
            minor: rest / 100,
            patch: rest % 100,
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions() {
        assert_eq!(Version::of(23203).to_string(), "2.32.3");
        assert_eq!(Version::of(2804).to_string(), "2.8.4");
    }

    #[test]
    fn what_is_no_nccl_is_told() {
        let reason = load("/nonexistent/libnccl.so.2").err().expect("no file");
        assert!(reason.contains("nonexistent"), "{reason}");
        let reason = load("libc.so.6").err().expect("another library");
        assert!(reason.contains("ncclGetVersion"), "{reason}");
    }
}
