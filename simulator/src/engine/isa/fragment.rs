//! `wmma.load`, `wmma.store`: fragments to and from memory.

use std::marker::PhantomData;

use warpsmith_isa::effect::Effect;

use super::addresses::address;
use super::matrix_operands::{FragmentUse, FragmentWord, address_number, fragment, whole_warp};
use super::tiles::{Matrix, TILE_BYTES, TILES, TileKey, pieces, tile};
use crate::engine::access::declared::Declared;
use crate::engine::access::followed;
use crate::engine::dataflow::Dataflow;
use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::guest;
use crate::engine::exec::level::Level;
use crate::engine::exec::op::{Op, scalar};
use crate::engine::exec::operand::{Address, Read, ReadList, WriteList, operands};
use crate::engine::exec::warp::{Flow, Warp};
use crate::engine::lower::form::FormReader;
use crate::engine::lower::lowerings::{Lowering, unsupported};
use crate::engine::lower::types::Ty;
use crate::engine::lower::{Builder, Width};
use crate::numerics::matrix::shape::{Element, Shape, Use, registers};
use crate::ptx::Result;
use crate::ptx::ast::Instruction;

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

/// `wmma.load`
struct LoadTile<F>(PhantomData<F>);

impl<F: FragmentWord> Op for LoadTile<F> {
    type Operands = LoadTileOperands<F>;
    const DATAFLOW: Dataflow = Dataflow::Fragment;

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
        let found = pieces(warp, cluster, matrix, tile, |piece| {
            let target = &mut packed[piece.packed..][..piece.bytes];
            // SAFETY: the access path found the piece's bytes, to be read; the target is as long.
            unsafe { guest::copy(piece.memory, target.as_mut_ptr(), piece.bytes) };
        });
        let pieces = match found {
            Ok(pieces) => pieces,
            Err(flow) => return flow,
        };
        let width = tile.element.bits();
        for register in 0..o.d.len() {
            let result = std::array::from_fn(|lane| {
                // A register's elements, each from where it lies.
                let mut word = 0u64;
                for (index, bit) in tile.bits_of(register, lane).enumerate() {
                    let bytes = packed[bit as usize / 8..].first_chunk().copied();
                    let bytes = u64::from_le_bytes(bytes.unwrap_or_default());
                    let value = bytes >> (bit % 8) & (u64::MAX >> (64 - width));
                    word |= value << (index as u32 * width);
                }
                F::from_bits(word)
            });
            o.d.get(warp, register).put(warp, &result);
        }
        if warp.poison.is_some() {
            let (size, count) = (pieces.size as u32, o.d.len());
            followed::loaded(
                warp,
                cluster,
                (o.at, size),
                count,
                &|register, lane, each| {
                    pieces.parts(tile, (register, lane), each);
                },
            );
        }
        Flow::Next
    }
}

/// `wmma.store`. Accumulators have whole bytes.
struct StoreTile<F>(PhantomData<F>);

impl<F: FragmentWord> Op for StoreTile<F> {
    type Operands = StoreTileOperands<F>;
    const DATAFLOW: Dataflow = Dataflow::Fragment;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        if let Some(flow) = whole_warp(warp, cluster, "wmma.store") {
            return flow;
        }
        let tile = TILES.get(o.tile);
        let mut packed = [0u8; TILE_BYTES + 8];
        let width = tile.element.bits();
        for register in 0..o.values.len() {
            let values = o.values.get(warp, register).lanes(warp);
            for (lane, value) in values.iter().enumerate() {
                let word = value.to_bits();
                for (index, bit) in tile.bits_of(register, lane).enumerate() {
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
        let found = pieces(warp, cluster, matrix, tile, |piece| {
            let source = &packed[piece.packed..][..piece.bytes];
            // SAFETY: the access path found the piece's bytes, to be written; the source is as long.
            unsafe { guest::write(source.as_ptr(), piece.memory, piece.bytes) };
        });
        let pieces = match found {
            Ok(pieces) => pieces,
            Err(flow) => return flow,
        };
        if warp.poison.is_some() {
            followed::stored(warp, cluster, o.values.len(), &|register, lane, each| {
                pieces.parts(tile, (register, lane), each);
            });
        }
        Flow::Next
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
    let mut at = address(cx, &inst.operands[number], effect)?;
    at.access = Declared::of(at).followed_by_operation().word();
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
