//! What macro expansions need. Not an interface.

pub use bytemuck;
pub use warpsmith_macros::__gpu_format;

use bytemuck::Pod;

/// The answer of every intrinsic outside of a kernel.
#[cold]
#[inline(never)]
#[track_caller]
pub fn called_on_the_host() -> ! {
    panic!("this is an intrinsic of the GPU: it works inside a kernel, not on the host")
}

/// Fails to compile for what is not plain data.
pub const fn assert_plain<T: Pod>() {}

/// Lays out a kernel record: its head, and the rows of each parameter.
pub const fn record<const WORDS: usize>(
    head: [u32; 16],
    parameters: &[&[[u32; 4]]],
) -> [u32; WORDS] {
    let mut words = [0; WORDS];
    let mut next = 0;
    while next < head.len() {
        words[next] = head[next];
        next += 1;
    }
    let mut parameter = 0;
    while parameter < parameters.len() {
        let mut row = 0;
        while row < parameters[parameter].len() {
            let mut column = 0;
            while column < 4 {
                words[next] = parameters[parameter][row][column];
                next += 1;
                column += 1;
            }
            row += 1;
        }
        parameter += 1;
    }
    words
}

/// What the hidden name of a kernel's body means within the body.
pub struct NotAFunction;
