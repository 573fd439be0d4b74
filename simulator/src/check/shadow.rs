//! Shadow memory: what is remembered of each word, or of each byte once a kernel makes narrower accesses.

use warpsmith_isa::effect::{AccessKind, Order, Proxy, Scope};

use super::access::{AccessClass, ProxyFence, RaceCause, Site};
use super::clock::{Clocks, Observer};
use super::known::{Agent, NO_AGENT, Thread};

/// A write, or `epoch` 0 for none.
#[derive(Clone, Copy, Debug)]
struct Write {
    epoch: u32,
    site: Site,
    thread: Thread,
    agent: Agent,
    class: AccessClass,
}

impl Write {
    const NONE: Write = Write {
        epoch: 0,
        site: 0,
        thread: 0,
        agent: NO_AGENT,
        class: NO_CLASS,
    };

    /// Whether it is ordered before what `by` does now, or whether there is none.
    #[inline]
    fn is_seen(&self, by: &Observer<'_>) -> bool {
        self.epoch == 0
            || if self.agent == NO_AGENT {
                by.seen(self.thread, self.epoch)
            } else {
                by.has_seen_done(self.agent, self.epoch)
            }
    }

    /// Why it is not ordered before the access, if it is not.
    #[inline]
    fn obstacle(&self, by: &Observer<'_>, own: &LaneAccess) -> Option<RaceCause> {
        if !self.is_seen(by) {
            return Some(RaceCause::Unordered);
        }
        let is_fenced = self.epoch == 0
            || own.class.proxy != Proxy::Async
            || self.class.proxy == Proxy::Async
            || by.has_seen_fence(self.thread, self.epoch, ProxyFence::Async);
        (!is_fenced).then_some(RaceCause::Proxy)
    }
}

/// Of no access.
const NO_CLASS: AccessClass = AccessClass {
    kind: AccessKind::Read,
    order: Order::Weak,
    scope: Scope::Block,
    proxy: Proxy::Generic,
};

/// Reads by lanes of one warp in one epoch, or by an agent on behalf of a lane; `epoch` 0 for none.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reads {
    epoch: u32,
    site: Site,
    mask: u32,
    /// The thread of the warp's lane 0.
    first: Thread,
    agent: Agent,
    class: AccessClass,
}

impl Reads {
    const NONE: Reads = Reads {
        epoch: 0,
        site: 0,
        mask: 0,
        first: 0,
        agent: NO_AGENT,
        class: NO_CLASS,
    };

    fn threads(&self) -> impl Iterator<Item = Thread> + use<> {
        let (mask, first) = (self.mask, self.first);
        (0..32)
            .filter(move |lane| mask >> lane & 1 != 0)
            .map(move |lane| first + lane)
    }

    /// Whether a thread of `by`'s block, as far as that is quickly told, has seen them all.
    #[inline]
    fn is_quickly_seen(&self, by: &Observer<'_>) -> bool {
        self.agent == NO_AGENT && by.seen_block(self.first, self.epoch)
    }

    /// One of those that are not ordered before what `by` does now.
    #[inline]
    fn unseen(&self, by: &Observer<'_>) -> Option<Thread> {
        if self.agent != NO_AGENT {
            return self
                .threads()
                .next()
                .filter(|_| !by.has_seen_done(self.agent, self.epoch));
        }
        let mut rest = self.mask;
        while rest != 0 {
            let thread = self.first + rest.trailing_zeros() as Thread;
            if !by.seen(thread, self.epoch) {
                return Some(thread);
            }
            rest &= rest - 1;
        }
        None
    }

    /// The same for an access that was made when of the block's accesses those below `floor`, and of its warp's those below
    /// `of_warp`, were ordered before it.
    pub fn was_seen(
        &self,
        first: Thread,
        floor: u32,
        of_warp: u32,
        own: &LaneAccess,
        clocks: &Clocks,
    ) -> bool {
        self.epoch == 0
            || self.agent == NO_AGENT
                && (self.epoch < floor && clocks.are_together(self.first, first)
                    || self.first == first
                        && (self.epoch < of_warp || self.mask == 1 << own.lane)
                        && tolerance(self.class) >= tolerance(own.class))
    }

    /// Whether they can be forgotten once `own` is remembered: whoever has seen that has seen them, and they conflict with
    /// nothing else.
    #[inline]
    fn is_covered(&self, by: &Observer<'_>, own: &LaneAccess, first: Thread) -> bool {
        if self.epoch == 0 {
            return true;
        }
        if own.agent != NO_AGENT {
            // What the thread has seen that issued it is not what those have who learn of its completion.
            return self.agent == own.agent && self.class.proxy == own.class.proxy;
        }
        if self.agent != NO_AGENT {
            return own.class.proxy == self.class.proxy && by.has_seen_done(self.agent, self.epoch);
        }
        self.is_quickly_seen(by)
            || (by.may_have_seen(self.epoch) || self.first == first)
                && tolerance(self.class) >= tolerance(own.class)
                && self.unseen(by).is_none()
    }
}

/// How much an access tolerates: nothing, strong accesses of its block, strong accesses of the cluster.
fn tolerance(class: AccessClass) -> u32 {
    u32::from(class.is_strong()) + u32::from(class.is_beyond_block())
}

/// What is known of a word or byte.
#[derive(Clone, Copy, Debug)]
struct Cell {
    weak: Write,
    strong: Write,
    reads: Reads,
    /// Where reads by further warps are, in `Shadow::further_reads`, plus one.
    further_reads: u32,
}

impl Cell {
    const UNTOUCHED: Cell = Cell {
        weak: Write::NONE,
        strong: Write::NONE,
        reads: Reads::NONE,
        further_reads: 0,
    };
}

/// The earlier access of a race.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EarlierAccess {
    pub thread: Thread,
    pub agent: Agent,
    pub site: Site,
    pub class: AccessClass,
    pub cause: RaceCause,
}

/// One lane's access to one cell.
#[derive(Clone, Copy, Debug)]
pub(super) struct LaneAccess {
    pub thread: Thread,
    pub lane: u32,
    /// Who performs it, if it is asynchronous.
    pub agent: Agent,
    pub site: Site,
    pub class: AccessClass,
    /// The thread's epoch when it was made; the operation's, if it is asynchronous.
    pub epoch: u32,
}

impl LaneAccess {
    /// Whether both are strong, and each one's scope includes the other's thread: they may meet then.
    #[inline]
    fn may_meet(&self, by: &Observer<'_>, other: AccessClass, thread: Thread) -> bool {
        self.class.is_strong()
            && other.is_strong()
            && self.class.proxy == other.proxy
            && (self.class.is_beyond_block() && other.is_beyond_block() || by.is_block_of(thread))
    }

    /// The cause of its race with another one that is unordered.
    fn cause(&self, other: AccessClass) -> RaceCause {
        if self.class.is_strong() && other.is_strong() && self.class.proxy == other.proxy {
            RaceCause::Scope
        } else {
            RaceCause::Unordered
        }
    }
}

/// The shadow of a cluster's shared memory.
#[derive(Debug)]
pub(super) struct Shadow {
    bytes: u32,
    /// Bytes that a cell stands for: 4, 2 or 1.
    grain: u32,
    cells: Vec<Cell>,
    further_reads: Vec<Vec<Reads>>,
    /// Where in such a list the last reads were found.
    hint: usize,
}

impl Shadow {
    pub fn new(bytes: u32) -> Shadow {
        Shadow {
            bytes,
            grain: 4,
            cells: vec![Cell::UNTOUCHED; bytes.div_ceil(4) as usize],
            further_reads: Vec::new(),
            hint: 0,
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.cells.fill(Cell::UNTOUCHED);
        self.further_reads.clear();
    }

    /// The width of cells that an access asks for, if they are to be made narrower.
    #[inline]
    pub fn narrower(&self, offset: u32, size: u32) -> Option<u32> {
        if size == 0 {
            return None;
        }
        let need = 1 << (offset | size).trailing_zeros().min(2);
        (need < self.grain).then_some(need)
    }

    /// The cells of an access that asks for none narrower.
    #[inline]
    pub fn range(&self, offset: u32, size: u32) -> std::ops::Range<u32> {
        let end = (offset + size).min(self.bytes);
        offset / self.grain..end.div_ceil(self.grain)
    }

    /// The first byte of a cell.
    pub fn offset(&self, cell: u32) -> u32 {
        cell * self.grain
    }

    /// Makes cells as narrow as `grain` bytes.
    pub fn refine(&mut self, grain: u32) {
        let times = (self.grain / grain) as usize;
        let mut cells = Vec::with_capacity(self.cells.len() * times);
        for cell in &self.cells {
            for part in 0..times {
                let mut copy = *cell;
                if cell.further_reads != 0 && part > 0 {
                    self.further_reads
                        .push(self.further_reads[cell.further_reads as usize - 1].clone());
                    copy.further_reads = self.further_reads.len() as u32;
                }
                cells.push(copy);
            }
        }
        self.cells = cells;
        self.grain = grain;
    }

    /// Finds what an access races with, without recording it.
    #[inline]
    pub fn conflict(
        &self,
        by: &Observer<'_>,
        cell: u32,
        own: &LaneAccess,
    ) -> Option<EarlierAccess> {
        let cell = &self.cells[cell as usize];
        if let Some(cause) = cell.weak.obstacle(by, own) {
            return Some(earlier(&cell.weak, cause));
        }
        if !own.may_meet(by, cell.strong.class, cell.strong.thread)
            && let Some(cause) = cell.strong.obstacle(by, own)
        {
            let cause = match cause {
                RaceCause::Unordered => own.cause(cell.strong.class),
                cause => cause,
            };
            return Some(earlier(&cell.strong, cause));
        }
        if own.class.kind.writes() {
            let more = self
                .further_reads
                .get((cell.further_reads as usize).wrapping_sub(1))
                .map_or(&[][..], |reads| reads);
            for reads in std::iter::once(&cell.reads).chain(more) {
                if reads.epoch == 0
                    || own.may_meet(by, reads.class, reads.first)
                    || reads.is_quickly_seen(by)
                {
                    continue;
                }
                if let Some(thread) = reads.unseen(by) {
                    return Some(EarlierAccess {
                        thread,
                        agent: reads.agent,
                        site: reads.site,
                        class: reads.class,
                        cause: own.cause(reads.class),
                    });
                }
            }
        }
        None
    }

    /// Finds whether an asynchronous operation may use the mbarrier of a cell, by its own path.
    pub fn mbarrier_conflict(
        &self,
        by: &Observer<'_>,
        cell: u32,
        own: &LaneAccess,
    ) -> Option<EarlierAccess> {
        let made = &self.cells[cell as usize].weak;
        if !made.is_seen(by) {
            return Some(earlier(made, RaceCause::Unordered));
        }
        let is_fenced = made.epoch == 0
            || own.class.proxy != Proxy::Async
            || made.class.proxy == Proxy::Async
            || by.has_seen_fence(made.thread, made.epoch, ProxyFence::MbarrierInit);
        (!is_fenced).then(|| earlier(made, RaceCause::Proxy))
    }

    /// Records an access.
    #[inline]
    pub fn record(&mut self, by: &Observer<'_>, index: u32, own: &LaneAccess) {
        let first = own.thread - own.lane as Thread;
        self.record_with(index, own, |reads| reads.is_covered(by, own, first));
    }

    /// Records an access; `is_covered` says which reads can be forgotten once it is remembered.
    #[inline]
    pub fn record_with(&mut self, index: u32, own: &LaneAccess, covered: impl Fn(&Reads) -> bool) {
        let cell = &mut self.cells[index as usize];
        let epoch = own.epoch;
        // An atomic operation is remembered as a write, which conflicts with all that its read conflicts with.
        if own.class.kind == AccessKind::Read {
            let first = own.thread - own.lane as Thread;
            let new = Reads {
                epoch,
                site: own.site,
                mask: 1 << own.lane,
                first,
                agent: own.agent,
                class: own.class,
            };
            let fits = |reads: &Reads| {
                (reads.epoch, reads.first, tolerance(reads.class))
                    == (epoch, first, tolerance(own.class))
            };
            if fits(&cell.reads) {
                cell.reads.mask |= new.mask;
            } else {
                if covered(&cell.reads) {
                    cell.reads = new;
                } else {
                    if cell.further_reads == 0 {
                        self.further_reads.push(Vec::new());
                        cell.further_reads = self.further_reads.len() as u32;
                    }
                    let more = &mut self.further_reads[cell.further_reads as usize - 1];
                    // The reads of the warp are most often where they were in the last cell.
                    let hint = self.hint;
                    let found = match more.get(hint) {
                        Some(reads) if fits(reads) => Some(hint),
                        _ => more.iter().position(fits),
                    };
                    if let Some(index) = found {
                        self.hint = index;
                        let reads = &mut more[index];
                        reads.mask |= new.mask;
                    } else {
                        more.retain(|reads| !covered(reads));
                        more.push(new);
                    }
                }
            }
        }
        if own.class.kind.writes() {
            let new = Write {
                epoch,
                site: own.site,
                thread: own.thread,
                agent: own.agent,
                class: own.class,
            };
            if own.class.is_strong() {
                cell.strong = new;
            } else {
                cell.weak = new;
            }
        }
    }
}

fn earlier(write: &Write, cause: RaceCause) -> EarlierAccess {
    EarlierAccess {
        thread: write.thread,
        agent: write.agent,
        site: write.site,
        class: write.class,
        cause,
    }
}
