//! Products of large integers.

use super::prelude::*;
use crate::problem::draw_long;
use kernels::big_multiply::{WORDS, multiply};

case!(big_multiply: "products of integers of 256 bits", "products", simulator [300, 1], gpu 1 << 21);

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    let most = [u64::MAX; WORDS];
    assert_eq!(
        multiply(&most, &most),
        [1, 0, 0, 0, u64::MAX - 1, u64::MAX, u64::MAX, u64::MAX]
    );
    let factors = |seed| -> Vec<[u64; WORDS]> { draw_long(seed, n * WORDS).as_chunks().0.to_vec() };
    let (a, b) = (factors(1), factors(2));
    let products = a.iter().zip(&b);
    let check = exactly::<u64>(products.flat_map(|(a, b)| multiply(a, b)).collect());
    let kernel = session.pair(kernels::big_multiply::big_multiply, "big_multiply")?;
    let (a, b) = (session.stream.upload(&a)?, session.stream.upload(&b)?);
    problem(
        session,
        format!("{n} products"),
        &vec![[0u64; 2 * WORDS]; n],
        move |session, side, products| {
            launch_pair!(
                session,
                side,
                kernel,
                Grid::cover(n, 256),
                (&a, &b, products)
            );
            Ok(())
        },
        move |got| check(got.as_flattened()),
    )
}
