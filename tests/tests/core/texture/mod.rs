//! Textures and surfaces, against what the CPU computes.

mod surfaces;
mod views;

use bytemuck::Pod;
use half::f16;
use warpsmith_device::launch::{Kernel, KernelItem, SafeKernel};
use warpsmith_host::prelude::*;
use warpsmith_host::{
    AddressMode, Array, Coordinates, Cube, Extent1, Extent2, Extent3, Filter, Layered1, Layered2,
    LayeredCube, LevelOptions, PitchedBuffer, Surface, Texel, TextureOptions, compressed,
};
use warpsmith_test_kernels::texture as kernels;
use warpsmith_tests::{Fixture, Side, fixture, own_process};

const POINT: TextureOptions = TextureOptions {
    address: [AddressMode::Clamp; 3],
    filter: Filter::Point,
    coordinates: Coordinates::Texels,
    border: [0.0; 4],
};

const LINEAR: TextureOptions = TextureOptions {
    filter: Filter::Linear,
    ..POINT
};

fn numbers(count: usize) -> Vec<f32> {
    (0..count).map(|number| number as f32 + 1.0).collect()
}

// covers: TEX-01, TEX-02
#[test]
fn a_point_fetch_of_each_texel_is_the_source() {
    let f = fixture();
    let stream = f.stream();

    let (width, height, depth) = (37, 11, 5);
    let texels = numbers(width);
    let line = stream.array(&texels, Extent1 { width }).unwrap();
    let mut out = stream.zeroed::<f32>(width).unwrap();
    let kernel = f.module.kernel(kernels::fetch_1d::<f32>).unwrap();
    let texture = line.texture(POINT).unwrap();
    drop(line);
    stream
        .launch(&kernel, Grid::cover(width, 32), (&texture, &mut out))
        .unwrap();
    assert_eq!(stream.download(&out).unwrap(), texels);

    let texels = numbers(width * height);
    let image = stream.array(&texels, Extent2 { width, height }).unwrap();
    let texture = image.texture(POINT).unwrap();
    let mut out = stream.zeroed::<f32>(texels.len()).unwrap();
    let kernel = f.module.kernel(kernels::fetch_2d::<f32>).unwrap();
    let grid = Grid::cover_2d((width, height), (16, 4));
    let matrix = out.matrix_mut(height, width).unwrap();
    stream.launch(&kernel, grid, (&texture, matrix)).unwrap();
    assert_eq!(stream.download(&out).unwrap(), texels);

    let texels = numbers(width * height * depth);
    let extents = Extent3 {
        width,
        height,
        depth,
    };
    let volume = stream.array(&texels, extents).unwrap();
    let texture = volume.texture(POINT).unwrap();
    let mut out = stream.zeroed::<f32>(texels.len()).unwrap();
    let kernel = f.module.kernel(kernels::fetch_3d::<f32>).unwrap();
    let grid = Grid::new((3, 3, 5), (16, 4, 1));
    let out_volume = out.volume_mut(depth, height, width).unwrap();
    stream
        .launch(&kernel, grid, (&texture, out_volume))
        .unwrap();
    assert_eq!(stream.download(&out).unwrap(), texels);
}

// covers: TEX-14
#[test]
fn a_fetch_of_a_layer_stays_in_it() {
    let f = fixture();
    let stream = f.stream();
    let (width, height, layers) = (5, 3, 4);
    // One layer more than there are.
    let expected = |texels: &[u32], layer: usize| -> Vec<u32> {
        let last = &texels[texels.len() - layer..];
        [texels, last].concat()
    };

    let texels: Vec<u32> = (10..).take(width * layers).collect();
    let lines = stream.array(&texels, Layered1 { width, layers }).unwrap();
    let texture = lines.texture(POINT).unwrap();
    let kernel = f.module.kernel(kernels::fetch_layered_1d).unwrap();
    let mut out = stream.zeroed::<u32>(width * (layers + 1)).unwrap();
    let grid = Grid::cover_2d((width, layers + 1), (8, 4));
    let matrix = out.matrix_mut(layers + 1, width).unwrap();
    stream.launch(&kernel, grid, (&texture, matrix)).unwrap();
    assert_eq!(stream.download(&out).unwrap(), expected(&texels, width));

    let texels: Vec<u32> = (10..).take(width * height * layers).collect();
    let floats: Vec<f32> = texels.iter().map(|&texel| texel as f32).collect();
    let extents = Layered2 {
        width,
        height,
        layers,
    };
    let images = stream.array(&floats, extents).unwrap();
    // In the middle of texels a linear filter takes them alone, and no other layer's.
    let texture = images.texture(LINEAR).unwrap();
    let kernel = f.module.kernel(kernels::fetch_layered_2d).unwrap();
    let mut out = stream.zeroed::<f32>(width * height * (layers + 1)).unwrap();
    let volume = out.volume_mut(layers + 1, height, width).unwrap();
    let grid = Grid::new((1, 1, layers as u32 + 1), (8, 4, 1));
    stream.launch(&kernel, grid, (&texture, volume)).unwrap();
    let found: Vec<u32> = stream
        .download(&out)
        .unwrap()
        .iter()
        .map(|&texel| texel as u32)
        .collect();
    assert_eq!(found, expected(&texels, width * height));
}

/// Fetches each texel of a line.
fn fetched<K, T>(
    item: impl KernelItem<Kernel = K>,
    texture: &warpsmith_host::Texture<T, Extent1>,
) -> Vec<T>
where
    K: SafeKernel + Kernel<Parameters = (InTexture<T, warpsmith_device::texture::Dim1>, Out<T>)>,
    T: warpsmith_device::texture::Fetched,
{
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(item).unwrap();
    let width = texture.extents().width;
    let mut out = stream.zeroed::<T>(width).unwrap();
    stream
        .launch(&kernel, Grid::cover(width, 32), (texture, &mut out))
        .unwrap();
    stream.download(&out).unwrap()
}

fn line<T: Texel>(texels: &[T]) -> Array<T, Extent1> {
    let width = texels.len();
    let stream = fixture().stream();
    let array = stream.array(texels, Extent1 { width }).unwrap();
    stream.synchronize().unwrap();
    array
}

// covers: TEX-04
#[test]
fn a_fetch_gives_what_the_textures_type_says() {
    let bytes = line(&[255_u8, 0, 128]);
    let element = bytes.texture(POINT).unwrap();
    assert_eq!(fetched(kernels::fetch_1d::<u32>, &element), [255, 0, 128]);
    let shares = bytes.normalised_texture(LINEAR).unwrap();
    assert_eq!(
        fetched(kernels::fetch_1d::<f32>, &shares),
        [1.0, 0.0, 128.0 / 255.0]
    );
    let signed = line(&[-1_i16, i16::MIN, 77]);
    let element = signed.texture(POINT).unwrap();
    assert_eq!(
        fetched(kernels::fetch_1d::<i32>, &element),
        [-1, -32768, 77]
    );
    let halves = line(&[[1.5, -2.0], [0.25, 1000.0]].map(|pair| pair.map(f16::from_f32)));
    let floats = halves.texture(POINT).unwrap();
    assert_eq!(
        fetched(kernels::fetch_1d::<[f32; 2]>, &floats),
        [[1.5, -2.0], [0.25, 1000.0]]
    );
    let words = line(&[[1_u32, 2, 3, u32::MAX], [5, 6, 7, 8]]);
    let words_texture = words.texture(POINT).unwrap();
    assert_eq!(
        fetched(kernels::fetch_1d::<[u32; 4]>, &words_texture),
        [[1, 2, 3, u32::MAX], [5, 6, 7, 8]]
    );
    let colours = line(&[[-1_i8, 2, 127, -128]]);
    let colours_texture = colours.texture(POINT).unwrap();
    assert_eq!(
        fetched(kernels::fetch_1d::<[i32; 4]>, &colours_texture),
        [[-1, 2, 127, -128]]
    );
}

#[test]
fn a_linear_filter_weighs_neighbours_by_256ths() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::fetch_image_at).unwrap();
    let (width, height) = (9, 7);
    let texels: Vec<f32> = (0..width * height)
        .map(|index| (index * index % 31) as f32)
        .collect();
    let image = stream.array(&texels, Extent2 { width, height }).unwrap();
    // Places whose fractions are 256ths, so that the weights along one axis are exact.
    let at: Vec<[f32; 2]> = (0..2000_u32)
        .map(|step| {
            let x = (step * 7 % (256 * 11)) as f32 / 256.0 - 1.0;
            [x, (step % 8) as f32 + 0.5]
        })
        .collect();
    let clamped = |index: f32, extent: usize| index.clamp(0.0, extent as f32 - 1.0) as usize;
    let expected: Vec<f32> = at
        .iter()
        .map(|&[x, y]| {
            let row = clamped(y.floor(), height) * width;
            let left = (x - 0.5).floor();
            let share = x - 0.5 - left;
            let of = |column: f32| texels[row + clamped(column, width)];
            of(left) * (1.0 - share) + of(left + 1.0) * share
        })
        .collect();
    let places = stream.upload(&at).unwrap();
    let mut out = stream.zeroed::<f32>(at.len()).unwrap();
    let texture = image.texture(LINEAR).unwrap();
    stream
        .launch(
            &kernel,
            Grid::cover(at.len(), 128),
            (&texture, &places, &mut out),
        )
        .unwrap();
    for ((at, found), expected) in at.iter().zip(stream.download(&out).unwrap()).zip(expected) {
        assert!(
            (found - expected).abs() <= 1e-5,
            "{at:?}: fetched {found}, expected {expected}"
        );
    }
}

// covers: TEX-10, TEX-X03
#[test]
fn a_table_is_looked_up_by_linear_filtering() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::fetch_line_at).unwrap();
    let table = [3.0_f32, 5.0, -1.0, 9.0];
    let array = stream.array(&table, Extent1 { width: 4 }).unwrap();
    let normalised = TextureOptions {
        coordinates: Coordinates::Normalised,
        ..LINEAR
    };
    let shares = [0.0_f32, 0.25, 1.0 / 3.0, 0.5, 2.0 / 3.0, 1.0];
    let expected = [3.0, 4.5, 5.0, 2.0, -1.0, 9.0];
    for (options, extent) in [(LINEAR, 1.0), (normalised, 4.0)] {
        let texture = array.texture(options).unwrap();
        for range in [1.0, 4.0] {
            let place = |share: f32| (3.0 / range * (share * range) + 0.5) / extent;
            let at = stream.upload(&shares.map(place)).unwrap();
            let mut out = stream.zeroed::<f32>(6).unwrap();
            stream
                .launch(&kernel, Grid::new(1, 32), (&texture, &at, &mut out))
                .unwrap();
            let found = stream.download(&out).unwrap();
            // The weights between have 8 bits.
            for (found, expected) in found.iter().zip(expected) {
                assert!((found - expected).abs() < 0.05, "{found}, not {expected}");
            }
            assert_eq!([found[0], found[5]], [3.0, 9.0]);
        }
    }
}

#[test]
fn kernels_know_the_extents() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::extents).unwrap();
    let volume = stream
        .array_zeroed::<f32, _>(Extent3 {
            width: 2,
            height: 3,
            depth: 4,
        })
        .unwrap();
    let lines = stream
        .array_zeroed::<u8, _>(Layered1 {
            width: 5,
            layers: 6,
        })
        .unwrap();
    let extents = Layered2 {
        width: 7,
        height: 8,
        layers: 9,
    };
    let images = stream.array_zeroed::<f16, _>(extents).unwrap();
    let mut layers = stream.surface_array_zeroed::<u8, _>(extents).unwrap();
    let mut out = stream.zeroed::<[u32; 11]>(1).unwrap();
    let textures = (
        volume.texture(POINT).unwrap(),
        lines.texture(POINT).unwrap(),
        images.texture(POINT).unwrap(),
    );
    let mut surface = layers.surface().unwrap();
    stream
        .launch(
            &kernel,
            Grid::new(1, 1),
            (
                &textures.0,
                &textures.1,
                &textures.2,
                &mut surface,
                &mut out,
            ),
        )
        .unwrap();
    assert_eq!(
        stream.download(&out).unwrap()[0],
        [2, 3, 4, 5, 6, 7, 8, 9, 7, 8, 9]
    );
}

/// PTX of another type of texture does not pass for this one, though its parameters are as large.
#[test]
fn the_record_tells_textures_apart() {
    fn record<K: Kernel>(_: impl KernelItem<Kernel = K>) -> &'static [u32] {
        K::RECORD
    }
    let records = [
        record(kernels::fetch_1d::<f32>),
        record(kernels::fetch_1d::<u32>),
        record(kernels::fetch_1d::<i32>),
        record(kernels::elements::<f32>),
        record(kernels::add_places_2d),
        record(kernels::add_places_layered_1d),
    ];
    for (index, one) in records.iter().enumerate() {
        assert!(!records[..index].contains(one), "{index}");
    }
    let (one, two) = (
        record(kernels::copy_texels::<f32>),
        record(kernels::copy_texels::<i32>),
    );
    assert_ne!(one, two);
}

/// Adds the places of an array of zeros, and compares.
fn each_has_its_own<D: warpsmith_host::ArrayExtents, K>(
    item: impl KernelItem<Kernel = K>,
    extents: D,
    grid: Grid,
    [width, height]: [u32; 2],
) where
    K: SafeKernel + Kernel<Parameters = (OutSurface<u32, D::SurfaceGeometry>,)>,
{
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(item).unwrap();
    let mut array = stream.surface_array_zeroed::<u32, D>(extents).unwrap();
    let mut surface = array.surface().unwrap();
    stream.launch(&kernel, grid, (&mut surface,)).unwrap();
    let expected: Vec<u32> = (0..array.len() as u32)
        .map(|index| {
            index % width + 100 * (index / width % height) + 10_000 * (index / width / height)
        })
        .collect();
    assert_eq!(
        stream.download_array(&array).unwrap(),
        expected,
        "{extents:?}"
    );
}

// covers: SURF-04
#[test]
fn each_thread_has_the_texel_at_its_position() {
    let (width, height) = (13, 5);
    each_has_its_own(
        kernels::add_places_1d,
        Extent1 { width },
        Grid::cover(20, 8),
        [13, 1],
    );
    let flat = Grid::cover_2d((16, 7), (8, 2));
    each_has_its_own(
        kernels::add_places_2d,
        Extent2 { width, height },
        flat,
        [13, 5],
    );
    each_has_its_own(
        kernels::add_places_layered_1d,
        Layered1 { width, layers: 5 },
        flat,
        [13, 5],
    );
    let deep = Grid::new((2, 3, 2), (8, 2, 2));
    each_has_its_own(
        kernels::add_places_3d,
        Extent3 {
            width,
            height,
            depth: 3,
        },
        deep,
        [13, 5],
    );
    each_has_its_own(
        kernels::add_places_layered_2d,
        Layered2 {
            width,
            height,
            layers: 3,
        },
        deep,
        [13, 5],
    );
}

#[test]
fn a_launch_in_more_dimensions_than_the_texels_is_refused() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::add_places_1d).unwrap();
    let mut line = stream
        .surface_array_zeroed::<u32, _>(Extent1 { width: 8 })
        .unwrap();
    let mut surface = line.surface().unwrap();
    let refused = stream
        .launch(&kernel, Grid::new((1, 2, 1), (8, 1, 1)), (&mut surface,))
        .unwrap_err()
        .to_string();
    assert!(
        refused.contains("surfaces as many as their texels"),
        "{refused}"
    );
    assert!(refused.contains("is 2, the limit is 1"), "{refused}");
}

#[test]
fn a_graph_keeps_what_its_launches_fetch() {
    let f = fixture();
    let mut stream = f.stream();
    let kernel = f.module.kernel(kernels::fetch_1d::<f32>).unwrap();
    let elements = f.module.kernel(kernels::elements::<f32>).unwrap();
    let line = stream.array(&numbers(40), Extent1 { width: 40 }).unwrap();
    let buffer = stream.upload(&numbers(40)).unwrap();
    let mut out = stream.zeroed::<f32>(40).unwrap();
    let mut linear = stream.zeroed::<f32>(40).unwrap();
    let graph = stream
        .capture(|capture| {
            let texture = line.texture(POINT)?;
            capture.launch(&kernel, Grid::cover(40, 32), (&texture, &mut out))?;
            let texture = buffer.texture(..)?;
            capture.launch(&elements, Grid::cover(40, 32), (&texture, &mut linear))
        })
        .unwrap();
    drop((line, buffer));
    let mut exec = graph.instantiate().unwrap();
    // What could take the memory's place.
    let others: Vec<_> = (0..4).map(|_| stream.zeroed::<f32>(40).unwrap()).collect();
    exec.launch(&stream).unwrap();
    assert_eq!(stream.download(&out).unwrap(), numbers(40));
    assert_eq!(stream.download(&linear).unwrap(), numbers(40));
    drop(others);
}
