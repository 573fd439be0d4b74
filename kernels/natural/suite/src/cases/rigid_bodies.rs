//! Rigid bodies.

use super::prelude::*;
use kernels::rigid_bodies::{Body, Quaternion, Vec3};

case!(rigid_bodies: "rigid bodies that fly and spin, with quaternions", "bodies", simulator [300, 1], gpu 1 << 22);

const DT: f32 = 0.125;
const GRAVITY: Vec3 = Vec3([0.25, -9.75, 0.5]);
const INERTIA: Vec3 = Vec3([1.0, 1.5, 2.25]);

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    let vector = |x: &[f32]| Vec3([x[0], x[1], x[2]]);
    let start: Vec<Body> = draw::<f32>(1, 13 * n)
        .as_chunks::<13>()
        .0
        .iter()
        .map(|x| {
            let scale = 1.0 / x[9..].iter().map(|x| x * x).sum::<f32>().sqrt();
            let [w, i, j, k] = [x[9], x[10], x[11], x[12]].map(|x| x * scale);
            Body {
                position: vector(&x[..]),
                velocity: vector(&x[3..]),
                orientation: Quaternion {
                    w,
                    x: i,
                    y: j,
                    z: k,
                },
                spin: vector(&x[6..]),
            }
        })
        .collect();
    let step = n.div_ceil(10_000);
    let want = start
        .iter()
        .step_by(step)
        .flat_map(|&body| {
            let mut body = body;
            body.step(DT, GRAVITY, INERTIA);
            numbers(body).map(f64::from)
        })
        .collect();
    let check = nearly::<f32>(want, 1e-5);
    let kernel = session.pair(kernels::rigid_bodies::rigid_bodies, "rigid_bodies")?;
    problem(
        session,
        format!("{n} bodies"),
        &start,
        move |session, side, bodies| {
            let grid = Grid::cover(n, 256);
            launch_pair!(session, side, kernel, grid, (DT, GRAVITY, INERTIA, bodies));
            Ok(())
        },
        move |got| {
            let bodies = got.iter().step_by(step).copied();
            check(&bodies.flat_map(numbers).collect::<Vec<_>>())
        },
    )
}

fn numbers(body: Body) -> [f32; 13] {
    bytemuck::cast(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    const UPRIGHT: Quaternion = Quaternion {
        w: 1.0,
        x: 0.0,
        y: 0.0,
        z: 0.0,
    };

    #[test]
    fn a_quarter_of_a_turn() {
        let quarter = std::f32::consts::FRAC_PI_2;
        let mut body = Body {
            position: Vec3([1.0, 2.0, 3.0]),
            velocity: Vec3([0.0; 3]),
            orientation: UPRIGHT,
            spin: Vec3([0.0, 0.0, quarter]),
        };
        for _ in 0..1000 {
            body.step(1e-3, Vec3([0.0; 3]), INERTIA);
        }
        let half = 0.5f32.sqrt();
        let Quaternion { w, x, y, z } = body.orientation;
        let differences = [w - half, x, y, z - half];
        assert!(differences.iter().all(|difference| difference.abs() < 1e-4));
        assert_eq!(body.position, Vec3([1.0, 2.0, 3.0]));
        assert_eq!(body.spin, Vec3([0.0, 0.0, quarter]));
    }

    #[test]
    fn the_energy_of_a_spin_stays() {
        let mut body = Body {
            position: Vec3([0.0; 3]),
            velocity: Vec3([0.0; 3]),
            orientation: UPRIGHT,
            spin: Vec3([0.5, -0.75, 1.0]),
        };
        let energy = |body: &Body| -> f32 {
            let parts = body.spin.0.iter().zip(INERTIA.0);
            parts.map(|(spin, inertia)| inertia * spin * spin).sum()
        };
        let before = energy(&body);
        for _ in 0..1000 {
            body.step(1e-3, GRAVITY, INERTIA);
        }
        assert!((energy(&body) - before).abs() < 1e-2);
        assert!((body.spin.0[0] - 0.5).abs() > 0.1);
    }
}
