//! Reductions of asynchronous operations (`cp.reduce.async.bulk`, `red.async`): what becomes of the bytes at the destination.

use half::{bf16, f16};

use super::update::{
    Add, AddBf16, AddF16, AddF32, AddF64, And, AtomicWord, Dec, Inc, MaxHalf, MaxS32, MaxS64, MaxU,
    MinHalf, MinS32, MinS64, MinU, Or, Update, Xor,
};
use crate::engine::exec::bulk_copy::Combine;
use crate::engine::lower::form::FormReader;
use crate::engine::lower::types::Ty;

/// The number of an operation without a reduction, in a lowered instruction.
pub(super) const NO_REDUCTION: u32 = 0;

/// Combines words of type `T`.
unsafe fn combine<T: AtomicWord + FromBytes, U: Update<T>>(to: *mut u8, from: &[u8], global: bool) {
    for (index, value) in from.chunks_exact(size_of::<T>()).enumerate() {
        let value = T::from_bytes(value);
        let word = to.cast::<T>().wrapping_add(index);
        // SAFETY: the caller's memory is as long as `from`, and aligned.
        unsafe { T::update(word, |old| U::update(old, value, global)) };
    }
}

/// A word of a copy's bytes.
trait FromBytes {
    fn from_bytes(bytes: &[u8]) -> Self;
}

macro_rules! from_bytes {
    ($($ty:ty)*) => { $(impl FromBytes for $ty {
        fn from_bytes(bytes: &[u8]) -> $ty {
            <$ty>::from_le_bytes(bytes.try_into().expect("as many bytes as the word has"))
        }
    })* };
}
from_bytes! { u16 u32 u64 }

/// The reductions, by operation and type.
const REDUCTIONS: &[(&str, &str, Combine)] = &[
    ("and", "b32", combine::<u32, And>),
    ("and", "b64", combine::<u64, And>),
    ("or", "b32", combine::<u32, Or>),
    ("or", "b64", combine::<u64, Or>),
    ("xor", "b32", combine::<u32, Xor>),
    ("xor", "b64", combine::<u64, Xor>),
    ("add", "u32", combine::<u32, Add>),
    ("add", "s32", combine::<u32, Add>),
    ("add", "u64", combine::<u64, Add>),
    ("add", "f16", combine::<u16, AddF16>),
    ("add", "bf16", combine::<u16, AddBf16>),
    ("add", "f32", combine::<u32, AddF32>),
    ("add", "f64", combine::<u64, AddF64>),
    ("inc", "u32", combine::<u32, Inc>),
    ("dec", "u32", combine::<u32, Dec>),
    ("min", "u32", combine::<u32, MinU>),
    ("min", "s32", combine::<u32, MinS32>),
    ("min", "u64", combine::<u64, MinU>),
    ("min", "s64", combine::<u64, MinS64>),
    ("min", "f16", combine::<u16, MinHalf<f16>>),
    ("min", "bf16", combine::<u16, MinHalf<bf16>>),
    ("max", "u32", combine::<u32, MaxU>),
    ("max", "s32", combine::<u32, MaxS32>),
    ("max", "u64", combine::<u64, MaxU>),
    ("max", "s64", combine::<u64, MaxS64>),
    ("max", "f16", combine::<u16, MaxHalf<f16>>),
    ("max", "bf16", combine::<u16, MaxHalf<bf16>>),
];

/// The number of the reduction that a form's operation and type name.
pub(super) fn reduction(form: &FormReader<'_>) -> Option<u32> {
    let ty = form.next(|word| Ty::named(word).map(|_| word))?;
    let known = REDUCTIONS
        .iter()
        .position(|&(operation, of, _)| of == ty && form.has(operation));
    Some(known? as u32 + 1)
}

/// How the reduction of a number combines bytes; `None` for [`NO_REDUCTION`].
pub(super) fn combine_of(reduction: u32) -> Option<Combine> {
    match reduction {
        NO_REDUCTION => None,
        number => Some(REDUCTIONS[number as usize - 1].2),
    }
}
