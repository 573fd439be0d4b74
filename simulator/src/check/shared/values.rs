//! Uninitialised values that the engine follows: where they come from, where they go, and what they decide.

use super::super::access::{Access, Performer};
use super::super::finding::Finding;
use super::super::poison::{Decision, PoisonOrigin, PoisonSource};
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
            source: PoisonSource::Memory {
                block: at / self.stride,
                offset: at % self.stride,
                size: access.size,
            },
        })
    }

    /// Where the values of registers come from that belong to an operation in flight, which its lane 0 has started and which makes this
    /// access; `None` if values are not followed.
    pub fn in_flight(&self, access: &Access<'_>) -> Option<PoisonOrigin> {
        self.validity.as_ref()?;
        let mut access = by_lane(access, access.class(), 0);
        access.performer = Performer::Operation;
        Some(PoisonOrigin {
            access,
            source: PoisonSource::InFlight,
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
        let PoisonOrigin { access, source } = origin;
        self.pending.get_or_insert(match source {
            PoisonSource::Memory {
                block,
                offset,
                size,
            } => Finding::Uninitialised {
                access,
                block,
                offset,
                size,
                decision: Some(decision),
            },
            PoisonSource::InFlight => Finding::InFlight { access, decision },
        });
        self.due |= self.races.is_none();
    }
}
