//! Rays that meet a scene.

use super::prelude::*;
use kernels::ray_march::{march, scene};

case!(ray_march: "rays that march to a scene of distances", "columns", simulator [40, 2], gpu 2000);

fn prepare(session: &Session, columns: usize) -> Result<Box<dyn Problem>> {
    let rows = columns * 3 / 4 + 1;
    let step = (rows * columns).div_ceil(2000);
    let scene = scene();
    let of_pixel = |i: usize| {
        let (x, y) = ((i % columns) as f32, (i / columns) as f32);
        let (width, height) = (columns as f32, rows as f32);
        let direction = [(x - width / 2.0) / width, (height / 2.0 - y) / width, 1.0];
        f64::from(march(&scene, direction))
    };
    let want = (0..rows * columns).step_by(step).map(of_pixel).collect();
    let check = nearly::<f32>(want, 1e-2);
    let kernel = session.pair(kernels::ray_march::ray_march, "ray_march")?;
    problem(
        session,
        format!("{rows} x {columns}"),
        &vec![f32::NAN; rows * columns],
        move |session, side, distances| {
            let grid = Grid::cover_2d((columns, rows), (16, 16));
            let distances = distances.matrix_mut(rows, columns)?;
            launch_pair!(session, side, kernel, grid, (distances,));
            Ok(())
        },
        every(step, check),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_floor_is_met_where_it_is() {
        // Down and away from all else.
        let way = march(&scene(), [3.0, -1.0, -3.0]);
        assert!((way - 19f32.sqrt()).abs() < 1e-3, "{way}");
    }
}
