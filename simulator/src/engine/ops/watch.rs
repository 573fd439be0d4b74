//! The checks of shared memory: tells [`check::SharedMemory`](crate::check::SharedMemory) what the warps do, and makes reports of
//! what it finds. Called only while these checks are on.

use super::resolve::{Access, COUNT_SHIFT, ORDERED, REGISTER_SHIFT, STRONG};
use crate::check::{self, Finding, Kind, Side, Values};
use crate::engine::exec::block::Cluster;
use crate::engine::exec::lanes::{CONSTANT, LANES, lanes_of};
use crate::engine::exec::warp::{Flow, Inst, Warp};
use crate::engine::fault::{Fault, FaultDetails, FaultKind, FaultOrigin, OtherSide};
use crate::engine::run::Grid;

/// The values that a store of the interpreter is about to write.
struct Stored<'a> {
    warp: &'a Warp,
    inst: &'a Inst,
    size: usize,
}

impl Stored<'_> {
    fn bytes(&self, lane: usize) -> [u8; 32] {
        let count = ((self.inst.x >> COUNT_SHIFT & 15) as usize).max(1);
        let (part, register) = (
            self.size / count,
            1usize << (self.inst.x >> REGISTER_SHIFT & 7),
        );
        let mut bytes = [0; 32];
        // SAFETY: a store's `b` is one source, or the list of `count` sources, of `register` bytes a lane each.
        unsafe {
            let one = [self.inst.b];
            let operands = if count == 1 {
                &one
            } else {
                self.warp.list(self.inst.b, count)
            };
            for (index, &operand) in operands.iter().enumerate() {
                let base =
                    self.warp.bases[(operand >> 31) as usize].add((operand & !CONSTANT) as usize);
                let from = base.add(lane * register);
                from.copy_to_nonoverlapping(
                    bytes.as_mut_ptr().add(index * part),
                    part.min(register),
                );
            }
        }
        bytes
    }
}

impl Values for Stored<'_> {
    fn unchanged(&self, lane: usize) -> bool {
        let bytes = self.bytes(lane);
        // SAFETY: the access was checked: its bytes can be read.
        let memory = unsafe { std::slice::from_raw_parts(self.warp.pointers[lane], self.size) };
        memory == &bytes[..self.size]
    }

    fn equal(&self, lane: usize, other: usize) -> bool {
        self.bytes(lane) == self.bytes(other)
    }
}

/// The lanes of `mask` access `size` bytes of shared memory at `warp.pointers`, by a load, a store or an atomic.
pub(crate) fn shared(warp: &mut Warp, inst: &Inst, mask: u32, size: u32, access: Access) -> Flow {
    let strong = inst.x & STRONG != 0;
    let kind = match (access, strong) {
        (Access::Read, false) => Kind::Read,
        (Access::Read, true) => Kind::StrongRead,
        (Access::Write, false) => Kind::Write,
        (Access::Write, true) => Kind::StrongWrite,
        (Access::Atomic, _) => Kind::Atomic,
    };
    // Only loads and stores proper say in `x` how wide their registers are.
    let is_store = kind == Kind::Write && inst.x >> REGISTER_SHIFT & 7 != 0;
    let found = accesses(warp, mask, size, kind, is_store.then_some(inst));
    if let Some(finding) = found {
        return report(warp, finding);
    }
    if kind != Kind::Read && kind != Kind::Write {
        synchronise(warp, inst, mask, kind);
    }
    Flow::Next
}

/// As [`shared`], for the pieces of a matrix: their values are not compared.
pub(crate) fn pieces(warp: &mut Warp, mask: u32, size: u32, access: Access) -> Flow {
    let kind = if access == Access::Read {
        Kind::Read
    } else {
        Kind::Write
    };
    match accesses(warp, mask, size, kind, None) {
        Some(finding) => report(warp, finding),
        None => Flow::Next,
    }
}

/// Strong accesses to global memory can order what threads do in shared memory.
pub(crate) fn global(warp: &mut Warp, inst: &Inst, access: Access) {
    let kind = match access {
        Access::Read => Kind::StrongRead,
        Access::Write => Kind::StrongWrite,
        Access::Atomic => Kind::Atomic,
    };
    let mask = lanes_of(warp.mask)
        .filter(|&lane| !warp.block().cluster().holds(warp.pointers[lane]))
        .fold(0, |mask, lane| mask | 1 << lane);
    synchronise(warp, inst, mask, kind);
}

fn accesses(
    warp: &Warp,
    mask: u32,
    size: u32,
    kind: Kind,
    store: Option<&Inst>,
) -> Option<Finding> {
    let cluster = warp.block().cluster_mut();
    let base = cluster.shared_start();
    let checker = cluster.checker.as_deref_mut()?;
    let offsets: [u32; LANES] =
        std::array::from_fn(|lane| warp.pointers[lane].addr().wrapping_sub(base) as u32);
    let site = warp.grid().program().site(warp.function, warp.pc);
    let access = check::Access {
        block: warp.block().rank,
        warp: warp.index,
        mask,
        offsets: &offsets,
        size,
        kind,
        site,
    };
    match store {
        Some(inst) => checker.access(
            &access,
            &Stored {
                warp,
                inst,
                size: size as usize,
            },
        ),
        None => checker.access(&access, &()),
    }
}

fn synchronise(warp: &Warp, inst: &Inst, mask: u32, kind: Kind) {
    let (block, ordered) = (warp.block().rank, inst.x & ORDERED != 0);
    let Some(checker) = warp.block().cluster_mut().checker.as_deref_mut() else {
        return;
    };
    for lane in lanes_of(mask) {
        let location = warp.pointers[lane].addr() as u64;
        checker.synchronise(
            block,
            warp.index,
            lane as u32,
            location,
            kind,
            ordered,
            ordered,
        );
    }
}

/// A fence by the lanes of the mask.
pub(crate) fn fence(warp: &Warp) {
    let block = warp.block().rank;
    let Some(checker) = warp.block().cluster_mut().checker.as_deref_mut() else {
        return;
    };
    for lane in lanes_of(warp.mask) {
        checker.fence(block, warp.index, lane as u32);
    }
}

/// `bar.warp.sync` by these lanes, when all have come.
pub(crate) fn warp_sync(warp: &Warp, mask: u32) {
    let block = warp.block().rank;
    if let Some(checker) = warp.block().cluster_mut().checker.as_deref_mut() {
        checker.warp_sync(block, warp.index, mask);
    }
}

/// The other side of a race.
fn other_side(cluster: &Cluster, grid: &Grid, side: &Side) -> OtherSide {
    OtherSide {
        what: side.kind.to_string(),
        block: cluster.blocks[side.block as usize].index,
        thread: grid.thread_index(side.thread / 32, side.thread % 32),
        frames: grid.program().site_frame(side.site).into_iter().collect(),
    }
}

/// The place in shared memory, by variable where there is one.
fn place(cluster: &Cluster, grid: &Grid, home: u32, block: u32, offset: u32) -> String {
    let found = grid.program().shared.iter().find(|v| {
        v.kernels.contains(&grid.entry_number)
            && offset >= v.address
            && offset - v.address < v.size.max(1)
    });
    let name = match found {
        Some(variable) => format!("`{}` + {}", variable.name, offset - variable.address),
        None if offset >= grid.dynamic_base => {
            format!("dynamic shared memory + {}", offset - grid.dynamic_base)
        }
        None => format!("shared memory + {offset}"),
    };
    if block == home {
        return name;
    }
    let [x, y, z] = cluster.blocks[block as usize].index;
    format!("{name} of block ({x},{y},{z})")
}

/// A finding as a fault: kind, message, details.
fn describe(
    cluster: &Cluster,
    grid: &Grid,
    finding: &Finding,
) -> (FaultKind, String, FaultDetails) {
    match finding {
        Finding::Race {
            now,
            before,
            block,
            offset,
            size,
        } => {
            let place = place(cluster, grid, now.block, *block, *offset);
            let details = FaultDetails {
                other: Some(other_side(cluster, grid, before)),
                notes: vec!["no barrier, fence or atomic operation orders the two".to_owned()],
                ..FaultDetails::default()
            };
            (
                FaultKind::Race,
                format!(
                    "race in shared memory: {} of {size} bytes at {place}",
                    now.kind
                ),
                details,
            )
        }
        Finding::Uninitialised {
            now,
            block,
            offset,
            size,
        } => {
            let place = place(cluster, grid, now.block, *block, *offset);
            let message = format!(
                "uninitialised shared memory: {} of {size} bytes at {place}",
                now.kind
            );
            let notes = vec!["no thread had written there since the block started".to_owned()];
            (FaultKind::Uninitialised, message, notes.into())
        }
    }
}

#[cold]
fn report(warp: &mut Warp, finding: Finding) -> Flow {
    let (Finding::Race { now, .. } | Finding::Uninitialised { now, .. }) = finding;
    let (kind, message, details) = describe(warp.block().cluster(), warp.grid(), &finding);
    warp.fail_with(kind, now.thread as usize % 32, message, details)
}

/// The report of a finding that was held back; `kernel` is the kernel's name.
#[cold]
pub(crate) fn fault(cluster: &Cluster, grid: &Grid, kernel: &str, finding: &Finding) -> Box<Fault> {
    let (Finding::Race { now, .. } | Finding::Uninitialised { now, .. }) = finding;
    let (kind, message, details) = describe(cluster, grid, finding);
    let origin = FaultOrigin {
        kernel: kernel.to_owned(),
        block: cluster.blocks[now.block as usize].index,
        thread: grid.thread_index(now.thread / 32, now.thread % 32),
        frames: grid.program().site_frame(now.site).into_iter().collect(),
    };
    Box::new(details.into_fault(kind, message, origin))
}
