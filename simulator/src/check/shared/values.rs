//! Uninitialised values that the engine follows: where they come from, where they go, and what they decide.

use super::super::access::Access;
use super::super::finding::Finding;
use super::super::poison::{Decision, PoisonOrigin};
use super::{SharedMemory, by_lane};

impl SharedMemory {
    /// Whether the last access, whose values are followed, has read uninitialised bytes.
    #[inline]
    pub fn take_reads_uninitialised(&mut self) -> bool {
        std::mem::take(&mut self.reads_uninitialised)
    }

    /// Where the value comes from that a lane's access reads at an offset, if it is uninitialised.
    pub fn poison_at(
        &self,
        access: &Access<'_>,
        lane: u32,
        offset: u32,
        size: u32,
    ) -> Option<PoisonOrigin> {
        let at = self.validity.as_ref()?.first_uninitialised(offset, size)?;
        if let Some(origin) = self.stored_poison.get(&at) {
            return Some(*origin);
        }
        Some(PoisonOrigin {
            access: by_lane(access, access.class(), lane),
            block: at / self.stride,
            offset: at % self.stride,
            size: access.size,
        })
    }

    /// An uninitialised value has been stored: its bytes are uninitialised again.
    pub fn spoil(&mut self, offset: u32, size: u32, origin: PoisonOrigin) {
        if let Some(validity) = &mut self.validity {
            validity.spoil(offset, size);
            for at in offset..offset + size {
                self.stored_poison.insert(at, origin);
            }
        }
    }

    /// An uninitialised value decides something. If races are looked for, the finding is held back until the next barrier.
    pub fn decide(&mut self, origin: PoisonOrigin, decision: Decision) {
        let PoisonOrigin {
            access,
            block,
            offset,
            size,
        } = origin;
        self.pending.get_or_insert(Finding::Uninitialised {
            access,
            block,
            offset,
            size,
            decision: Some(decision),
        });
        self.due |= self.races.is_none();
    }
}
