//! Views of memory that prove the access to it.

use std::sync::Arc;

use super::{PeerAccess, ReachedMemory};
use crate::error::{Code, Error, Result};
use crate::memory::released::MemoryKind;
use crate::memory::slice::{DeviceSlice, DeviceSliceMut};
use crate::memory::view::{DeviceRead, DeviceWrite, RawView};

impl PeerAccess {
    /// Memory of the other device, for work of [`peer`](Self::peer) that reads it.
    ///
    /// # Errors
    ///
    /// The access was not granted for this memory.
    pub fn view<'a, M: DeviceRead + ?Sized>(
        &'a self,
        memory: &'a M,
    ) -> Result<DeviceSlice<'a, M::Item>> {
        let view = self.checked("PeerAccess::view", memory.raw_view())?;
        Ok(DeviceSlice::of(view, ..))
    }

    /// Memory of the other device, for work of [`peer`](Self::peer) that writes it.
    ///
    /// # Errors
    ///
    /// The access was not granted for this memory.
    pub fn view_mut<'a, M: DeviceWrite + ?Sized>(
        &'a self,
        memory: &'a mut M,
    ) -> Result<DeviceSliceMut<'a, M::Item>> {
        let view = self.checked("PeerAccess::view_mut", memory.raw_view())?;
        Ok(DeviceSliceMut::of(view, ..))
    }

    fn checked<'a>(&'a self, call: &'static str, view: RawView<'a>) -> Result<RawView<'a>> {
        let Some(allocation) = view.allocation else {
            return Ok(view);
        };
        let memory = self.right.as_ref().and_then(|right| right.memory());
        let is_covered = Arc::ptr_eq(&allocation.gpu, &self.owner)
            && match (memory, &allocation.kind) {
                (Some(ReachedMemory::Plain), MemoryKind::Exportable) => true,
                (
                    Some(ReachedMemory::Pool(pool)),
                    MemoryKind::Pool(_) | MemoryKind::OwnPool { .. },
                ) => pool.has(allocation.base())?,
                (Some(ReachedMemory::Mapped(range)), MemoryKind::Virtual(own)) => {
                    Arc::ptr_eq(range, own)
                }
                _ => false,
            };
        if !is_covered {
            let of = match memory {
                Some(ReachedMemory::Pool(_)) => "buffers of one pool",
                Some(ReachedMemory::Mapped(_)) => "one mapped buffer",
                Some(ReachedMemory::Plain) | None => "buffers made by `exportable`",
            };
            return Err(Error::misuse(
                call,
                Code::INVALID_VALUE,
                format!(
                    "the access is for {of} of `{}`, and this memory is none of that",
                    self.owner.context().choice
                ),
                "`allow_peer` of the pool, the growable or mapped buffer, or the `Gpu` that the memory comes from gives the access to it",
            ));
        }
        Ok(RawView {
            peer: Some(self),
            ..view
        })
    }
}
