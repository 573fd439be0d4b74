//! Prices of American options by a tree of prices, a block an option.

use bytemuck::{Pod, Zeroable};
use warpsmith_device::prelude::*;

/// Steps of time until an option expires.
pub const STEPS: usize = 255;

/// Threads of a block: as many as the last step has prices.
pub const THREADS: usize = STEPS + 1;

/// The right to sell something.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Put {
    /// What it costs today.
    pub price: f32,
    /// What it is sold for.
    pub strike: f32,
    /// Until when.
    pub years: f32,
}

impl Put {
    /// What selling brings at a price.
    fn exercised(&self, price: f32) -> f32 {
        (self.strike - price).max(0.0)
    }
}

/// The value of each option, a thread for each price that is possible at the end.
#[kernel(launch_bounds(256, exact))]
pub fn binomial(options: &[Put], rate: f32, volatility: f32, mut values: PerBlock<[f32]>) {
    let mut tree = shared!([f32; THREADS]);
    let t = thread::thread_idx_x() as usize;
    let option = options[block::idx().0 as usize];

    let dt = option.years / STEPS as f32;
    let move_up = volatility * FloatExt::sqrt(dt);
    let (up, down) = (move_up.exp_approx(), (-move_up).exp_approx());
    let chance = ((rate * dt).exp_approx() - down) / (up - down);
    let discount = (-rate * dt).exp_approx();

    let mut price = option.price * (move_up * (2.0 * t as f32 - STEPS as f32)).exp_approx();
    let mut value = option.exercised(price);
    for step in (0..STEPS).rev() {
        let later = tree.refill().write(value).sync();
        if t <= step {
            price *= up;
            let held = discount * (chance * later[t + 1] + (1.0 - chance) * later[t]);
            value = held.max(option.exercised(price));
        }
    }
    if let Some(out) = values.leader() {
        *out = value;
    }
}
