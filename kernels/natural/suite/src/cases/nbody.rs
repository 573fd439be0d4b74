//! Gravity between all pairs of bodies.

use super::prelude::*;
use kernels::nbody::{SOFTENING, THREADS};
use warpsmith_device::vector::Float4;

case!(nbody: "n-body in shared tiles", "bodies", simulator [300, 1], gpu 1 << 14);

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    let bodies: Vec<Float4> = draw::<f32>(1, 4 * n)
        .chunks_exact(4)
        .map(|b| Float4::new(b[0], b[1], b[2], b[3].abs() / n as f32))
        .collect();
    let want = bodies.iter().flat_map(|own| acceleration(*own, &bodies));
    let want: Vec<f64> = want.collect();
    let kernel = session.pair(kernels::nbody::nbody, "nbody")?;
    let bodies = session.stream.upload(&bodies)?;
    let check = nearly::<f32>(want, 1e-4);
    problem(
        session,
        format!("{n} bodies"),
        &vec![[f32::NAN; 3]; n],
        move |session, side, accelerations| {
            let grid = Grid::cover(n, THREADS as u32);
            launch_pair!(session, side, kernel, grid, (&bodies, accelerations));
            Ok(())
        },
        move |got| check(got.as_flattened()),
    )
}

fn acceleration(own: Float4, bodies: &[Float4]) -> [f64; 3] {
    let mut sum = [0.0f64; 3];
    for other in bodies {
        let (dx, dy, dz) = (other.x - own.x, other.y - own.y, other.z - own.z);
        let inverse = 1.0 / (dx * dx + dy * dy + dz * dz + SOFTENING).sqrt();
        let force = other.w * inverse * inverse * inverse;
        for (sum, d) in sum.iter_mut().zip([dx, dy, dz]) {
            *sum += f64::from(force * d);
        }
    }
    sum
}
