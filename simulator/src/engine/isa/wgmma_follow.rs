//! Uninitialised values in `wgmma` products: those that a product reads from shared memory when it completes, and what
//! they make of D.

use rustc_hash::FxHashMap;

use crate::check::{Marks, Poison, PoisonOrigin};
use crate::engine::access::declared::Declared;
use crate::engine::access::followed::{in_flight, read_by_operation};
use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::frame::FrameRegisters;
use crate::engine::exec::operand::{Address, CONSTANT, FULL, Read, ReadList, SINK, lanes_of};
use crate::engine::exec::product::PendingProduct;
use crate::engine::exec::warp::Warp;
use crate::engine::exec::warpgroup::SharedFactors;
use crate::numerics::matrix::accumulate::Addend;
use crate::numerics::matrix::warpgroup::{UNIT_BYTES, WARP_ROWS, WarpgroupProduct};

/// What is uninitialised in units at these places: numbers of the unit and of its word.
#[cold]
pub(super) fn uninitialised(
    cluster: &Cluster<'_>,
    pending: &PendingProduct,
    address: Address,
    units: &[*mut u8],
) -> Vec<(usize, u32, PoisonOrigin)> {
    let access = (Declared::of(address), UNIT_BYTES);
    let origin = |start, bytes| read_by_operation(cluster, pending.issuer, access, start, bytes);
    let mut found = Vec::new();
    for (unit, &start) in units.iter().enumerate() {
        if origin(start, UNIT_BYTES).is_none() {
            continue;
        }
        for word in 0..UNIT_BYTES / 4 {
            let start = start.wrapping_add(word as usize * 4);
            found.extend(origin(start, 4).map(|origin| (unit, word, origin)));
        }
    }
    found
}

/// The registers of D are the product's from here on, if values are followed: what is read of them before the wait is none.
#[cold]
pub(super) fn hold(warp: &mut Warp, cluster: &Cluster<'_>, pending: &PendingProduct) {
    let access = (Declared::from_word(pending.accesses[1]), UNIT_BYTES);
    let Some(origin) = in_flight(cluster, pending.issuer, access) else {
        return;
    };
    let function = &cluster.grid.program.functions[pending.function as usize];
    let frame = &warp.frames[pending.frame as usize];
    let Some(registers) = FrameRegisters::of(frame, pending.function, function) else {
        return;
    };
    let mut poison = warp.poison.take().unwrap_or_default();
    for index in 0..pending.d.len() {
        let register = pending.d.get(&registers, index).word();
        if register != SINK {
            poison.hold(pending.frame, register, pending.number, origin);
        }
    }
    warp.follow_from_here(poison);
}

/// Follows uninitialised values through the warp's part of a product.
#[cold]
pub(super) fn follow(
    mut poison: Box<Poison>,
    registers: &FrameRegisters<'_>,
    pending: &PendingProduct,
    factors: &SharedFactors,
    warp: u32,
) -> Box<Poison> {
    let product = pending.product;
    // C is what the registers hold, also if a later product has them by now.
    let marks = |poison: &Poison, operand: Read<u32>| match operand.word() & CONSTANT {
        0 => poison.contents(pending.frame, operand.word()),
        _ => Marks::NONE,
    };
    let all = |poison: &Poison, list: ReadList<u32>| -> Vec<Marks> {
        let operands = (0..list.len()).map(|index| list.get(registers, index));
        operands.map(|operand| marks(poison, operand)).collect()
    };
    let (own_a, c) = (all(&poison, pending.a), all(&poison, pending.c));
    let mut rows = [None; WARP_ROWS];
    for (register, marks) in own_a.iter().enumerate() {
        for lane in lanes_of(marks.lanes()) {
            rows[WarpgroupProduct::register_row(register, lane)] = marks.origin(lane);
        }
    }
    let [a, b] = &factors.uninitialised;
    let first = warp as usize * WARP_ROWS;
    for element in a {
        if let Some(row) = element
            .line
            .checked_sub(first)
            .filter(|&row| row < WARP_ROWS)
        {
            rows[row] = Some(poison.number(element.origin));
        }
    }
    let b: FxHashMap<(usize, usize), u32> = b
        .iter()
        .map(|element| ((element.line, element.k), poison.number(element.origin)))
        .collect();
    let accumulates = pending.addend == Addend::Accumulator;
    let d = product.trace(
        |row| rows[row],
        &|column, k| b.get(&(column, k)).copied(),
        &|register, lane| c[register].origin(lane).filter(|_| accumulates),
        (
            |lane| pending.metadata_marks.origin(lane),
            &pending.metadata,
        ),
    );
    for (index, origins) in d.iter().enumerate() {
        let register = pending.d.get(registers, index).word();
        if register != SINK {
            poison.write(pending.frame, register, FULL, &Marks::of(origins));
        }
    }
    poison
}
