//! Gathered texels, levels of mipmapped arrays, cubes, and what objects say of themselves.

use warpsmith_device::launch::{Kernel, KernelItem, SafeKernel};
use warpsmith_device::texture::{Geometry, Mipmapped};
use warpsmith_host::prelude::*;
use warpsmith_host::{
    AddressMode, Coordinates, Cube, Extent1, Extent2, Extent3, Filter, Gather2, Layered1, Layered2,
    LayeredCube, LevelExtents, LevelOptions, MipmappedArray, TextureOptions,
};
use warpsmith_test_kernels::texture as kernels;
use warpsmith_tests::fixture;

const TEXELS: TextureOptions = TextureOptions {
    address: [AddressMode::Clamp; 3],
    filter: Filter::Point,
    coordinates: Coordinates::Texels,
    border: [0.0; 4],
};

const NORMALISED: TextureOptions = TextureOptions {
    coordinates: Coordinates::Normalised,
    ..TEXELS
};

const FLAT: Extent2 = Extent2 {
    width: 16,
    height: 8,
};

// covers: TEX-17
#[test]
fn four_texels_around_a_corner_are_gathered() {
    let f = fixture();
    let stream = f.stream();
    let (width, height) = (9, 5);
    let grid = Grid::cover_2d((width - 1, height - 1), (8, 4));
    let texels: Vec<u32> = (0..(width * height) as u32).collect();
    // From the lower left counterclockwise.
    let around: Vec<[u32; 4]> = (0..(height - 1) * (width - 1))
        .map(|index| {
            let corner = (index / (width - 1) * width + index % (width - 1)) as u32;
            let below = corner + width as u32;
            [below, below + 1, corner + 1, corner]
        })
        .collect();
    let extents = Gather2 { width, height };

    let kernel = f.module.kernel(kernels::gather_first::<u32>).unwrap();
    let texture = stream
        .array(&texels, extents)
        .unwrap()
        .texture(TEXELS)
        .unwrap();
    let mut out = stream.zeroed::<[u32; 4]>(around.len()).unwrap();
    let matrix = out.matrix_mut(height - 1, width - 1).unwrap();
    stream.launch(&kernel, grid, (&texture, matrix)).unwrap();
    assert_eq!(stream.download(&out).unwrap(), around);

    // Of several components the last one.
    let pairs: Vec<[u16; 2]> = texels.iter().map(|&texel| [777, texel as u16]).collect();
    let kernel = f.module.kernel(kernels::gather_first::<[u32; 2]>).unwrap();
    let texture = stream
        .array(&pairs, extents)
        .unwrap()
        .texture(TEXELS)
        .unwrap();
    let matrix = out.matrix_mut(height - 1, width - 1).unwrap();
    stream.launch(&kernel, grid, (&texture, matrix)).unwrap();
    assert_eq!(stream.download(&out).unwrap(), around);

    let floats: Vec<f32> = texels.iter().map(|&texel| texel as f32).collect();
    let kernel = f.module.kernel(kernels::gather_first::<f32>).unwrap();
    let texture = stream
        .array(&floats, extents)
        .unwrap()
        .texture(TEXELS)
        .unwrap();
    let mut out = stream.zeroed::<[f32; 4]>(around.len()).unwrap();
    let matrix = out.matrix_mut(height - 1, width - 1).unwrap();
    stream.launch(&kernel, grid, (&texture, matrix)).unwrap();
    let expected: Vec<[f32; 4]> = around
        .iter()
        .map(|four| four.map(|one| one as f32))
        .collect();
    assert_eq!(stream.download(&out).unwrap(), expected);
}

// covers: TEX-17, TEX-X02
#[test]
fn the_guides_texels_are_gathered() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::gather_at).unwrap();
    // The third components around the corner (3, 2), by columns 2 and 3 and rows 1 and 2.
    let mut texels = vec![[0_u8; 4]; 5 * 4];
    for (column, row, third) in [(2, 2, 31), (3, 2, 29), (3, 1, 37), (2, 1, 30)] {
        texels[row * 5 + column] = [1, 2, third, 4];
    }
    let extents = Gather2 {
        width: 5,
        height: 4,
    };
    let mut array = stream.surface_array(&texels, extents).unwrap();
    let texture = array.texture(TEXELS).unwrap();
    // x of 2.49805 is rounded to 2.5, so that the texels are the columns 2 and 3, not 1 and 2.
    let places = stream.upload(&[[3.0_f32, 2.0], [2.49805, 2.0]]).unwrap();
    let mut out = stream.zeroed::<[u32; 5]>(2).unwrap();
    let grid = Grid::new(1, 32);
    stream
        .launch(&kernel, grid, (&texture, &places, &mut out))
        .unwrap();
    let expected = [[31, 29, 37, 30, 29], [31, 29, 37, 30, 31]];
    assert_eq!(stream.download(&out).unwrap(), expected);
    // Such an array has surfaces as any image.
    assert_ne!(array.surface().unwrap().object(), 0);
}

#[test]
fn objects_say_how_large_they_are() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::ask_extents).unwrap();
    let (width, height, depth) = (5, 4, 3);
    let volume = Extent3 {
        width,
        height,
        depth,
    };
    let line = stream.array_zeroed::<f32, _>(Extent1 { width: 7 }).unwrap();
    let image = stream
        .array_zeroed::<u16, _>(Extent2 { width, height })
        .unwrap();
    let mut block = stream.surface_array_zeroed::<f32, _>(volume).unwrap();
    let other = stream.array_zeroed::<f32, _>(volume).unwrap();
    let lines = Layered1 { width, layers: 9 };
    let lines = stream.array_zeroed::<u32, _>(lines).unwrap();
    let layers = Layered2 {
        width,
        height,
        layers: 11,
    };
    let images = stream.array_zeroed::<f32, _>(layers).unwrap();
    let mut written = stream.surface_array_zeroed::<u8, _>(layers).unwrap();
    let mut out = stream.zeroed::<[u32; 17]>(1).unwrap();
    stream
        .launch(
            &kernel,
            Grid::new(1, 1),
            (
                &line.texture(TEXELS).unwrap(),
                &image.texture(TEXELS).unwrap(),
                &other.texture(TEXELS).unwrap(),
                &lines.texture(TEXELS).unwrap(),
                &images.texture(TEXELS).unwrap(),
                &mut block.surface().unwrap(),
                &mut written.surface().unwrap(),
                &mut out,
            ),
        )
        .unwrap();
    assert_eq!(
        stream.download(&out).unwrap()[0],
        [7, 5, 4, 5, 4, 3, 5, 9, 5, 4, 11, 5, 4, 3, 5, 4, 11]
    );
}

/// A mipmapped array of which each texel is its level's number.
fn numbered<D: LevelExtents>(stream: &Stream, extents: D, levels: usize) -> MipmappedArray<f32, D> {
    let array = stream.mipmapped_array_zeroed(extents, levels).unwrap();
    for number in 0..levels {
        let mut level = array.level(number);
        let texels = vec![number as f32; level.len()];
        stream.upload_array(&texels, &mut level).unwrap();
    }
    array
}

/// Fetches at levels of detail, and compares with the nearest level.
fn picks_the_nearest<K, D: LevelExtents>(item: impl KernelItem<Kernel = K>, extents: D)
where
    D::Geometry: Geometry,
    K: SafeKernel
        + Kernel<Parameters = (InTexture<f32, Mipmapped<D::Geometry>>, In<f32>, Out<f32>)>,
{
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(item).unwrap();
    let array = numbered(&stream, extents, 4);
    let texture = array.texture(NORMALISED, LevelOptions::default()).unwrap();
    // Whatever is left keeps the texels.
    drop(array);
    let details = [-1.0_f32, 0.0, 0.4, 0.6, 1.0, 2.25, 2.75, 3.0, 99.0];
    let levels = stream.upload(&details).unwrap();
    let mut out = stream.zeroed::<f32>(details.len()).unwrap();
    let grid = Grid::new(1, 32);
    stream
        .launch(&kernel, grid, (&texture, &levels, &mut out))
        .unwrap();
    let nearest = [0.0, 0.0, 0.0, 1.0, 1.0, 2.0, 3.0, 3.0, 3.0];
    assert_eq!(stream.download(&out).unwrap(), nearest, "{extents:?}");
}

// covers: TEX-12
#[test]
fn a_level_of_detail_picks_the_nearest_level() {
    picks_the_nearest(kernels::fetch_level_1d, Extent1 { width: 17 });
    picks_the_nearest(kernels::fetch_level_2d::<f32>, FLAT);
    let volume = Extent3 {
        width: 8,
        height: 9,
        depth: 4,
    };
    picks_the_nearest(kernels::fetch_level_3d, volume);
    let lines = Layered1 {
        width: 9,
        layers: 2,
    };
    picks_the_nearest(kernels::fetch_level_layered_1d, lines);
    let images = Layered2 {
        width: 8,
        height: 4,
        layers: 3,
    };
    picks_the_nearest(kernels::fetch_level_layered_2d, images);
    picks_the_nearest(kernels::fetch_level_cube, Cube { width: 8 });
    let cubes = LayeredCube { width: 8, cubes: 2 };
    picks_the_nearest(kernels::fetch_level_layered_cube, cubes);
}

// covers: TEX-12
#[test]
fn options_weigh_levels_and_bound_them() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::fetch_level_2d::<f32>).unwrap();
    let array = numbered(&stream, FLAT, 4);
    let details = [0.0_f32, 0.5, 1.25, 3.0];
    let levels = stream.upload(&details).unwrap();
    let mut out = stream.zeroed::<f32>(4).unwrap();
    let mut at = |options| {
        let texture = array.texture(NORMALISED, options).unwrap();
        let grid = Grid::new(1, 32);
        stream
            .launch(&kernel, grid, (&texture, &levels, &mut out))
            .unwrap();
        stream.download(&out).unwrap()
    };
    let smooth = LevelOptions {
        filter: Filter::Linear,
        ..Default::default()
    };
    for (found, expected) in at(smooth).into_iter().zip(details) {
        assert!(
            (found - expected).abs() <= 1.0 / 256.0,
            "{found}, not {expected}"
        );
    }
    let bounded = LevelOptions {
        clamp: [1.0, 2.0],
        ..Default::default()
    };
    assert_eq!(at(bounded), [1.0, 1.0, 1.0, 2.0]);
}

// covers: TEX-12
#[test]
fn gradients_pick_the_level_whose_texels_they_span() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::fetch_gradients).unwrap();
    let (width, layers) = (16, 2);
    let line = numbered(&stream, Extent1 { width }, 4);
    let image = Extent2 {
        width,
        height: width,
    };
    let image = numbered(&stream, image, 4);
    let volume = Extent3 {
        width,
        height: width,
        depth: width,
    };
    let volume = numbered(&stream, volume, 4);
    let lines = numbered(&stream, Layered1 { width, layers }, 4);
    let images = Layered2 {
        width,
        height: width,
        layers,
    };
    let images = numbered(&stream, images, 4);
    let steps = stream.upload(&[0.0_f32, 1.0, 2.0, 4.0, 8.0, 64.0]).unwrap();
    let mut out = stream.zeroed::<[f32; 5]>(6).unwrap();
    let levels = LevelOptions::default();
    stream
        .launch(
            &kernel,
            Grid::new(1, 32),
            (
                &line.texture(NORMALISED, levels).unwrap(),
                &image.texture(NORMALISED, levels).unwrap(),
                &volume.texture(NORMALISED, levels).unwrap(),
                &lines.texture(NORMALISED, levels).unwrap(),
                &images.texture(NORMALISED, levels).unwrap(),
                &steps,
                &mut out,
            ),
        )
        .unwrap();
    let expected = [0.0, 0.0, 1.0, 2.0, 3.0, 3.0].map(|level| [level; 5]);
    assert_eq!(stream.download(&out).unwrap(), expected);
}

// covers: TEX-12
#[test]
fn each_level_is_made_of_the_one_before() {
    let f = fixture();
    let stream = f.stream();
    let halve = f.module.kernel(kernels::halve).unwrap();
    let array = stream
        .surface_mipmapped_array_zeroed::<f32, _>(FLAT, 4)
        .unwrap();
    let texels: Vec<f32> = (0..128).map(|index| (index * 7 % 32) as f32).collect();
    stream.upload_array(&texels, &mut array.level(0)).unwrap();
    let mut expected = texels;
    for number in 1..4 {
        // One launch reads a level and writes another.
        let (from, mut to) = (array.level(number - 1), array.level(number));
        let Extent2 { width, height } = to.extents();
        let texture = from.texture(TEXELS).unwrap();
        let grid = Grid::cover_2d((width, height), (8, 4));
        stream
            .launch(&halve, grid, (&texture, &mut to.surface().unwrap()))
            .unwrap();
        expected = (0..width * height)
            .map(|index| {
                let first = index / width * 4 * width + index % width * 2;
                let below = first + 2 * width;
                (expected[first] + expected[first + 1] + expected[below] + expected[below + 1])
                    / 4.0
            })
            .collect();
        assert_eq!(
            stream.download_array(&to).unwrap(),
            expected,
            "level {number}"
        );
    }
}

const MIDDLES: [[f32; 3]; 6] = [
    [1.0, 0.0, 0.0],
    [-2.0, 0.1, 0.0],
    [0.0, 3.0, -0.1],
    [0.1, -1.0, 0.0],
    [0.0, 0.0, 0.5],
    [0.2, 0.0, -9.0],
];

// covers: TEX-15, TEX-16, SURF-06
#[test]
fn a_direction_meets_a_face_of_a_cube() {
    let f = fixture();
    let stream = f.stream();
    let directions = stream.upload(&MIDDLES).unwrap();
    let grid = Grid::new(1, 32);
    let kernel = f.module.kernel(kernels::fetch_cube).unwrap();
    let faces: Vec<f32> = (0..6 * 9).map(|index| (index / 9) as f32).collect();
    let cube = stream.array(&faces, Cube { width: 3 }).unwrap();
    assert_eq!(stream.download_array(&cube).unwrap(), faces);
    // A direction counts nothing.
    let texture = cube.texture(TEXELS).unwrap();
    let mut out = stream.zeroed::<f32>(6).unwrap();
    stream
        .launch(&kernel, grid, (&texture, &directions, &mut out))
        .unwrap();
    assert_eq!(
        stream.download(&out).unwrap(),
        [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    );

    // Faces are a surface's layers: x + 100 y + 10000 layer.
    let write = f.module.kernel(kernels::add_places_layered_2d).unwrap();
    let kernel = f.module.kernel(kernels::fetch_layered_cube).unwrap();
    let cubes = LayeredCube { width: 3, cubes: 2 };
    let mut cubes = stream.surface_array_zeroed::<u32, _>(cubes).unwrap();
    let places = Grid::new((1, 1, 12), (4, 4, 1));
    stream
        .launch(&write, places, (&mut cubes.surface().unwrap(),))
        .unwrap();
    let texture = cubes.texture(NORMALISED).unwrap();
    let mut out = stream.zeroed::<u32>(6).unwrap();
    stream
        .launch(&kernel, grid, (&texture, &directions, &mut out))
        .unwrap();
    let middles: Vec<u32> = (6..12).map(|layer| 101 + 10_000 * layer).collect();
    assert_eq!(stream.download(&out).unwrap(), middles);
}

#[test]
fn a_level_is_not_written_where_all_are_read() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::halve).unwrap();
    let array = stream
        .surface_mipmapped_array_zeroed::<f32, _>(FLAT, 2)
        .unwrap();
    let (from, mut to) = (array.level(0), array.level(0));
    let texture = from.texture(TEXELS).unwrap();
    let refused = stream
        .launch(
            &kernel,
            Grid::new(1, (8, 4)),
            (&texture, &mut to.surface().unwrap()),
        )
        .unwrap_err()
        .to_string();
    assert!(refused.contains("is passed one array twice"), "{refused}");
    // A graph keeps what it reads.
    let kernel = f.module.kernel(kernels::fetch_level_2d::<f32>).unwrap();
    let mut stream = f.stream();
    let levels = stream.upload(&[1.0_f32]).unwrap();
    let mut out = stream.zeroed::<f32>(1).unwrap();
    let array = numbered(&stream, FLAT, 2);
    let graph = stream
        .capture(|capture| {
            let texture = array.texture(NORMALISED, LevelOptions::default())?;
            capture.launch(&kernel, Grid::new(1, 1), (&texture, &levels, &mut out))
        })
        .unwrap();
    drop(array);
    let mut graph = graph.instantiate().unwrap();
    graph.launch(&stream).unwrap();
    assert_eq!(stream.download(&out).unwrap(), [1.0]);
}

// covers: TEX-12
#[test]
fn colours_become_linear_light() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::fetch_2d::<[f32; 4]>).unwrap();
    let (width, height) = (16, 16);
    let texels: Vec<[u8; 4]> = (0..=255).map(|value| [value, 255, 0, value]).collect();
    let image = stream.array(&texels, Extent2 { width, height }).unwrap();
    let texture = image.srgb_texture(TEXELS).unwrap();
    let mut out = stream.zeroed::<[f32; 4]>(texels.len()).unwrap();
    let matrix = out.matrix_mut(height, width).unwrap();
    let grid = Grid::cover_2d((width, height), (16, 4));
    stream.launch(&kernel, grid, (&texture, matrix)).unwrap();
    let linear = |value: u8| match f32::from(value) / 255.0 {
        low if low <= 0.04045 => low / 12.92,
        high => ((high + 0.055) / 1.055).powf(2.4),
    };
    for (&[value, ..], found) in texels.iter().zip(stream.download(&out).unwrap()) {
        let expected = [linear(value), 1.0, 0.0, f32::from(value) / 255.0];
        for (found, expected) in found.into_iter().zip(expected) {
            // A device has a table of fewer bits.
            assert!(
                (found - expected).abs() < 1.0 / 256.0,
                "{value}: {found}, not {expected}"
            );
        }
    }
}
