//! Indices of 32 bits reach no more than others do: what is only read stays so, elements are given out once, and the types are the library's.
use warpsmith_device::index::Index32;
use warpsmith_device::prelude::*;
use warpsmith_device::strided::Counter;

#[kernel]
pub fn writes_what_is_read(x: &[u32], m: Matrix<u32>) {
    *x.at_mut(0) = 1;
    *m.at(0, 0) = 1;
}

#[kernel]
pub fn writes_what_all_read() {
    let view = shared!([u32; 32]).fill_with(|_| 0).sync();
    *view.at_mut(0) = 1;
}

#[kernel]
pub fn borrows_an_atomic_word(words: AtomicSlice<u32>) {
    *words.at_mut(0).get_mut() = 1;
}

#[kernel]
pub fn keeps_an_element_behind_a_barrier() {
    let view = shared!([u32; 32]).fill_with(|_| 0).sync();
    let first = view.at(0);
    let again = view.sync();
    let _ = (first, again);
}

#[kernel]
pub fn reads_before_a_barrier() {
    let filled = shared!([u32; 32]).fill_with(|_| 0);
    let _ = filled.at(0);
}

#[kernel]
pub fn reads_what_others_write(out: PerThread<[u32]>, places: Scatter<[u32]>) {
    let _ = (out.at(0), places.at(0));
}

#[kernel]
pub fn elements_twice(mut out: PerThread<[u32]>) {
    let all = (out.strided32(), out.strided32());
    let _ = all;
}

#[kernel]
pub fn copies_the_elements(mut out: PerThread<[u32]>) {
    let own = out.strided32();
    let _ = own.clone().zip(own);
}

#[kernel]
pub fn indices_that_are_not_of_32_bits(x: &[u32], i: usize, j: i32) {
    let _ = (x.at(i), x.at(j), x.at(0..i));
    let _ = strided::in_grid(0..j);
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Own;

impl Index32<u32> for Own {
    type Output = u32;
    type Wide = usize;
    fn widen(self) -> usize {
        usize::MAX
    }
}

impl Counter for Own {}

fn main() {}
