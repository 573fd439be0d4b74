//! Prices of American options.

use super::prelude::*;
use kernels::binomial::{Put, STEPS, THREADS};

case!(binomial: "American options by a tree in shared memory, a block an option", "options", simulator [6, 1], gpu 1 << 12);

const RATE: f32 = 0.05;
const VOLATILITY: f32 = 0.3;

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    let options: Vec<Put> = draw::<f32>(1, 3 * n)
        .as_chunks()
        .0
        .iter()
        .map(|[price, strike, years]| Put {
            price: 20.0 + 10.0 * price,
            strike: 20.0 + 10.0 * strike,
            years: 1.25 + years,
        })
        .collect();
    let want = options.iter().map(value_of).collect();
    let kernel = session.pair(kernels::binomial::binomial, "binomial")?;
    let options = session.stream.upload(&options)?;
    problem(
        session,
        format!("{n} options, {STEPS} steps"),
        &vec![f32::NAN; n],
        move |session, side, values| {
            let grid = Grid::new(n as u32, THREADS as u32);
            launch_pair!(
                session,
                side,
                kernel,
                grid,
                (&options, RATE, VOLATILITY, values)
            );
            Ok(())
        },
        nearly(want, 1e-3),
    )
}

fn value_of(option: &Put) -> f64 {
    let [price, strike, years] = [option.price, option.strike, option.years].map(f64::from);
    let (rate, volatility) = (f64::from(RATE), f64::from(VOLATILITY));
    let dt = years / STEPS as f64;
    let move_up = volatility * dt.sqrt();
    let (up, down) = (move_up.exp(), (-move_up).exp());
    let chance = ((rate * dt).exp() - down) / (up - down);
    let discount = (-rate * dt).exp();
    // The price after so many steps, of which so many went up, is that of their difference.
    let exercised: Vec<f64> = (0..=2 * STEPS)
        .map(|i| (strike - price * (move_up * (i as f64 - STEPS as f64)).exp()).max(0.0))
        .collect();
    let mut values: Vec<f64> = exercised.iter().copied().step_by(2).collect();
    for step in (0..STEPS).rev() {
        for ups in 0..=step {
            let held = discount * (chance * values[ups + 1] + (1.0 - chance) * values[ups]);
            values[ups] = held.max(exercised[2 * ups + STEPS - step]);
        }
    }
    values[0]
}
