//! `mma.sync` and `ldmatrix`: fragments loaded and stored by hand, as their documentation says where elements belong.

use warpsmith_device::half::{Bf16x2, F16x2, f16};
use warpsmith_device::mma;
use warpsmith_device::prelude::*;

/// D = A x B + C of one warp. A is row-major, B column-major, C and D row-major, all tight; the pointers are to registers' worth of
/// elements. `words` is the number of registers in a row of A.
macro_rules! products {
    ($($name:ident $function:ident $a:ty, $words:literal words, A($($ai:literal)*) B($($bi:literal)*),
       $c:ty, $in_row:literal in a row, C($($ci:literal)*);)*) => {$(
        /// D = A x B + C; the instruction is in the name.
        #[kernel(launch_bounds(32, exact))]
        pub unsafe fn $name(a: *const $a, b: *const $a, c: *const $c, d: *mut $c) {
            let lane = warp::lane() as usize;
            let (g, t) = (lane / 4, lane % 4);
            // Registers 0 and 1 are in rows g and g + 8, registers 2 and 3 half a row further on.
            let of_a = |i: usize| (g + 8 * (i & 1)) * $words + t + $words / 2 * (i >> 1);
            let of_b = |i: usize| g * $words + t + $words / 2 * i;
            // A row of C is 8 elements: 8 registers, or 4 pairs.
            let of_c = |i: usize| {
                if $in_row == 8 { (g + 8 * (i >> 1)) * 8 + 2 * t + (i & 1) } else { (g + 8 * i) * 4 + t }
            };
            // SAFETY: the host passes whole tiles, and each lane has elements of its own.
            unsafe {
                let result = mma::$function(
                    [$(a.add(of_a($ai)).read()),*],
                    [$(b.add(of_b($bi)).read()),*],
                    [$(c.add(of_c($ci)).read()),*],
                );
                $(d.add(of_c($ci)).write(result[$ci]);)*
            }
        }
    )*};
}
products! {
    mma_f16_k16 m16n8k16_f16_f32 F16x2, 8 words, A(0 1 2 3) B(0 1), f32, 8 in a row, C(0 1 2 3);
    mma_f16_k16_f16 m16n8k16_f16_f16 F16x2, 8 words, A(0 1 2 3) B(0 1), F16x2, 4 in a row, C(0 1);
    mma_f16_k8 m16n8k8_f16_f32 F16x2, 4 words, A(0 1) B(0), f32, 8 in a row, C(0 1 2 3);
    mma_bf16_k16 m16n8k16_bf16_f32 Bf16x2, 8 words, A(0 1 2 3) B(0 1), f32, 8 in a row, C(0 1 2 3);
    mma_bf16_k8 m16n8k8_bf16_f32 Bf16x2, 4 words, A(0 1) B(0), f32, 8 in a row, C(0 1 2 3);
    mma_tf32_k8 m16n8k8_tf32_f32 f32, 8 words, A(0 1 2 3) B(0 1), f32, 8 in a row, C(0 1 2 3);
    mma_tf32_k4 m16n8k4_tf32_f32 f32, 4 words, A(0 1) B(0), f32, 8 in a row, C(0 1 2 3);
    mma_f64_k4 m8n8k4_f64 f64, 4 words, A(0) B(0), f64, 8 in a row, C(0 1);
    mma_i8_k32 m16n8k32_i8_i32 u32, 8 words, A(0 1 2 3) B(0 1), i32, 8 in a row, C(0 1 2 3);
    mma_u8_k32 m16n8k32_u8_i32 u32, 8 words, A(0 1 2 3) B(0 1), i32, 8 in a row, C(0 1 2 3);
    mma_i8_k16 m16n8k16_i8_i32 u32, 4 words, A(0 1) B(0), i32, 8 in a row, C(0 1 2 3);
}

/// Room for four tiles of 8 x 8.
#[repr(C, align(16))]
struct Tiles([f16; 256]);

/// Four tiles go through shared memory; each lane writes the registers it got: by `ldmatrix_x4`, `ldmatrix_x4_trans`, `ldmatrix_x2`,
/// `ldmatrix_x2_trans`, `ldmatrix_x1`, `ldmatrix_x1_trans`, 14 words a lane.
#[kernel(launch_bounds(32, exact))]
pub unsafe fn ldmatrix(tiles: &[f16], out: *mut u32) {
    let shared = shared!(raw Tiles).as_mut_ptr().cast::<f16>();
    let lane = warp::lane() as usize;
    for i in 0..8 {
        // SAFETY: each lane writes elements of its own.
        unsafe { shared.add(i * 32 + lane).write(tiles[i * 32 + lane]) };
    }
    block::sync();
    // SAFETY: lane 8 j + i points to row i of tile j; all rows were written before the barrier. The host passes 14 words a lane.
    unsafe {
        let row = shared.add(lane * 8);
        let words = out.add(lane * 14);
        let [a, b, c, d] = mma::ldmatrix_x4(row);
        words.write(a);
        words.add(1).write(b);
        words.add(2).write(c);
        words.add(3).write(d);
        let [a, b, c, d] = mma::ldmatrix_x4_trans(row);
        words.add(4).write(a);
        words.add(5).write(b);
        words.add(6).write(c);
        words.add(7).write(d);
        let [a, b] = mma::ldmatrix_x2(row);
        words.add(8).write(a);
        words.add(9).write(b);
        let [a, b] = mma::ldmatrix_x2_trans(row);
        words.add(10).write(a);
        words.add(11).write(b);
        let [a] = mma::ldmatrix_x1(row);
        words.add(12).write(a);
        let [a] = mma::ldmatrix_x1_trans(row);
        words.add(13).write(a);
    }
}
