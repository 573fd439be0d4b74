//! The check of writes over initialised mbarriers.

use warpsmith_isa::effect::ObjectUse;

use super::super::access::{Access, AccessClass, ThreadAccess};
use super::super::finding::Finding;
use super::super::mbarriers::{MBARRIER_BYTES, Mbarrier};
use super::super::pattern::lanes_of;
use super::{SharedMemory, by_lane};

impl SharedMemory {
    /// Checks that an access does not write over initialised mbarriers, and notes those that it makes or unmakes.
    #[inline]
    pub(super) fn check_mbarriers(
        &mut self,
        access: &Access<'_>,
        class: AccessClass,
    ) -> Option<Finding> {
        let mbarriers = self.mbarriers.as_ref()?;
        match access.object {
            _ if !class.kind.writes() => None,
            ObjectUse::Mbarrier => None,
            ObjectUse::Data if mbarriers.is_empty() => None,
            _ => self.check_mbarriers_of_lanes(access, class),
        }
    }

    #[inline(never)]
    fn check_mbarriers_of_lanes(
        &mut self,
        access: &Access<'_>,
        class: AccessClass,
    ) -> Option<Finding> {
        for lane in lanes_of(access.mask) {
            let offset = access.offsets[lane as usize];
            if access.object == ObjectUse::MbarrierInval {
                self.mbarriers.as_mut()?.invalidate(offset);
                continue;
            }
            let by = || by_lane(access, class, lane);
            let found = self.overwritten_mbarrier(offset, access.size, access.object, by);
            if found.is_some() {
                return found;
            }
            if access.object == ObjectUse::MbarrierInit {
                let by = by();
                self.mbarriers.as_mut()?.initialise(Mbarrier { offset, by });
            }
        }
        None
    }

    /// The finding of a write to these bytes, if it goes over an initialised mbarrier.
    #[inline]
    pub(super) fn overwritten_mbarrier(
        &self,
        offset: u32,
        size: u32,
        object: ObjectUse,
        access: impl Fn() -> ThreadAccess,
    ) -> Option<Finding> {
        let mbarrier = self.mbarriers.as_ref()?.first_in(offset, size)?;
        let at = mbarrier.offset.max(offset);
        debug_assert!(at < mbarrier.offset + MBARRIER_BYTES, "it has the byte");
        Some(Finding::MbarrierOverwritten {
            access: access(),
            object,
            initialised: mbarrier.by,
            block: at / self.stride,
            offset: at % self.stride,
            size,
        })
    }
}
