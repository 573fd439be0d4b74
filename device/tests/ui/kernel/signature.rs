//! Signatures that no kernel has.
use warpsmith_device::prelude::*;

#[kernel]
pub async fn waits(x: &[f32]) {}

#[kernel]
pub fn returns(x: &[f32]) -> f32 {
    x[0]
}

#[kernel]
pub const fn constant(x: &[f32]) {}

#[kernel]
pub extern "C" fn with_abi(x: &[f32]) {}

struct Owner;
impl Owner {
    #[kernel]
    pub fn method(&self, x: &[f32]) {}
}

#[kernel]
struct NotAFunction;

fn main() {}
