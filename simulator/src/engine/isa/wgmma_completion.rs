//! Completion of `wgmma` products: when they read shared memory and registers, and write D.
//!
//! A product completes when a warp waits for it, as late as that, and when its registers are about to go away: at the end of the
//! function that issued it, and at the end of the warp. The first warp to complete it reads shared memory for all four.

use super::warpgroup;
use super::wgmma_follow::{follow, uninitialised};
use crate::check::{AsyncCompletion, PoisonOrigin};
use crate::engine::access::check;
use crate::engine::access::declared::Declared;
use crate::engine::access::path::access_at;
use crate::engine::exec::bulk_copy::Watched;
use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::frame::FrameRegisters;
use crate::engine::exec::group_queue::Completed;
use crate::engine::exec::guest::GuestWord;
use crate::engine::exec::level::{Level, VectorLevel};
use crate::engine::exec::operand::{Address, FULL, LANES};
use crate::engine::exec::product::PendingProduct;
use crate::engine::exec::warp::{Flow, Warp};
use crate::engine::exec::warpgroup::{SharedFactors, UninitialisedElement, WARPS};
use crate::engine::program::Program;
use crate::numerics::matrix::accumulate::Addend;
use crate::numerics::matrix::descriptor::{Descriptor, Major};
use crate::numerics::matrix::factors::Factors;
use crate::numerics::matrix::shape::Element;
use crate::numerics::matrix::warpgroup::{MOST_COLUMNS, UNIT_BYTES, WARP_ROWS, WarpgroupProduct};

/// All products of a warp are its lane 0's.
const ISSUER: u32 = 1;

/// Completes products of the warp; [`Flow::Leave`] if it has to wait for the other warps of its warpgroup, and executes its
/// instruction again.
#[inline(always)]
pub(super) fn complete(warp: &mut Warp, cluster: &mut Cluster<'_>, which: Completed) -> Flow {
    if warp.products.is_empty() {
        return Flow::Next;
    }
    complete_some(warp, cluster, which)
}

/// Lanes of the warp leave a function, or exit from the kernel: its products complete, and if the warp ends so, its warpgroup loses
/// it.
#[inline(always)]
pub(super) fn leave(warp: &mut Warp, cluster: &mut Cluster<'_>, exits: bool) -> Flow {
    let flow = complete(warp, cluster, Completed::All);
    if flow == Flow::Next && exits && warp.live & !warp.mask == 0 {
        return warpgroup::exit(warp, cluster);
    }
    flow
}

#[inline(never)]
fn complete_some(warp: &mut Warp, cluster: &mut Cluster<'_>, which: Completed) -> Flow {
    let Some(&PendingProduct { number, .. }) = warp.products.last_due(ISSUER, which) else {
        return Flow::Next;
    };
    if let Some(group) = warpgroup::warpgroup(warp, cluster)
        && !group.all_executed(number)
    {
        return warpgroup::wait(warp, number);
    }
    for (_, product) in warp.products.take(ISSUER, which) {
        if let Err(flow) = perform(warp, cluster, &product) {
            return flow;
        }
    }
    Flow::Next
}

/// Computes the warp's part of a product.
fn perform(
    warp: &mut Warp,
    cluster: &mut Cluster<'_>,
    pending: &PendingProduct,
) -> Result<(), Flow> {
    let own = warpgroup::number(warp);
    let mut group = warpgroup::warpgroup(warp, cluster);
    let found = group
        .as_mut()
        .and_then(|group| group.take_factors(pending.number));
    let watched = group.map_or(Vec::new(), |group| group.watched(pending.number));
    let factors = match found {
        Some(factors) => factors,
        None => {
            let factors = read_all(warp, cluster, pending)?;
            for watched in &watched {
                check::finish(cluster, Some(watched));
            }
            factors
        }
    };
    // Whoever has waited for the product knows that the reads of all warps are done. Those of a warp complete in order.
    for issuer in 0..WARPS {
        let last = watched
            .iter()
            .rfind(|watched| watched.access.warp % WARPS == issuer);
        check::wait(warp, cluster, FULL, last);
    }
    let function = &cluster.grid.program.functions[pending.function as usize];
    let frame = &warp.frames[pending.frame as usize];
    if let Some(mut registers) = FrameRegisters::of(frame, pending.function, function) {
        if let Some(poison) = &mut warp.poison {
            poison.release(pending.number);
        }
        let has_poison = warp
            .poison
            .as_ref()
            .is_some_and(|poison| poison.has_values());
        if has_poison || factors.uninitialised.iter().any(|all| !all.is_empty()) {
            let poison = warp.poison.take().unwrap_or_default();
            let poison = follow(poison, &registers, pending, &factors, own);
            warp.follow_from_here(poison);
        }
        compute(&mut registers, pending, &factors, own);
    }
    if let Some(group) = warpgroup::warpgroup(warp, cluster) {
        group.complete(own, pending.number, factors);
    }
    Ok(())
}

/// Tells the checks what a product reads, when a warp issues it: its own rows of A, and B, if it is the first of its warpgroup.
pub(super) fn watch(
    warp: &mut Warp,
    cluster: &mut Cluster<'_>,
    pending: &PendingProduct,
) -> Result<(), Flow> {
    if !warp.watched {
        return Ok(());
    }
    let (product, own) = (pending.product, warpgroup::number(warp));
    let mut watched = Vec::new();
    if let Some(descriptor) = pending.descriptors.a {
        let rows = WARP_ROWS as u32;
        let mut units = product.a_units();
        units.retain(|&[along, across]| match product.a_major {
            Major::K => across / rows == own,
            Major::Lines => along * UNIT_BYTES * 8 / product.a.bits() / rows == own,
        });
        let access = pending.accesses[0];
        let a = issue(warp, cluster, access, descriptor, product.a_major, &units)?;
        watched.extend(a);
    }
    let group = warpgroup::warpgroup(warp, cluster);
    if group.is_some_and(|group| group.is_first(own, pending.number)) {
        let (units, descriptor) = (product.b_units(), pending.descriptors.b);
        let access = pending.accesses[1];
        let b = issue(warp, cluster, access, descriptor, product.b_major, &units)?;
        watched.extend(b);
    }
    if let Some(group) = warpgroup::warpgroup(warp, cluster) {
        group.watch(pending.number, watched);
    }
    Ok(())
}

/// Tells the checks that units of a factor are read from now on: as few ranges as they make up.
fn issue(
    warp: &mut Warp,
    cluster: &mut Cluster<'_>,
    access: u32,
    descriptor: u64,
    major: Major,
    units: &[[u32; 2]],
) -> Result<Vec<Watched>, Flow> {
    let descriptor = Descriptor::from_bits(descriptor);
    let mut addresses: Vec<u32> = units
        .iter()
        .map(|&[along, across]| descriptor.address(major, along, across))
        // What lies outside is found out when the product completes.
        .filter(|address| address + UNIT_BYTES <= warp.shared_size)
        .collect();
    addresses.sort_unstable();
    let mut watched = Vec::new();
    for range in addresses.chunk_by(|first, second| *second <= first + UNIT_BYTES) {
        let (first, last) = (range[0], range[range.len() - 1]);
        let start = warp.shared.wrapping_add(first as usize);
        let bytes = (start, last + UNIT_BYTES - first);
        let declared = Declared::from_word(access);
        let completion = AsyncCompletion::Products;
        watched.extend(check::issue(warp, cluster, 0, declared, bytes, completion)?);
    }
    Ok(watched)
}

/// What has been read of a factor.
struct ReadUnits {
    units: Vec<[u8; 16]>,
    /// What of it is uninitialised: numbers of the unit and of its word, and where it comes from.
    uninitialised: Vec<(usize, u32, PoisonOrigin)>,
}

/// An element of this origin at a line and a place along k.
fn with(origin: PoisonOrigin) -> impl Fn([usize; 2]) -> UninitialisedElement {
    move |[line, k]| UninitialisedElement { line, k, origin }
}

/// Reads the factors that are in shared memory.
fn read_all(
    warp: &mut Warp,
    cluster: &mut Cluster<'_>,
    pending: &PendingProduct,
) -> Result<Box<SharedFactors>, Flow> {
    let product = pending.product;
    let mut uninitialised = [const { Vec::new() }; 2];
    let a = match pending.descriptors.a {
        Some(descriptor) => {
            let units = product.a_units();
            let major = product.a_major;
            let read = read(warp, cluster, pending, 0, descriptor, major, &units)?;
            for (unit, word, origin) in read.uninitialised {
                let elements = product.elements_of_a(units[unit], word);
                uninitialised[0].extend(elements.into_iter().map(with(origin)));
            }
            Some(product.shared_a(&read.units))
        }
        None => None,
    };
    let units = product.b_units();
    let (descriptor, major) = (pending.descriptors.b, product.b_major);
    let read = read(warp, cluster, pending, 1, descriptor, major, &units)?;
    for (unit, word, origin) in read.uninitialised {
        let elements = product.elements_of_b(units[unit], word);
        uninitialised[1].extend(elements.into_iter().map(with(origin)));
    }
    let b = product.shared_b(&read.units);
    Ok(Box::new(SharedFactors {
        a,
        b,
        uninitialised,
    }))
}

/// Reads the units of a factor on behalf of the instruction that issued the product: a unit for each lane.
fn read(
    warp: &mut Warp,
    cluster: &mut Cluster<'_>,
    pending: &PendingProduct,
    factor: usize,
    descriptor: u64,
    major: Major,
    units: &[[u32; 2]],
) -> Result<ReadUnits, Flow> {
    let descriptor = Descriptor::from_bits(descriptor);
    let address = Address::new(0, 0, pending.accesses[factor]);
    let mut all = ReadUnits {
        units: Vec::with_capacity(units.len()),
        uninitialised: Vec::new(),
    };
    let current = (warp.function, warp.pc, warp.mask);
    (warp.function, warp.pc) = Program::site_parts(pending.issuer.site);
    let mut flow = Flow::Next;
    for units in units.chunks(LANES) {
        let mut addresses = [0; LANES];
        for (address, &[along, across]) in addresses.iter_mut().zip(units) {
            *address = descriptor.address(major, along, across).into();
        }
        warp.mask = u32::MAX >> (LANES - units.len());
        flow = access_at(
            warp,
            cluster,
            address,
            &addresses,
            UNIT_BYTES,
            |warp, cluster, bytes| {
                let pointers = bytes.pointers(warp, UNIT_BYTES);
                if warp.watched {
                    let found = uninitialised(cluster, pending, address, &pointers[..units.len()]);
                    let before = all.units.len();
                    let found = found.into_iter();
                    let found = found.map(|(unit, word, origin)| (before + unit, word, origin));
                    all.uninitialised.extend(found);
                }
                for pointer in &pointers[..units.len()] {
                    // SAFETY: the path has found these 16 bytes for each lane of the mask.
                    let unit = unsafe { u128::load(pointer.cast()) };
                    all.units.push(unit.to_le_bytes());
                }
                Flow::Next
            },
        );
        if flow != Flow::Next {
            break;
        }
    }
    (warp.function, warp.pc, warp.mask) = current;
    if flow == Flow::Next {
        return Ok(all);
    }
    if let Some(fault) = &mut warp.fault {
        fault.issuer = Some(pending.issuer);
    }
    Err(flow)
}

/// Computes the warp's rows: from the registers of A, if it is there, and of D, to those of D.
fn compute(
    registers: &mut FrameRegisters<'_>,
    pending: &PendingProduct,
    factors: &SharedFactors,
    warp: u32,
) {
    let product = pending.product;
    let columns = usize::from(product.columns);
    let mut dense = [0u32; WARP_ROWS * MOST_COLUMNS];
    let dense = &mut dense[..WARP_ROWS * columns];
    let halves = product.d == Element::F16;
    if pending.addend == Addend::Accumulator {
        for index in 0..pending.c.len() {
            let lanes = pending.c.get(registers, index).lanes(registers);
            for (lane, &word) in lanes.iter().enumerate() {
                let (row, column) = product.place(index, lane);
                let at = row * columns + column;
                if halves {
                    (dense[at], dense[at + 1]) = (word & 0xffff, word >> 16);
                } else {
                    dense[at] = word;
                }
            }
        }
    }
    let (b, metadata, addend) = (&factors.b, &pending.metadata, pending.addend);
    match &factors.a {
        Some(a) => {
            let first = warp as usize * WARP_ROWS;
            (pending.rows)(product, a, first, b, metadata, addend, dense);
        }
        None => {
            let a: [_; 4] =
                std::array::from_fn(|index| pending.a.get(registers, index).lanes(registers));
            let a = product.register_a(a);
            (pending.rows)(product, &a, 0, b, metadata, addend, dense);
        }
    }
    for index in 0..pending.d.len() {
        let lanes = std::array::from_fn(|lane| {
            let (row, column) = product.place(index, lane);
            let at = row * columns + column;
            match halves {
                true => dense[at] | dense[at + 1] << 16,
                false => dense[at],
            }
        });
        pending.d.get(registers, index).put(registers, &lanes);
    }
}

/// [`WarpgroupProduct::rows`] with the vector instructions of a level, which the machine has.
pub(super) fn rows<L: Level>(
    product: WarpgroupProduct,
    a: &Factors,
    first: usize,
    b: &Factors,
    metadata: &[u32; LANES],
    addend: Addend,
    d: &mut [u32],
) {
    #[cfg(target_arch = "x86_64")]
    match L::LEVEL {
        // SAFETY: a module is lowered for a level that the machine has (`lower::module::load`).
        VectorLevel::V4 => return unsafe { rows_v4(product, a, first, b, metadata, addend, d) },
        // SAFETY: a module is lowered for a level that the machine has (`lower::module::load`).
        VectorLevel::V3 => return unsafe { rows_v3(product, a, first, b, metadata, addend, d) },
        VectorLevel::Base => {}
    }
    product.rows(a, first, b, metadata, addend, d);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c")]
fn rows_v3(
    product: WarpgroupProduct,
    a: &Factors,
    first: usize,
    b: &Factors,
    metadata: &[u32; LANES],
    addend: Addend,
    d: &mut [u32],
) {
    product.rows(a, first, b, metadata, addend, d);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c"
)]
fn rows_v4(
    product: WarpgroupProduct,
    a: &Factors,
    first: usize,
    b: &Factors,
    metadata: &[u32; LANES],
    addend: Addend,
    d: &mut [u32],
) {
    product.rows(a, first, b, metadata, addend, d);
}
