//! Tracks smoothed.

use super::prelude::*;
use kernels::kalman::Filter;

case!(kalman: "tracks of points by Kalman's filter", "tracks", simulator [30, 1], gpu 1 << 17);

const TIMES: usize = 60;
const DT: f32 = 0.1;
const NOISE: f32 = 0.5;

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    let speeds = draw::<f32>(1, 2 * n);
    let mut seen: Vec<[f32; 2]> = draw::<f32>(2, 2 * n * TIMES).as_chunks().0.to_vec();
    for (i, point) in seen.iter_mut().enumerate() {
        let (time, track) = ((i / n) as f32 * DT, i % n);
        point[0] += speeds[2 * track] * time;
        point[1] += speeds[2 * track + 1] * time;
    }
    let step = n.div_ceil(500);
    let want = (0..n)
        .step_by(step)
        .flat_map(|track| {
            let mut filter = Filter::new(seen[track]);
            for time in 1..TIMES {
                filter.step(DT, NOISE, seen[time * n + track]);
            }
            filter.state.0.map(|[x]| f64::from(x))
        })
        .collect();
    let check = nearly::<f32>(want, 1e-4);
    let kernel = session.pair(kernels::kalman::kalman, "kalman")?;
    let seen = session.stream.upload(&seen)?;
    problem(
        session,
        format!("{n} tracks of {TIMES} points"),
        &vec![[f32::NAN; 4]; n],
        move |session, side, states| {
            let grid = Grid::cover(n, 128);
            let seen = seen.matrix(TIMES, n)?;
            launch_pair!(session, side, kernel, grid, (seen, DT, NOISE, states));
            Ok(())
        },
        every_array(step, check),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_speed_is_found() {
        let mut filter = Filter::new([0.0, 1.0]);
        for i in 1..200u8 {
            let time = f32::from(i) * DT;
            filter.step(DT, NOISE, [2.0 * time, 1.0 - time]);
        }
        assert!((filter.state.0[2][0] - 2.0).abs() < 1e-2);
        assert!((filter.state.0[3][0] + 1.0).abs() < 1e-2);
    }
}
