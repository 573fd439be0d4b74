//! Particles in a box.

use super::prelude::*;
use kernels::particles::Particle;

case!(particles: "particles in a box, as an array of structs", "particles", simulator [300, 1], gpu 1 << 23);

const DT: f32 = 0.25;
const GRAVITY: f32 = 0.5;

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    let start: Vec<Particle> = draw::<f32>(1, 7 * n)
        .chunks_exact(7)
        .map(|x| Particle {
            position: [x[0], x[1], x[2]],
            velocity: [x[3], x[4], x[5]],
            mass: x[6].abs(),
            bounces: 0,
        })
        .collect();
    let mut end = start.clone();
    end.iter_mut()
        .for_each(|particle| particle.advance(DT, GRAVITY));
    // Whether one that ends at a wall has met it depends on rounding: positions do not.
    let want: Vec<f64> = end
        .iter()
        .flat_map(|particle| particle.position.map(f64::from))
        .collect();
    let check = nearly::<f32>(want, 1e-5);
    let kernel = session.pair(kernels::particles::particles, "particles")?;
    problem(
        session,
        format!("{n} particles"),
        &start,
        move |session, side, particles| {
            launch_pair!(
                session,
                side,
                kernel,
                Grid::cover(n, 256),
                (DT, GRAVITY, particles)
            );
            Ok(())
        },
        move |got| {
            let positions: Vec<f32> = got.iter().flat_map(|particle| particle.position).collect();
            check(&positions)
        },
    )
}
