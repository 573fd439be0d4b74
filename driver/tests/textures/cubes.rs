//! Cube maps: which face a direction meets, and faces as layers of surfaces.

use crate::common::texels::*;
use crate::common::*;

const CUBE: u32 = CUDA_ARRAY3D_CUBEMAP;
const CUBES: u32 = CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED;
const WIDTH: usize = 8;

/// By the guide's table: the face, and the place in it from 0 to 1.
fn model([x, y, z]: [f32; 3]) -> (usize, [f32; 2]) {
    let magnitudes = [x.abs(), y.abs(), z.abs()];
    let most = magnitudes.into_iter().fold(0.0, f32::max);
    let (face, m, s, t) = match magnitudes.map(|magnitude| magnitude == most) {
        [true, ..] if x > 0.0 => (0, x, -z, -y),
        [true, ..] => (1, -x, z, -y),
        [_, true, _] if y > 0.0 => (2, y, x, z),
        [_, true, _] => (3, -y, x, -z),
        _ if z > 0.0 => (4, z, x, -y),
        _ => (5, -z, -x, -y),
    };
    (face, [(s / m + 1.0) / 2.0, (t / m + 1.0) / 2.0])
}

/// The faces' middles, four directions around each, and others; none through an edge, nor between two texels.
fn directions() -> Vec<[f32; 3]> {
    let mut all = Vec::new();
    for axis in 0..3 {
        for sign in [1.0, -1.0] {
            for (s, t) in [
                (0.05, 0.1),
                (0.55, 0.1),
                (-0.6, 0.1),
                (0.1, 0.8),
                (0.1, -0.9),
            ] {
                let mut direction = [0.0; 3];
                direction[axis] = sign;
                direction[(axis + 1) % 3] = s;
                direction[(axis + 2) % 3] = t;
                all.push(direction);
                all.push(direction.map(|component: f32| component * 3.0));
            }
        }
    }
    all
}

fn texel_of(texels: &[f32], direction: [f32; 3], cube: usize) -> f32 {
    let (face, at) = model(direction);
    let [column, row] = at.map(|at| ((at * WIDTH as f32) as usize).min(WIDTH - 1));
    texels[((cube * 6 + face) * WIDTH + row) * WIDTH + column]
}

fn bits(direction: [f32; 3], first: u32) -> [u32; 4] {
    let [x, y, z] = direction.map(f32::to_bits);
    [first, x, y, z]
}

const CUBE_FETCH: &str = "tex.cube.v4.f32.f32 {%v0, %v1, %v2, %v3}, [%o, {%c1, %c2, %c3, %c3}];";
const CUBES_FETCH: &str = "tex.acube.v4.f32.f32 {%v0, %v1, %v2, %v3}, [%o, {%c0, %c1, %c2, %c3}];";

/// What is fetched in all directions of a cube.
fn seen(body: &str, object: CUtexObject, cube: u32) -> Vec<f32> {
    let at: Vec<_> = directions().into_iter().map(|at| bits(at, cube)).collect();
    let found = run(body, object, &at);
    found.iter().map(|texel| f32::from_bits(texel[0])).collect()
}

/// What the texels are there.
fn expected(texels: &[f32], cube: usize) -> Vec<f32> {
    let texel = |direction| texel_of(texels, direction, cube);
    directions().into_iter().map(texel).collect()
}

// covers: TEX-15
#[test]
fn a_direction_meets_the_face_of_its_greatest_component() {
    let _turn = turn();
    gpu();
    let texels = numbers(6 * WIDTH * WIDTH);
    let array = filled([WIDTH, WIDTH, 6], F32, CUBE, &texels);
    let object = texture(array, CLAMP, POINT, CU_TRSF_NORMALIZED_COORDINATES);
    let found = seen(CUBE_FETCH, object, 0);
    compare("cube", &directions(), &found, &expected(&texels, 0), 0);
    ok!(cuTexObjectDestroy(object));
    ok!(cuArrayDestroy(array));
}

// covers: TEX-16
#[test]
fn an_index_picks_one_of_several_cubes() {
    let _turn = turn();
    gpu();
    let texels = numbers(2 * 6 * WIDTH * WIDTH);
    let array = filled([WIDTH, WIDTH, 12], F32, CUBES, &texels);
    let object = texture(array, CLAMP, POINT, CU_TRSF_NORMALIZED_COORDINATES);
    for cube in 0..2 {
        let found = seen(CUBES_FETCH, object, cube);
        let expected = expected(&texels, cube as usize);
        compare("cubes", &directions(), &found, &expected, 0);
    }
    ok!(cuTexObjectDestroy(object));
    ok!(cuArrayDestroy(array));
}

// covers: TEX-16
#[test]
fn a_linear_filter_stays_in_the_face() {
    let _turn = turn();
    gpu();
    // Each face is one number, and the next one another.
    let texels: Vec<f32> = (0..12 * WIDTH * WIDTH)
        .map(|index| (index / (WIDTH * WIDTH)) as f32 + 1.0)
        .collect();
    let array = filled([WIDTH, WIDTH, 12], F32, CUBES, &texels);
    let object = texture(array, CLAMP, LINEAR, CU_TRSF_NORMALIZED_COORDINATES);
    for (direction, found) in directions().into_iter().zip(seen(CUBES_FETCH, object, 1)) {
        let expected = 7.0 + model(direction).0 as f32;
        assert_eq!(found, expected, "{direction:?}");
    }
    ok!(cuTexObjectDestroy(object));
    ok!(cuArrayDestroy(array));
}

// covers: SURF-06, SURF-07
#[test]
fn a_surface_has_faces_as_layers() {
    let _turn = turn();
    gpu();
    for (flags, geometry, coordinates, layers) in [
        (CUBE, "cube", "%c1, %c2, %c3, %c3", 6),
        (CUBES, "acube", "%c0, %c1, %c2, %c3", 12),
    ] {
        let flags = flags | CUDA_ARRAY3D_SURFACE_LDST;
        let array = filled([1, 1, layers], F32, flags, &vec![0.0_f32; layers]);
        let at: Vec<[u32; 4]> = (0..layers as u32)
            .map(|layer| [layer, (layer as f32 + 1.0).to_bits(), 0, 0])
            .collect();
        let store = "sust.b.a2d.b32.trap [%o, {%c0, 0, 0, 0}], %c1;";
        run(store, surface(array), &at);
        let object = texture(array, CLAMP, POINT, CU_TRSF_NORMALIZED_COORDINATES);
        let body =
            format!("tex.{geometry}.v4.f32.f32 {{%v0, %v1, %v2, %v3}}, [%o, {{{coordinates}}}];");
        for layer in 0..layers {
            let mut middle = [0.0; 3];
            middle[layer % 6 / 2] = if layer % 2 == 0 { 1.0 } else { -1.0 };
            let found = run(&body, object, &[bits(middle, (layer / 6) as u32)]);
            assert_eq!(
                f32::from_bits(found[0][0]),
                layer as f32 + 1.0,
                "{geometry}"
            );
        }
        ok!(cuTexObjectDestroy(object));
        ok!(cuArrayDestroy(array));
    }
}

#[test]
fn edges_that_are_filtered_across_are_refused_by_the_simulator() {
    let _turn = turn();
    if gpu() == Backend::Cuda {
        return;
    }
    let texels = vec![1.0_f32; 6];
    let array = filled([1, 1, 6], F32, CUBE, &texels);
    let seamless = CU_TRSF_NORMALIZED_COORDINATES | CU_TRSF_SEAMLESS_CUBEMAP;
    let sampling = CUDA_TEXTURE_DESC {
        filterMode: LINEAR,
        flags: seamless,
        ..Default::default()
    };
    let mut none = 0;
    fails!(
        801,
        cuTexObjectCreate(&mut none, &resource(array), &sampling, null())
    );
    // Of the nearest texel there is nothing across an edge.
    let object = texture(array, WRAP, POINT, seamless);
    let found = run(CUBE_FETCH, object, &[bits([1.0, 1.0, 1.0], 0)]);
    assert_eq!(f32::from_bits(found[0][0]), 1.0);
    ok!(cuTexObjectDestroy(object));
    ok!(cuArrayDestroy(array));
}
