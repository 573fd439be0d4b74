//! Places along a curve.

use super::prelude::*;
use kernels::hilbert::Place;

case!(hilbert: "places along a curve that fills a square", "places", simulator [200, 1], gpu 1 << 22);

const DISTANCE: u32 = 12_345;

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    let words = draw::<u32>(1, n);
    let places: Vec<[u16; 2]> = words
        .iter()
        .map(|&word| [word as u16, (word >> 16) as u16])
        .collect();
    let step = n.div_ceil(20_000);
    let want = places
        .iter()
        .step_by(step)
        .flat_map(|&[x, y]| {
            let (x, y) = (x.into(), y.into());
            let Place { x, y } = Place::at(Place { x, y }.along().wrapping_add(DISTANCE));
            [x as u16, y as u16]
        })
        .collect();
    let check = exactly(want);
    let kernel = session.pair(kernels::hilbert::hilbert, "hilbert")?;
    let places = session.stream.upload(&places)?;
    problem(
        session,
        format!("{n} places"),
        &vec![[0u16; 2]; n],
        move |session, side, moved| {
            let grid = Grid::cover(n, 256);
            launch_pair!(session, side, kernel, grid, (&places, DISTANCE, moved));
            Ok(())
        },
        every_array(step, check),
    )
}

#[cfg(test)]
mod tests {
    use super::Place;

    #[test]
    fn each_step_leads_to_a_neighbour_and_back() {
        for way in 0..10_000 {
            let (place, next) = (Place::at(way), Place::at(way + 1));
            assert_eq!(place.along(), way);
            let steps = place.x.abs_diff(next.x) + place.y.abs_diff(next.y);
            assert_eq!(steps, 1, "{place:?} and {next:?}");
        }
    }
}
