//! A parameter lives as long as the launch: what says otherwise is refused by the borrow checker.
use warpsmith_device::prelude::*;

#[kernel]
pub fn for_ever_by_a_bound<'a: 'static>(x: &'a [u32]) {}

#[kernel]
pub fn for_ever_by_a_where_clause<'a>(x: Matrix<'a, u32>)
where
    'a: 'static,
{
}

/// A stand-in for a cell that keeps references.
struct Once(core::marker::PhantomData<&'static u32>);

impl Once {
    fn set(&self, _: &'static u32) {}
}

static KEPT: Once = Once(core::marker::PhantomData);

#[kernel]
pub fn kept(x: &u32) {
    KEPT.set(x);
}

fn main() {}
