//! Matrices of `wmma` in memory: where the elements of their fragments lie.

use super::matrix_operands::Table;
use crate::check::DecisionKind;
use crate::engine::access::followed::Part;
use crate::engine::access::path::access_at;
use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::operand::{Address, LANES, Read};
use crate::engine::exec::warp::{Flow, Warp};
use crate::engine::fault::FaultKind;
use crate::numerics::matrix::layout::Layout;
use crate::numerics::matrix::shape::{Element, Shape, Use};

/// A fragment and where its elements lie in memory.
pub(super) struct Tile {
    pub name: String,
    pub element: Element,
    pub registers: usize,
    /// Lines of consecutive elements in memory: rows, or columns if `by_columns`.
    pub lines: usize,
    /// Bytes of a line.
    pub line_bytes: usize,
    /// What the distance of lines is a multiple of, in bits.
    pub stride_bits: u64,
    /// For each lane and element: the bit at which it lies, were the lines packed without gaps.
    pub bits: Vec<u32>,
}

/// What tells tiles apart: the last is whether it lies in memory by rows.
pub(super) type TileKey = (Shape, Use, Element, bool);
pub(super) static TILES: Table<TileKey, Tile> = Table::new();

impl Tile {
    /// Where the elements of a lane's register lie: see [`Tile::bits`].
    pub fn bits_of(&self, register: usize, lane: usize) -> impl Iterator<Item = u32> {
        let per_register = self.element.per_register() as usize;
        let first = (lane * self.registers + register) * per_register;
        self.bits[first..first + per_register].iter().copied()
    }
}

/// The largest tile: 32 x 16 halves, or 16 x 16 words.
pub(super) const TILE_BYTES: usize = 1024;

/// The tile of a key.
pub(super) fn tile(key: TileKey) -> Tile {
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

/// A matrix in memory, as an instruction names it.
#[derive(Clone, Copy)]
pub(super) struct Matrix {
    pub at: Address,
    pub stride: Read<u32>,
    pub has_stride: bool,
}

/// A piece of a tile.
pub(super) struct Piece {
    /// Its first byte in the packed tile.
    pub packed: usize,
    pub bytes: usize,
    pub memory: *mut u8,
}

/// Where the pieces of a tile lie.
pub(super) struct Pieces {
    /// Bytes of a piece.
    pub size: usize,
    /// The pieces in the order of the packed tile; left out if no check or observer is on.
    pub memory: Vec<*mut u8>,
}

impl Pieces {
    /// The parts of a lane's register: elements that follow one another in memory are one.
    pub fn parts(&self, tile: &Tile, (register, lane): (usize, usize), each: &mut dyn FnMut(Part)) {
        let mut found: Option<Part> = None;
        for bit in tile.bits_of(register, lane) {
            let (byte, bytes) = (bit as usize / 8, tile.element.bits().div_ceil(8));
            let piece = byte / self.size;
            let start = self.memory[piece].wrapping_add(byte % self.size);
            let lane = piece % LANES;
            match &mut found {
                Some(part) if part.start.wrapping_add(part.bytes as usize) == start => {
                    part.bytes += bytes;
                }
                // Several elements in a byte.
                Some(part) if part.start.wrapping_add(part.bytes as usize - 1) == start => {}
                _ => {
                    let next = Part { lane, start, bytes };
                    found.replace(next).into_iter().for_each(&mut *each);
                }
            }
        }
        found.into_iter().for_each(each);
    }
}

/// Finds the pieces of a tile's lines and calls `each` with them.
pub(super) fn pieces(
    warp: &mut Warp,
    cluster: &mut Cluster<'_>,
    matrix: Matrix,
    tile: &Tile,
    mut each: impl FnMut(Piece),
) -> Result<Pieces, Flow> {
    let all = matrix.at.lanes(warp);
    let base = all[0];
    if let Some(lane) = all.iter().position(|&address| address != base) {
        let message = format!(
            "{}: the lanes have different addresses: {base:#x} and {:#x}",
            tile.name, all[lane]
        );
        return Err(warp.fail(FaultKind::IllegalInstruction, lane, message));
    }
    let mut stride = tile.line_bytes as u64;
    if matrix.has_stride {
        if warp.poison.is_some() {
            warp.decides_by(cluster, DecisionKind::Address, matrix.stride.word());
        }
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
            return Err(warp.fail(FaultKind::IllegalInstruction, uneven.unwrap_or(0), message));
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
        return Err(warp.fail_with(FaultKind::MisalignedAddress, 0, message, notes));
    }
    let aligned = if stride.is_multiple_of(16) { 16 } else { 8 };
    let size = tile.line_bytes.min(aligned);
    let per_line = tile.line_bytes / size;
    // As if the lanes shared the pieces among themselves, 32 at a time.
    let count = tile.lines * per_line;
    let mask = warp.mask;
    let mut memory = Vec::new();
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
                if warp.watched {
                    memory.extend(&pointers[..lanes]);
                }
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
            return Err(flow);
        }
    }
    warp.mask = mask;
    Ok(Pieces { size, memory })
}
