//! The checks of shared memory: tells [`check::SharedMemory`](crate::check::SharedMemory) what the warps do, and makes reports of
//! what it finds. Called only while these checks are on.

use super::resolve::{Access, COUNT_SHIFT, ORDERED, REGISTER_SHIFT, STRONG};
use warpsmith_isa::effect::{AccessKind, Order, Proxy, Scope};

use crate::check::{self, Finding, GlobalSynchronisation, ThreadAccess, Values};
use crate::engine::exec::block::Cluster;
use crate::engine::exec::lanes::{CONSTANT, LANES, lanes_of};
use crate::engine::exec::warp::{Flow, Inst, Warp};
use crate::engine::fault::{Fault, FaultKind};
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

impl From<Access> for AccessKind {
    fn from(access: Access) -> AccessKind {
        match access {
            Access::Read => AccessKind::Read,
            Access::Write => AccessKind::Write,
            Access::Atomic => AccessKind::Atomic,
        }
    }
}

/// How an instruction's access of this kind is ordered.
fn order(inst: &Inst, kind: AccessKind) -> Order {
    match (inst.x & STRONG != 0, inst.x & ORDERED != 0, kind) {
        (false, _, AccessKind::Read | AccessKind::Write) => Order::Weak,
        (_, false, _) => Order::Relaxed,
        (_, true, AccessKind::Read) => Order::Acquire,
        (_, true, AccessKind::Write) => Order::Release,
        (_, true, AccessKind::Atomic) => Order::AcquireRelease,
    }
}

/// The lanes of `mask` access `size` bytes of shared memory at `warp.pointers`, by a load, a store or an atomic.
pub(crate) fn shared(warp: &mut Warp, inst: &Inst, mask: u32, size: u32, access: Access) -> Flow {
    let kind = AccessKind::from(access);
    let order = order(inst, kind);
    // Only loads and stores proper say in `x` how wide their registers are.
    let is_store =
        kind == AccessKind::Write && order == Order::Weak && inst.x >> REGISTER_SHIFT & 7 != 0;
    match accesses(warp, mask, size, kind, order, is_store.then_some(inst)) {
        Some(finding) => report(warp, finding),
        None => Flow::Next,
    }
}

/// As [`shared`], for the pieces of a matrix: their values are not compared.
pub(crate) fn pieces(warp: &mut Warp, mask: u32, size: u32, access: Access) -> Flow {
    match accesses(warp, mask, size, access.into(), Order::Weak, None) {
        Some(finding) => report(warp, finding),
        None => Flow::Next,
    }
}

/// Strong accesses to global memory can order what threads do in shared memory.
pub(crate) fn global(warp: &mut Warp, inst: &Inst, access: Access) {
    let cluster = warp.block().cluster_mut();
    let mask = lanes_of(warp.mask)
        .filter(|&lane| !cluster.holds(warp.pointers[lane]))
        .fold(0, |mask, lane| mask | 1 << lane);
    let Some(checker) = cluster.checker.as_deref_mut() else {
        return;
    };
    let kind = AccessKind::from(access);
    checker.synchronise_globally(&GlobalSynchronisation {
        block: warp.block().rank,
        warp: warp.index,
        mask,
        addresses: &warp.pointers.map(|pointer| pointer.addr() as u64),
        kind,
        order: order(inst, kind),
    });
}

fn accesses(
    warp: &Warp,
    mask: u32,
    size: u32,
    kind: AccessKind,
    order: Order,
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
        order,
        // The engine keeps no scopes yet: the widest.
        scope: Scope::System,
        proxy: Proxy::Generic,
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

/// `thread (x,y,z)`, with its block where that is not `home`, the rank of the block that the report is about.
fn who(cluster: &Cluster, grid: &Grid, home: u32, access: &ThreadAccess) -> String {
    let [bx, by, bz] = cluster.blocks[access.block as usize].index;
    let [tx, ty, tz] = grid.thread_index(access.thread / 32, access.thread % 32);
    if access.block == home {
        format!("thread ({tx},{ty},{tz})")
    } else {
        format!("block ({bx},{by},{bz}), thread ({tx},{ty},{tz})")
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

/// A finding in words: kind, message, notes.
fn describe(cluster: &Cluster, grid: &Grid, finding: &Finding) -> (FaultKind, String, Vec<String>) {
    match finding {
        Finding::Race {
            access,
            earlier,
            block,
            offset,
            size,
        } => {
            let place = place(cluster, grid, access.block, *block, *offset);
            let location = grid.program().site_location(earlier.site);
            let location = location.map_or(String::new(), |location| format!(", at {location}"));
            let other = who(cluster, grid, access.block, earlier);
            let notes = vec![
                format!(
                    "it conflicts with the {} by {other}{location}",
                    earlier.class
                ),
                "no barrier, fence or atomic operation orders the two".to_owned(),
            ];
            (
                FaultKind::Race,
                format!(
                    "race in shared memory: {} of {size} bytes at {place}",
                    access.class
                ),
                notes,
            )
        }
        Finding::Uninitialised {
            access,
            block,
            offset,
            size,
        } => {
            let place = place(cluster, grid, access.block, *block, *offset);
            let message = format!(
                "uninitialised shared memory: {} of {size} bytes at {place}",
                access.class
            );
            let notes = vec!["no thread had written there since the block started".to_owned()];
            (FaultKind::Uninitialised, message, notes)
        }
    }
}

#[cold]
fn report(warp: &mut Warp, finding: Finding) -> Flow {
    let now = *finding.access();
    let (kind, message, notes) = describe(warp.block().cluster(), warp.grid(), &finding);
    warp.fail_with(kind, now.thread as usize % 32, message, notes)
}

/// The report of a finding that was held back; `kernel` is the kernel's name.
#[cold]
pub(crate) fn fault(cluster: &Cluster, grid: &Grid, kernel: &str, finding: &Finding) -> Box<Fault> {
    let now = *finding.access();
    let (kind, message, notes) = describe(cluster, grid, finding);
    Box::new(Fault {
        kind,
        message,
        kernel: kernel.to_owned(),
        block: cluster.blocks[now.block as usize].index,
        thread: grid.thread_index(now.thread / 32, now.thread % 32),
        location: grid.program().site_location(now.site),
        notes,
    })
}
