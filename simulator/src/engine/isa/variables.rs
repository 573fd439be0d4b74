//! Addresses: `cvta`, `isspacep`, `mapa`, `getctarank`, and where local variables and parameters lie.

use super::family::Family;
use super::lanewise;
use super::lowering::{emit, emit_with};
use super::moves;
use crate::engine::dataflow::Dataflow;
use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::level::Level;
use crate::engine::exec::op::{Code, Op, scalar, vector};
use crate::engine::exec::operand::{
    Binary, LANES, Read, ReadArea, Unary, Value, Write, WritePredicate, lanes_of, operands,
};
use crate::engine::exec::warp::{Flow, Warp};
use crate::engine::exec::windows::{LOCAL, PARAMETERS, RANK_SHIFT, SHARED, WINDOWS, window};
use crate::engine::fault::FaultKind;
use crate::engine::lower::form::FormReader;
use crate::engine::lower::lowerings::Lowering;
use crate::engine::lower::types::Ty;
use crate::engine::lower::{Builder, Field, Register, Symbol, Width};
use crate::ptx::ast::{Operand, OperandKind};
use crate::ptx::{Error, Result};

/// The instructions of this file.
pub(super) const FAMILY: Family = Family {
    opcodes: &["cvta", "isspacep", "mapa", "getctarank"],
    read,
};

lanewise! {
    ToShared(a: u64) -> u64 { a.wrapping_add(SHARED) }
    ToLocal(a: u64) -> u64 { a.wrapping_add(LOCAL) }
    ToParameter(a: u64) -> u64 { a.wrapping_add(PARAMETERS) }
    FromWindow(a: u64) -> u64 { a & (WINDOWS - 1) }
    // What is not in shared memory (null, above all) does not become the address of something there.
    FromShared(a: u64) -> u64 { a.wrapping_sub(SHARED) }
}

operands! {
    pub(crate) struct LocalAddressOperands { d: Write<u64>, offset: u32 }
    /// `size`: bytes of the area for each lane; `offset`: where it goes in local memory.
    pub(crate) struct SpillOperands { area: ReadArea, size: u32, offset: u32 }
    /// `spaces`: bits of [`SPACES`].
    pub(crate) struct InSpaceOperands { d: WritePredicate, address: Read<u64>, spaces: u32 }
}

/// The local-space address of a variable of the frame: the offset plus where the frame's local memory starts.
struct LocalAddress;

impl Op for LocalAddress {
    type Operands = LocalAddressOperands;
    const DATAFLOW: Dataflow = Dataflow::Lanewise;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, _: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        let bases = warp.frames[warp.frame as usize].each_lane(|caller| caller.local_base);
        let offset = i64::from(o.offset as i32) as u64;
        let addresses = bases.map(|base| u64::from(base).wrapping_add(offset));
        o.d.put(warp, &addresses);
        Flow::Next
    }
}

/// Copies a formal parameter into local memory, because its address is taken.
struct Spill;

impl Op for Spill {
    type Operands = SpillOperands;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, _: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        let size = o.size as usize;
        let bases = warp.frames[warp.frame as usize].each_lane(|caller| caller.local_base);
        let stride = warp.local_stride as usize;
        let start = o.area.start(warp);
        for lane in lanes_of(warp.mask) {
            let base = bases[lane] as usize + o.offset as usize;
            let place = lane * stride + base;
            assert!(
                place + size <= size_of_val(&*warp.local),
                "the frame's memory was made"
            );
            let from = start.wrapping_add(lane * size);
            // SAFETY: an area has `size` bytes for each of 32 lanes in the frame (`spill_area` gives its own size), which does
            // not overlap local memory; that has as many bytes at `place`, by the assertion.
            unsafe {
                let to = warp.local.as_mut_ptr().cast::<u8>().add(place);
                from.copy_to_nonoverlapping(to, size);
            }
        }
        Flow::Next
    }
}

/// `isspacep`
struct InSpace;

impl Op for InSpace {
    type Operands = InSpaceOperands;
    const DATAFLOW: Dataflow = Dataflow::Lanewise;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        let own = u64::from(warp.block + 1);
        let constants = cluster.grid.constants;
        let addresses = o.address.lanes(warp);
        let mut bits = 0;
        for lane in 0..LANES {
            let address = addresses[lane];
            let inside = match window(address) {
                0 => {
                    let constant = address >= constants.0 && address < constants.1;
                    o.spaces & if constant { 32 } else { 1 } != 0
                }
                SHARED => {
                    let rank = u64::from(address as u32 >> RANK_SHIFT);
                    o.spaces & if rank == 0 || rank == own { 6 } else { 4 } != 0
                }
                LOCAL => o.spaces & 8 != 0,
                // Parameters lie inside the global window.
                PARAMETERS => o.spaces & 17 != 0,
                _ => false,
            };
            bits |= u32::from(inside) << lane;
        }
        o.d.put(warp, bits);
        Flow::Next
    }
}

/// An address of shared memory, in its low 32 bits.
pub(crate) trait SharedAddress: Value + Default + Into<u64> {
    fn with_low(self, low: u32) -> Self;
}
impl SharedAddress for u32 {
    fn with_low(self, low: u32) -> u32 {
        low
    }
}
impl SharedAddress for u64 {
    fn with_low(self, low: u32) -> u64 {
        window(self) | u64::from(low)
    }
}

/// `mapa`: the address of the same bytes in the block of the given rank.
struct MapRank<T, const GENERIC: bool>(std::marker::PhantomData<T>);

impl<T: SharedAddress, const GENERIC: bool> Op for MapRank<T, GENERIC> {
    type Operands = Binary<T, u32, T>;
    const DATAFLOW: Dataflow = Dataflow::Lanewise;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        let ranks = cluster.grid.cluster_blocks;
        let mut result = [T::default(); LANES];
        for lane in lanes_of(warp.mask) {
            let (address, rank) = (o.a.lanes(warp)[lane], o.b.lanes(warp)[lane]);
            if rank >= ranks {
                let message = format!("mapa with rank {rank} in a cluster of {ranks} blocks");
                return warp.fail(FaultKind::IllegalInstruction, lane, message);
            }
            let whole: u64 = address.into();
            if GENERIC && window(whole) != SHARED {
                let message = format!("mapa of {whole:#x}, which is not in shared memory");
                return warp.fail(FaultKind::InvalidAddressSpace, lane, message);
            }
            let offset = whole as u32 & ((1 << RANK_SHIFT) - 1);
            result[lane] = address.with_low(offset | (rank + 1) << RANK_SHIFT);
        }
        o.d.put(warp, &result);
        Flow::Next
    }
}

/// `getctarank`: the rank of the block that an address belongs to.
struct RankOf<T>(std::marker::PhantomData<T>);

impl<T: SharedAddress> Op for RankOf<T> {
    type Operands = Unary<T, u32>;
    const DATAFLOW: Dataflow = Dataflow::Lanewise;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, _: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        let addresses = o.a.lanes(warp);
        let mut result = [0u32; LANES];
        for lane in 0..LANES {
            let whole: u64 = addresses[lane].into();
            let rank = whole as u32 >> RANK_SHIFT;
            result[lane] = rank.checked_sub(1).unwrap_or(warp.block);
        }
        o.d.put(warp, &result);
        Flow::Next
    }
}

/// A temporary with the local-space address of an offset in the frame's local memory.
pub(crate) fn local_address(cx: &mut Builder<'_, '_>, offset: i64) -> Field {
    let result = Field::Register(cx.new_register(Width::W64));
    cx.emit_fields_with(scalar::<LocalAddress>(), &[result], &[offset as u32]);
    result
}

/// Copies a formal parameter to local memory; its offset there.
pub(crate) fn spill_area(cx: &mut Builder<'_, '_>, area: Register, size: u32) -> Result<u32> {
    let offset = cx.local_bytes.next_multiple_of(16);
    cx.local_bytes = offset + size;
    cx.emit_fields_with(scalar::<Spill>(), &[Field::Register(area)], &[size, offset]);
    Ok(offset)
}

/// The spaces by modifier, as bits of [`InSpace`].
const SPACES: [(&str, u32); 9] = [
    ("global", 1),
    ("shared", 2),
    ("shared::cta", 2),
    ("shared::cluster", 4),
    ("local", 8),
    ("param", 16),
    ("param::entry", 16),
    ("param::func", 8),
    ("const", 32),
];

fn read(form: &FormReader<'_>) -> Option<Lowering> {
    let space = form.slot("space");
    let bits = SPACES.iter().find(|(name, _)| Some(*name) == space);
    let space = bits.map(|&(_, bits)| bits);
    match form.opcode() {
        "isspacep" => Some(emit_with(
            scalar::<InSpace>(),
            Ty::PRED,
            &[Ty::U64],
            &[space?],
        )),
        "cvta" => {
            let code = conversion(space?, form.has("to"))?;
            let is_wide = form.ty() == Some(Ty::U64);
            is_wide.then(|| convert(code))
        }
        opcode => {
            // An address is an unsigned integer, whatever the type says.
            let ty = match form.ty()?.bits {
                64 => Ty::U64,
                _ => Ty::U32,
            };
            let generic = space.is_none();
            if space.is_some_and(|s| s != 4) || generic && ty == Ty::U32 {
                return None;
            }
            if opcode == "getctarank" {
                let code = match ty {
                    Ty::U64 => scalar::<RankOf<u64>>(),
                    _ => scalar::<RankOf<u32>>(),
                };
                return Some(emit(code, Ty::U32, &[ty]));
            }
            Some(match (ty, generic) {
                (_, true) => emit(scalar::<MapRank<u64, true>>(), ty, &[ty, Ty::U32]),
                (Ty::U64, false) => emit(scalar::<MapRank<u64, false>>(), ty, &[ty, Ty::U32]),
                _ => emit(scalar::<MapRank<u32, false>>(), ty, &[ty, Ty::U32]),
            })
        }
    }
}

/// `cvta`
fn convert(code: Code) -> Lowering {
    Lowering::new(move |cx, inst| {
        let operand = &inst.operands[1];
        if let Some(Symbol::Area { .. }) = variable(cx, operand) {
            return Err(Error::new(
                operand.at,
                "a function's parameter lies in local memory: `mov` and `cvta.local` give its address, `cvta.param` is for a kernel's",
            ));
        }
        let d = cx.dst(&inst.operands[0], Width::W64)?;
        let a = cx.src(&inst.operands[1], Ty::U64)?;
        cx.emit_fields_with(code, &[d, a], &[]);
        Ok(())
    })
}

/// The variable whose name an operand is, maybe with an offset.
fn variable<'a>(cx: &Builder<'a, '_>, operand: &Operand<'a>) -> Option<Symbol<'a>> {
    let (OperandKind::Name(name) | OperandKind::Offset(name, _)) = operand.kind else {
        return None;
    };
    let symbol = cx.find(name)?;
    (!matches!(symbol, Symbol::Register { .. } | Symbol::Vector { .. })).then_some(symbol)
}

/// The conversion to (`to`) or from the addresses of a space.
fn conversion(space: u32, to: bool) -> Option<Code> {
    match (space, to) {
        (1 | 32, _) => moves::code(Width::W64),
        (2 | 4, true) => Some(vector::<FromShared>()),
        (_, true) => Some(vector::<FromWindow>()),
        (2 | 4, false) => Some(vector::<ToShared>()),
        (8, false) => Some(vector::<ToLocal>()),
        (16, false) => Some(vector::<ToParameter>()),
        _ => None,
    }
}
