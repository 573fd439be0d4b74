//! Copies that threads have started and that are not done (`cp.async`).
//!
//! Such a copy writes at any time between its instruction and its completion, for which its own thread has to wait. An
//! access that is made in between is ordered neither before the instruction nor after the completion, whoever makes it,
//! since what is ordered happens in that order here, too. So it is enough to know which bytes are being written. That a
//! copy is ordered after what was accessed before its instruction is checked there; its completion is recorded as a
//! write by its thread.
//!
//! Where an mbarrier counts copies (`cp.async.mbarrier.arrive`) they are under way until some thread has found its
//! phase over. From then on, who touches the bytes has to have heard of that, at the mbarrier or through others: what
//! came before the arrival is not enough, although it is the starting thread that writes, not even for that thread.
//! What is heard of is an operation of an agent's ([`agents`](super::agents)), to which the copies have a ticket.

use super::access::{Access, AsyncTicket, Performer, ThreadAccess};
use super::byte_set::ByteSet;
use super::pattern::{Extent, Pattern, lanes_of};

/// How far copies have come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    /// They are under way.
    Issued,
    /// The mbarrier at this offset counts them, and nobody has found its phase over.
    Counted { mbarrier: u32, ticket: AsyncTicket },
    /// Somebody has, and others have to hear of it.
    Done { ticket: AsyncTicket },
}

/// Copies of a warp, by one instruction.
#[derive(Clone, Copy, Debug)]
struct Copies {
    /// The access of lane 0, whether it takes part or not.
    by: ThreadAccess,
    /// The lanes whose copies are not done.
    mask: u32,
    progress: Progress,
    offsets: [u32; 32],
    extent: Extent,
    size: u32,
}

impl Copies {
    /// The first byte of a range that a lane's copy writes.
    fn meets(&self, lane: u32, offset: u32, bytes: u32) -> Option<u32> {
        let start = self.offsets[lane as usize];
        (start < offset + bytes && offset < start + self.size).then_some(start.max(offset))
    }

    /// A lane's copy.
    fn of(&self, lane: u32) -> ThreadAccess {
        ThreadAccess {
            thread: self.by.thread + lane,
            ..self.by
        }
    }
}

/// The copies of a cluster that are not done, or of which not everybody may have heard that they are.
#[derive(Debug)]
pub(super) struct InFlight {
    /// What they write, but for those that are done.
    bytes: ByteSet,
    /// What those wrote that are done.
    done: ByteSet,
    copies: Vec<Copies>,
}

impl InFlight {
    /// None, into a memory of so many bytes.
    pub fn new(bytes: u32) -> InFlight {
        InFlight {
            bytes: ByteSet::new(bytes),
            done: ByteSet::new(bytes),
            copies: Vec::new(),
        }
    }

    /// A new cluster begins.
    pub fn start(&mut self) {
        if !self.is_empty() {
            self.bytes.clear();
            self.done.clear();
            self.copies.clear();
        }
    }

    /// Whether there is none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.copies.is_empty()
    }

    /// Whether an access touches bytes that are being written, or that were and of whose copies not all of its threads
    /// have heard that they are done.
    #[inline]
    pub fn touches(
        &self,
        access: &Access<'_>,
        pattern: Pattern,
        have_heard: impl Fn(AsyncTicket) -> bool,
    ) -> bool {
        !self.is_empty()
            && (self.bytes.touches(access, pattern)
                || self.done.touches(access, pattern)
                    && self.is_unheard(Extent::of(access, pattern), access.size, have_heard))
    }

    /// Whether there are copies that are done, unknown to somebody, and that may be in an access of so many bytes.
    fn is_unheard(
        &self,
        extent: Extent,
        size: u32,
        have_heard: impl Fn(AsyncTicket) -> bool,
    ) -> bool {
        self.copies.iter().any(|copies| match copies.progress {
            Progress::Done { ticket } => {
                copies.extent.lowest < extent.highest + size
                    && extent.lowest < copies.extent.highest + copies.size
                    && !have_heard(ticket)
            }
            _ => false,
        })
    }

    /// The first byte of a range that is being written, and who has started that.
    pub fn first_in(&self, offset: u32, bytes: u32) -> Option<(u32, ThreadAccess)> {
        if self.is_empty() {
            return None;
        }
        let at = self.bytes.first_in(offset, bytes)?;
        self.copies.iter().find_map(|copies| {
            let is_there = |lane: &u32| copies.meets(*lane, at, 1).is_some();
            let is_under_way = !matches!(copies.progress, Progress::Done { .. });
            let lane = lanes_of(copies.mask)
                .find(is_there)
                .filter(|_| is_under_way)?;
            Some((at, copies.of(lane)))
        })
    }

    /// The copies that are done: the first byte of each that is in a range, who has started it, and what its users have
    /// to have heard of.
    pub fn done_in(
        &self,
        offset: u32,
        bytes: u32,
    ) -> impl Iterator<Item = (u32, ThreadAccess, AsyncTicket)> {
        self.copies.iter().flat_map(move |copies| {
            let ticket = match copies.progress {
                Progress::Done { ticket } => Some(ticket),
                _ => None,
            };
            ticket.into_iter().flat_map(move |ticket| {
                lanes_of(copies.mask).filter_map(move |lane| {
                    let at = copies.meets(lane, offset, bytes)?;
                    Some((at, copies.of(lane), ticket))
                })
            })
        })
    }

    /// Forgets copies of which everybody has heard that they are done.
    pub fn forget(&mut self, has_everybody_heard: impl Fn(u32, AsyncTicket) -> bool) {
        let done = &mut self.done;
        self.copies.retain(|copies| match copies.progress {
            Progress::Done { ticket } if has_everybody_heard(copies.by.block, ticket) => {
                for lane in lanes_of(copies.mask) {
                    done.remove(copies.offsets[lane as usize], copies.size);
                }
                false
            }
            _ => true,
        });
    }

    /// Lanes have started copies to where nothing is in flight.
    pub fn begin(&mut self, access: &Access<'_>, pattern: Pattern) {
        if self.done.touches(access, pattern) {
            self.replace(access);
        }
        self.bytes.insert_all(access, pattern);
        self.push(access, access.mask, Progress::Issued);
    }

    /// What was done there before is of no interest any more: who may not touch it may not touch the new copies,
    /// either.
    fn replace(&mut self, access: &Access<'_>) {
        let done = &mut self.done;
        self.copies.retain_mut(|copies| {
            if let Progress::Done { .. } = copies.progress {
                for lane in lanes_of(copies.mask) {
                    let offset = copies.offsets[lane as usize];
                    let is_replaced = lanes_of(access.mask).any(|other| {
                        let start = access.offsets[other as usize];
                        copies.meets(lane, start, access.size).is_some()
                    });
                    if is_replaced {
                        done.remove(offset, copies.size);
                        copies.mask &= !(1 << lane);
                    }
                }
            }
            copies.mask != 0
        });
    }

    /// Copies of lanes are done, and mbarriers count them: they are as good as under way. `ticket` is given for each
    /// mbarrier.
    pub fn count(
        &mut self,
        access: &Access<'_>,
        mbarriers: &[u32; 32],
        mut ticket: impl FnMut(u32) -> AsyncTicket,
    ) {
        self.bytes.insert_all(access, Pattern::of(access));
        let mut rest = access.mask;
        while rest != 0 {
            let mbarrier = mbarriers[rest.trailing_zeros() as usize];
            let same = lanes_of(rest).filter(|&lane| mbarriers[lane as usize] == mbarrier);
            let same = same.fold(0, |mask, lane| mask | 1 << lane);
            let ticket = ticket(mbarrier);
            self.push(access, same, Progress::Counted { mbarrier, ticket });
            rest &= !same;
        }
    }

    /// Threads have found a phase of mbarriers over, which are at these offsets.
    pub fn end_counted_at(&mut self, access: &Access<'_>) {
        for copies in &mut self.copies {
            if let Progress::Counted { mbarrier, ticket } = copies.progress
                && lanes_of(access.mask).any(|lane| access.offsets[lane as usize] == mbarrier)
            {
                copies.progress = Progress::Done { ticket };
                for lane in lanes_of(copies.mask) {
                    let offset = copies.offsets[lane as usize];
                    self.bytes.remove(offset, copies.size);
                    self.done.insert(offset, copies.size);
                }
            }
        }
    }

    /// Lanes of a warp have waited for all of their own copies.
    pub fn end_counted_of(&mut self, block: u32, warp: u32, mask: u32) {
        let InFlight {
            bytes,
            done,
            copies,
        } = self;
        copies.retain_mut(|copies| {
            let bytes = match copies.progress {
                Progress::Issued => return true,
                Progress::Counted { .. } => &mut *bytes,
                Progress::Done { .. } => &mut *done,
            };
            if (copies.by.block, copies.by.thread) == (block, warp * 32) {
                for lane in lanes_of(mask & copies.mask) {
                    bytes.remove(copies.offsets[lane as usize], copies.size);
                }
                copies.mask &= !mask;
            }
            copies.mask != 0
        });
    }

    fn push(&mut self, access: &Access<'_>, mask: u32, progress: Progress) {
        self.copies.push(Copies {
            by: ThreadAccess {
                block: access.block,
                thread: access.warp * 32,
                site: access.site,
                class: access.class(),
                performer: Performer::Operation,
            },
            mask,
            progress,
            offsets: *access.offsets,
            extent: Extent::of(access, Pattern::of(access)),
            size: access.size,
        });
    }

    /// Copies of lanes are done.
    pub fn end(&mut self, access: &Access<'_>) {
        let mut rest = access.mask;
        self.copies.retain_mut(|copies| {
            let is_own = copies.by.block == access.block
                && copies.by.thread == access.warp * 32
                && copies.by.site == access.site
                && copies.progress == Progress::Issued;
            if is_own && rest & copies.mask != 0 {
                for lane in lanes_of(rest & copies.mask) {
                    // Of one instruction, a lane's copies are done in the order of their issue.
                    let offset = access.offsets[lane as usize];
                    debug_assert_eq!(offset, copies.offsets[lane as usize]);
                    self.bytes.remove(offset, copies.size);
                    copies.mask &= !(1 << lane);
                    rest &= !(1 << lane);
                }
            }
            copies.mask != 0
        });
        debug_assert_eq!(rest, 0, "they were in flight");
    }
}
