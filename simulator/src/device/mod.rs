//! The simulated devices: what they report about themselves, as data.

mod h200;

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::abi::CUdevice_attribute;

/// What a device reports.
pub(crate) struct Profile {
    pub(crate) name: &'static str,
    pub(crate) total_memory: usize,
    attributes: &'static [(CUdevice_attribute, i32)],
    pub(crate) stack_limit: usize,
    pub(crate) printf_fifo: usize,
    pub(crate) malloc_heap: usize,
    pub(crate) pending_launches: usize,
    pub(crate) max_l2_fetch: usize,
    pub(crate) persisting_l2: usize,
    pub(crate) shared_memory_limit: usize,
    /// Least and greatest stream priority.
    pub(crate) priorities: (i32, i32),
}

impl Profile {
    /// The value of an attribute; `None` if the device does not know it.
    pub(crate) fn attribute(&self, attribute: CUdevice_attribute) -> Option<i32> {
        self.attributes
            .iter()
            .find(|(key, _)| *key == attribute)
            .map(|&(_, value)| value)
    }

    /// The value of an attribute that every profile has, as an unsigned number.
    pub(crate) fn limit(&self, attribute: CUdevice_attribute) -> u32 {
        self.attribute(attribute)
            .and_then(|value| u32::try_from(value).ok())
            .unwrap_or(0)
    }
}

/// The version of the driver that is simulated.
pub(crate) const DRIVER_VERSION: i32 = 13000;

/// How many devices there are: `WARPSMITH_SIMULATOR_DEVICES`, or one.
pub(crate) fn count() -> usize {
    static COUNT: OnceLock<usize> = OnceLock::new();
    *COUNT.get_or_init(|| {
        std::env::var("WARPSMITH_SIMULATOR_DEVICES")
            .ok()
            .and_then(|count| count.parse().ok())
            .map_or(1, |n: usize| n.min(64))
    })
}

/// The profile of a device.
pub(crate) fn profile(_device: usize) -> &'static Profile {
    &h200::PROFILE
}

/// A device's compute capability.
pub(crate) fn compute_capability(device: usize) -> (u32, u32) {
    let profile = profile(device);
    (
        profile.limit(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
        profile.limit(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR),
    )
}

/// Bytes of device memory in use, by device.
static USED: [AtomicUsize; 64] = [const { AtomicUsize::new(0) }; 64];

/// Takes `bytes` of a device's memory, if it has them.
pub(crate) fn take_memory(device: usize, bytes: usize) -> bool {
    let total = profile(device).total_memory;
    let room = |used: usize| used.checked_add(bytes).filter(|&sum| sum <= total);
    USED[device]
        .fetch_update(Ordering::AcqRel, Ordering::Acquire, room)
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

/// What the machine could still give, from `/proc/meminfo`.
pub(crate) fn host_available() -> Option<usize> {
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
