//! The types of elements, and what reductions do to them.

use half::{bf16, f16};
use warpsmith_nccl_abi::{F8E4M3, F8E5M2, ncclDataType_t, ncclRedOp_t};

use crate::failure::{Failure, Result};

/// The bytes of an element.
///
/// # Errors
///
/// The type is none that the simulator knows.
pub(crate) fn size(kind: ncclDataType_t) -> Result<usize> {
    Ok(match kind {
        ncclDataType_t::ncclInt8
        | ncclDataType_t::ncclUint8
        | ncclDataType_t::ncclFloat8e4m3
        | ncclDataType_t::ncclFloat8e5m2 => 1,
        ncclDataType_t::ncclFloat16 | ncclDataType_t::ncclBfloat16 => 2,
        ncclDataType_t::ncclInt32 | ncclDataType_t::ncclUint32 | ncclDataType_t::ncclFloat32 => 4,
        ncclDataType_t::ncclInt64 | ncclDataType_t::ncclUint64 | ncclDataType_t::ncclFloat64 => 8,
        other => {
            return Err(Failure::argument(format!(
                "the simulator has no elements of type {}",
                other.0
            )));
        }
    })
}

/// What a reduction needs of a type. Integers wrap; an average of integers is rounded towards zero, one of floats is the sum of the
/// elements divided first, as NCCL has it.
trait Number: Copy {
    const BYTES: usize;
    fn read(bytes: &[u8]) -> Self;
    fn write(self, bytes: &mut [u8]);
    fn sum(self, other: Self) -> Self;
    fn product(self, other: Self) -> Self;
    fn least(self, other: Self) -> Self;
    fn greatest(self, other: Self) -> Self;
    fn before_average(self, ranks: usize) -> Self;
    fn after_average(self, ranks: usize) -> Self;
}

macro_rules! bytes_of {
    ($type:ty) => {
        const BYTES: usize = size_of::<$type>();

        fn read(bytes: &[u8]) -> Self {
            let mut own = [0; size_of::<$type>()];
            own.copy_from_slice(bytes);
            <$type>::from_ne_bytes(own)
        }

        fn write(self, bytes: &mut [u8]) {
            bytes.copy_from_slice(&self.to_ne_bytes());
        }
    };
}

macro_rules! integer {
    ($($type:ty)*) => { $(
        impl Number for $type {
            bytes_of!($type);

            fn sum(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            fn product(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
            fn least(self, other: Self) -> Self {
                self.min(other)
            }
            fn greatest(self, other: Self) -> Self {
                self.max(other)
            }
            fn before_average(self, _ranks: usize) -> Self {
                self
            }
            fn after_average(self, ranks: usize) -> Self {
                (i128::from(self) / ranks as i128) as $type
            }
        }
    )* };
}

macro_rules! float {
    ($($type:ty: $wide:ty, $from:expr, $to:expr;)*) => { $(
        impl Number for $type {
            bytes_of!($type);

            fn sum(self, other: Self) -> Self {
                $from($to(self) + $to(other))
            }
            fn product(self, other: Self) -> Self {
                $from($to(self) * $to(other))
            }
            fn least(self, other: Self) -> Self {
                $from($to(self).min($to(other)))
            }
            fn greatest(self, other: Self) -> Self {
                $from($to(self).max($to(other)))
            }
            fn before_average(self, ranks: usize) -> Self {
                let part = $to($from(1.0 / ranks as $wide));
                $from($to(self) * part)
            }
            fn after_average(self, _ranks: usize) -> Self {
                self
            }
        }
    )* };
}

integer! { i8 u8 i32 u32 i64 u64 }
float! {
    f16: f32, f16::from_f32, f16::to_f32;
    bf16: f32, bf16::from_f32, bf16::to_f32;
    F8E4M3: f32, |sum| F8E4M3::from_f32(as_half(sum)), F8E4M3::to_f32;
    F8E5M2: f32, |sum| F8E5M2::from_f32(as_half(sum)), F8E5M2::to_f32;
    f32: f32, std::convert::identity, std::convert::identity;
    f64: f64, std::convert::identity, std::convert::identity;
}

/// Rounded to 16 bits: NCCL reduces 8-bit floats as these.
fn as_half(value: f32) -> f32 {
    f16::from_f32(value).to_f32()
}

/// Reduces the contributions of all ranks, in their order, to `result`, which has the first one's place.
pub(crate) fn reduce(
    kind: ncclDataType_t,
    reduction: ncclRedOp_t,
    contributions: &[Vec<u8>],
    result: &mut [u8],
) {
    macro_rules! by_type {
        ($($name:ident: $type:ty,)*) => {
            match kind {
                $(ncclDataType_t::$name => reduce_typed::<$type>(reduction, contributions, result),)*
                _ => unreachable!("`size` has refused it"),
            }
        };
    }
    by_type! {
        ncclInt8: i8,
        ncclUint8: u8,
        ncclInt32: i32,
        ncclUint32: u32,
        ncclInt64: i64,
        ncclUint64: u64,
        ncclFloat16: f16,
        ncclBfloat16: bf16,
        ncclFloat32: f32,
        ncclFloat64: f64,
        ncclFloat8e4m3: F8E4M3,
        ncclFloat8e5m2: F8E5M2,
    }
}

/// The elements, each multiplied with `factor`.
pub(crate) fn scaled(kind: ncclDataType_t, data: &[u8], factor: &[u8]) -> Vec<u8> {
    let mut scaled = vec![0; data.len()];
    let factors = factor.repeat(data.len() / factor.len());
    reduce(
        kind,
        ncclRedOp_t::ncclProd,
        &[data.to_vec(), factors],
        &mut scaled,
    );
    scaled
}

fn reduce_typed<T: Number>(reduction: ncclRedOp_t, contributions: &[Vec<u8>], result: &mut [u8]) {
    let ranks = contributions.len();
    let is_average = reduction == ncclRedOp_t::ncclAvg;
    let join = match reduction {
        ncclRedOp_t::ncclProd => T::product,
        ncclRedOp_t::ncclMin => T::least,
        ncclRedOp_t::ncclMax => T::greatest,
        _ => T::sum,
    };
    for (index, place) in result.chunks_exact_mut(T::BYTES).enumerate() {
        let bytes = index * T::BYTES..(index + 1) * T::BYTES;
        let reduced = contributions
            .iter()
            .map(|data| {
                let own = T::read(&data[bytes.clone()]);
                if is_average {
                    own.before_average(ranks)
                } else {
                    own
                }
            })
            .reduce(join);
        if let Some(reduced) = reduced {
            let reduced = if is_average {
                reduced.after_average(ranks)
            } else {
                reduced
            };
            reduced.write(place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reduced<T: Number + Default + PartialEq + std::fmt::Debug>(
        kind: ncclDataType_t,
        reduction: ncclRedOp_t,
        values: &[T],
    ) -> T {
        let contributions: Vec<Vec<u8>> = values
            .iter()
            .map(|value| {
                let mut bytes = vec![0; T::BYTES];
                value.write(&mut bytes);
                bytes
            })
            .collect();
        let mut result = vec![0; T::BYTES];
        reduce(kind, reduction, &contributions, &mut result);
        T::read(&result)
    }

    #[test]
    fn elements_are_multiplied_with_the_factor() {
        let bytes = |values: [i16; 2]| values.map(i16::to_ne_bytes).concat();
        let data = bytes([3, -200]);
        let kind = ncclDataType_t::ncclInt8;
        assert_eq!(scaled(kind, &data, &[2]), [6, 0, 112, 254]);
        let halves = [f16::from_f32(0.5), f16::from_f32(4.0)].map(f16::to_ne_bytes);
        let kind = ncclDataType_t::ncclFloat16;
        let quarter = f16::from_f32(0.25).to_ne_bytes();
        let one = f16::ONE.to_ne_bytes();
        let eighth = f16::from_f32(0.125).to_ne_bytes();
        assert_eq!(
            scaled(kind, &halves.concat(), &quarter),
            [eighth, one].concat()
        );
    }

    #[test]
    fn each_reduction_is_what_its_name_says() {
        use ncclDataType_t as Type;
        use ncclRedOp_t as Op;
        let values = [7_i32, -2, 3];
        assert_eq!(reduced(Type::ncclInt32, Op::ncclSum, &values), 8);
        assert_eq!(reduced(Type::ncclInt32, Op::ncclProd, &values), -42);
        assert_eq!(reduced(Type::ncclInt32, Op::ncclMin, &values), -2);
        assert_eq!(reduced(Type::ncclInt32, Op::ncclMax, &values), 7);
        assert_eq!(reduced(Type::ncclInt32, Op::ncclAvg, &values), 2);
        assert_eq!(reduced(Type::ncclUint8, Op::ncclSum, &[200_u8, 100]), 44);
        assert_eq!(
            reduced(Type::ncclFloat64, Op::ncclAvg, &[1.0_f64, 2.0]),
            1.5
        );
        let halves = [f16::from_f32(0.5), f16::from_f32(4.0)];
        assert_eq!(reduced(Type::ncclFloat16, Op::ncclMax, &halves), halves[1]);
        assert_eq!(
            reduced(Type::ncclBfloat16, Op::ncclSum, &[bf16::ONE, bf16::ONE]),
            bf16::from_f32(2.0)
        );
        let [small, great] = [1.0, 448.0].map(F8E4M3::from_f32);
        let kind = Type::ncclFloat8e4m3;
        assert_eq!(reduced(kind, Op::ncclSum, &[great, great]), great);
        assert_eq!(reduced(kind, Op::ncclAvg, &[small, small]), small);
        let [half, two] = [0.5, 2.0].map(F8E5M2::from_f32);
        let kind = Type::ncclFloat8e5m2;
        assert_eq!(reduced(kind, Op::ncclProd, &[half, half, two]), half);
        assert_eq!(reduced(kind, Op::ncclMin, &[two, half, two]), half);
    }
}
