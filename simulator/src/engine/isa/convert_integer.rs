//! `cvt` between integers, without saturation.

use std::marker::PhantomData;

use crate::engine::dataflow::Dataflow;
use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::lanes::unary;
use crate::engine::exec::level::Level;
use crate::engine::exec::op::{Code, Op, vector};
use crate::engine::exec::operand::{Unary, Value};
use crate::engine::exec::warp::{Flow, Warp};
use crate::engine::lower::lowerings::{Lowering, unsupported};
use crate::engine::lower::types::{ScalarKind, Ty};
use crate::engine::lower::{Builder, Field, Register, Width};

/// Integer conversion from the value `V` held in a register of type `A` to a register of type `R`.
struct Convert<A, R, V>(PhantomData<(A, R, V)>);

/// Conversion as `as` does it.
pub(crate) trait As<T> {
    fn convert(self) -> T;
}

macro_rules! conversions {
    ($($from:ty => $($to:ty),*;)*) => { $($(impl As<$to> for $from {
        #[inline(always)]
        fn convert(self) -> $to { self as $to }
    })*)* };
}
conversions! {
    u16 => u8, i8, u16, i16, u32, i32, u64, i64;
    u32 => u8, i8, u16, i16, u32, i32, u64, i64;
    u64 => u8, i8, u16, i16, u32, i32, u64, i64;
    u8 => u16, u32, u64;
    i8 => u16, u32, u64;
    i16 => u16, u32, u64;
    i32 => u16, u32, u64;
    i64 => u16, u32, u64;
}

impl<A: Value + As<V>, V: As<R>, R: Value + Default> Op for Convert<A, R, V> {
    type Operands = Unary<A, R>;
    const DATAFLOW: Dataflow = Dataflow::Lanewise;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, _: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        unary(
            warp,
            o,
            #[inline(always)]
            |a| As::<V>::convert(a).convert(),
        )
    }
}

/// The conversion of a value of type `from` in a register of the width `source` to one of the width `target`.
fn code(source: Width, target: Width, from: Ty) -> Option<Code> {
    macro_rules! targets {
        ($a:ty, $v:ty) => {
            match target {
                Width::W16 => Some(vector::<Convert<$a, u16, $v>>()),
                Width::W32 => Some(vector::<Convert<$a, u32, $v>>()),
                Width::W64 => Some(vector::<Convert<$a, u64, $v>>()),
                _ => None,
            }
        };
    }
    macro_rules! sources {
        ($v:ty) => {
            match source {
                Width::W16 => targets!(u16, $v),
                Width::W32 => targets!(u32, $v),
                Width::W64 => targets!(u64, $v),
                _ => None,
            }
        };
    }
    match (from.kind == ScalarKind::Signed, from.bits) {
        (false, 8) => sources!(u8),
        (true, 8) => sources!(i8),
        (false, 16) => sources!(u16),
        (true, 16) => sources!(i16),
        (false, 32) => sources!(u32),
        (true, 32) => sources!(i32),
        (false, 64) => sources!(u64),
        (true, 64) => sources!(i64),
        _ => None,
    }
}

/// The conversion of integers of these types.
pub(super) fn lowering(to: Ty, from: Ty) -> Lowering {
    Lowering::new(move |cx, inst| {
        // Registers wider than the type are allowed on both sides.
        let source = cx.width_of(&inst.operands[1]).unwrap_or(Width::of(from));
        let target = cx.width_of(&inst.operands[0]).unwrap_or(Width::of(to));
        // The value is first brought to the narrower type: truncated, or extended by the source's sign. A register that is wider than
        // both is filled as the destination's type says.
        let value = if to.bits <= from.bits { to } else { from };
        let is_signed = |ty: Ty| ty.kind == ScalarKind::Signed;
        let in_two_steps = target.lane_bytes() * 8 > to.bits && is_signed(value) && !is_signed(to);
        let first = if in_two_steps { Width::of(to) } else { target };
        let convert = code(source, first, value).ok_or_else(|| unsupported(inst))?;
        let contents = Ty::new(ScalarKind::Bits, source.lane_bytes() * 8);
        let a = cx.src(&inst.operands[1], contents)?;
        let d = cx.dst(&inst.operands[0], target)?;
        if !in_two_steps {
            cx.emit_fields(convert, &[d, a]);
            return Ok(());
        }
        let extended = Field::Register(cx.new_register(first));
        cx.emit_fields(convert, &[extended, a]);
        let fill = code(first, target, to).ok_or_else(|| unsupported(inst))?;
        cx.emit_fields(fill, &[d, extended]);
        Ok(())
    })
}

/// A temporary with the low half of a register of 64 bits.
pub(crate) fn truncated(cx: &mut Builder<'_, '_>, register: Register) -> Field {
    let result = Field::Register(cx.new_register(Width::W32));
    let code = vector::<Convert<u64, u32, u32>>();
    cx.emit_fields(code, &[result, Field::Register(register)]);
    result
}
