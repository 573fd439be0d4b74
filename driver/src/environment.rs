//! The environment variables that this crate reads.

use std::ffi::OsString;

/// What `WARPSMITH_DEVICE` asks for.
pub(crate) enum DeviceVariable {
    /// It is not set, or empty.
    Unset,
    /// `simulator` or `simulator:N`.
    Simulator,
    /// `cuda` or `cuda:N`.
    Cuda,
    /// Anything else, with its value.
    Malformed(String),
}

/// Reads `WARPSMITH_DEVICE`.
pub(crate) fn device() -> DeviceVariable {
    let Some(value) = std::env::var_os("WARPSMITH_DEVICE").filter(|value| !value.is_empty()) else {
        return DeviceVariable::Unset;
    };
    let value = value.to_string_lossy().into_owned();
    let is_ordinal = |text: &str| text.parse::<u32>().is_ok();
    match value.as_str() {
        "simulator" => DeviceVariable::Simulator,
        "cuda" => DeviceVariable::Cuda,
        other if other.strip_prefix("simulator:").is_some_and(is_ordinal) => {
            DeviceVariable::Simulator
        }
        other if other.strip_prefix("cuda:").is_some_and(is_ordinal) => DeviceVariable::Cuda,
        _ => DeviceVariable::Malformed(value),
    }
}

/// The CUDA driver's library: `WARPSMITH_CUDA_LIBRARY`, else `libcuda.so.1` wherever the dynamic linker finds it.
pub(crate) fn cuda_library() -> OsString {
    std::env::var_os("WARPSMITH_CUDA_LIBRARY").unwrap_or_else(|| "libcuda.so.1".into())
}
