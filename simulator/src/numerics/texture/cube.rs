//! Which face of a cube a direction meets, and where (CUDA C++ Programming Guide, "Cubemap Textures").

/// The face in the order of the guide's table (+x, -x, +y, -y, +z, -z), and the normalised coordinates in it.
///
/// Where two magnitudes are equal the guide says nothing; here z goes before y, and y before x, as graphics interfaces have it.
pub fn face([x, y, z]: [f32; 3]) -> (u32, [f32; 2]) {
    let [across, up, along] = [x.abs(), y.abs(), z.abs()];
    let (face, s, t, m) = if along >= across && along >= up {
        match z.is_sign_negative() {
            false => (4, x, -y, along),
            true => (5, -x, -y, along),
        }
    } else if up >= across {
        match y.is_sign_negative() {
            false => (2, x, z, up),
            true => (3, x, -z, up),
        }
    } else {
        match x.is_sign_negative() {
            false => (0, -z, -y, across),
            true => (1, z, -y, across),
        }
    };
    (face, [s, t].map(|side| (side / m + 1.0) / 2.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_direction_meets_the_face_of_its_greatest_component() {
        let directions = [
            ([2.0, 0.5, -1.0], 0, [0.75, 0.375]),
            ([-2.0, 0.5, -1.0], 1, [0.25, 0.375]),
            ([0.5, 2.0, -1.0], 2, [0.625, 0.25]),
            ([0.5, -2.0, -1.0], 3, [0.625, 0.75]),
            ([0.5, -1.0, 2.0], 4, [0.625, 0.75]),
            ([0.5, -1.0, -2.0], 5, [0.375, 0.75]),
        ];
        for (direction, number, at) in directions {
            assert_eq!(face(direction), (number, at), "{direction:?}");
            // A direction has no length.
            assert_eq!(face(direction.map(|axis| axis * 8.0)), (number, at));
        }
    }

    #[test]
    fn all_sides_of_a_face_are_met() {
        for (number, axis, sign) in [
            (0, 0, 1.0),
            (1, 0, -1.0),
            (2, 1, 1.0),
            (3, 1, -1.0),
            (4, 2, 1.0),
            (5, 2, -1.0),
        ] {
            let mut centre = [0.0_f32; 3];
            centre[axis] = sign;
            assert_eq!(face(centre), (number, [0.5, 0.5]));
            for side in 0..4 {
                let mut direction = centre;
                let other = (axis + 1 + side / 2) % 3;
                direction[other] = if side % 2 == 0 { 0.75 } else { -0.75 };
                let (found, [s, t]) = face(direction);
                assert_eq!(found, number);
                let moved = [s, t].map(|at| (at - 0.5).abs());
                assert!(moved == [0.375, 0.0] || moved == [0.0, 0.375], "{moved:?}");
            }
        }
    }
}
