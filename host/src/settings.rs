//! The environment variables that this crate reads, all of them.

use std::path::PathBuf;

/// `WARPSMITH_DEVICE`: the device that [`Gpu::open_default`](crate::Gpu::open_default) opens; `None` where it is not set or empty.
pub(crate) fn device() -> Option<String> {
    std::env::var("WARPSMITH_DEVICE")
        .ok()
        .filter(|text| !text.is_empty())
}

/// `WARPSMITH_LAUNCH_BLOCKING=1`: wait after every launch, so that a fault is reported by the launch that caused it. Read once for
/// each device that is opened.
// covers: ERROR-03
pub(crate) fn launch_blocking() -> bool {
    std::env::var_os("WARPSMITH_LAUNCH_BLOCKING").is_some_and(|value| value == "1")
}

/// `WARPSMITH_TRACE`: the file to which what the devices do is traced, `%p` in it being the process's number; `None` where it is not set or
/// empty. Read once for each device that is opened.
pub(crate) fn trace() -> Option<PathBuf> {
    let name = std::env::var_os("WARPSMITH_TRACE").filter(|name| !name.is_empty())?;
    Some(match name.to_str() {
        Some(text) => text.replace("%p", &std::process::id().to_string()).into(),
        None => name.into(),
    })
}

/// `NVTX_INJECTION64_PATH`: the library of a tool that takes NVTX ranges, which sets it for the programs that it starts; `None` where it is not set
/// or empty. Read once.
#[cfg(feature = "nvtx")]
pub(crate) fn nvtx_injection() -> Option<PathBuf> {
    let path = std::env::var_os("NVTX_INJECTION64_PATH").filter(|path| !path.is_empty())?;
    Some(path.into())
}
