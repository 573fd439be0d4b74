//! The checker of one cluster's shared memory, as the engine sees it.

use super::clock::{Clocks, Thread};
use super::shadow::{Shadow, Site, Touch};
use super::valid::Valid;

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A plain load.
    Read,
    /// A plain store.
    Write,
    /// A volatile, relaxed or acquire load.
    StrongRead,
    /// A volatile, relaxed or release store.
    StrongWrite,
    /// An atomic operation.
    Atomic,
}

impl Kind {
    fn reads(self) -> bool {
        matches!(self, Kind::Read | Kind::StrongRead | Kind::Atomic)
    }

    fn writes(self) -> bool {
        matches!(self, Kind::Write | Kind::StrongWrite | Kind::Atomic)
    }

    fn strong(self) -> bool {
        matches!(self, Kind::StrongRead | Kind::StrongWrite | Kind::Atomic)
    }
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Kind::Read => "read",
            Kind::Write => "write",
            Kind::StrongRead => "atomic or volatile read",
            Kind::StrongWrite => "atomic or volatile write",
            Kind::Atomic => "atomic operation",
        })
    }
}

/// An access of lanes of a warp, each to its own place. Offsets count through the shared memory of all blocks of the
/// cluster: `rank * bytes of a block + offset`.
pub struct Access<'a> {
    /// The warp's block, by rank in the cluster.
    pub block: u32,
    /// The warp's number in its block.
    pub warp: u32,
    /// The lanes.
    pub mask: u32,
    /// Where each lane's access starts.
    pub offsets: &'a [u32; 32],
    /// Bytes of each lane's access, at most 32.
    pub size: u32,
    /// What it does.
    pub kind: Kind,
    /// The instruction.
    pub site: Site,
}

/// What stores are about to write, asked only when two writes meet.
pub trait Values {
    /// Whether the lane's store leaves memory as it is.
    fn unchanged(&self, lane: usize) -> bool;
    /// Whether the stores of two lanes (to the same place) write the same.
    fn equal(&self, lane: usize, other: usize) -> bool;
}

/// For accesses that write nothing, or whose value is not known: no two are the same.
impl Values for () {
    fn unchanged(&self, _: usize) -> bool {
        false
    }
    fn equal(&self, _: usize, _: usize) -> bool {
        false
    }
}

/// One of the two accesses of a race, or the only one of another finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Side {
    /// Rank of the block in its cluster.
    pub block: u32,
    /// Number of the thread in its block.
    pub thread: u32,
    /// The instruction.
    pub site: Site,
    /// What it did.
    pub kind: Kind,
}

/// Something wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finding {
    /// Two accesses that nothing orders.
    Race {
        /// The access that is being made.
        now: Side,
        /// The one that it met.
        before: Side,
        /// Rank of the block whose shared memory it is.
        block: u32,
        /// The first byte that both touched.
        offset: u32,
        /// Bytes of the access being made.
        size: u32,
    },
    /// A read of bytes that were never written.
    Uninitialised {
        /// The read.
        now: Side,
        /// Rank of the block whose shared memory it is.
        block: u32,
        /// The first such byte.
        offset: u32,
        /// Bytes of the read.
        size: u32,
    },
}

/// The checks of a cluster's shared memory; one for each worker, reused from cluster to cluster.
#[derive(Debug)]
pub struct SharedMemory {
    /// Bytes of a block's shared memory, as offsets count them.
    stride: u32,
    clocks: Clocks,
    shadow: Option<Shadow>,
    valid: Option<Valid>,
    /// A read of unwritten bytes, held back: if the bytes are written before the next barrier, it was a race.
    pending: Option<Finding>,
    /// That barrier has been.
    due: bool,
}

impl SharedMemory {
    /// For clusters of `blocks` blocks of `threads` threads, each with `bytes` of shared memory.
    pub fn new(
        blocks: u32,
        threads: u32,
        bytes: u32,
        races: bool,
        uninitialised: bool,
    ) -> SharedMemory {
        let all = bytes * blocks;
        SharedMemory {
            stride: bytes.max(1),
            clocks: Clocks::new(blocks, threads),
            shadow: races.then(|| Shadow::new(all)),
            valid: uninitialised.then(|| Valid::new(all)),
            pending: None,
            due: false,
        }
    }

    /// A cluster starts.
    pub fn start(&mut self) {
        (self.pending, self.due) = (None, false);
        let clear = self.clocks.start();
        if let Some(shadow) = &mut self.shadow
            && clear
        {
            shadow.clear();
        }
        if let Some(valid) = &mut self.valid {
            valid.clear();
        }
    }

    fn side(&self, thread: Thread, site: Site, kind: Kind) -> Side {
        let (block, warp, lane) = self.clocks.place(thread);
        Side {
            block,
            thread: warp * 32 + lane,
            site,
            kind,
        }
    }

    /// Checks and records an access, before it is made.
    pub fn access(&mut self, access: &Access, values: &dyn Values) -> Option<Finding> {
        let mut rest = access.mask;
        while rest != 0 {
            let lane = rest.trailing_zeros();
            rest &= rest - 1;
            let found = self.lane(access, lane, values);
            if found.is_some() {
                return found;
            }
        }
        None
    }

    #[inline]
    fn lane(&mut self, access: &Access, lane: u32, values: &dyn Values) -> Option<Finding> {
        let (offset, size, kind) = (access.offsets[lane as usize], access.size, access.kind);
        let thread = self.clocks.thread(access.block, access.warp, lane);
        if let Some(valid) = &self.valid {
            if kind.reads()
                && let Some(at) = valid.first_unwritten(offset, size)
            {
                let now = self.side(thread, access.site, kind);
                let (block, offset) = (at / self.stride, at % self.stride);
                let finding = Finding::Uninitialised {
                    now,
                    block,
                    offset,
                    size,
                };
                if self.shadow.is_none() {
                    return Some(finding);
                }
                self.pending.get_or_insert(finding);
            }
            if kind.writes()
                && let Some(valid) = &mut self.valid
            {
                valid.write(offset, size);
            }
        }
        let shadow = self.shadow.as_mut()?;
        let touch = Touch {
            thread,
            lane,
            site: access.site,
            read: kind.reads() && kind != Kind::Atomic,
            write: kind.writes(),
            strong: kind.strong(),
        };
        for cell in shadow.range(offset, size) {
            if let Some(before) = shadow.conflict(&self.clocks, cell, &touch) {
                // If the same instruction has just written here in another lane, that value is not in memory yet.
                let (block, warp, other) = self.clocks.place(before.thread);
                let together = before.site == access.site
                    && (block, warp) == (access.block, access.warp)
                    && access.mask >> other & 1 != 0
                    && access.offsets[other as usize].abs_diff(offset) < size;
                let harmless = before.write
                    && kind == Kind::Write
                    && if together {
                        values.equal(lane as usize, other as usize)
                    } else {
                        values.unchanged(lane as usize)
                    };
                if !harmless {
                    let at = shadow.offset(cell).max(offset);
                    let before_kind = match (before.write, before.strong) {
                        (false, false) => Kind::Read,
                        (false, true) => Kind::StrongRead,
                        (true, false) => Kind::Write,
                        (true, true) => Kind::Atomic,
                    };
                    return Some(Finding::Race {
                        now: self.side(thread, access.site, kind),
                        before: self.side(before.thread, before.site, before_kind),
                        block: at / self.stride,
                        offset: at % self.stride,
                        size,
                    });
                }
            }
            shadow.record(&self.clocks, cell, &touch);
        }
        None
    }

    /// Marks bytes as written without checking them: by the asynchronous copies of the hardware, or an initialiser.
    pub fn assume_written(&mut self, offset: u32, size: u32) {
        if let Some(valid) = &mut self.valid {
            for at in (0..size).step_by(32) {
                valid.write(offset + at, (size - at).min(32));
            }
        }
    }

    /// Lanes arrive at a barrier of their block (0 to 15); with `waits` unless it is `bar.arrive`.
    pub fn arrive(&mut self, block: u32, id: u32, warp: u32, mask: u32, waits: bool) {
        self.clocks.arrive(block, id, warp, mask, waits);
    }

    /// The barrier is complete; call it when the last has arrived, before anybody goes on.
    pub fn complete(&mut self, block: u32, id: u32) {
        self.clocks.complete(block, id);
        self.due = true;
    }

    /// Lanes arrive at the cluster's barrier; `releases` unless it is `.relaxed`.
    pub fn cluster_arrive(&mut self, block: u32, warp: u32, mask: u32, releases: bool) {
        self.clocks.cluster_arrive(block, warp, mask, releases);
    }

    /// The cluster's barrier is complete.
    pub fn cluster_complete(&mut self) {
        self.clocks.cluster_complete();
        self.due = true;
    }

    /// A read of unwritten bytes that was held back to see whether it is one side of a race: once a barrier has passed
    /// without, or at the latest when the cluster has `ended` or failed otherwise.
    pub fn overdue(&mut self, ended: bool) -> Option<Finding> {
        let due = std::mem::take(&mut self.due);
        if due || ended {
            self.pending.take()
        } else {
            None
        }
    }

    /// `bar.warp.sync`, when all lanes have come.
    pub fn warp_sync(&mut self, block: u32, warp: u32, mask: u32) {
        self.clocks.warp_sync(block, warp, mask);
    }

    /// Lanes leave the kernel.
    pub fn exit(&mut self, block: u32, mask: u32) {
        self.clocks.exit(block, mask);
    }

    /// A memory fence, of whatever kind, by one lane.
    pub fn fence(&mut self, block: u32, warp: u32, lane: u32) {
        let thread = self.clocks.thread(block, warp, lane);
        self.clocks.fence(thread);
    }

    /// The synchronising side of a strong access to `location` (a global address, or an offset plus something that keeps the
    /// two apart): call it in the order in which the lanes' operations happen. An mbarrier arrival is a releasing
    /// atomic, a successful wait an acquiring read of the barrier's location.
    #[allow(
        clippy::too_many_arguments,
        reason = "one flag for each property of the access"
    )]
    pub fn synchronise(
        &mut self,
        block: u32,
        warp: u32,
        lane: u32,
        location: u64,
        kind: Kind,
        acquires: bool,
        releases: bool,
    ) {
        let thread = self.clocks.thread(block, warp, lane);
        if kind.reads() {
            self.clocks.observe(thread, location, acquires);
        }
        if kind.writes() {
            self.clocks
                .publish(thread, location, releases, kind == Kind::Atomic);
        }
    }
}
