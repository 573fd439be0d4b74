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
    /// The value of an attribute; `None` if the device does not know it. `WARPSMITH_SIMULATOR_ATTRIBUTES` comes first.
    pub(crate) fn attribute(&self, attribute: CUdevice_attribute) -> Option<i32> {
        let given = replaced().iter().chain(self.attributes);
        given
            .into_iter()
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

/// What `WARPSMITH_SIMULATOR_ATTRIBUTES` makes the devices report instead: `89=0,120=0`, by the numbers of `CUdevice_attribute`.
fn replaced() -> &'static [(CUdevice_attribute, i32)] {
    static REPLACED: OnceLock<Vec<(CUdevice_attribute, i32)>> = OnceLock::new();
    REPLACED.get_or_init(|| {
        let text = std::env::var("WARPSMITH_SIMULATOR_ATTRIBUTES").unwrap_or_default();
        assignments(&text).unwrap_or_else(|entry| {
            eprintln!("warpsmith: WARPSMITH_SIMULATOR_ATTRIBUTES: `{entry}` is not `NUMBER=VALUE`; the variable is ignored");
            Vec::new()
        })
    })
}

/// `1=2,3=4`, or the entry that is not of this form.
fn assignments(text: &str) -> Result<Vec<(CUdevice_attribute, i32)>, &str> {
    let entries = text
        .split(',')
        .map(str::trim)
        .filter(|entry| !entry.is_empty());
    entries
        .map(|entry| {
            let (key, value) = entry.split_once('=').ok_or(entry)?;
            let (Ok(key), Ok(value)) = (key.trim().parse(), value.trim().parse()) else {
                return Err(entry);
            };
            Ok((CUdevice_attribute(key), value))
        })
        .collect()
}

/// The most devices that can be simulated.
const MOST: usize = 64;

/// The version of the driver that is simulated.
pub(crate) const DRIVER_VERSION: i32 = 13000;

/// The devices that this process sees, by their numbers in the machine. There are as many as `WARPSMITH_SIMULATOR_DEVICES` says, or
/// one; `CUDA_VISIBLE_DEVICES` chooses among them and orders them.
fn visible() -> &'static [usize] {
    static VISIBLE: OnceLock<Vec<usize>> = OnceLock::new();
    VISIBLE.get_or_init(|| {
        let all = std::env::var("WARPSMITH_SIMULATOR_DEVICES")
            .ok()
            .and_then(|count| count.parse().ok());
        let all = all.map_or(1, |count: usize| count.min(MOST));
        match std::env::var("CUDA_VISIBLE_DEVICES") {
            Ok(list) => choose(&list, all),
            Err(_) => (0..all).collect(),
        }
    })
}

/// Numbers or beginnings of identities, up to the first that is none.
fn choose(list: &str, all: usize) -> Vec<usize> {
    let mut chosen = Vec::new();
    for entry in list.split(',').map(str::trim) {
        let found = match entry.strip_prefix("GPU-") {
            Some(prefix) => {
                let mut fitting =
                    (0..all).filter(|&device| identity_text(device).starts_with(prefix));
                fitting.next().filter(|_| fitting.next().is_none())
            }
            None => entry.parse().ok().filter(|&device| device < all),
        };
        match found {
            Some(device) if !chosen.contains(&device) => chosen.push(device),
            _ => break,
        }
    }
    chosen
}

/// How many devices this process sees.
pub(crate) fn count() -> usize {
    visible().len()
}

/// The number of a visible device in the machine.
pub(crate) fn in_machine(device: usize) -> usize {
    visible().get(device).copied().unwrap_or(device)
}

/// A device's identity, by its number in the machine.
pub(crate) fn identity(device: usize) -> [u8; 16] {
    let mut bytes = *b"warpsmith-sim-00";
    bytes[14] = b'0' + (device / 10) as u8;
    bytes[15] = b'0' + (device % 10) as u8;
    bytes
}

/// The identity in the form that programs print: 32 hexadecimal digits in groups.
fn identity_text(device: usize) -> String {
    let hex: String = identity(device)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    [
        &hex[..8],
        &hex[8..12],
        &hex[12..16],
        &hex[16..20],
        &hex[20..],
    ]
    .join("-")
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
static USED: [AtomicUsize; MOST] = [const { AtomicUsize::new(0) }; MOST];

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_can_be_replaced() {
        assert_eq!(
            assignments("89=0, 2=-1,"),
            Ok(vec![
                (CUdevice_attribute(89), 0),
                (CUdevice_attribute(2), -1)
            ])
        );
        assert_eq!(assignments(""), Ok(vec![]));
        assert_eq!(assignments("89=0,x=1"), Err("x=1"));
        assert_eq!(assignments("89"), Err("89"));
    }

    #[test]
    fn visible_devices_are_listed_up_to_the_first_wrong_entry() {
        // covers: ENV-01, ENV-EX01
        assert_eq!(choose("2,1", 4), [2, 1]);
        assert_eq!(choose("0,2,-1,1", 4), [0, 2]);
        assert_eq!(choose("", 4), []);
        assert_eq!(choose("-1", 4), []);
        assert_eq!(choose("7", 4), []);
        let third = format!("GPU-{}", identity_text(2));
        assert_eq!(choose(&third, 4), [2]);
        assert_eq!(
            choose("GPU-77617270", 4),
            [],
            "a beginning that several share names none"
        );
    }
}
