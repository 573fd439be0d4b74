//! The driver's functions with the names and types of their parameters, as the header has them.

use crate::common::*;

/// A function of the driver.
pub struct Signature {
    pub name: &'static str,
    /// Name and type of each parameter.
    pub parameters: &'static [(&'static str, &'static str)],
}

macro_rules! signatures {
    ($(fn $name:ident($($argument:ident: $kind:ty),* $(,)?) -> $result:ty;)*) => {
        &[$(Signature {
            name: stringify!($name),
            parameters: &[$((stringify!($argument), stringify!($kind))),*],
        }),*]
    };
}

const ESTABLISHED: &[Signature] = warpsmith_abi::for_each_established_function!(signatures);
const NEWER: &[Signature] = warpsmith_abi::for_each_newer_function!(signatures);

macro_rules! names {
    ($($name:ident),* $(,)?) => { &[$(stringify!($name)),*] };
}

/// Functions that are known by name alone.
pub const FOREIGN: &[&str] = warpsmith_abi::for_each_foreign_symbol!(names);

/// All functions with a signature, other than variants for per-thread default streams, which have the same bodies.
pub fn all() -> impl Iterator<Item = &'static Signature> {
    ESTABLISHED.iter().chain(NEWER)
}

/// The function of this name.
pub fn of(name: &str) -> &'static Signature {
    all()
        .find(|signature| signature.name == name)
        .unwrap_or_else(|| panic!("the header has no {name}"))
}

/// Whether a function deals with memory, arrays or textures, whose wrong arguments have tests of their own.
pub fn is_of_memory(name: &str) -> bool {
    const PREFIXES: &[&str] = &[
        "cuArray",
        "cuDestroyExternalMemory",
        "cuDeviceGetDefaultMemPool",
        "cuDeviceGetMemPool",
        "cuDeviceGetTexture1DLinearMaxWidth",
        "cuDeviceSetMemPool",
        "cuExternalMemory",
        "cuFlushGPUDirectRDMAWrites",
        "cuImportExternalMemory",
        "cuIpcCloseMemHandle",
        "cuIpcGetMemHandle",
        "cuIpcOpenMemHandle",
        "cuMem",
        "cuMipmappedArray",
        "cuMulticast",
        "cuPointer",
        "cuStreamAttachMemAsync",
        "cuSurf",
        "cuTensorMap",
        "cuTex",
    ];
    PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// A function's name, and a call of it with zeros for arguments.
type CallWithZeros = (&'static str, fn() -> CUresult);

macro_rules! with_zeros {
    ($(fn $name:ident($($argument:ident: $kind:ty),* $(,)?) -> $result:ty;)*) => {
        // SAFETY: the arguments are integers, raw pointers, functions that may be null and plain structures, for all of which zeros are
        // valid; a driver that is not initialised looks at none of them.
        &[$((stringify!($name), || unsafe { $name($(core::mem::zeroed::<$kind>()),*) })),*]
    };
}

const ESTABLISHED_WITH_ZEROS: &[CallWithZeros] =
    warpsmith_abi::for_each_established_function!(with_zeros);
const NEWER_WITH_ZEROS: &[CallWithZeros] = warpsmith_abi::for_each_newer_function!(with_zeros);

/// Each function, to be called with zeros before the driver is initialised.
pub fn with_zeros() -> impl Iterator<Item = CallWithZeros> {
    ESTABLISHED_WITH_ZEROS
        .iter()
        .chain(NEWER_WITH_ZEROS)
        .copied()
}
