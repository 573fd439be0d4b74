//! Programmatic dependent launch: a grid that begins before the one before it in its stream has ended, and what it may do until then
//! (CUDA C++ Programming Guide, "Programmatic Dependent Launch and Synchronization").
//!
//! The *primary* grid lets it begin by [`launch_dependents`]; the *dependent* one [`wait`]s for the end of the primary before it touches what
//! that writes or reads. A parameter [`AfterPrimary`] cannot be reached before. What a dependent grid can do before the wait is what
//! needs no memory of others: compute indices, initialise shared memory, set up barriers.
//!
//! A dependent grid begins early only if it is launched so (`Stream::launch_early` of the host library). Else, and wherever the device has no
//! room for it, it begins after the primary has ended; so nothing may rely on both running at the same time.

use crate::view::{
    Matrix, MatrixOut, PerBlock, PerThread, PerThread3d, PerThreadVectors, PerWarp, RowPerBlock,
    RowPerWarp, Scatter, TilePerBlock, VolumeOut,
};
use crate::{
    atomic::{AtomicSlice, AtomicValue, GridScope},
    vector::Lanes,
};

/// Lets grids begin that depend on this one, once each block of this grid has executed it or exited. The first thread counts for its
/// block, and executing it again changes nothing. It shows nobody what this grid has written: that is what [`wait`] is for.
///
/// Becomes `griddepcontrol.launch_dependents;`. `sm_90`.
///
/// ```
/// use warpsmith_device::dependent;
/// use warpsmith_device::prelude::*;
///
/// #[kernel]
/// pub fn primary(x: &[f32], mut y: PerThread<[f32]>) {
///     dependent::launch_dependents();
///     if let (Some(x), Some(y)) = (x.get(thread::index()), y.mine()) {
///         *y = x.sqrt_approx();
///     }
/// }
/// ```
#[inline(always)]
pub fn launch_dependents() {
    // SAFETY: the instruction makes no access; without `nomem` the compiler keeps accesses on their side of it.
    on_device! { unsafe { core::arch::asm!("griddepcontrol.launch_dependents;") } }
}

/// Waits until all grids that this one depends on have ended; what they have written can be read from here on. Returns at once where there
/// are none, or where this grid was not launched to begin early. Each thread that reads what they wrote waits, or is synchronised with one
/// that has.
///
/// Becomes `griddepcontrol.wait;`. `sm_90`.
///
/// ```no_run
/// warpsmith_device::dependent::wait();
/// ```
#[inline(always)]
pub fn wait() {
    // SAFETY: the instruction makes no access; without `nomem` the compiler keeps accesses on their side of it.
    on_device! { unsafe { core::arch::asm!("griddepcontrol.wait;") } }
}

/// A parameter that a kernel cannot reach before the grids that it depends on have ended.
///
/// A kernel whose memory is all passed so can be launched early in safe code (`Stream::launch_early`): it cannot read what the primary grid
/// has not written yet, nor write what that still reads. Launched otherwise it works as well. Loads after the wait are no
/// `ld.global.nc`, as the memory may change while the kernel runs.
///
/// ```
/// use warpsmith_device::dependent::AfterPrimary;
/// use warpsmith_device::prelude::*;
///
/// #[kernel]
/// pub fn secondary(x: AfterPrimary<&[f32]>, y: AfterPrimary<PerThread<[f32]>>) {
///     let i = thread::index();
///     let x = x.wait();
///     let mut y = y.wait();
///     if let (Some(x), Some(y)) = (x.get(i), y.mine()) {
///         *y += *x;
///     }
/// }
/// ```
///
/// What is inside is there after the wait alone:
///
/// ```compile_fail,E0599
/// use warpsmith_device::dependent::AfterPrimary;
/// use warpsmith_device::prelude::*;
///
/// #[kernel]
/// pub fn too_early(x: AfterPrimary<&[f32]>, mut y: PerThread<[f32]>) {
///     let first = x.get(0);
/// }
/// ```
// covers: PDL-02
pub struct AfterPrimary<V: Awaitable> {
    parts: V::Parts,
}

impl<V: Awaitable> AfterPrimary<V> {
    /// # Safety
    /// From the end of the grids that this one depends on, `parts` are what [`Awaitable::from_parts`] takes.
    #[inline(always)]
    pub(crate) unsafe fn new(parts: V::Parts) -> Self {
        AfterPrimary { parts }
    }

    /// [`wait`]s, and gives what is inside. Waiting a second time, for another parameter, costs an instruction.
    #[inline(always)]
    pub fn wait(self) -> V {
        wait();
        // SAFETY: the grids that this one depends on have ended, and `new`'s caller has promised the rest.
        unsafe { V::from_parts(self.parts) }
    }
}

/// What a parameter can be that leads to memory.
///
/// # Safety
/// Values of [`Parts`](Self::Parts) are plain addresses and numbers, to which nothing is promised before [`from_parts`](Self::from_parts).
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not wait for other grids",
    label = "only a parameter that leads to memory is put into `AfterPrimary`",
    note = "`&[T]`, `&T`, `Matrix<T>` and the output views are; numbers and structs are passed as they are",
    note = "textures and surfaces are not: a fetch after the wait need not see what the grids before have written"
)]
pub unsafe trait Awaitable {
    /// The flat parameters.
    type Parts: Copy;

    /// # Safety
    /// As for the parameter itself: the parts are what a launch passes, valid as the parameter promises, for as long as it lives.
    unsafe fn from_parts(parts: Self::Parts) -> Self;
}

// SAFETY: pointer and length.
unsafe impl<T> Awaitable for &[T] {
    type Parts = (*const T, usize);

    #[inline(always)]
    unsafe fn from_parts((pointer, length): Self::Parts) -> Self {
        // SAFETY: pointer and length are a slice's, by the function's condition.
        unsafe { core::slice::from_raw_parts(pointer, length) }
    }
}

// SAFETY: a pointer.
unsafe impl<T> Awaitable for &T {
    type Parts = *const T;

    #[inline(always)]
    unsafe fn from_parts(pointer: *const T) -> Self {
        // SAFETY: the pointer is a reference's, by the function's condition.
        unsafe { &*pointer }
    }
}

macro_rules! slices {
    ($($view:ident $(<$bound:path>)? $([$scope:ident: $scopes:path])?;)*) => {$(
        // SAFETY: pointer and length.
        unsafe impl<T $(: $bound)? $(, $scope: $scopes)?> Awaitable for $view<'_, slices!(@argument T $($scope)?) $(, $scope)?> {
            type Parts = (*mut T, usize);

            #[inline(always)]
            unsafe fn from_parts((pointer, length): Self::Parts) -> Self {
                // SAFETY: pointer and length are of memory for the view alone, by the function's condition.
                unsafe { $view::from_raw_parts(pointer, length) }
            }
        }
    )*};
    (@argument $element:ident) => { [$element] };
    (@argument $element:ident $scope:ident) => { $element };
}
slices! {
    PerThread;
    PerThreadVectors<Lanes>;
    PerThread3d;
    PerBlock;
    PerWarp;
    Scatter<bytemuck::Pod>;
    AtomicSlice<AtomicValue> [S: GridScope];
}

macro_rules! matrices {
    ($($view:ident $([$($size:ident),*])?, $pointer:tt, $last:ty;)*) => {$(
        // SAFETY: pointer and shape.
        unsafe impl<T $($(, const $size: usize)*)?> Awaitable for $view<'_, T $($(, $size)*)?> {
            type Parts = (*$pointer T, (u32, u32, $last));

            #[inline(always)]
            unsafe fn from_parts((pointer, (one, two, last)): Self::Parts) -> Self {
                // SAFETY: pointer and shape are a matrix's or a volume's, for the view alone if it writes, by the function's condition.
                unsafe { $view::from_raw_parts(pointer, one, two, last) }
            }
        }
    )*};
}
matrices! {
    Matrix, const, u32;
    MatrixOut, mut, u32;
    RowPerWarp, mut, u32;
    RowPerBlock, mut, u32;
    TilePerBlock [R, C], mut, u32;
    VolumeOut, mut, u64;
}
