//! Who may use managed memory on a device that cannot share it with the host while it works (attribute `CONCURRENT_MANAGED_ACCESS` is 0;
//! CUDA C++ Programming Guide, "Coherency and Concurrency"): all streams, one stream, or the host alone.
//!
//! Copies and memsets are judged when they are issued, by what has been issued before (`cuStreamAttachMemAsync` takes effect in its stream's
//! order, and whoever uses the memory elsewhere waits for it):
//!
//! | operand | is accessed |
//! | --- | --- |
//! | of a memset, or said to be the device's (`CU_MEMORYTYPE_DEVICE`) | by the device, which must be allowed to |
//! | said to be the host's (`CU_MEMORYTYPE_HOST`) | by the host if it may, else by the device |
//! | found out by its address (`CU_MEMORYTYPE_UNIFIED`) | by whoever may; the device before the host, unless it is preferred to be the host's |
//!
//! One of the two always may: so only the first is ever refused.

use std::collections::BTreeMap;
use std::sync::Mutex;

use super::allocation::AllocationKind;
use super::graph_memory::StreamIdentity;
use super::space::Memory;
use crate::device;
use crate::error::{Result, code};
use crate::report;
use crate::sync::lock;
use warpsmith_abi::CUdevice_attribute;

/// Whose memory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Attachment {
    /// All streams'.
    Global,
    /// The host's alone.
    Host,
    /// One stream's.
    Stream(StreamIdentity),
}

/// By an allocation's base; what is not here is global.
static ATTACHED: Mutex<BTreeMap<usize, Attachment>> = Mutex::new(BTreeMap::new());

/// Attaches the managed allocation that starts at `base`.
pub(crate) fn attach(base: usize, to: Attachment) {
    match to {
        Attachment::Global => lock(&ATTACHED).remove(&base),
        _ => lock(&ATTACHED).insert(base, to),
    };
}

/// What was attached to a stream is global when that ends.
pub(crate) fn end_of_stream(stream: StreamIdentity) {
    lock(&ATTACHED).retain(|_, to| *to != Attachment::Stream(stream));
}

/// The allocation that started at `base` is no more.
pub(super) fn forget(base: usize) {
    lock(&ATTACHED).remove(&base);
}

/// Whether a device may access memory for work of a stream.
fn is_coherent(attachment: Attachment, stream: StreamIdentity, is_concurrent: bool) -> bool {
    is_concurrent
        || match attachment {
            Attachment::Global => true,
            Attachment::Host => false,
            Attachment::Stream(owner) => owner == stream,
        }
}

/// Refuses that a device accesses memory for a copy or a memset in a stream, if it is managed and not to be accessed so.
///
/// # Errors
///
/// Invalid value.
pub(crate) fn refuse_device(
    what: &str,
    address: usize,
    device: usize,
    stream: StreamIdentity,
) -> Result {
    let concurrent = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS;
    let is_concurrent = device::profile(device).limit(concurrent) != 0;
    if is_concurrent {
        return Ok(());
    }
    let Some((info, detail)) = Memory::global().detail(address) else {
        return Ok(());
    };
    let attachment = lock(&ATTACHED).get(&info.base).copied();
    let attachment = attachment.unwrap_or(Attachment::Global);
    if detail.kind != AllocationKind::Managed || is_coherent(attachment, stream, is_concurrent) {
        return Ok(());
    }
    let whose = match attachment {
        Attachment::Stream(_) => "another stream",
        _ => "the host",
    };
    report::remark(&format!(
        "{what} is refused: it accesses managed memory at {address:#x} from the device, which the memory is not for, as it is attached to \
         {whose} and the device has no concurrent managed access; attach it to the stream, or globally (cuStreamAttachMemAsync)"
    ));
    Err(code::INVALID_VALUE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_it_cannot_be_shared_memory_is_its_streams() {
        // covers: UM-41
        let (this, other) = ((1, 2), (1, 3));
        for (attachment, alone) in [
            (Attachment::Global, true),
            (Attachment::Host, false),
            (Attachment::Stream(this), true),
            (Attachment::Stream(other), false),
        ] {
            assert_eq!(
                is_coherent(attachment, this, false),
                alone,
                "{attachment:?}"
            );
            assert!(is_coherent(attachment, this, true), "{attachment:?}");
        }
    }

    #[test]
    fn the_end_of_a_stream_makes_its_memory_global() {
        let stream = (u64::MAX, 1);
        let of = |base| lock(&ATTACHED).get(&base).copied();
        attach(1, Attachment::Stream(stream));
        attach(2, Attachment::Stream((u64::MAX, 2)));
        attach(3, Attachment::Host);
        end_of_stream(stream);
        assert_eq!(of(1), None);
        assert_eq!(of(3), Some(Attachment::Host));
        forget(2);
        attach(3, Attachment::Global);
        assert_eq!((of(2), of(3)), (None, None));
    }
}
