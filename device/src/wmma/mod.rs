//! Warp matrix multiply-accumulate: D = A x B + C on tiles, by a whole warp, on the tensor cores.
//!
//! The 32 lanes of a warp hold a tile together, as a fragment: [`MatrixA`], [`MatrixB`], [`Accumulator`]. Which lane holds which
//! element is not specified. Types carry element, shape and layout, and only the combinations that the hardware has
//! exist:
//!
//! | A, B | accumulators | shapes | layouts | arch |
//! | --- | --- | --- | --- | --- |
//! | `f16` | `f32`, `f16` (C and D each) | [`M16N16K16`], [`M32N8K16`], [`M8N32K16`] | all | sm_70 |
//! | `u8`, `i8` | `i32` | the same | all | sm_72 |
//! | `bf16` | `f32` | the same | all | sm_80 |
//! | [`Tf32`] | `f32` | [`M16N16K8`] | all | sm_80 |
//! | `f64` | `f64` | [`M8N8K4`] | all | sm_80 |
//! | [`U4`], [`I4`] | `i32` | [`M8N8K32`] | A row, B column | sm_75 |
//! | [`B1`] | `i32` | [`M8N8K128`] | A row, B column | sm_75 |
//!
//! ```no_run
//! use warpsmith_device::half::f16;
//! use warpsmith_device::wmma::*;
//! /// One 16 x 16 tile of C += A x B; all matrices row-major with 16 columns, B of the type of a column-major one.
//! fn tile(a: &[f16], b: &[f16], c: &mut [f32]) {
//!     let a = MatrixA::<f16, M16N16K16, RowMajor>::load(a, 16);
//!     let b = MatrixB::<f16, M16N16K16, ColMajor>::load(b, 16);
//!     let mut sum = Accumulator::<f32, M16N16K16>::load(c, 16, RowMajor);
//!     sum = mma(&a, &b, &sum);
//!     sum.store(c, 16, RowMajor);
//! }
//! ```
//!
//! # Rules
//!
//! **All 32 lanes of the warp call the same function, with the same arguments**: a condition around it must be the same for the whole
//! warp, the block's size a multiple of 32, and no lane may have ended. The simulator reports violations; hardware does
//! not. Loads and stores order nothing: between writing a tile in shared memory and loading it stands a
//! barrier. Tiles begin at addresses divisible by 32, and strides (in elements) are multiples of 16 bytes; the checked
//! functions panic otherwise.
//!
//! Fragments live in registers. They cannot be stored in buffers or passed to kernels: their meaning is the
//! architecture's own. Guide §7.24.

mod instructions;
mod packed;
mod types;

pub use instructions::{Multiply, MultiplySaturating, OperandA, OperandB, OperandC};
pub use packed::mma_and_popcount;
pub use packed::mma_xor_popcount;
pub use types::{
    B1, ColMajor, Element, I4, Layout, M8N8K4, M8N8K32, M8N8K128, M8N32K16, M16N16K8, M16N16K16,
    M32N8K16, RowMajor, Shape, Tf32, U4,
};

/// A tile of A: `M` x `K` elements of type `T`, that lay in memory as `L`.
pub struct MatrixA<T: OperandA<S, L>, S: Shape, L: Layout> {
    registers: <T as OperandA<S, L>>::Registers,
}

/// A tile of B: `K` x `N` elements of type `T`, that lay in memory as `L`.
pub struct MatrixB<T: OperandB<S, L>, S: Shape, L: Layout> {
    registers: <T as OperandB<S, L>>::Registers,
}

/// A tile of C or D: `M` x `N` elements of type `T`.
pub struct Accumulator<T: OperandC<S>, S: Shape> {
    registers: <T as OperandC<S>>::Registers,
}

macro_rules! copies {
    ($name:ident, $trait:ident $(, $layout:ident)?) => {
        impl<T: $trait<S $(, $layout)?>, S: Shape $(, $layout: Layout)?> Clone for $name<T, S $(, $layout)?> {
            #[inline(always)]
            fn clone(&self) -> Self {
                *self
            }
        }
        impl<T: $trait<S $(, $layout)?>, S: Shape $(, $layout: Layout)?> Copy for $name<T, S $(, $layout)?> {}
    };
}
copies!(MatrixA, OperandA, L);
copies!(MatrixB, OperandB, L);
copies!(Accumulator, OperandC);

/// The checks of the safe loads and stores: `lines` lines of `length` elements, `stride` apart, within `len` stored words.
#[inline(always)]
#[track_caller]
fn check<T: Element>(
    address: usize,
    len: usize,
    lines: usize,
    length: usize,
    stride: usize,
) -> u32 {
    assert!(
        stride.is_multiple_of(T::STRIDE),
        "the stride of a matrix tile must be a multiple of 16 bytes"
    );
    assert!(
        address.is_multiple_of(32),
        "a matrix tile must begin at an address divisible by 32"
    );
    let last = (lines - 1) * stride + length;
    assert!(
        stride >= length && last <= len * T::PACKED,
        "the matrix tile does not lie within the slice"
    );
    stride as u32
}

/// (number of lines, length of a line) of a tile of `rows` x `columns`.
#[inline(always)]
fn lines<L: Layout>(rows: usize, columns: usize) -> (usize, usize) {
    if L::ROW {
        (rows, columns)
    } else {
        (columns, rows)
    }
}

macro_rules! operand {
    ($name:ident, $trait:ident, $rows:ident, $columns:ident, $letter:literal, $what:literal) => {
        impl<T: $trait<S, L>, S: Shape, L: Layout> $name<T, S, L> {
            #[doc = concat!("Loads a tile of ", $what, " from the beginning of a slice of global or shared memory; ")]
            /// `stride` elements lie between the beginnings of rows (`ColMajor`: of columns).
            ///
            #[doc = concat!("PTX: `wmma.load.", $letter, ".sync.aligned.LAYOUT.SHAPE.TYPE`. CUDA C++: `load_matrix_sync`.")]
            ///
            /// # Panics
            /// If the tile does not lie within the slice, is not aligned to 32 bytes, or the stride is no multiple of 16 bytes.
            #[inline(always)]
            #[track_caller]
            pub fn load(source: &[T::Stored], stride: usize) -> Self {
                let (count, length) = lines::<L>(S::$rows, S::$columns);
                let stride = check::<T>(source.as_ptr().addr(), source.len(), count, length, stride);
                // SAFETY: `check` has compared the tile's extent and alignment with the slice, which is readable.
                unsafe { Self::load_from(source.as_ptr(), stride) }
            }

            /// [`load`](Self::load) without checks.
            ///
            /// # Safety
            /// The tile is in global or shared memory, is valid for reads and not written meanwhile; it begins at an address
            /// divisible by 32; `stride` is a multiple of 16 bytes of elements.
            #[inline(always)]
            pub unsafe fn load_from(source: *const T::Stored, stride: u32) -> Self {
                // SAFETY: the tile is aligned, and valid for the access by the whole warp, by the function's condition.
                Self { registers: unsafe { T::load(source, stride) } }
            }

            /// All elements the same (packed types: the element in the low bits of `value`). Not collective.
            /// CUDA C++: `fill_fragment`.
            #[inline(always)]
            pub fn fill(value: T::Stored) -> Self {
                Self { registers: T::fill(value) }
            }
        }
    };
}
operand!(MatrixA, OperandA, M, K, "a", "A");
operand!(MatrixB, OperandB, K, N, "b", "B");

impl<T: OperandC<S>, S: Shape> Accumulator<T, S> {
    /// How many elements of the tile one lane holds: CUDA C++'s `num_elements`.
    pub const ELEMENTS: usize = T::ELEMENTS;

    /// All elements the same. Not collective. CUDA C++: `fill_fragment`.
    #[inline(always)]
    pub fn fill(value: T::Stored) -> Self {
        Self {
            registers: T::fill(value),
        }
    }

    /// Loads a tile of C from the beginning of a slice of global or shared memory.
    ///
    /// PTX: `wmma.load.c.sync.aligned.LAYOUT.SHAPE.TYPE`. CUDA C++: `load_matrix_sync` with `mem_row_major` or `mem_col_major`.
    ///
    /// # Panics
    /// If the tile does not lie within the slice, is not aligned to 32 bytes, or the stride is no multiple of 16 bytes.
    #[inline(always)]
    #[track_caller]
    pub fn load<L: Layout>(source: &[T::Stored], stride: usize, layout: L) -> Self {
        let (count, length) = lines::<L>(S::M, S::N);
        let stride = check::<T>(source.as_ptr().addr(), source.len(), count, length, stride);
        // SAFETY: `check` has compared the tile's extent and alignment with the slice, which is readable.
        unsafe { Self::load_from(source.as_ptr(), stride, layout) }
    }

    /// [`load`](Self::load) without checks.
    ///
    /// # Safety
    /// The tile is in global or shared memory, is valid for reads and not written meanwhile; it begins at an address
    /// divisible by 32; `stride` is a multiple of 16 bytes of elements.
    #[inline(always)]
    pub unsafe fn load_from<L: Layout>(source: *const T::Stored, stride: u32, _layout: L) -> Self {
        // SAFETY: the tile is aligned, and valid for the access by the whole warp, by the function's condition.
        let registers = unsafe { T::load::<L>(source, stride) };
        Self { registers }
    }

    /// Stores the tile to the beginning of a slice of global or shared memory; each element is written once, by one lane.
    ///
    /// Every lane passes the same slice, so a slice that is exclusive to each thread does not fit: it must come from a view
    /// that belongs to the warp. Where there is none, [`store_to`](Self::store_to) takes a pointer.
    ///
    /// PTX: `wmma.store.d.sync.aligned.LAYOUT.SHAPE.TYPE`. CUDA C++: `store_matrix_sync`.
    ///
    /// # Panics
    /// If the tile does not lie within the slice, is not aligned to 32 bytes, or the stride is no multiple of 16 bytes.
    #[inline(always)]
    #[track_caller]
    pub fn store<L: Layout>(&self, target: &mut [T::Stored], stride: usize, layout: L) {
        let (count, length) = lines::<L>(S::M, S::N);
        let stride = check::<T>(target.as_ptr().addr(), target.len(), count, length, stride);
        // SAFETY: `check` has compared the tile's extent and alignment with the slice, which is writable and exclusive.
        unsafe { self.store_to(target.as_mut_ptr(), stride, layout) }
    }

    /// [`store`](Self::store) without checks.
    ///
    /// # Safety
    /// The tile is in global or shared memory, is valid for writes by the whole warp, and accessed by no other thread
    /// meanwhile; it begins at an address divisible by 32; `stride` is a multiple of 16 bytes of elements.
    #[inline(always)]
    pub unsafe fn store_to<L: Layout>(&self, target: *mut T::Stored, stride: u32, _layout: L) {
        // SAFETY: the tile is aligned, and valid for the access by the whole warp, by the function's condition.
        unsafe { T::store::<L>(self.registers, target, stride) }
    }

    /// The same function of every element (`x[i]` in CUDA C++): scaling, rounding, an activation. What depends on an
    /// element's position in the tile has to go through memory. Not collective.
    ///
    /// ```no_run
    /// # use warpsmith_device::wmma::*;
    /// fn halve(tile: Accumulator<f32, M16N16K16>) -> Accumulator<f32, M16N16K16> {
    ///     tile.map(|x| 0.5 * x)
    /// }
    /// ```
    #[inline(always)]
    pub fn map(self, mut function: impl FnMut(T::Stored) -> T::Stored) -> Self {
        Self {
            registers: T::zip(self.registers, self.registers, |x, _| function(x)),
        }
    }

    /// Element by element with another accumulator of the same type: `alpha * a + beta * b`. Not collective.
    #[inline(always)]
    pub fn zip_map(
        self,
        other: Self,
        function: impl FnMut(T::Stored, T::Stored) -> T::Stored,
    ) -> Self {
        Self {
            registers: T::zip(self.registers, other.registers, function),
        }
    }
}

impl<S: Shape> Accumulator<f32, S>
where
    f32: OperandC<S>,
{
    /// Infinities become the largest finite values, NaN zero: the guide's `satf` for floats, which is no instruction.
    #[inline(always)]
    pub fn saturate_finite(self) -> Self {
        self.map(|x| {
            if x.is_nan() {
                0.0
            } else {
                x.clamp(f32::MIN, f32::MAX)
            }
        })
    }
}

/// D = A x B + C. PTX: `wmma.mma.sync.aligned.LAYOUT_A.LAYOUT_B.SHAPE.TYPES`. CUDA C++: `mma_sync`.
///
/// Collective: see the rules of the [module](self). The order of the sums is not specified; for `f64` each rounds to
/// nearest even. Integer sums wrap.
#[inline(always)]
pub fn mma<T, S, LA, LB, C, D>(
    a: &MatrixA<T, S, LA>,
    b: &MatrixB<T, S, LB>,
    c: &Accumulator<C, S>,
) -> Accumulator<D, S>
where
    S: Shape,
    LA: Layout,
    LB: Layout,
    C: OperandC<S>,
    D: OperandC<S>,
    T: Multiply<S, LA, LB, C, D>,
{
    Accumulator {
        registers: T::multiply(a.registers, b.registers, c.registers),
    }
}

/// D = A x B + C, where sums stop at the ends of `i32`. PTX: `wmma.mma....satfinite`. CUDA C++: `mma_sync` with `satf`.
///
/// Collective: see the rules of the [module](self).
#[inline(always)]
pub fn mma_saturating<T, S, LA, LB>(
    a: &MatrixA<T, S, LA>,
    b: &MatrixB<T, S, LB>,
    c: &Accumulator<i32, S>,
) -> Accumulator<i32, S>
where
    S: Shape,
    LA: Layout,
    LB: Layout,
    i32: OperandC<S>,
    T: MultiplySaturating<S, LA, LB>,
{
    Accumulator {
        registers: T::multiply_saturating(a.registers, b.registers, c.registers),
    }
}
