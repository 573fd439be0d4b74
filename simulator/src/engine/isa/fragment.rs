//! `wmma.load`, `wmma.store`: fragments to and from memory.

use std::marker::PhantomData;

use warpsmith_isa::effect::Effect;

use super::addresses::address;
use super::matrix_operands::{
    FragmentUse, FragmentWord, Table, address_number, fragment, whole_warp,
};
use crate::engine::access::path::access_at;
use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::guest;
use crate::engine::exec::level::Level;
use crate::engine::exec::op::{Op, scalar};
use crate::engine::exec::operand::{Address, LANES, Read, ReadList, WriteList, operands};
use crate::engine::exec::warp::{Flow, Warp};
use crate::engine::fault::FaultKind;
use crate::engine::lower::form::FormReader;
use crate::engine::lower::lowerings::{Lowering, unsupported};
use crate::engine::lower::types::Ty;
use crate::engine::lower::{Builder, Width};
use crate::numerics::matrix::layout::Layout;
use crate::numerics::matrix::shape::{Element, Shape, Use, registers};
use crate::ptx::Result;
use crate::ptx::ast::Instruction;

/// A fragment and where its elements lie in memory.
struct Tile {
    name: String,
    element: Element,
    registers: usize,
    /// Lines of consecutive elements in memory: rows, or columns if `by_columns`.
    lines: usize,
    /// Bytes of a line.
    line_bytes: usize,
    /// What the distance of lines is a multiple of, in bits.
    stride_bits: u64,
    /// For each lane and element: the bit at which it lies, were the lines packed without gaps.
    bits: Vec<u32>,
}

type TileKey = (Shape, Use, Element, bool);
static TILES: Table<TileKey, Tile> = Table::new();

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
        let element = layout.place(index / layout.elements(), index % layout.elements());
        let (line, at) = if by_rows {
            (element.row, element.column)
        } else {
            (element.column, element.row)
        };
        (line * length + at) * width
    });
    // Factors of 8 bits are loaded by 8 bytes where a tile has 32 rows or columns.
    let by_eight = width == 8 && shape.m != shape.n;
    Tile {
        stride_bits: if by_eight { 64 } else { 128 },
        name: format!("wmma {shape} {part:?}"),
        element,
        registers: layout.registers() as usize,
        lines: lines as usize,
        line_bytes: (length * width / 8) as usize,
        bits: bits.collect(),
    }
}

operands! {
    /// A matrix in memory: its first element, the distance of its lines in elements (if there is one), and the number of its
    /// tile in [`TILES`].
    pub(crate) struct LoadTileOperands<F: FragmentWord> {
        d: WriteList<F>, at: Address, stride: Read<u32>, has_stride: u32, tile: u32,
    }
    pub(crate) struct StoreTileOperands<F: FragmentWord> {
        values: ReadList<F>, at: Address, stride: Read<u32>, has_stride: u32, tile: u32,
    }
}

/// A matrix in memory, as an instruction names it.
#[derive(Clone, Copy)]
struct Matrix {
    at: Address,
    stride: Read<u32>,
    has_stride: bool,
}

/// A piece of a tile.
struct Piece {
    /// Its first byte in the packed tile.
    packed: usize,
    bytes: usize,
    memory: *mut u8,
}

/// Finds the pieces of a tile's lines and calls `each` with them.
fn pieces(
    warp: &mut Warp,
    cluster: &mut Cluster<'_>,
    matrix: Matrix,
    tile: &Tile,
    mut each: impl FnMut(Piece),
) -> Flow {
    let all = matrix.at.lanes(warp);
    let base = all[0];
    if let Some(lane) = all.iter().position(|&address| address != base) {
        let message = format!(
            "{}: the lanes have different addresses: {base:#x} and {:#x}",
            tile.name, all[lane]
        );
        return warp.fail(FaultKind::IllegalInstruction, lane, message);
    }
    let mut stride = tile.line_bytes as u64;
    if matrix.has_stride {
        let strides = matrix.stride.lanes(warp);
        let elements = strides[0];
        let bits = u64::from(elements) * u64::from(tile.element.bits());
        let uneven = strides.iter().position(|&stride| stride != elements);
        if uneven.is_some() || !bits.is_multiple_of(tile.stride_bits) {
            let message = match uneven {
                Some(_) => format!("{}: the lanes have different strides", tile.name),
                None => format!(
                    "{}: a stride of {elements} elements is no multiple of {} bytes",
                    tile.name,
                    tile.stride_bits / 8
                ),
            };
            return warp.fail(FaultKind::IllegalInstruction, uneven.unwrap_or(0), message);
        }
        stride = bits / 8;
    }
    if !base.is_multiple_of(32) {
        let message = format!(
            "{}: misaligned matrix at {:#x}",
            tile.name,
            base & 0xffff_ffff_ffff
        );
        let notes = vec!["the address must be a multiple of 32".to_owned()];
        return warp.fail_with(FaultKind::MisalignedAddress, 0, message, notes);
    }
    let aligned = if stride.is_multiple_of(16) { 16 } else { 8 };
    let size = tile.line_bytes.min(aligned);
    let per_line = tile.line_bytes / size;
    // As if the lanes shared the pieces among themselves, 32 at a time.
    let count = tile.lines * per_line;
    let mask = warp.mask;
    for first in (0..count).step_by(LANES) {
        let lanes = (count - first).min(LANES);
        let addresses = std::array::from_fn(|lane| {
            let (line, part) = ((first + lane) / per_line, (first + lane) % per_line);
            base.wrapping_add(line as u64 * stride + (part * size) as u64)
        });
        warp.mask = u32::MAX >> (LANES - lanes);
        let flow = access_at(
            warp,
            cluster,
            matrix.at,
            &addresses,
            size as u32,
            |warp, _, bytes| {
                let pointers = bytes.pointers(warp, size as u32);
                for (lane, &memory) in pointers.iter().enumerate().take(lanes) {
                    each(Piece {
                        packed: (first + lane) * size,
                        bytes: size,
                        memory,
                    });
                }
                Flow::Next
            },
        );
        if flow == Flow::Fault {
            return flow;
        }
    }
    warp.mask = mask;
    Flow::Next
}

/// `wmma.load`
struct LoadTile<F>(PhantomData<F>);

impl<F: FragmentWord> Op for LoadTile<F> {
    type Operands = LoadTileOperands<F>;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        if let Some(flow) = whole_warp(warp, cluster, "wmma.load") {
            return flow;
        }
        let tile = TILES.get(o.tile);
        let mut packed = [0u8; TILE_BYTES + 8];
        let matrix = Matrix {
            at: o.at,
            stride: o.stride,
            has_stride: o.has_stride != 0,
        };
        let flow = pieces(warp, cluster, matrix, tile, |piece| {
            let target = &mut packed[piece.packed..][..piece.bytes];
            // SAFETY: the access path found the piece's bytes, to be read; the target is as long.
            unsafe { guest::copy(piece.memory, target.as_mut_ptr(), piece.bytes) };
        });
        if flow == Flow::Fault {
            return flow;
        }
        let (width, per_register) = (tile.element.bits(), tile.element.per_register() as usize);
        let elements = tile.registers * per_register;
        for register in 0..o.d.len() {
            let result = std::array::from_fn(|lane| {
                // A register's elements, each from where it lies.
                let mut word = 0u64;
                let first = lane * elements + register * per_register;
                for (index, &bit) in tile.bits[first..first + per_register].iter().enumerate() {
                    let bytes = packed[bit as usize / 8..].first_chunk().copied();
                    let bytes = u64::from_le_bytes(bytes.unwrap_or_default());
                    let value = bytes >> (bit % 8) & (u64::MAX >> (64 - width));
                    word |= value << (index as u32 * width);
                }
                F::from_bits(word)
            });
            o.d.get(warp, register).put(warp, &result);
        }
        Flow::Next
    }
}

/// `wmma.store`. Accumulators have whole bytes.
struct StoreTile<F>(PhantomData<F>);

impl<F: FragmentWord> Op for StoreTile<F> {
    type Operands = StoreTileOperands<F>;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        if let Some(flow) = whole_warp(warp, cluster, "wmma.store") {
            return flow;
        }
        let tile = TILES.get(o.tile);
        let mut packed = [0u8; TILE_BYTES + 8];
        let (width, per_register) = (tile.element.bits(), tile.element.per_register() as usize);
        for register in 0..o.values.len() {
            let values = o.values.get(warp, register).lanes(warp);
            for (lane, value) in values.iter().enumerate() {
                let word = value.to_bits();
                let first = (lane * tile.registers + register) * per_register;
                for (index, &bit) in tile.bits[first..first + per_register].iter().enumerate() {
                    let value = (word >> (index as u32 * width)).to_le_bytes();
                    let bytes = (width / 8) as usize;
                    packed[bit as usize / 8..][..bytes].copy_from_slice(&value[..bytes]);
                }
            }
        }
        let matrix = Matrix {
            at: o.at,
            stride: o.stride,
            has_stride: o.has_stride != 0,
        };
        pieces(warp, cluster, matrix, tile, |piece| {
            let source = &packed[piece.packed..][..piece.bytes];
            // SAFETY: the access path found the piece's bytes, to be written; the source is as long.
            unsafe { guest::copy(source.as_ptr(), piece.memory, piece.bytes) };
        })
    }
}

/// A fragment that is loaded or stored, as a form names it.
#[derive(Clone, Copy)]
struct Transfer {
    direction: FragmentUse,
    key: TileKey,
    effect: Effect,
}

/// `wmma.load` and `wmma.store`.
pub(super) fn read_wmma(form: &FormReader<'_>) -> Option<Lowering> {
    let direction = match form.one_of(&["load", "store"])? {
        "load" => FragmentUse::Written,
        _ => FragmentUse::Read,
    };
    let together = form.has("sync") && form.has("aligned");
    let part = match form.one_of(&["a", "b", "c", "d"])? {
        "a" => Use::A,
        "b" => Use::B,
        _ => Use::Accumulator,
    };
    let by_rows = form.slot("layout")? == "row";
    let shape = form.next(Shape::parse).filter(|_| together)?;
    let element = form.next(Element::parse)?;
    let transfer = Transfer {
        direction,
        key: (shape, part, element, by_rows),
        effect: form.effect(address_number(direction)),
    };
    Some(Lowering::new(move |cx, inst| {
        lower_wmma(cx, inst, transfer)
    }))
}

fn lower_wmma<'a>(
    cx: &mut Builder<'a, '_>,
    inst: &'a Instruction<'a>,
    transfer: Transfer,
) -> Result<()> {
    let Transfer {
        direction,
        key,
        effect,
    } = transfer;
    let (shape, part, element, _) = key;
    let number = address_number(direction);
    let count = registers(shape, part, element, true);
    let list = &inst.operands[1 - number];
    let fields = fragment(cx, list, count, element, direction)?;
    let at = address(cx, &inst.operands[number], effect)?;
    let has_stride = u32::from(inst.operands.len() == 3);
    let stride = match inst.operands.get(2) {
        Some(operand) => cx.src(operand, Ty::B32)?,
        None => cx.constant(0, Width::W32),
    }
    .into();
    let tile = TILES
        .number(key, || tile(key))
        .ok_or_else(|| unsupported(inst))?;
    macro_rules! emit {
        ($word:ty) => {
            match direction {
                FragmentUse::Written => {
                    let d = cx.write_list::<$word>(&fields);
                    cx.emit(
                        scalar::<LoadTile<$word>>(),
                        LoadTileOperands {
                            d,
                            at,
                            stride,
                            has_stride,
                            tile,
                        },
                    )
                }
                FragmentUse::Read => {
                    let values = cx.read_list::<$word>(&fields);
                    cx.emit(
                        scalar::<StoreTile<$word>>(),
                        StoreTileOperands {
                            values,
                            at,
                            stride,
                            has_stride,
                            tile,
                        },
                    )
                }
            }
        };
    }
    match element {
        Element::F64 => emit!(u64),
        _ => emit!(u32),
    };
    Ok(())
}
