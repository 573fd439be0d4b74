//! Why a call is refused memory that it names, in words: the driver's code says only that a value is invalid.

use super::allocation::{AllocationState, Use};
use super::space::Memory;
use super::virtual_memory::{reserved_around, validate};
use crate::engine::AccessError;
use crate::report;

/// Says that `what` is refused, because its `end` cannot be `bytes` at `address`.
pub(super) fn tell(what: &str, end: &str, address: usize, bytes: usize, how: Use) {
    let why = why(address, bytes, how);
    report::remark(&format!("{what} is refused: {end} {address:#x} {why}"));
}

/// Says that `what` is refused, because its `end` is memory of a pool of the host and was said to be a device's.
pub(super) fn tell_of_host_memory(what: &str, end: &str, address: usize) {
    report::remark(&format!(
        "{what} is refused: {end} {address:#x} is memory of a pool of the host, which is not device memory: copy it by cuMemcpyAsync or \
         cuMemcpy, or as CU_MEMORYTYPE_UNIFIED"
    ));
}

/// Says that `what` is refused, because its `end` is memory of a pool that the device may not access.
pub(super) fn tell_of_no_access(what: &str, end: &str, address: usize, device: usize) {
    report::remark(&format!(
        "{what} is refused: {end} {address:#x} is memory of a pool that device {device} may not access: cuMemPoolSetAccess \
         grants it"
    ));
}

/// Says that `call` frees no memory at `address`, which is not what it frees.
pub(crate) fn tell_of_free(call: &str, address: usize, wanted: &str) {
    let memory = Memory::global();
    let why = match memory.detail(address) {
        Some((info, detail)) if info.state == AllocationState::Freed => format!(
            "{} has freed it already",
            detail.freed_by.unwrap_or("another call")
        ),
        Some((info, detail)) if info.base != address => format!(
            "the address is {} bytes behind the beginning of an allocation ({}, {} bytes at {:#x}): free that",
            address - info.base,
            detail.made_by,
            info.len,
            info.base
        ),
        Some((_, detail)) => format!("the memory is of {}: {call} frees {wanted}", detail.made_by),
        None => format!("it is {}: {call} frees {wanted}", unknown(address)),
    };
    report::remark(&format!("{call} of {address:#x} is refused: {why}"));
}

fn why(address: usize, bytes: usize, how: Use) -> String {
    let memory = Memory::global();
    let Some(info) = memory.find(address) else {
        return format!("is {}", unknown(address));
    };
    let made_by = match memory.detail(address) {
        Some((_, detail)) if info.state == AllocationState::Freed => {
            let freed_by = detail.freed_by.unwrap_or("another call");
            return format!(
                "is memory of {} that {freed_by} has freed ({} bytes at {:#x})",
                detail.made_by, info.len, info.base
            );
        }
        Some((_, detail)) => detail.made_by,
        None => "cuMemHostRegister".into(),
    };
    if info.is_mapping {
        let writes = how == Use::Write;
        return match validate(address, bytes, writes, None) {
            Err(AccessError::ReadOnly) => "is mapped memory that no device may write".into(),
            Err(AccessError::Multicast) => {
                "is an address of a multicast object, which multimem instructions of kernels alone use".into()
            }
            Err(AccessError::NotGranted) => {
                "is mapped memory that no device may access: cuMemSetAccess grants it".into()
            }
            _ => format!("is mapped memory that ends before {bytes} bytes"),
        };
    }
    format!(
        "is {} bytes before the end of an allocation ({made_by}, {} bytes at {:#x}), not {bytes}",
        (info.base + info.len).saturating_sub(address),
        info.len,
        info.base
    )
}

/// What an address is in which there is no memory that the driver knows.
fn unknown(address: usize) -> String {
    if address == 0 {
        return "null".into();
    }
    if reserved_around(address).is_some() {
        return "a reserved address at which nothing is mapped".into();
    }
    let memory = Memory::global();
    let before = memory.contains(address).then(|| memory.neighbours(address));
    match before {
        Some([Some((info, detail)), _]) => format!(
            "{} bytes behind the end of an allocation ({}, {} bytes at {:#x}), in no memory that the driver knows",
            address.saturating_sub(info.base + info.len),
            detail.made_by,
            info.len,
            info.base
        ),
        _ => "in no memory that the driver knows".into(),
    }
}
