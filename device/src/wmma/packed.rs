//! Fragments of 4-bit integers and of single bits: A row-major, B column-major, accumulators of `i32`.

use super::instructions::{Multiply, MultiplySaturating, OperandA, OperandB, OperandC};
#[cfg(target_arch = "nvptx64")]
use super::instructions::{blank, holes};
use super::types::*;
use super::{Accumulator, MatrixA, MatrixB};

macro_rules! operand {
    ($trait:ident $layout:ident $type:ident $shape:ident $text:literal $element:literal, $fill:expr) => {
        impl $trait<$shape, $layout> for $type {
            type Registers = [u32; 1];
            #[inline(always)]
            unsafe fn load(source: *const u32, stride: u32) -> [u32; 1] {
                let register: u32;
                // SAFETY: the tile is aligned, and valid for the access by the whole warp, by the function's condition.
                unsafe {
                    instruction!(
                        concat!($text, "/*space={address}*/", $element, " {{{register}}}, [{address}], {stride};"),
                        register = out(reg32) register,
                        address = in(reg64) source,
                        stride = in(reg32) stride,
                        options(nostack, readonly),
                    );
                }
                [register]
            }
            #[inline(always)]
            fn fill(value: u32) -> [u32; 1] {
                let fill: fn(u32) -> u32 = $fill;
                [fill(value)]
            }
        }
    };
}
operand!(OperandA RowMajor U4 M8N8K32 "wmma.load.a.sync.aligned.row.m8n8k32" ".u4", |x| (x & 15) * 0x1111_1111);
operand!(OperandB ColMajor U4 M8N8K32 "wmma.load.b.sync.aligned.col.m8n8k32" ".u4", |x| (x & 15) * 0x1111_1111);
operand!(OperandA RowMajor I4 M8N8K32 "wmma.load.a.sync.aligned.row.m8n8k32" ".s4", |x| (x & 15) * 0x1111_1111);
operand!(OperandB ColMajor I4 M8N8K32 "wmma.load.b.sync.aligned.col.m8n8k32" ".s4", |x| (x & 15) * 0x1111_1111);
operand!(OperandA RowMajor B1 M8N8K128 "wmma.load.a.sync.aligned.row.m8n8k128" ".b1", |x| (x & 1) * u32::MAX);
operand!(OperandB ColMajor B1 M8N8K128 "wmma.load.b.sync.aligned.col.m8n8k128" ".b1", |x| (x & 1) * u32::MAX);

macro_rules! product {
    ($text:literal, $a:expr, $b:expr, $c:expr) => {{
        let (x, y): (i32, i32);
        // SAFETY: arithmetic on registers. That all lanes take part is the rule of the module.
        unsafe {
            instruction!(
                concat!($text, " {{", holes!(0 1), "}}, {{", holes!(0), "}}, {{", holes!(0), "}}, {{", holes!(0 1), "}};"),
                out(reg32) x, out(reg32) y, in(reg32) $a[0], in(reg32) $b[0], in(reg32) $c[0], in(reg32) $c[1],
                options(nostack),
            );
        }
        [x, y]
    }};
}

macro_rules! four_bits {
    ($($type:ident $text:literal $saturating:literal;)*) => {$(
        impl Multiply<M8N8K32, RowMajor, ColMajor, i32, i32> for $type {
            #[inline(always)]
            fn multiply(a: [u32; 1], b: [u32; 1], c: [i32; 2]) -> [i32; 2] {
                product!($text, a, b, c)
            }
        }
        impl MultiplySaturating<M8N8K32, RowMajor, ColMajor> for $type {
            #[inline(always)]
            fn multiply_saturating(a: [u32; 1], b: [u32; 1], c: [i32; 2]) -> [i32; 2] {
                product!($saturating, a, b, c)
            }
        }
    )*};
}
four_bits! {
    U4 "wmma.mma.sync.aligned.row.col.m8n8k32.s32.u4.u4.s32" "wmma.mma.sync.aligned.row.col.m8n8k32.s32.u4.u4.s32.satfinite";
    I4 "wmma.mma.sync.aligned.row.col.m8n8k32.s32.s4.s4.s32" "wmma.mma.sync.aligned.row.col.m8n8k32.s32.s4.s4.s32.satfinite";
}

/// `C[i][j]` plus the number of ones in `A row i ^ B column j`.
///
/// PTX: `wmma.mma.xor.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32`. Arch: sm_75. All lanes must take part. CUDA C++:
/// `bmma_sync`. Guide §7.24.4.
///
/// ```no_run
/// # use warpsmith_device::wmma::*;
/// fn distances(a: &[u32], b: &[u32]) -> Accumulator<i32, M8N8K128> {
///     let (a, b) = (MatrixA::<B1, M8N8K128, RowMajor>::load(a, 128), MatrixB::<B1, M8N8K128, ColMajor>::load(b, 128));
///     mma_xor_popcount(&a, &b, &Accumulator::fill(0))
/// }
/// ```
#[inline(always)]
pub fn mma_xor_popcount(
    a: &MatrixA<B1, M8N8K128, RowMajor>,
    b: &MatrixB<B1, M8N8K128, ColMajor>,
    c: &Accumulator<i32, M8N8K128>,
) -> Accumulator<i32, M8N8K128> {
    let (a, b, c) = (a.registers, b.registers, c.registers);
    Accumulator {
        registers: product!(
            "wmma.mma.xor.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32",
            a,
            b,
            c
        ),
    }
}

/// `C[i][j]` plus the number of ones in `A row i & B column j`.
///
/// PTX: `wmma.mma.and.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32`. Arch: sm_80. Otherwise as [`mma_xor_popcount`].
#[inline(always)]
pub fn mma_and_popcount(
    a: &MatrixA<B1, M8N8K128, RowMajor>,
    b: &MatrixB<B1, M8N8K128, ColMajor>,
    c: &Accumulator<i32, M8N8K128>,
) -> Accumulator<i32, M8N8K128> {
    let (a, b, c) = (a.registers, b.registers, c.registers);
    Accumulator {
        registers: product!(
            "wmma.mma.and.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32",
            a,
            b,
            c
        ),
    }
}

const _: () = assert!(
    <i32 as OperandC<M8N8K32>>::ELEMENTS == 2 && <i32 as OperandC<M8N8K128>>::ELEMENTS == 2
);
