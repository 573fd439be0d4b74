//! Ordinary memory of the program (heap, stacks, statics, mapped files), which kernels reach on devices with pageable memory access
//! (attribute 88). The driver knows nothing of it: what is there, and what may be done with it, is asked of the system.

use crate::device;
use crate::engine::{AccessError, Extent};
use warpsmith_abi::CUdevice_attribute;

/// A range of addresses with one kind of memory behind it, as `/proc/self/maps` lists it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Region {
    base: usize,
    end: usize,
    readable: bool,
    writable: bool,
}

/// Whether kernels of a device reach such memory.
pub(super) fn is_reached_by(device: usize) -> bool {
    let access = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS;
    device::profile(device).limit(access) != 0
}

/// Whether a kernel may access `size` bytes. The answer is of these bytes alone: the program may unmap its neighbours while a kernel runs.
///
/// # Errors
///
/// Out of bounds if the program has no memory there; read only for a write to what it may not write.
pub(super) fn validate(address: usize, size: usize, write: bool) -> Result<Extent, AccessError> {
    let end = address.checked_add(size).ok_or(AccessError::OutOfBounds)?;
    let mut next = address;
    for region in regions() {
        if region.end <= next {
            continue;
        }
        if region.base > next || !region.readable {
            break;
        }
        if write && !region.writable {
            return Err(AccessError::ReadOnly);
        }
        next = region.end;
        if next >= end {
            return Ok(Extent {
                base: address as u64,
                end: end as u64,
                writable: write,
            });
        }
    }
    Err(AccessError::OutOfBounds)
}

/// All memory of the process, by address.
fn regions() -> Vec<Region> {
    let text = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    text.lines().filter_map(region).collect()
}

/// A line: `base-end rwxp offset device inode path`.
fn region(line: &str) -> Option<Region> {
    let mut words = line.split_ascii_whitespace();
    let (base, end) = words.next()?.split_once('-')?;
    let [read, write, ..] = words.next()?.as_bytes() else {
        return None;
    };
    Some(Region {
        base: usize::from_str_radix(base, 16).ok()?,
        end: usize::from_str_radix(end, 16).ok()?,
        readable: *read == b'r',
        writable: *write == b'w',
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_region() {
        let file = "7f0000001000-7f0000003000 r--s 00001000 00:2f 5313  /data of mine/x";
        let expected = Region {
            base: 0x7f00_0000_1000,
            end: 0x7f00_0000_3000,
            readable: true,
            writable: false,
        };
        assert_eq!(region(file), Some(expected));
        let stack = region("7ffc0000-7ffd0000 rw-p 00000000 00:00 0 [stack]").unwrap();
        assert!(stack.readable && stack.writable);
        assert_eq!(region("7ffc0000-7ffd0000"), None);
    }

    #[test]
    fn own_memory_is_found_and_nothing_else() {
        static CONSTANT: [u64; 4] = [1; 4];
        let words = vec![0_u64; 1 << 12];
        let (base, bytes) = (words.as_ptr().addr(), 8 << 12);
        let found = validate(base, bytes, true).unwrap();
        assert_eq!(
            (found.base, found.end),
            (base as u64, (base + bytes) as u64)
        );
        let constant = CONSTANT.as_ptr().addr();
        assert!(validate(constant, 32, false).is_ok());
        assert_eq!(validate(constant, 32, true), Err(AccessError::ReadOnly));
        for nothing in [0, 16, usize::MAX - 2] {
            assert_eq!(validate(nothing, 4, false), Err(AccessError::OutOfBounds));
        }
    }
}
