//! What the lowering of several families shares: emitting `d = f(a, ..)`, and choosing the compiled operation for a type.

use crate::engine::exec::op::Code;
use crate::engine::exec::operand::Value;
use crate::engine::lower::accepted::Lowering;
use crate::engine::lower::types::Ty;
use crate::engine::lower::{Field, Width};
use crate::numerics::integer;

/// The most operands of these instructions: a destination and four sources.
const MOST: usize = 5;

/// The contents of a register of 16, 32 or 64 bits, as an unsigned integer.
pub(crate) trait Word: integer::Word + Value + Default {}

impl<T: integer::Word + Value + Default> Word for T {}

/// The operation for an integer type of 16, 32 or 64 bits, signed or unsigned; `None` for another type.
/// `by_type!(vector, Op[C, D], ty)` is `vector::<Op<i32, C, D>>()` for `.s32`.
macro_rules! by_type {
    ($compile:ident, $op:ident $([$($rest:tt)+])?, $ty:expr) => {
        match ($ty.kind == $crate::engine::lower::types::ScalarKind::Signed, $ty.bits) {
            (false, 16) => Some($compile::<$op<u16 $(, $($rest)+)?>>()),
            (false, 32) => Some($compile::<$op<u32 $(, $($rest)+)?>>()),
            (false, 64) => Some($compile::<$op<u64 $(, $($rest)+)?>>()),
            (true, 16) => Some($compile::<$op<i16 $(, $($rest)+)?>>()),
            (true, 32) => Some($compile::<$op<i32 $(, $($rest)+)?>>()),
            (true, 64) => Some($compile::<$op<i64 $(, $($rest)+)?>>()),
            _ => None,
        }
    };
}
pub(super) use by_type;

/// The operation for 16, 32 or 64 bits, compiled for unsigned integers; `None` for another width.
macro_rules! by_width {
    ($compile:ident, $op:ident $([$($rest:tt)+])?, $bits:expr) => {
        match $bits {
            16 => Some($compile::<$op<u16 $(, $($rest)+)?>>()),
            32 => Some($compile::<$op<u32 $(, $($rest)+)?>>()),
            64 => Some($compile::<$op<u64 $(, $($rest)+)?>>()),
            _ => None,
        }
    };
}
pub(super) use by_width;

/// The operation with these flags as its constants: `by_flags!(vector, Op[u32,] signed, high)` is
/// `vector::<Op<u32, true, false>>()` where `signed` holds and `high` does not.
macro_rules! by_flags {
    ($compile:ident, $op:ident [$($given:tt)*]) => { $compile::<$op<$($given)*>>() };
    ($compile:ident, $op:ident [$($given:tt)*] $flag:expr $(, $rest:expr)*) => {
        if $flag {
            $crate::engine::isa::lowering::by_flags!($compile, $op[$($given)* true,] $($rest),*)
        } else {
            $crate::engine::isa::lowering::by_flags!($compile, $op[$($given)* false,] $($rest),*)
        }
    };
}
pub(super) use by_flags;

/// An operation on the first operands of an instruction: a destination of type `d`, and sources of these types.
pub(super) fn emit(code: Code, d: Ty, sources: &[Ty]) -> Lowering {
    emit_with(code, d, sources, &[])
}

/// As [`emit`], with numbers behind the sources.
pub(super) fn emit_with(code: Code, d: Ty, sources: &[Ty], numbers: &[u32]) -> Lowering {
    let (width, sources, numbers) = (Width::of(d), sources.to_vec(), numbers.to_vec());
    Lowering::new(move |cx, inst| {
        let mut fields = [Field::Sink; MOST];
        fields[0] = cx.dst(&inst.operands[0], width)?;
        for (index, &ty) in sources.iter().enumerate() {
            fields[index + 1] = cx.src(&inst.operands[index + 1], ty)?;
        }
        cx.emit_fields_with(code, &fields[..=sources.len()], &numbers);
        Ok(())
    })
}
