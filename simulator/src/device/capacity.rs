//! How much of each device's memory is in use. A device gives memory out in pieces of 2 MiB, of which small allocations share some: what
//! is free changes by pieces.

use std::sync::{Mutex, OnceLock};

use super::catalog::profile;
use super::visible::MOST;
use crate::settings;
use crate::sync::lock;

/// What a device gives out at once.
pub(crate) const PIECE: usize = 2 << 20;
/// Smaller allocations share pieces.
const OWN_PIECES: usize = 1 << 20;
/// What small allocations are multiples of.
const SMALL_UNIT: usize = 512;

/// Memory of a device that is in use, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Used {
    /// By allocations that share pieces.
    small: usize,
    /// By those with pieces of their own.
    large: usize,
}

impl Used {
    /// With an allocation more; `None` if there are not so many bytes.
    fn with(self, bytes: usize) -> Option<Used> {
        Some(if bytes < OWN_PIECES {
            Used {
                small: self.small.checked_add(padded(bytes))?,
                ..self
            }
        } else {
            Used {
                large: self
                    .large
                    .checked_add(bytes.checked_next_multiple_of(PIECE)?)?,
                ..self
            }
        })
    }

    /// With an allocation less, which was counted before.
    fn without(self, bytes: usize) -> Used {
        if bytes < OWN_PIECES {
            let small = self.small.saturating_sub(padded(bytes));
            Used { small, ..self }
        } else {
            let large = self.large.saturating_sub(bytes.next_multiple_of(PIECE));
            Used { large, ..self }
        }
    }

    /// Bytes of all pieces.
    fn pieces(self) -> Option<usize> {
        let small = self.small.checked_next_multiple_of(PIECE)?;
        small.checked_add(self.large)
    }
}

/// The bytes that a small allocation takes.
fn padded(bytes: usize) -> usize {
    bytes.next_multiple_of(SMALL_UNIT)
}

static USED: [Mutex<Used>; MOST] = [const { Mutex::new(Used { small: 0, large: 0 }) }; MOST];

/// All memory of a device: `WARPSMITH_SIMULATOR_MEMORY`, else that of its profile.
pub(crate) fn total_memory(device: usize) -> usize {
    let set = settings::process().memory;
    set.unwrap_or(profile(device).total_memory)
}

/// Takes `bytes` of a device's memory, if it has them.
pub(crate) fn take_memory(device: usize, bytes: usize) -> bool {
    let mut used = lock(&USED[device]);
    let Some(more) = used.with(bytes) else {
        return false;
    };
    let fits = more
        .pieces()
        .is_some_and(|pieces| pieces <= total_memory(device));
    if fits {
        *used = more;
    }
    fits
}

/// Gives memory back to the device.
pub(crate) fn give_memory(device: usize, bytes: usize) {
    let mut used = lock(&USED[device]);
    *used = used.without(bytes);
}

/// Bytes that are free on a device, and all it has. Where the size is the profile's, not more is free than the machine itself had
/// when it was first asked.
pub(crate) fn memory_info(device: usize) -> (usize, usize) {
    static OF_MACHINE: OnceLock<usize> = OnceLock::new();
    let total = total_memory(device);
    let most = match settings::process().memory {
        Some(set) => set,
        None => *OF_MACHINE.get_or_init(|| host_available().unwrap_or(usize::MAX)),
    };
    let used = lock(&USED[device]).pieces().unwrap_or(total);
    (total.min(most).saturating_sub(used), total)
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
    fn small_allocations_share_pieces_and_large_ones_have_their_own() {
        let none = Used::default();
        let one = none.with(20).unwrap();
        assert_eq!(one.pieces(), Some(PIECE));
        assert_eq!(one.with(PIECE / 4).unwrap().pieces(), Some(PIECE));
        let full = (0..PIECE / SMALL_UNIT).fold(none, |used, _| used.with(1).unwrap());
        assert_eq!(full.pieces(), Some(PIECE));
        assert_eq!(full.with(1).unwrap().pieces(), Some(2 * PIECE));
        let large = one.with(PIECE + 1).unwrap();
        assert_eq!(large.pieces(), Some(3 * PIECE));
        assert_eq!(large.without(PIECE + 1).without(20), none);
        assert_eq!(none.with(usize::MAX), None);
    }
}
