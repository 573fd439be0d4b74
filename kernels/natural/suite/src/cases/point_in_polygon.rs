//! In which polygon points lie.

use super::prelude::*;
use kernels::point_in_polygon::Point;
use std::f32::consts::TAU;

case!(point_in_polygon: "the polygon that a point is in, a thread a point", "points", simulator [200, 1], gpu 1 << 20);

const POLYGONS: usize = 24;

/// Places are multiples of its inverse, so that nothing is rounded and no edge is nearly met.
const GRID: f32 = 512.0;

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    let on_grid = |x: f32| (x * GRID).floor().clamp(-GRID, GRID - 1.0) / GRID;
    let point = |x: f32, y: f32| Point {
        x: on_grid(x),
        y: on_grid(y),
    };
    let points: Vec<Point> = draw::<f32>(1, 2 * n)
        .as_chunks()
        .0
        .iter()
        .map(|&[x, y]| point(x, y))
        .collect();
    // Stars with corners at random distances of a middle.
    let (mut corners, mut starts) = (Vec::new(), vec![0]);
    let middles = draw::<f32>(2, 2 * POLYGONS);
    for (polygon, edges) in below(3, POLYGONS, 30).into_iter().enumerate() {
        let edges = edges as usize + 3;
        let first = corners.len();
        for (i, distance) in draw::<f32>(4 + polygon as u64, edges).iter().enumerate() {
            let angle = TAU * i as f32 / edges as f32;
            let distance = 0.25 + 0.15 * distance;
            let [x, y] = [middles[2 * polygon], middles[2 * polygon + 1]];
            corners.push(point(
                x + distance * angle.cos(),
                y + distance * angle.sin(),
            ));
        }
        corners.push(corners[first]);
        starts.push(corners.len() as u32);
    }
    let step = n.div_ceil(20_000);
    let want = points
        .iter()
        .step_by(step)
        .map(|&point| {
            let is_in =
                |range: &[u32]| is_inside(point, &corners[range[0] as usize..range[1] as usize]);
            let polygon = starts.windows(2).position(is_in);
            polygon.map_or(u32::MAX, |polygon| polygon as u32)
        })
        .collect();
    let kernel = session.pair(
        kernels::point_in_polygon::point_in_polygon,
        "point_in_polygon",
    )?;
    let points = session.stream.upload(&points)?;
    let corners = session.stream.upload(&corners)?;
    let starts = session.stream.upload(&starts)?;
    problem(
        session,
        format!("{n} points, {} edges", corners.len() - POLYGONS),
        &vec![0u32; n],
        move |session, side, found| {
            let grid = Grid::cover(n, 256);
            let arguments = (&points, &corners, &starts, found);
            launch_pair!(session, side, kernel, grid, arguments);
            Ok(())
        },
        every(step, exactly(want)),
    )
}

/// Whether a ray to the right crosses the outline an odd number of times, in integers.
fn is_inside(point: Point, outline: &[Point]) -> bool {
    let place = |point: Point| [point.x, point.y].map(|x| (x * GRID) as i64);
    let [x, y] = place(point);
    let crossings = outline.windows(2).filter(|edge| {
        // From the lower end to the upper one.
        let (mut low, mut high) = (place(edge[0]), place(edge[1]));
        if low[1] > high[1] {
            (low, high) = (high, low);
        }
        let is_level = low[1] <= y && y < high[1];
        let (width, height) = (high[0] - low[0], high[1] - low[1]);
        is_level && (x - low[0]) * height < width * (y - low[1])
    });
    crossings.count() % 2 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_square() {
        let point = |x: f32, y: f32| Point { x, y };
        let square = [
            point(0.0, 0.0),
            point(0.5, 0.0),
            point(0.5, 0.5),
            point(0.0, 0.5),
            point(0.0, 0.0),
        ];
        assert!(is_inside(point(0.25, 0.125), &square));
        assert!(!is_inside(point(-0.25, 0.125), &square));
        assert!(!is_inside(point(0.75, 0.125), &square));
        assert!(!is_inside(point(0.25, 0.75), &square));
    }
}
