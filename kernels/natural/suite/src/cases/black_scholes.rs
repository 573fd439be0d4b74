//! Prices of options.

use super::prelude::*;

case!(black_scholes: "prices of options", "options", simulator [300, 1], gpu 1 << 23);

const RATE: f32 = 0.02;
const VOLATILITY: f32 = 0.3;

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    let between = |seed, low: f32, high: f32| -> Vec<f32> {
        let middle = (low + high) / 2.0;
        let values = draw::<f32>(seed, n).into_iter();
        values.map(|x| middle + x * (high - low) / 2.0).collect()
    };
    let prices = between(1, 5.0, 30.0);
    let (strikes, years) = (between(2, 5.0, 40.0), between(3, 0.25, 10.0));
    let want: Vec<f64> = (0..n)
        .flat_map(|i| values(prices[i].into(), strikes[i].into(), years[i].into()))
        .collect();
    let check = nearly::<f32>(want, 1e-4);
    let kernel = session.pair(kernels::black_scholes::black_scholes, "black_scholes")?;
    let prices = session.stream.upload(&prices)?;
    let strikes = session.stream.upload(&strikes)?;
    let years = session.stream.upload(&years)?;
    problem(
        session,
        format!("{n} options"),
        &vec![[f32::NAN; 2]; n],
        move |session, side, out| {
            let arguments = (&prices, &strikes, &years, RATE, VOLATILITY, out);
            launch_pair!(session, side, kernel, Grid::cover(n, 256), arguments);
            Ok(())
        },
        move |got| check(got.as_flattened()),
    )
}

fn values(price: f64, strike: f64, years: f64) -> [f64; 2] {
    let (rate, volatility) = (f64::from(RATE), f64::from(VOLATILITY));
    let root = volatility * years.sqrt();
    let d1 = ((price / strike).ln() + (rate + 0.5 * volatility * volatility) * years) / root;
    let (n1, n2) = (normal(d1), normal(d1 - root));
    let discounted = strike * (-rate * years).exp();
    [
        price * n1 - discounted * n2,
        discounted * (1.0 - n2) - price * (1.0 - n1),
    ]
}

/// The polynomial that the kernel takes too: it is off by less than 1e-7.
fn normal(d: f64) -> f64 {
    let k = 1.0 / (1.0 + 0.2316419 * d.abs());
    let factors = [
        1.330274429,
        -1.821255978,
        1.781477937,
        -0.356563782,
        0.31938153,
    ];
    let polynomial = factors.iter().fold(0.0, |sum, factor| (sum + factor) * k);
    let tail = 0.3989422804 * (-0.5 * d * d).exp() * polynomial;
    if d > 0.0 { 1.0 - tail } else { tail }
}
