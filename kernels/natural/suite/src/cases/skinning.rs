//! Vertices moved by bones.

use super::prelude::*;
use kernels::skinning::{BONES, Bone, Quaternion, Vec3, Vertex};

case!(skinning: "vertices moved by four bones, with quaternions", "vertices", simulator [200, 1], gpu 1 << 21);

const SKELETON: usize = 90;

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    let vector = |x: &[f32]| Vec3 {
        x: x[0],
        y: x[1],
        z: x[2],
    };
    let bones: Vec<Bone> = draw::<f32>(1, 7 * SKELETON)
        .chunks_exact(7)
        .map(|x| {
            let length = x[..4].iter().map(|x| x * x).sum::<f32>().sqrt();
            let turn: Vec<f32> = x[..4].iter().map(|x| x / length).collect();
            Bone {
                turn: Quaternion {
                    vector: vector(&turn),
                    // Turns by much less than half a circle: mixed ones do not vanish.
                    scalar: turn[3] + 2.0 * turn[3].signum(),
                },
                offset: vector(&x[4..]),
            }
        })
        .collect();
    let names = below(2, BONES * n, SKELETON as u32);
    let vertices: Vec<Vertex> = draw::<f32>(3, 7 * n)
        .chunks_exact(7)
        .zip(names.as_chunks::<BONES>().0)
        .map(|(x, names)| {
            // Half of the vertices have fewer bones; a few have none.
            let mut weights = [x[3], x[4], x[5], x[6]].map(|x| x.max(0.0));
            let sum: f32 = weights.iter().sum();
            if sum > 0.0 {
                weights = weights.map(|weight| weight / sum);
            }
            Vertex {
                position: vector(x),
                weights,
                bones: names.map(|name| name as u16),
            }
        })
        .collect();
    let step = n.div_ceil(10_000);
    let want = vertices
        .iter()
        .step_by(step)
        .flat_map(|vertex| {
            let Vec3 { x, y, z } = vertex.moved(&bones);
            [x, y, z].map(f64::from)
        })
        .collect();
    let check = nearly::<f32>(want, 1e-4);
    let kernel = session.pair(kernels::skinning::skinning, "skinning")?;
    let vertices = session.stream.upload(&vertices)?;
    let bones = session.stream.upload(&bones)?;
    problem(
        session,
        format!("{n} vertices, {SKELETON} bones"),
        &vec![vector(&[f32::NAN; 3]); n],
        move |session, side, moved| {
            let grid = Grid::cover(n, 256);
            launch_pair!(session, side, kernel, grid, (&vertices, &bones, moved));
            Ok(())
        },
        move |got| {
            let got = got.iter().step_by(step);
            check(&got.flat_map(|v| [v.x, v.y, v.z]).collect::<Vec<_>>())
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quarter_of_a_turn() {
        let half = 0.5f32.sqrt();
        let axis = |x: f32, y: f32, z: f32| Vec3 { x, y, z };
        let bone = Bone {
            turn: Quaternion {
                vector: axis(0.0, 0.0, half),
                scalar: half,
            },
            offset: axis(1.0, 0.0, 0.0),
        };
        let vertex = Vertex {
            position: axis(1.0, 0.0, 0.5),
            weights: [0.25, 0.75, 0.0, 0.0],
            bones: [0; BONES],
        };
        let Vec3 { x, y, z } = vertex.moved(&[bone]);
        let differences = [x - 1.0, y - 1.0, z - 0.5];
        assert!(differences.iter().all(|difference| difference.abs() < 1e-5));
    }
}
