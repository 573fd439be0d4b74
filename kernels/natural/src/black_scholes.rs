//! Prices of European options, by Black and Scholes.

use warpsmith_device::prelude::*;

/// Call and put price of each option.
#[kernel]
pub fn black_scholes(
    prices: &[f32],
    strikes: &[f32],
    years: &[f32],
    rate: f32,
    volatility: f32,
    mut out: PerThread<[[f32; 2]]>,
) {
    let i = thread::index();
    if let Some(out) = out.mine() {
        let (price, strike, years) = (prices[i], strikes[i], years[i]);
        let root = FloatExt::sqrt(years);
        let d1 = ((price / strike).ln_approx() + (rate + 0.5 * volatility * volatility) * years)
            / (volatility * root);
        let d2 = d1 - volatility * root;
        let (n1, n2) = (normal(d1), normal(d2));
        let discounted = strike * (-rate * years).exp_approx();
        *out = [
            price * n1 - discounted * n2,
            discounted * (1.0 - n2) - price * (1.0 - n1),
        ];
    }
}

/// The normal distribution.
fn normal(d: f32) -> f32 {
    let k = 1.0 / (1.0 + 0.231_641_9 * d.abs());
    let polynomial = k
        * (0.319_381_53
            + k * (-0.356_563_78 + k * (1.781_477_9 + k * (-1.821_255_9 + k * 1.330_274_5))));
    let tail = 0.398_942_3 * (-0.5 * d * d).exp_approx() * polynomial;
    if d > 0.0 { 1.0 - tail } else { tail }
}
