//! How much of each device's memory is in use.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::catalog::profile;
use super::visible::MOST;

/// Bytes of device memory in use, by device.
static USED: [AtomicUsize; MOST] = [const { AtomicUsize::new(0) }; MOST];

/// Takes `bytes` of a device's memory, if it has them.
pub(crate) fn take_memory(device: usize, bytes: usize) -> bool {
    let total = profile(device).total_memory;
    let room = |used: usize| used.checked_add(bytes).filter(|&sum| sum <= total);
    USED[device]
        .try_update(Ordering::AcqRel, Ordering::Acquire, room)
        .is_ok()
}

/// Gives memory back to the device.
pub(crate) fn give_memory(device: usize, bytes: usize) {
    USED[device].fetch_sub(bytes, Ordering::AcqRel);
}

/// Bytes that are free on a device, and all it has. The machine's own memory is a bound too.
pub(crate) fn memory_info(device: usize) -> (usize, usize) {
    let total = profile(device).total_memory;
    let free = total - USED[device].load(Ordering::Acquire).min(total);
    (free.min(host_available().unwrap_or(free)), total)
}

/// Requests above this are compared with what the machine has before they are granted: the pages would be taken only at first touch,
/// too late for an error code. Asking costs more than a small allocation.
const LARGE: usize = 256 << 20;

/// Whether the machine itself has no room for a request.
pub(crate) fn exceeds_host(bytes: usize) -> bool {
    bytes > LARGE && host_available().is_some_and(|available| bytes > available)
}

/// What the machine could still give, from `/proc/meminfo`.
fn host_available() -> Option<usize> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim()
        .strip_suffix("kB")?
        .trim()
        .parse::<usize>()
        .ok()
        .map(|kib| kib << 10)
}
