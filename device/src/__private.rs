//! What macro expansions need. Not an interface.

pub use bytemuck;
pub use warpsmith_macros::__gpu_format;

use bytemuck::Pod;

pub use crate::view::{MatrixView, OutputView};

/// The answer of every intrinsic outside of a kernel.
#[cold]
#[inline(never)]
#[track_caller]
pub fn called_on_the_host() -> ! {
    panic!("this is an intrinsic of the GPU: it works inside a kernel, not on the host")
}

/// Plain data whose bytes may cross between host and device.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be passed to a kernel",
    label = "its bytes are copied between host and device, so it has to be plain old data",
    note = "give your struct a fixed layout: `#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)] #[repr(C)]`"
)]
pub trait Passable: Copy + 'static {}
impl<T: Pod> Passable for T {}

/// Fails to compile for what a kernel cannot take.
pub const fn assert_passable<T: Passable>() {
    assert!(
        size_of::<T>() != 0,
        "a kernel's parameter cannot be zero-sized: PTX has no such parameters"
    );
}

/// Fails to compile for what the host cannot set.
pub const fn assert_any_bytes<T: crate::statics::AnyBytes>() {}

/// A `&[T]` parameter, without null checks in `get`.
///
/// # Safety
/// As [`core::slice::from_raw_parts`].
#[inline(always)]
pub unsafe fn slice<'a, T>(pointer: *const T, length: usize) -> &'a [T] {
    // SAFETY: `pointer` and `length` are a slice's, by the function's condition; a slice's pointer is not null.
    unsafe {
        core::hint::assert_unchecked(!pointer.is_null());
        core::slice::from_raw_parts(pointer, length)
    }
}

/// Lays out a kernel record.
pub const fn record<const WORDS: usize>(head: [u32; 16], rows: &[[u32; 4]]) -> [u32; WORDS] {
    let mut words = [0; WORDS];
    let mut i = 0;
    while i < head.len() {
        words[i] = head[i];
        i += 1;
    }
    let mut row = 0;
    while row < rows.len() {
        let mut column = 0;
        while column < 4 {
            words[16 + 4 * row + column] = rows[row][column];
            column += 1;
        }
        row += 1;
    }
    words
}

/// What the hidden name of a kernel's body means within the body.
pub struct NotAFunction;
