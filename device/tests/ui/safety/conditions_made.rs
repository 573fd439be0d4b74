//! No code of a kernel makes a condition.
use warpsmith_device::graph::Condition;

fn made<'a>() -> Condition<'a> {
    Condition { handle: 7, launch: core::marker::PhantomData }
}

fn main() {}
