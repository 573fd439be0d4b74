//! What a parameter is, its type says, whatever it is called; and it lives as long as the launch.
use warpsmith_device::prelude::*;
use warpsmith_device::view::MatrixOut as Matrix;
use warpsmith_device::view::PerThread as PerThread3d;

mod mine {
    pub struct PerThread<'a, T: ?Sized>(pub &'a T);
    pub struct MatrixOut<T>(pub T);
}

#[kernel]
pub fn a_view_of_ones_own(x: mine::PerThread<[u32]>) {}

#[kernel]
pub fn a_matrix_of_ones_own(x: mine::MatrixOut<u32>) {}

#[kernel]
pub fn for_ever(x: &'static [u32], y: &'static u32, z: PerThread3d<'static, [u32]>) {}

pub type ForEver = Matrix<'static, u32>;

#[kernel]
pub fn for_ever_by_an_alias(x: ForEver) {}

fn main() {}
