//! Copies that threads have started and that are not done (`cp.async`).
//!
//! Such a copy writes at any time between its instruction and its completion, for which its own thread has to wait. An access
//! that is made in between is ordered neither before the instruction nor after the completion, whoever makes it, since what is
//! ordered happens in that order here, too. So it is enough to know which bytes are being written. That a copy is ordered after
//! what was accessed before its instruction is checked there; its completion is recorded as a write by its thread.
//!
//! Where an mbarrier counts copies (`cp.async.mbarrier.arrive`) they are under way until some thread has found its phase over. Who has
//! not heard of that is not ordered behind the write, which the arrival releases; only of the thread that started the copy it is not
//! known then whether it has waited, too.

use super::access::{Access, Performer, ThreadAccess};
use super::byte_set::ByteSet;
use super::pattern::{Pattern, lanes_of};

/// Copies of a warp, by one instruction.
#[derive(Clone, Copy, Debug)]
struct Copies {
    /// The access of lane 0, whether it takes part or not.
    by: ThreadAccess,
    /// The lanes whose copies are not done.
    mask: u32,
    /// The mbarrier that counts them, if one does.
    mbarrier: Option<u32>,
    offsets: [u32; 32],
    size: u32,
}

/// The copies of a cluster that are not done.
#[derive(Debug)]
pub(super) struct InFlight {
    /// What they write.
    bytes: ByteSet,
    copies: Vec<Copies>,
}

impl InFlight {
    /// None, into a memory of so many bytes.
    pub fn new(bytes: u32) -> InFlight {
        InFlight {
            bytes: ByteSet::new(bytes),
            copies: Vec::new(),
        }
    }

    /// A new cluster begins.
    pub fn start(&mut self) {
        if !self.is_empty() {
            self.bytes.clear();
            self.copies.clear();
        }
    }

    /// Whether there is none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.copies.is_empty()
    }

    /// Whether an access touches bytes that are being written.
    #[inline]
    pub fn touches(&self, access: &Access<'_>, pattern: Pattern) -> bool {
        !self.is_empty() && self.bytes.touches(access, pattern)
    }

    /// The first byte of a range that is being written, and who has started that.
    pub fn first_in(&self, offset: u32, bytes: u32) -> Option<(u32, ThreadAccess)> {
        if self.is_empty() {
            return None;
        }
        let at = self.bytes.first_in(offset, bytes)?;
        self.copies.iter().find_map(|copies| {
            let lane = lanes_of(copies.mask).find(|&lane| {
                let start = copies.offsets[lane as usize];
                (start..start + copies.size).contains(&at)
            })?;
            let thread = copies.by.thread + lane;
            Some((
                at,
                ThreadAccess {
                    thread,
                    ..copies.by
                },
            ))
        })
    }

    /// Lanes have started copies to where nothing is in flight.
    pub fn begin(&mut self, access: &Access<'_>, pattern: Pattern) {
        self.bytes.insert_all(access, pattern);
        self.push(access, access.mask, None);
    }

    /// Copies of lanes are done, and mbarriers count them: they are as good as under way.
    pub fn count(&mut self, access: &Access<'_>, mbarriers: &[u32; 32]) {
        self.bytes.insert_all(access, Pattern::of(access));
        let mut rest = access.mask;
        while rest != 0 {
            let mbarrier = mbarriers[rest.trailing_zeros() as usize];
            let same = lanes_of(rest).filter(|&lane| mbarriers[lane as usize] == mbarrier);
            let same = same.fold(0, |mask, lane| mask | 1 << lane);
            self.push(access, same, Some(mbarrier));
            rest &= !same;
        }
    }

    /// Threads have found a phase of mbarriers over, which are at these offsets.
    pub fn end_counted_at(&mut self, access: &Access<'_>) {
        self.end_counted(|copies| {
            let waited = lanes_of(access.mask)
                .any(|lane| copies.mbarrier == Some(access.offsets[lane as usize]));
            if waited { u32::MAX } else { 0 }
        });
    }

    /// Lanes of a warp have waited for all of their own copies.
    pub fn end_counted_of(&mut self, block: u32, warp: u32, mask: u32) {
        self.end_counted(|copies| {
            let is_own = (copies.by.block, copies.by.thread) == (block, warp * 32);
            if is_own { mask } else { 0 }
        });
    }

    /// Copies that mbarriers count are done, of the lanes that `waited` gives.
    fn end_counted(&mut self, waited: impl Fn(&Copies) -> u32) {
        let bytes = &mut self.bytes;
        self.copies.retain_mut(|copies| {
            if copies.mbarrier.is_some() {
                let done = waited(copies) & copies.mask;
                for lane in lanes_of(done) {
                    bytes.remove(copies.offsets[lane as usize], copies.size);
                }
                copies.mask &= !done;
            }
            copies.mask != 0
        });
    }

    fn push(&mut self, access: &Access<'_>, mask: u32, mbarrier: Option<u32>) {
        self.copies.push(Copies {
            by: ThreadAccess {
                block: access.block,
                thread: access.warp * 32,
                site: access.site,
                class: access.class(),
                performer: Performer::Operation,
            },
            mask,
            mbarrier,
            offsets: *access.offsets,
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
                && copies.mbarrier.is_none();
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
