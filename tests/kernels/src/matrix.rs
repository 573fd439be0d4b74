//! Matrix fragments: one kernel for each combination of types, shape and layouts, made by one generic function.

use warpsmith_device::half::f16;
use warpsmith_device::prelude::*;
use warpsmith_device::wmma::*;

/// D = A x B + C with one warp. The strides are those of tight matrices, rounded up by the host to what the type asks for.
///
/// # Safety
/// The pointers lead to whole tiles, aligned to 32 bytes.
#[inline(always)]
unsafe fn product<T, S, LA, LB, C, D, LC, LD>(
    a: *const <T as Element>::Stored,
    b: *const <T as Element>::Stored,
    c: *const C::Stored,
    target: *mut D::Stored,
    strides: [u32; 4],
    layouts: (LC, LD),
) where
    S: Shape,
    LA: Layout,
    LB: Layout,
    LC: Layout,
    LD: Layout,
    C: OperandC<S>,
    D: OperandC<S>,
    T: Multiply<S, LA, LB, C, D>,
{
    // SAFETY: the caller vouches for the tiles.
    unsafe {
        let a = MatrixA::<T, S, LA>::load_from(a, strides[0]);
        let b = MatrixB::<T, S, LB>::load_from(b, strides[1]);
        let c = Accumulator::<C, S>::load_from(c, strides[2], layouts.0);
        let d: Accumulator<D, S> = mma(&a, &b, &c);
        d.store_to(target, strides[3], layouts.1);
    }
}

/// Kernels of one combination: A and B in the four pairs of layouts, C and D in a layout each.
macro_rules! products {
    ($($name:ident $element:ty, $shape:ident, $a:ident $b:ident, $from:ty => $to:ty, $c:ident $d:ident;)*) => {$(
        /// D = A x B + C; the types and layouts are in the name.
        ///
        /// # Safety
        /// The pointers lead to whole tiles.
        #[kernel(launch_bounds(32, exact))]
        pub unsafe fn $name(
            strides: Strides,
            a: *const <$element as Element>::Stored,
            b: *const <$element as Element>::Stored,
            c: *const <$from as Element>::Stored,
            d: *mut <$to as Element>::Stored,
        ) {
            // SAFETY: the caller vouches for the tiles.
            unsafe { product::<$element, $shape, $a, $b, $from, $to, _, _>(a, b, c, d, strides.0, ($c, $d)) }
        }
    )*};
}

/// Strides of A, B, C and D, in elements.
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(transparent)]
pub struct Strides(pub [u32; 4]);

products! {
    // Every pair of layouts, and those of C and D, once for each shape.
    wmma_f16_m16n16k16_f32_f32_rr_rr f16, M16N16K16, RowMajor RowMajor, f32 => f32, RowMajor RowMajor;
    wmma_f16_m16n16k16_f32_f32_rc_cr f16, M16N16K16, RowMajor ColMajor, f32 => f32, ColMajor RowMajor;
    wmma_f16_m16n16k16_f32_f32_cr_rc f16, M16N16K16, ColMajor RowMajor, f32 => f32, RowMajor ColMajor;
    wmma_f16_m16n16k16_f32_f32_cc_cc f16, M16N16K16, ColMajor ColMajor, f32 => f32, ColMajor ColMajor;
    wmma_f16_m16n16k16_f16_f16_rc_rr f16, M16N16K16, RowMajor ColMajor, f16 => f16, RowMajor RowMajor;
    wmma_f16_m16n16k16_f16_f32_cr_cr f16, M16N16K16, ColMajor RowMajor, f16 => f32, ColMajor RowMajor;
    wmma_f16_m16n16k16_f32_f16_rr_rc f16, M16N16K16, RowMajor RowMajor, f32 => f16, RowMajor ColMajor;
    wmma_f16_m32n8k16_f32_f32_rr_cr f16, M32N8K16, RowMajor RowMajor, f32 => f32, ColMajor RowMajor;
    wmma_f16_m32n8k16_f32_f32_rc_rc f16, M32N8K16, RowMajor ColMajor, f32 => f32, RowMajor ColMajor;
    wmma_f16_m32n8k16_f32_f32_cr_cc f16, M32N8K16, ColMajor RowMajor, f32 => f32, ColMajor ColMajor;
    wmma_f16_m32n8k16_f32_f32_cc_rr f16, M32N8K16, ColMajor ColMajor, f32 => f32, RowMajor RowMajor;
    wmma_f16_m32n8k16_f16_f16_rc_cr f16, M32N8K16, RowMajor ColMajor, f16 => f16, ColMajor RowMajor;
    wmma_f16_m32n8k16_f16_f32_cr_rc f16, M32N8K16, ColMajor RowMajor, f16 => f32, RowMajor ColMajor;
    wmma_f16_m32n8k16_f32_f16_rr_cc f16, M32N8K16, RowMajor RowMajor, f32 => f16, ColMajor ColMajor;
    wmma_f16_m8n32k16_f32_f32_rr_rc f16, M8N32K16, RowMajor RowMajor, f32 => f32, RowMajor ColMajor;
    wmma_f16_m8n32k16_f32_f32_rc_cc f16, M8N32K16, RowMajor ColMajor, f32 => f32, ColMajor ColMajor;
    wmma_f16_m8n32k16_f32_f32_cr_rr f16, M8N32K16, ColMajor RowMajor, f32 => f32, RowMajor RowMajor;
    wmma_f16_m8n32k16_f32_f32_cc_cr f16, M8N32K16, ColMajor ColMajor, f32 => f32, ColMajor RowMajor;
    wmma_f16_m8n32k16_f16_f16_rc_rc f16, M8N32K16, RowMajor ColMajor, f16 => f16, RowMajor ColMajor;
    wmma_f16_m8n32k16_f16_f32_cr_cc f16, M8N32K16, ColMajor RowMajor, f16 => f32, ColMajor ColMajor;
    wmma_f16_m8n32k16_f32_f16_rr_rr f16, M8N32K16, RowMajor RowMajor, f32 => f16, RowMajor RowMajor;
}

/// From sm_72 on: bytes.
#[cfg(any(not(target_arch = "nvptx64"), warpsmith_arch_at_least = "72"))]
pub mod bytes {
    use super::*;
    products! {
        wmma_u8_m16n16k16_i32_i32_rr_cr u8, M16N16K16, RowMajor RowMajor, i32 => i32, ColMajor RowMajor;
        wmma_i8_m16n16k16_i32_i32_rr_cr i8, M16N16K16, RowMajor RowMajor, i32 => i32, ColMajor RowMajor;
        wmma_u8_m16n16k16_i32_i32_rc_rc u8, M16N16K16, RowMajor ColMajor, i32 => i32, RowMajor ColMajor;
        wmma_i8_m16n16k16_i32_i32_rc_rc i8, M16N16K16, RowMajor ColMajor, i32 => i32, RowMajor ColMajor;
        wmma_u8_m16n16k16_i32_i32_cr_cc u8, M16N16K16, ColMajor RowMajor, i32 => i32, ColMajor ColMajor;
        wmma_i8_m16n16k16_i32_i32_cr_cc i8, M16N16K16, ColMajor RowMajor, i32 => i32, ColMajor ColMajor;
        wmma_u8_m16n16k16_i32_i32_cc_rr u8, M16N16K16, ColMajor ColMajor, i32 => i32, RowMajor RowMajor;
        wmma_i8_m16n16k16_i32_i32_cc_rr i8, M16N16K16, ColMajor ColMajor, i32 => i32, RowMajor RowMajor;
        wmma_u8_m32n8k16_i32_i32_rr_rc u8, M32N8K16, RowMajor RowMajor, i32 => i32, RowMajor ColMajor;
        wmma_i8_m32n8k16_i32_i32_rr_rc i8, M32N8K16, RowMajor RowMajor, i32 => i32, RowMajor ColMajor;
        wmma_u8_m32n8k16_i32_i32_rc_cc u8, M32N8K16, RowMajor ColMajor, i32 => i32, ColMajor ColMajor;
        wmma_i8_m32n8k16_i32_i32_rc_cc i8, M32N8K16, RowMajor ColMajor, i32 => i32, ColMajor ColMajor;
        wmma_u8_m32n8k16_i32_i32_cr_rr u8, M32N8K16, ColMajor RowMajor, i32 => i32, RowMajor RowMajor;
        wmma_i8_m32n8k16_i32_i32_cr_rr i8, M32N8K16, ColMajor RowMajor, i32 => i32, RowMajor RowMajor;
        wmma_u8_m32n8k16_i32_i32_cc_cr u8, M32N8K16, ColMajor ColMajor, i32 => i32, ColMajor RowMajor;
        wmma_i8_m32n8k16_i32_i32_cc_cr i8, M32N8K16, ColMajor ColMajor, i32 => i32, ColMajor RowMajor;
        wmma_u8_m8n32k16_i32_i32_rr_cc u8, M8N32K16, RowMajor RowMajor, i32 => i32, ColMajor ColMajor;
        wmma_i8_m8n32k16_i32_i32_rr_cc i8, M8N32K16, RowMajor RowMajor, i32 => i32, ColMajor ColMajor;
        wmma_u8_m8n32k16_i32_i32_rc_rr u8, M8N32K16, RowMajor ColMajor, i32 => i32, RowMajor RowMajor;
        wmma_i8_m8n32k16_i32_i32_rc_rr i8, M8N32K16, RowMajor ColMajor, i32 => i32, RowMajor RowMajor;
        wmma_u8_m8n32k16_i32_i32_cr_cr u8, M8N32K16, ColMajor RowMajor, i32 => i32, ColMajor RowMajor;
        wmma_i8_m8n32k16_i32_i32_cr_cr i8, M8N32K16, ColMajor RowMajor, i32 => i32, ColMajor RowMajor;
        wmma_u8_m8n32k16_i32_i32_cc_rc u8, M8N32K16, ColMajor ColMajor, i32 => i32, RowMajor ColMajor;
        wmma_i8_m8n32k16_i32_i32_cc_rc i8, M8N32K16, ColMajor ColMajor, i32 => i32, RowMajor ColMajor;
    }

    /// Saturating: D = A x B + C, row by column.
    #[kernel(launch_bounds(32, exact))]
    pub unsafe fn wmma_i8_saturating(
        strides: Strides,
        a: *const i8,
        b: *const i8,
        c: *const i32,
        d: *mut i32,
    ) {
        // SAFETY: the caller vouches for the tiles.
        unsafe {
            let a = MatrixA::<i8, M16N16K16, RowMajor>::load_from(a, strides.0[0]);
            let b = MatrixB::<i8, M16N16K16, ColMajor>::load_from(b, strides.0[1]);
            let c = Accumulator::<i32, M16N16K16>::load_from(c, strides.0[2], RowMajor);
            mma_saturating(&a, &b, &c).store_to(d, strides.0[3], RowMajor);
        }
    }
}

/// From sm_80 on: bfloat16, tf32, doubles.
#[cfg(any(not(target_arch = "nvptx64"), warpsmith_arch_at_least = "80"))]
pub mod sm_80 {
    use super::*;
    use warpsmith_device::half::bf16;
    products! {
        wmma_bf16_m16n16k16_f32_f32_rr_rc bf16, M16N16K16, RowMajor RowMajor, f32 => f32, RowMajor ColMajor;
        wmma_bf16_m16n16k16_f32_f32_rc_cc bf16, M16N16K16, RowMajor ColMajor, f32 => f32, ColMajor ColMajor;
        wmma_bf16_m16n16k16_f32_f32_cr_rr bf16, M16N16K16, ColMajor RowMajor, f32 => f32, RowMajor RowMajor;
        wmma_bf16_m16n16k16_f32_f32_cc_cr bf16, M16N16K16, ColMajor ColMajor, f32 => f32, ColMajor RowMajor;
        wmma_bf16_m32n8k16_f32_f32_rr_cc bf16, M32N8K16, RowMajor RowMajor, f32 => f32, ColMajor ColMajor;
        wmma_bf16_m32n8k16_f32_f32_rc_rr bf16, M32N8K16, RowMajor ColMajor, f32 => f32, RowMajor RowMajor;
        wmma_bf16_m32n8k16_f32_f32_cr_cr bf16, M32N8K16, ColMajor RowMajor, f32 => f32, ColMajor RowMajor;
        wmma_bf16_m32n8k16_f32_f32_cc_rc bf16, M32N8K16, ColMajor ColMajor, f32 => f32, RowMajor ColMajor;
        wmma_bf16_m8n32k16_f32_f32_rr_rr bf16, M8N32K16, RowMajor RowMajor, f32 => f32, RowMajor RowMajor;
        wmma_bf16_m8n32k16_f32_f32_rc_cr bf16, M8N32K16, RowMajor ColMajor, f32 => f32, ColMajor RowMajor;
        wmma_bf16_m8n32k16_f32_f32_cr_rc bf16, M8N32K16, ColMajor RowMajor, f32 => f32, RowMajor ColMajor;
        wmma_bf16_m8n32k16_f32_f32_cc_cc bf16, M8N32K16, ColMajor ColMajor, f32 => f32, ColMajor ColMajor;
        wmma_tf32_m16n16k8_f32_f32_rr_rr Tf32, M16N16K8, RowMajor RowMajor, f32 => f32, RowMajor RowMajor;
        wmma_f64_m8n8k4_f64_f64_rr_cr f64, M8N8K4, RowMajor RowMajor, f64 => f64, ColMajor RowMajor;
        wmma_tf32_m16n16k8_f32_f32_rc_cr Tf32, M16N16K8, RowMajor ColMajor, f32 => f32, ColMajor RowMajor;
        wmma_f64_m8n8k4_f64_f64_rc_rc f64, M8N8K4, RowMajor ColMajor, f64 => f64, RowMajor ColMajor;
        wmma_tf32_m16n16k8_f32_f32_cr_rc Tf32, M16N16K8, ColMajor RowMajor, f32 => f32, RowMajor ColMajor;
        wmma_f64_m8n8k4_f64_f64_cr_cc f64, M8N8K4, ColMajor RowMajor, f64 => f64, ColMajor ColMajor;
        wmma_tf32_m16n16k8_f32_f32_cc_cc Tf32, M16N16K8, ColMajor ColMajor, f32 => f32, ColMajor ColMajor;
        wmma_f64_m8n8k4_f64_f64_cc_rr f64, M8N8K4, ColMajor ColMajor, f64 => f64, RowMajor RowMajor;
    }
}

/// From sm_75 on: 4-bit integers and bits.
#[cfg(any(not(target_arch = "nvptx64"), warpsmith_arch_at_least = "80"))]
pub mod packed {
    use super::*;
    products! {
        wmma_u4_m8n8k32_i32_i32_rc_rc U4, M8N8K32, RowMajor ColMajor, i32 => i32, RowMajor ColMajor;
        wmma_i4_m8n8k32_i32_i32_rc_rc I4, M8N8K32, RowMajor ColMajor, i32 => i32, RowMajor ColMajor;
    }

    macro_rules! bits {
        ($($name:ident $mma:ident;)*) => {$(
            /// Bits combined and counted.
            #[kernel(launch_bounds(32, exact))]
            pub unsafe fn $name(strides: Strides, a: *const u32, b: *const u32, c: *const i32, d: *mut i32) {
                // SAFETY: the caller vouches for the tiles.
                unsafe {
                    let a = MatrixA::<B1, M8N8K128, RowMajor>::load_from(a, strides.0[0]);
                    let b = MatrixB::<B1, M8N8K128, ColMajor>::load_from(b, strides.0[1]);
                    let c = Accumulator::<i32, M8N8K128>::load_from(c, strides.0[2], RowMajor);
                    $mma(&a, &b, &c).store_to(d, strides.0[3], RowMajor);
                }
            }
        )*};
    }
    bits! {
        wmma_b1_xor mma_xor_popcount;
        wmma_b1_and mma_and_popcount;
    }
}

/// Fragments that never touch memory before the store: filled, scaled, and combined element by element.
#[kernel(launch_bounds(32, exact))]
pub unsafe fn wmma_fill_and_map(a: f16, b: f16, alpha: f32, c: *const f32, d: *mut f32) {
    // SAFETY: the caller vouches for the tiles.
    unsafe {
        let (a, b) = (
            MatrixA::<f16, M16N16K16, RowMajor>::fill(a),
            MatrixB::<f16, M16N16K16, ColMajor>::fill(b),
        );
        let product: Accumulator<f32, M16N16K16> = mma(&a, &b, &Accumulator::<f32, _>::fill(0.0));
        let c = Accumulator::<f32, M16N16K16>::load_from(c, 16, RowMajor);
        product
            .map(|x| x * alpha)
            .zip_map(c, |x, y| x - y)
            .store_to(d, 16, RowMajor);
    }
}

/// A chain of multiplications along K, from global memory through shared memory: 16 rows of A, 16 columns of B.
#[kernel(launch_bounds(32, exact))]
pub unsafe fn wmma_chain(a: &[f16], b: &[f16], d: *mut f32) {
    let k = a.len() / 16;
    let lane = thread::linear_in_block() as usize;
    let tile = shared!(raw Tile);
    let tile = tile.as_mut_ptr().cast::<f16>();
    let mut sum = Accumulator::<f32, M16N16K16>::fill(0.0);
    for step in 0..k / 16 {
        block::sync();
        for row in 0..16 {
            if lane < 16 {
                // SAFETY: each lane copies elements of its own.
                unsafe {
                    tile.add(row * 16 + lane)
                        .write(a[row * k + step * 16 + lane])
                };
            }
        }
        block::sync();
        // SAFETY: the tile was filled before the barrier; the shared object is aligned to 32 bytes.
        let a = unsafe { MatrixA::<f16, M16N16K16, RowMajor>::load_from(tile, 16) };
        let b = MatrixB::<f16, M16N16K16, ColMajor>::load(&b[step * 16..], k);
        sum = mma(&a, &b, &sum);
    }
    // SAFETY: the host passes 256 words.
    unsafe { sum.store_to(d, 16, RowMajor) };
}

/// Room for a tile of `f16`.
#[repr(C, align(32))]
struct Tile([u16; 256]);
