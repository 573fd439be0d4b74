//! Nobody uses a shared array, or writes the source, while a copy into it goes on.
use warpsmith_device::prelude::*;

#[kernel]
pub fn read_in_flight(x: &[u32], mut out: PerThread<[u32]>) {
    let array = shared!([u32; 32]);
    shared::copies(|copies| {
        let copying = copies.copy(x, array);
        if let Some(out) = out.mine() {
            *out = copying[0];
        }
    });
}

#[kernel]
pub fn filled_in_flight(x: &[u32]) {
    let array = shared!([u32; 32]);
    shared::copies(|copies| {
        let _copying = copies.copy(x, array);
        let _ = array.fill_with(|_| 0);
    });
}

#[kernel]
pub fn lent_again_in_flight(x: &[u32]) {
    let mut array = shared!([u32; 32]);
    shared::copies(|copies| {
        core::mem::forget(copies.copy(x, array.refill()));
        let _ = array.refill().fill_with(|_| 0).sync();
    });
}

#[kernel]
pub fn taken_out_in_flight(x: &[u32]) {
    let array = shared!([u32; 32]);
    let _copying = shared::copies(|copies| copies.copy(x, array));
}

#[kernel]
pub fn written_in_flight(factor: u32) {
    let array = shared!([u32; 32]);
    shared::copies(|copies| {
        let mut own = [factor; 32];
        let copying = copies.copy(&own, array);
        own[0] = 1;
        let _ = copying.sync();
    });
}

fn main() {}
