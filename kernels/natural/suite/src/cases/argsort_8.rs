//! The order of short lists.

use super::prelude::*;
use kernels::argsort_8::LENGTH;

case!(argsort_8: "the order of eight elements, by a network", "lists", simulator [500, 1], gpu 1 << 22);

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    // Some elements of a list are equal.
    let elements: Vec<f32> = below(1, LENGTH * n, 40).iter().map(|&x| x as f32).collect();
    let lists: &[[f32; LENGTH]] = elements.as_chunks().0;
    let step = n.div_ceil(100_000);
    let want: Vec<[u8; LENGTH]> = lists
        .iter()
        .step_by(step)
        .map(|list| {
            let mut order = [0, 1, 2, 3, 4, 5, 6, 7];
            order.sort_by(|&i, &j| list[usize::from(i)].total_cmp(&list[usize::from(j)]));
            order
        })
        .collect();
    let check = exactly(want.as_flattened().to_vec());
    let kernel = session.pair(kernels::argsort_8::argsort_8, "argsort_8")?;
    let lists = session.stream.upload(lists)?;
    problem(
        session,
        format!("{n} lists of {LENGTH}"),
        &vec![[0u8; LENGTH]; n],
        move |session, side, orders| {
            let grid = Grid::cover(n, 256);
            launch_pair!(session, side, kernel, grid, (&lists, orders));
            Ok(())
        },
        every_array(step, check),
    )
}
