//! `wmma.load`, `wmma.store`, `ldmatrix`, `stmatrix`: fragments to and from memory.

use crate::engine::exec::level::{Level, scalar};
use crate::engine::exec::lanes::{LANES, dst, src};
use crate::engine::exec::warp::{Flow, Warp};
use crate::engine::exec::windows::{SHARED, window};
use crate::engine::fault::FaultKind;
use crate::engine::lower::modifiers::{Kind, Modifiers, Ty, unknown};
use crate::engine::lower::{Builder, Field, Link, expect_operands};
use crate::numerics::matrix::exchange;
use crate::numerics::matrix::layout::Layout;
use crate::numerics::matrix::shape::{Element, Shape, Use, registers, wmma_exists};
use crate::ptx::Result;
use crate::ptx::ast::Instruction;

use super::matrix::{Table, fragment, layout, shape, whole_warp};
use super::resolve::{Access, GENERIC, GLOBAL, SHARED_SPACE, SPACE_SHIFT, addresses, locate};
use super::{memory, watch};

/// A fragment and its place in memory.
struct Tile {
    name: String,
    element: Element,
    registers: usize,
    /// Lines of consecutive elements in memory: rows, or columns if `by_columns`.
    lines: usize,
    /// Bytes of a line.
    line_bytes: usize,
    /// For each lane and element: the bit at which it lies, were the lines packed without gaps.
    bits: Vec<u32>,
}

type TileKey = (Shape, Use, Element, bool);
static TILES: Table<TileKey, Tile> = Table::new();

/// Where the number of the tile is in `x`.
const TILE_SHIFT: u32 = 16;
/// The largest tile: 32 x 16 halves, or 16 x 16 words.
const TILE_BYTES: usize = 1024;

fn tile(key: TileKey) -> Tile {
    let (shape, part, element, by_rows) = key;
    let layout = Layout::new(shape, part, element, true);
    let (rows, columns) = layout.extent();
    let (lines, length) = if by_rows {
        (rows, columns)
    } else {
        (columns, rows)
    };
    let width = element.bits();
    let bits = (0..32 * layout.elements()).map(|index| {
        let place = layout.place(index / layout.elements(), index % layout.elements());
        let (line, at) = if by_rows {
            (place.row, place.column)
        } else {
            (place.column, place.row)
        };
        (line * length + at) * width
    });
    Tile {
        name: format!("wmma {shape} {part:?}"),
        element,
        registers: layout.registers() as usize,
        lines: lines as usize,
        line_bytes: (length * width / 8) as usize,
        bits: bits.collect(),
    }
}

/// Finds the pieces of a tile's lines, calls `each` with the place of a piece in the packed tile, its length, and its
/// memory. `false` if a fault was recorded.
unsafe fn pieces(
    warp: &mut Warp,
    inst: &Words,
    tile: &Tile,
    access: Access,
    mut each: impl FnMut(usize, usize, *mut u8),
) -> bool {
    // SAFETY: the lowering made a memory instruction.
    let all = unsafe { addresses(warp, inst) };
    let base = all[0];
    if let Some(lane) = all.iter().position(|&address| address != base) {
        let message = format!(
            "{}: the lanes have different addresses: {base:#x} and {:#x}",
            tile.name, all[lane]
        );
        warp.fail(FaultKind::IllegalInstruction, lane, message);
        return false;
    }
    let stride = match inst.b {
        0 => tile.line_bytes as u64,
        operand => {
            // SAFETY: the lowering gave the operand 32 bits.
            let strides = unsafe { src::<u32>(warp, operand) };
            let elements = strides[0];
            let bits = u64::from(elements) * u64::from(tile.element.bits());
            let uneven = strides.iter().position(|&stride| stride != elements);
            if uneven.is_some() || !bits.is_multiple_of(128) {
                let message = match uneven {
                    Some(_) => format!("{}: the lanes have different strides", tile.name),
                    None => format!(
                        "{}: a stride of {elements} elements is no multiple of 16 bytes",
                        tile.name
                    ),
                };
                warp.fail(FaultKind::IllegalInstruction, uneven.unwrap_or(0), message);
                return false;
            }
            bits / 8
        }
    };
    if !base.is_multiple_of(32) {
        let message = format!(
            "{}: misaligned matrix at {:#x}",
            tile.name,
            base & 0xffff_ffff_ffff
        );
        let notes = vec!["the address must be a multiple of 32".to_owned()];
        warp.fail_with(FaultKind::MisalignedAddress, 0, message, notes);
        return false;
    }
    let space = (inst.x >> SPACE_SHIFT & 15) as u8;
    let size = tile.line_bytes.min(16);
    let per_line = tile.line_bytes / size;
    // As if the lanes shared the pieces among themselves, 32 at a time.
    let count = tile.lines * per_line;
    for first in (0..count).step_by(LANES) {
        let lanes = (count - first).min(LANES);
        let mut shared = 0u32;
        for lane in 0..lanes {
            let (line, part) = ((first + lane) / per_line, (first + lane) % per_line);
            let address = base.wrapping_add(line as u64 * stride + (part * size) as u64);
            match locate(warp, inst, lane, address, size as u32, access, space) {
                Some(pointer) => warp.pointers[lane] = pointer,
                None => return false,
            }
            if space == SHARED_SPACE || space == GENERIC && window(address) == SHARED {
                shared |= 1 << lane;
            }
        }
        if warp.watched
            && shared != 0
            && watch::pieces(warp, shared, size as u32, access) == Flow::Fault
        {
            return false;
        }
        for lane in 0..lanes {
            each((first + lane) * size, size, warp.pointers[lane]);
        }
    }
    true
}

/// `wmma.load`: `d` the list of registers, `a` and `c` the address, `b` the stride or 0.
struct LoadTile;

impl WordsOp for LoadTile {
    #[inline(always)]
    unsafe fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, inst: &Words) -> Flow {
        if let Some(flow) = whole_warp(warp, "wmma.load") {
            return flow;
        }
        let tile = TILES.get(inst.x >> TILE_SHIFT);
        let mut packed = [0u8; TILE_BYTES + 8];
        // SAFETY: pieces lie inside the packed tile, and their memory was checked; the list has the tile's registers.
        unsafe {
            let target = packed.as_mut_ptr();
            let copied = pieces(warp, inst, tile, Access::Read, |at, size, memory| {
                memory.copy_to_nonoverlapping(target.add(at), size);
            });
            if !copied {
                return Flow::Fault;
            }
            let list = warp.list(inst.d, tile.registers);
            let (width, per_register) = (tile.element.bits(), tile.element.per_register() as usize);
            let elements = tile.registers * per_register;
            for (register, &operand) in list.iter().enumerate() {
                for lane in 0..LANES {
                    // A register's elements, each from its own place.
                    let mut word = 0u64;
                    let first = lane * elements + register * per_register;
                    for (index, &bit) in tile.bits[first..first + per_register].iter().enumerate() {
                        let bytes = packed
                            .as_ptr()
                            .add(bit as usize / 8)
                            .cast::<u64>()
                            .read_unaligned();
                        let value = bytes >> (bit % 8) & (u64::MAX >> (64 - width));
                        word |= value << (index as u32 * width);
                    }
                    match tile.element {
                        Element::F64 => dst::<u64>(warp, operand)[lane] = word,
                        _ => dst::<u32>(warp, operand)[lane] = word as u32,
                    }
                }
            }
        }
        Flow::Next
    }
}

/// `wmma.store`: as [`LoadTile`]. Accumulators have whole bytes.
struct StoreTile;

impl WordsOp for StoreTile {
    #[inline(always)]
    unsafe fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, inst: &Words) -> Flow {
        if let Some(flow) = whole_warp(warp, "wmma.store") {
            return flow;
        }
        let tile = TILES.get(inst.x >> TILE_SHIFT);
        let mut packed = [0u8; TILE_BYTES + 8];
        // SAFETY: as for `LoadTile`.
        unsafe {
            let list = warp.list(inst.d, tile.registers);
            let (width, per_register) = (tile.element.bits(), tile.element.per_register() as usize);
            for (register, &operand) in list.iter().enumerate() {
                for lane in 0..LANES {
                    let word = match tile.element {
                        Element::F64 => src::<u64>(warp, operand)[lane],
                        _ => src::<u32>(warp, operand)[lane].into(),
                    };
                    let first = (lane * tile.registers + register) * per_register;
                    for (index, &bit) in tile.bits[first..first + per_register].iter().enumerate() {
                        let value = (word >> (index as u32 * width)).to_le_bytes();
                        let bytes = (width / 8) as usize;
                        packed[bit as usize / 8..][..bytes].copy_from_slice(&value[..bytes]);
                    }
                }
            }
            let source = packed.as_ptr();
            let copied = pieces(warp, inst, tile, Access::Write, |at, size, memory| {
                memory.copy_from_nonoverlapping(source.add(at), size);
            });
            if copied { Flow::Next } else { Flow::Fault }
        }
    }
}

/// `ldmatrix` and `stmatrix`: `d` the list of registers, `a` and `c` the address. `x` above [`TILE_SHIFT`]: the number of
/// matrices, and 8 for `.trans`.
struct MoveRows<const STORE: bool>;

impl<const STORE: bool> WordsOp for MoveRows<STORE> {
    #[inline(always)]
    unsafe fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, inst: &Words) -> Flow {
        let name = if STORE { "stmatrix" } else { "ldmatrix" };
        if let Some(flow) = whole_warp(warp, name) {
            return flow;
        }
        let (count, transposed) = (
            (inst.x >> TILE_SHIFT & 7) as usize,
            inst.x >> TILE_SHIFT & 8 != 0,
        );
        let access = if STORE { Access::Write } else { Access::Read };
        let space = (inst.x >> SPACE_SHIFT & 15) as u8;
        // SAFETY: the lowering made a memory instruction with a list of `count` registers; rows were checked.
        unsafe {
            let places = addresses(warp, inst);
            let used = (count * 8).min(LANES);
            for lane in 0..used {
                if space == GENERIC && window(places[lane]) != SHARED {
                    let message = format!(
                        "{name} at {:#x}, which is not in shared memory",
                        places[lane]
                    );
                    return warp.fail(FaultKind::InvalidAddressSpace, lane, message);
                }
                match locate(warp, inst, lane, places[lane], 16, access, space) {
                    Some(pointer) => warp.pointers[lane] = pointer,
                    None => return Flow::Fault,
                }
            }
            let mask = u32::MAX >> (LANES - used);
            if warp.watched && watch::pieces(warp, mask, 16, access) == Flow::Fault {
                return Flow::Fault;
            }
            let list = warp.list(inst.d, count);
            for (matrix, &operand) in list.iter().enumerate() {
                let row =
                    |row: usize| warp.pointers[exchange::row_lane(matrix, row)].cast::<[u16; 8]>();
                if STORE {
                    let tile = exchange::gather(src::<u32>(warp, operand), transposed);
                    for (index, values) in tile.iter().enumerate() {
                        row(index).write(*values);
                    }
                } else {
                    let tile = std::array::from_fn(|index| row(index).read());
                    *dst::<u32>(warp, operand) = exchange::scatter(&tile, transposed);
                }
            }
        }
        Flow::Next
    }
}

/// `wmma.load` and `wmma.store`.
pub(crate) fn lower_wmma<'a>(cx: &mut Builder<'a, '_>, inst: &'a Instruction<'a>) -> Result<()> {
    let mut modifiers = Modifiers::new(inst);
    let store = modifiers.flag("store");
    let load = !store && modifiers.flag("load");
    let part = match modifiers.any(&["a", "b", "c", "d"]) {
        Some("a") if load => Use::A,
        Some("b") if load => Use::B,
        Some("c") if load => Use::Accumulator,
        Some("d") if store => Use::Accumulator,
        _ => return Err(unknown(inst)),
    };
    let sync = modifiers.flag("sync") & modifiers.flag("aligned");
    let space = memory::space(&mut modifiers).map_or(GENERIC, |found| found.1);
    let shape = shape(&mut modifiers)
        .filter(|_| sync)
        .ok_or_else(|| unknown(inst))?;
    let by_rows = modifiers.next_if(layout).ok_or_else(|| unknown(inst))?;
    let element = modifiers
        .next_if(Element::parse)
        .ok_or_else(|| unknown(inst))?;
    modifiers.finish(inst)?;
    let exists = FACTORS.iter().any(|&factor| {
        let accumulators = [Element::F16, Element::F32, Element::F64, Element::S32];
        accumulators.iter().any(|&c| {
            wmma_exists(shape, factor, c, c)
                && element == if part == Use::Accumulator { c } else { factor }
        })
    });
    // The narrow types exist in one layout only.
    let narrow = element.bits() < 8;
    if !exists
        || narrow && by_rows != (part == Use::A)
        || !matches!(space, GENERIC | GLOBAL | SHARED_SPACE)
    {
        return Err(unknown(inst));
    }
    expect_operands(inst, &[2, 3])?;
    let (address, list) = if store { (0, 1) } else { (1, 0) };
    let count = registers(shape, part, element, true);
    let fields = fragment(cx, &inst.operands[list], count, element, load)?;
    let address = cx.address(&inst.operands[address])?;
    let (base, offset, flags) = memory::base(cx, address, space)?;
    let stride = match inst.operands.get(2) {
        Some(operand) => cx.src(
            operand,
            Ty {
                kind: Kind::Bits,
                bits: 32,
                packed: 1,
            },
        )?,
        None => Field::NONE,
    };
    let key = (shape, part, element, by_rows);
    let number = TILES
        .number(key, || tile(key))
        .ok_or_else(|| unknown(inst))?;
    let list = cx.list(&fields);
    let exec = if store {
        scalar::<StoreTile>()
    } else {
        scalar::<LoadTile>()
    };
    let lowered = cx.emit_untyped(exec, Field::Raw(list.0), base, stride, offset);
    lowered.x = Link::Raw(flags | number << TILE_SHIFT);
    lowered.list = list;
    lowered.writes_d = false;
    Ok(())
}

const FACTORS: [Element; 9] = [
    Element::F16,
    Element::Bf16,
    Element::Tf32,
    Element::F64,
    Element::S8,
    Element::U8,
    Element::S4,
    Element::U4,
    Element::B1,
];

/// `ldmatrix` and `stmatrix`.
pub(crate) fn lower_rows<'a>(cx: &mut Builder<'a, '_>, inst: &'a Instruction<'a>) -> Result<()> {
    let store = inst.opcode == "stmatrix";
    let mut modifiers = Modifiers::new(inst);
    let form = ["sync", "aligned", "m8n8", "b16"];
    if !form.iter().all(|name| modifiers.flag(name)) {
        return Err(unknown(inst));
    }
    let count = match modifiers.any(&["x1", "x2", "x4"]) {
        Some("x1") => 1,
        Some("x2") => 2,
        Some("x4") => 4,
        _ => return Err(unknown(inst)),
    };
    let transposed = modifiers.flag("trans");
    let space = memory::space(&mut modifiers).map_or(GENERIC, |found| found.1);
    modifiers.finish(inst)?;
    if !matches!(space, GENERIC | SHARED_SPACE) {
        return Err(unknown(inst));
    }
    expect_operands(inst, &[2])?;
    let (address, list) = if store { (0, 1) } else { (1, 0) };
    let fields = fragment(cx, &inst.operands[list], count, Element::F16, !store)?;
    let address = cx.address(&inst.operands[address])?;
    let (base, offset, flags) = memory::base(cx, address, space)?;
    let list = cx.list(&fields);
    let exec = if store {
        scalar::<MoveRows<true>>()
    } else {
        scalar::<MoveRows<false>>()
    };
    let lowered = cx.emit_untyped(exec, Field::Raw(list.0), base, Field::NONE, offset);
    lowered.x = Link::Raw(flags | (count | u32::from(transposed) << 3) << TILE_SHIFT);
    lowered.list = list;
    lowered.writes_d = false;
    Ok(())
}
