//! The environment variables that this crate reads, all of them.

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
