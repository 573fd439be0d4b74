//! `ldmatrix stmatrix`: rows of 8 x 8 matrices between shared memory and registers.

use warpsmith_isa::effect::Space;

use super::addresses::address;
use super::family::Family;
use super::matrix_operands::{FragmentUse, address_number, fragment, whole_warp};
use crate::engine::access::declared::Declared;
use crate::engine::access::followed::{self, Part};
use crate::engine::access::path::access_at;
use crate::engine::dataflow::Dataflow;
use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::guest;
use crate::engine::exec::level::Level;
use crate::engine::exec::op::{Op, scalar};
use crate::engine::exec::operand::{Address, LANES, ReadList, WriteList, operands};
use crate::engine::exec::warp::{Flow, Warp};
use crate::engine::exec::windows::{SHARED, window};
use crate::engine::fault::FaultKind;
use crate::engine::lower::form::FormReader;
use crate::engine::lower::lowerings::Lowering;
use crate::numerics::matrix::exchange;
use crate::numerics::matrix::shape::Element;

/// The instructions of this file.
pub(super) const FAMILY: Family = Family {
    opcodes: &["ldmatrix", "stmatrix"],
    read,
};

operands! {
    pub(crate) struct LoadRowsOperands { d: WriteList<u32>, at: Address, transposed: u32 }
    pub(crate) struct StoreRowsOperands { values: ReadList<u32>, at: Address, transposed: u32 }
}

/// Bytes of a row.
const ROW: u32 = 16;

/// Finds the rows of `count` matrices of 8 rows of 16 bytes, whose addresses the lanes have, and calls `perform` with them.
fn rows(
    warp: &mut Warp,
    cluster: &mut Cluster<'_>,
    at: Address,
    count: usize,
    name: &str,
    perform: impl FnOnce(&mut Warp, &mut Cluster<'_>, [*mut u8; LANES]),
) -> Flow {
    if let Some(flow) = whole_warp(warp, cluster, name) {
        return flow;
    }
    let addresses = at.lanes(warp);
    let used = (count * 8).min(LANES);
    if Declared::of(at).space() == Space::Generic
        && let Some(lane) = (0..used).find(|&lane| window(addresses[lane]) != SHARED)
    {
        let message = format!(
            "{name} at {:#x}, which is not in shared memory",
            addresses[lane]
        );
        return warp.fail(FaultKind::InvalidAddressSpace, lane, message);
    }
    let mask = std::mem::replace(&mut warp.mask, u32::MAX >> (LANES - used));
    access_at(
        warp,
        cluster,
        at,
        &addresses,
        ROW,
        |warp, cluster, bytes| {
            let pointers = bytes.pointers(warp, ROW);
            warp.mask = mask;
            perform(warp, cluster, pointers);
            Flow::Next
        },
    )
}

/// The parts of a lane's register of this matrix.
fn parts(
    rows: &[*mut u8; LANES],
    transposed: bool,
    (matrix, lane): (usize, usize),
    each: &mut dyn FnMut(Part),
) {
    let [low, high] = exchange::elements(lane, transposed);
    let mut part = |(row, column): (usize, usize), bytes| {
        let lane = exchange::row_lane(matrix, row);
        let start = rows[lane].wrapping_add(2 * column);
        each(Part { lane, start, bytes });
    };
    match transposed {
        true => [low, high].into_iter().for_each(|at| part(at, 2)),
        false => part(low, 4),
    }
}

/// `ldmatrix`
struct LoadRows;

impl Op for LoadRows {
    type Operands = LoadRowsOperands;
    const DATAFLOW: Dataflow = Dataflow::Fragment;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        let (count, transposed) = (o.d.len(), o.transposed != 0);
        let perform = |warp: &mut Warp, cluster: &mut Cluster<'_>, pointers: [*mut u8; LANES]| {
            for matrix in 0..count {
                let tile = std::array::from_fn(|index| {
                    let mut row = [0u16; 8];
                    let from = pointers[exchange::row_lane(matrix, index)];
                    // SAFETY: the access path found the row's 16 bytes, to be read.
                    unsafe { guest::copy(from, row.as_mut_ptr().cast(), 16) };
                    row
                });
                let result = exchange::scatter(&tile, transposed);
                o.d.get(warp, matrix).put(warp, &result);
            }
            if warp.poison.is_some() {
                followed::loaded(warp, cluster, (o.at, ROW), count, &|matrix, lane, each| {
                    parts(&pointers, transposed, (matrix, lane), each);
                });
            }
        };
        rows(warp, cluster, o.at, count, "ldmatrix", perform)
    }
}

/// `stmatrix`
struct StoreRows;

impl Op for StoreRows {
    type Operands = StoreRowsOperands;
    const DATAFLOW: Dataflow = Dataflow::Fragment;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        let (count, transposed) = (o.values.len(), o.transposed != 0);
        let perform = |warp: &mut Warp, cluster: &mut Cluster<'_>, pointers: [*mut u8; LANES]| {
            for matrix in 0..count {
                let tile = exchange::gather(o.values.get(warp, matrix).lanes(warp), transposed);
                for (index, row) in tile.iter().enumerate() {
                    let to = pointers[exchange::row_lane(matrix, index)];
                    // SAFETY: the access path found the row's 16 bytes, to be written.
                    unsafe { guest::write(row.as_ptr().cast(), to, 16) };
                }
            }
            if warp.poison.is_some() {
                followed::stored(warp, cluster, count, &|matrix, lane, each| {
                    parts(&pointers, transposed, (matrix, lane), each);
                });
            }
        };
        rows(warp, cluster, o.at, count, "stmatrix", perform)
    }
}

fn read(form: &FormReader<'_>) -> Option<Lowering> {
    let direction = match form.opcode() {
        "stmatrix" => FragmentUse::Read,
        _ => FragmentUse::Written,
    };
    // The narrower matrices of newer architectures are not there.
    let all = ["sync", "aligned", "m8n8", "b16"];
    if !all.iter().all(|word| form.has(word)) {
        return None;
    }
    let count = match form.one_of(&["x1", "x2", "x4"])? {
        "x4" => 4,
        "x2" => 2,
        _ => 1,
    };
    let transposed = u32::from(form.has("trans"));
    let number = address_number(direction);
    let effect = form.effect(number);
    Some(Lowering::new(move |cx, inst| {
        let list = &inst.operands[1 - number];
        let fields = fragment(cx, list, count, Element::F16, direction)?;
        let mut at = address(cx, &inst.operands[number], effect)?;
        at.access = Declared::of(at).followed_by_operation().word();
        match direction {
            FragmentUse::Read => {
                let values = cx.read_list(&fields);
                let operands = StoreRowsOperands {
                    values,
                    at,
                    transposed,
                };
                cx.emit(scalar::<StoreRows>(), operands);
            }
            FragmentUse::Written => {
                let d = cx.write_list(&fields);
                cx.emit(scalar::<LoadRows>(), LoadRowsOperands { d, at, transposed });
            }
        }
        Ok(())
    }))
}
