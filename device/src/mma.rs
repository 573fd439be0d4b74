//! `mma.sync`: matrix multiply-accumulate on registers, where the program knows which lane holds which element; and
//! `ldmatrix`, which brings tiles from shared memory into that order.
//!
//! [`wmma`](crate::wmma) is easier; this is what fast kernels are made of, because elements can be loaded, transformed and stored by hand.
//!
//! # Which lane holds what
//!
//! With `g = lane / 4` and `t = lane % 4`, and for the shapes `m16n8kK` (`W` is the number of elements in 32 bits: 2 of `f16` and `bf16`,
//! 1 of tf32, 4 of bytes):
//!
//! | register | rows (A, C) or columns (B) | columns (A, C) or rows (B) |
//! | --- | --- | --- |
//! | `a[0]`, `a[1]` | `g`, `g + 8` | `W t .. W t + W` |
//! | `a[2]`, `a[3]` (if there) | `g`, `g + 8` | `K / 2 + W t ..` |
//! | `b[0]`, `b[1]` (if there) | `g` | `W t ..`, `K / 2 + W t ..` |
//! | `c[0]`, `c[1]` | `g` | `2 t`, `2 t + 1` |
//! | `c[2]`, `c[3]` | `g + 8` | `2 t`, `2 t + 1` |
//!
//! `f16` accumulators hold `c[0], c[1]` in one pair and `c[2], c[3]` in the other. `m8n8k4` of `f64`: A is (g, t), B is (t, g), C is (g, 2t) and (g, 2t + 1).
//!
//! A is row-major and B column-major in this sense, always. **All 32 lanes of the warp call the same function**; see
//! the rules of [`wmma`](crate::wmma). Sums are rounded in an unspecified order.

use crate::half::{Bf16x2, F16x2};

/// Nothing, once per register.
#[cfg(target_arch = "nvptx64")]
macro_rules! blank {
    ($register:tt) => {
        ""
    };
}
/// `{}, {}, ...`: a hole per register.
#[cfg(target_arch = "nvptx64")]
macro_rules! holes {
    ($first:tt $($rest:tt)*) => { concat!("{}", $(", {}", blank!($rest)),*) };
}

macro_rules! multiplications {
    ($($(#[$doc:meta])* $name:ident $ptx:literal
       A $a:ty as $ac:ident ($($ai:tt)*) $abits:ident, B ($($bi:tt)*), C $c:ty as $cc:ident ($($ci:tt)*) $cbits:ident $cback:ident;)*) => {$(
        $(#[$doc])*
        ///
        #[doc = concat!("PTX: `mma.sync.aligned.", $ptx, "`. Arch: sm_80. All lanes must take part.")]
        ///
        /// ```no_run
        /// # use {bytemuck::Zeroable, warpsmith_device::mma};
        #[doc = concat!("let d = mma::", stringify!($name), "(Zeroable::zeroed(), Zeroable::zeroed(), Zeroable::zeroed());")]
        /// ```
        #[inline(always)]
        pub fn $name(
            a: [$a; [$($ai),*].len()],
            b: [$a; [$($bi),*].len()],
            c: [$c; [$($ci),*].len()],
        ) -> [$c; [$($ci),*].len()] {
            // SAFETY: zero is a value of all these types; all registers are written below.
            let mut d: [_; [$($ci),*].len()] = unsafe { core::mem::zeroed() };
            // SAFETY: arithmetic on registers. That all lanes take part is the rule of the module.
            unsafe {
                instruction!(
                    concat!("mma.sync.aligned.", $ptx, " {{", holes!($($ci)*), "}}, {{", holes!($($ai)*), "}}, {{",
                        holes!($($bi)*), "}}, {{", holes!($($ci)*), "}};"),
                    $(out($cc) d[$ci],)*
                    $(in($ac) $abits(a[$ai]),)*
                    $(in($ac) $abits(b[$bi]),)*
                    $(in($cc) $cbits(c[$ci]),)*
                    options(nostack),
                );
            }
            [$($cback(d[$ci])),*]
        }
    )*};
}

#[inline(always)]
fn same<T>(x: T) -> T {
    x
}
#[inline(always)]
fn half(x: F16x2) -> u32 {
    x.to_bits()
}
#[inline(always)]
fn halves(x: u32) -> F16x2 {
    F16x2::from_bits(x)
}
#[inline(always)]
fn bfloat(x: Bf16x2) -> u32 {
    x.to_bits()
}

multiplications! {
    /// 16 x 8 x 16, `f16` into `f32`.
    m16n8k16_f16_f32 "m16n8k16.row.col.f32.f16.f16.f32"
        A F16x2 as reg32 (0 1 2 3) half, B (0 1), C f32 as reg32 (0 1 2 3) same same;
    /// 16 x 8 x 16, `f16` into `f16`.
    m16n8k16_f16_f16 "m16n8k16.row.col.f16.f16.f16.f16"
        A F16x2 as reg32 (0 1 2 3) half, B (0 1), C F16x2 as reg32 (0 1) half halves;
    /// 16 x 8 x 8, `f16` into `f32`.
    m16n8k8_f16_f32 "m16n8k8.row.col.f32.f16.f16.f32"
        A F16x2 as reg32 (0 1) half, B (0), C f32 as reg32 (0 1 2 3) same same;
    /// 16 x 8 x 16, `bf16` into `f32`.
    m16n8k16_bf16_f32 "m16n8k16.row.col.f32.bf16.bf16.f32"
        A Bf16x2 as reg32 (0 1 2 3) bfloat, B (0 1), C f32 as reg32 (0 1 2 3) same same;
    /// 16 x 8 x 8, `bf16` into `f32`.
    m16n8k8_bf16_f32 "m16n8k8.row.col.f32.bf16.bf16.f32"
        A Bf16x2 as reg32 (0 1) bfloat, B (0), C f32 as reg32 (0 1 2 3) same same;
    /// 16 x 8 x 8, tf32 into `f32`; round the operands with [`to_tf32`](crate::half::to_tf32) first.
    m16n8k8_tf32_f32 "m16n8k8.row.col.f32.tf32.tf32.f32"
        A f32 as reg32 (0 1 2 3) same, B (0 1), C f32 as reg32 (0 1 2 3) same same;
    /// 16 x 8 x 4, tf32 into `f32`.
    m16n8k4_tf32_f32 "m16n8k4.row.col.f32.tf32.tf32.f32"
        A f32 as reg32 (0 1) same, B (0), C f32 as reg32 (0 1 2 3) same same;
    /// 8 x 8 x 4, `f64` into `f64`.
    m8n8k4_f64 "m8n8k4.row.col.f64.f64.f64.f64"
        A f64 as reg64 (0) same, B (0), C f64 as reg64 (0 1) same same;
    /// 16 x 8 x 32, signed bytes (four to a register) into `i32`; sums wrap.
    m16n8k32_i8_i32 "m16n8k32.row.col.s32.s8.s8.s32"
        A u32 as reg32 (0 1 2 3) same, B (0 1), C i32 as reg32 (0 1 2 3) same same;
    /// 16 x 8 x 32, unsigned bytes (four to a register) into `i32`; sums wrap.
    m16n8k32_u8_i32 "m16n8k32.row.col.s32.u8.u8.s32"
        A u32 as reg32 (0 1 2 3) same, B (0 1), C i32 as reg32 (0 1 2 3) same same;
    /// 16 x 8 x 16, signed bytes (four to a register) into `i32`; sums wrap.
    m16n8k16_i8_i32 "m16n8k16.row.col.s32.s8.s8.s32"
        A u32 as reg32 (0 1) same, B (0), C i32 as reg32 (0 1 2 3) same same;
}

macro_rules! matrix_loads {
    ($($name:ident $transposed:ident $ptx:literal ($($i:tt)*);)*) => {$(
        matrix_loads!(@one $name $ptx "" "" ($($i)*));
        matrix_loads!(@one $transposed $ptx ".trans" "transposed, " ($($i)*));
    )*};
    (@one $name:ident $ptx:literal $trans:literal $how:literal ($($i:tt)*)) => {
        #[doc = concat!("Loads 8 x 8 tiles of 16-bit elements from shared memory, ", $how, "one for each register of the result.")]
        ///
        /// Lane `8 j + i` gives the address of row `i` of tile `j` (8 elements, 16 bytes); addresses of further lanes are ignored.
        /// Afterwards lane `4 i + t` holds elements `2 t` and `2 t + 1` of row `i` (transposed: of column `i`) of each tile.
        ///
        #[doc = concat!("PTX: `ldmatrix.sync.aligned.m8n8.", $ptx, $trans, ".b16`. Arch: sm_75. All lanes must take part.")]
        ///
        /// ```no_run
        /// # fn load(row: *const u16) {
        /// // SAFETY: the caller passes rows of a tile in shared memory.
        #[doc = concat!("let registers = unsafe { warpsmith_device::mma::", stringify!($name), "(row) };")]
        /// # }
        /// ```
        ///
        /// # Safety
        /// The rows are in shared memory, at addresses divisible by 16, are initialised, and no thread writes them meanwhile.
        #[inline(always)]
        pub unsafe fn $name<T>(row: *const T) -> [u32; [$($i),*].len()] {
            // SAFETY: zero is an integer; all registers are written below.
            let mut registers: [u32; [$($i),*].len()] = unsafe { core::mem::zeroed() };
            // SAFETY: the rows are aligned, initialised and written by no thread meanwhile, by the function's condition.
            unsafe {
                instruction!(
                    concat!("ldmatrix.sync.aligned.m8n8.", $ptx, $trans, "/*space={address}*/.b16 {{", holes!($($i)*), "}}, [{address}];"),
                    $(out(reg32) registers[$i],)*
                    address = in(reg64) row,
                    options(nostack, readonly),
                );
            }
            registers
        }
    };
}
matrix_loads! {
    ldmatrix_x1 ldmatrix_x1_trans "x1" (0);
    ldmatrix_x2 ldmatrix_x2_trans "x2" (0 1);
    ldmatrix_x4 ldmatrix_x4_trans "x4" (0 1 2 3);
}
