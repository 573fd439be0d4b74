//! Extended-precision arithmetic through each lane's carry flag: `add.cc addc sub.cc subc mad.cc madc`.

use super::family::Family;
use std::marker::PhantomData;

use super::lowering::{Word, by_flags, emit};
use crate::engine::dataflow::Dataflow;
use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::level::Level;
use crate::engine::exec::op::{Op, scalar};
use crate::engine::exec::operand::{Binary, LANES, Ternary, Write};
use crate::engine::exec::warp::{Flow, Warp};
use crate::engine::lower::form::FormReader;
use crate::engine::lower::lowerings::Lowering;
use crate::engine::lower::types::ScalarKind;
use crate::numerics::integer as numeric;

/// The instructions of this file.
pub(super) const FAMILY: Family = Family {
    opcodes: &["addc", "subc", "madc"],
    read,
};

/// The results of all lanes, and their carries. Each lane's step gets the flag where the instruction reads it, else `carry`.
#[inline(always)]
fn each_lane<T: Word, const READS: bool>(
    warp: &Warp,
    carry: bool,
    step: impl Fn(usize, bool) -> (T, bool),
) -> ([T; LANES], u32) {
    let flags = match (READS, carry) {
        (true, _) => warp.carry,
        (false, true) => u32::MAX,
        (false, false) => 0,
    };
    let (mut results, mut carries) = ([T::default(); LANES], 0);
    for lane in 0..LANES {
        let (result, carry) = step(lane, flags >> lane & 1 != 0);
        results[lane] = result;
        carries |= u32::from(carry) << lane;
    }
    (results, carries)
}

/// Writes the results, and the flags where the instruction does.
#[inline(always)]
fn write<T: Word, const WRITES: bool>(
    warp: &mut Warp,
    d: Write<T>,
    (results, carries): ([T; LANES], u32),
) -> Flow {
    d.put(warp, &results);
    if WRITES {
        warp.carry = warp.carry & !warp.mask | carries & warp.mask;
    }
    Flow::Next
}

/// `add.cc`, `addc`: reads the flag with `READS`, and writes it with `WRITES`.
struct Add<T, const READS: bool, const WRITES: bool>(PhantomData<T>);

impl<T: Word, const READS: bool, const WRITES: bool> Op for Add<T, READS, WRITES> {
    type Operands = Binary<T, T, T>;
    const DATAFLOW: Dataflow = Dataflow::Carry {
        reads: READS,
        writes: WRITES,
    };

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, _: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        let (a, b) = (o.a.lanes(warp), o.b.lanes(warp));
        let sums = each_lane::<T, READS>(warp, false, |lane, carry| {
            numeric::add_carry(a[lane], b[lane], carry)
        });
        write::<T, WRITES>(warp, o.d, sums)
    }
}

/// `sub.cc`, `subc`; flags as for [`Add`]. The flag is the carry of an addition: set where nothing is borrowed.
struct Subtract<T, const READS: bool, const WRITES: bool>(PhantomData<T>);

impl<T: Word, const READS: bool, const WRITES: bool> Op for Subtract<T, READS, WRITES> {
    type Operands = Binary<T, T, T>;
    const DATAFLOW: Dataflow = Dataflow::Carry {
        reads: READS,
        writes: WRITES,
    };

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, _: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        let (a, b) = (o.a.lanes(warp), o.b.lanes(warp));
        let differences = each_lane::<T, READS>(warp, true, |lane, carry| {
            numeric::sub_carry(a[lane], b[lane], carry)
        });
        write::<T, WRITES>(warp, o.d, differences)
    }
}

/// `mad.cc`, `madc`: the lower half of the product or, with `HIGH`, the upper half, to which `c` is added; flags as for [`Add`].
struct MultiplyAdd<T, const HIGH: bool, const SIGNED: bool, const READS: bool, const WRITES: bool>(
    PhantomData<T>,
);

impl<T: Word, const HIGH: bool, const SIGNED: bool, const READS: bool, const WRITES: bool> Op
    for MultiplyAdd<T, HIGH, SIGNED, READS, WRITES>
{
    type Operands = Ternary<T, T, T, T>;
    const DATAFLOW: Dataflow = Dataflow::Carry {
        reads: READS,
        writes: WRITES,
    };

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, _: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        let (a, b, c) = (o.a.lanes(warp), o.b.lanes(warp), o.c.lanes(warp));
        let sums = each_lane::<T, READS>(warp, false, |lane, carry| {
            let product = if HIGH {
                numeric::mul_hi(a[lane], b[lane], SIGNED)
            } else {
                T::low(a[lane].wide().wrapping_mul(b[lane].wide()))
            };
            numeric::add_carry(product, c[lane], carry)
        });
        write::<T, WRITES>(warp, o.d, sums)
    }
}

pub(super) fn read(form: &FormReader<'_>) -> Option<Lowering> {
    let writes = form.has("cc");
    let reads = form.opcode().ends_with('c');
    let high = form.one_of(&["lo", "hi"]) == Some("hi");
    let ty = form.ty()?;
    let signed = ty.kind == ScalarKind::Signed;
    macro_rules! code {
        ($op:ident, $($flag:expr),+) => {
            match ty.bits {
                32 => by_flags!(scalar, $op[u32,] $($flag),+),
                64 => by_flags!(scalar, $op[u64,] $($flag),+),
                _ => return None,
            }
        };
    }
    let (code, sources) = match form.opcode() {
        "add" | "addc" => (code!(Add, reads, writes), 2),
        "sub" | "subc" => (code!(Subtract, reads, writes), 2),
        "mad" | "madc" => (code!(MultiplyAdd, high, signed, reads, writes), 3),
        _ => return None,
    };
    Some(emit(code, ty, &[ty; 3][..sources]))
}
