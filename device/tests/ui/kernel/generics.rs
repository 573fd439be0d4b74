//! Generic kernels.
use warpsmith_device::launch::KernelItem;
use warpsmith_device::prelude::*;

#[kernel]
pub fn no_list<T: bytemuck::Pod>(x: &[T]) {}

#[kernel(instantiate(f32))]
pub fn not_generic(x: &[f32]) {}

#[kernel(instantiate())]
pub fn empty_list<T: bytemuck::Pod>(x: &[T]) {}

#[kernel(instantiate(f32, f64))]
pub fn wrong_number<T: bytemuck::Pod, const N: usize>(x: &[T]) {}

#[kernel(instantiate(f32, f32))]
pub fn the_same_twice<T: bytemuck::Pod>(x: &[T]) {}

#[kernel(instantiate(f32, f64))]
pub fn good<T: bytemuck::Pod>(x: &[T]) {}

fn launch<I: KernelItem>(_: I) {}

fn main() {
    launch(good::<f32>);
    launch(good::<u8>);
}
