//! Textures and surfaces, against what the CPU computes.

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

// covers: SURF-04, SURF-08
#[test]
fn what_a_surface_writes_a_later_launch_fetches() {
    let f = fixture();
    let stream = f.stream();
    let write = f.module.kernel(kernels::add_places_2d).unwrap();
    let fetch = f.module.kernel(kernels::fetch_2d::<u32>).unwrap();
    let (width, height) = (19, 6);
    let mut image = stream
        .surface_array(&vec![7_u32; width * height], Extent2 { width, height })
        .unwrap();
    let texture = image.texture(POINT).unwrap();
    let mut surface = image.surface().unwrap();
    let grid = Grid::cover_2d((width, height), (16, 4));
    stream.launch(&write, grid, (&mut surface,)).unwrap();
    // In another stream, too.
    let other = f.stream();
    let mut out = other.zeroed::<u32>(width * height).unwrap();
    let matrix = out.matrix_mut(height, width).unwrap();
    other.launch(&fetch, grid, (&texture, matrix)).unwrap();
    let expected: Vec<u32> = (0..(width * height) as u32)
        .map(|index| 7 + index % 19 + 100 * (index / 19))
        .collect();
    assert_eq!(other.download(&out).unwrap(), expected);
    stream.launch(&write, grid, (&mut surface,)).unwrap();
    let twice: Vec<u32> = expected.iter().map(|place| 2 * place - 7).collect();
    assert_eq!(other.download_array(&image).unwrap(), twice);
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

/// Copies texels through a kernel.
fn copied<T: Texel + Pod + PartialEq + std::fmt::Debug, K>(
    item: impl KernelItem<Kernel = K>,
    texels: &[T],
) where
    K: SafeKernel
        + Kernel<
            Parameters = (
                OutSurface<T, warpsmith_device::texture::Dim1>,
                OutSurface<T, warpsmith_device::texture::Dim1>,
            ),
        >,
{
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(item).unwrap();
    let width = texels.len();
    let mut from = stream.surface_array(texels, Extent1 { width }).unwrap();
    let mut to = stream
        .surface_array_zeroed::<T, _>(Extent1 { width })
        .unwrap();
    let (mut source, mut destination): (Surface<T, _>, Surface<T, _>) =
        (from.surface().unwrap(), to.surface().unwrap());
    stream
        .launch(
            &kernel,
            Grid::cover(width, 32),
            (&mut source, &mut destination),
        )
        .unwrap();
    assert_eq!(stream.download_array(&to).unwrap(), texels);
}

// covers: SURF-04
#[test]
fn texels_of_every_size_go_through_a_surface() {
    let halves: Vec<f16> = (0..50).map(|i| f16::from_f32(i as f32 - 20.0)).collect();
    let bytes: Vec<u8> = (0..200).collect();
    let words: Vec<u32> = (0..80).map(|i: u32| i.wrapping_mul(0x9e37_79b9)).collect();
    copied(kernels::copy_texels::<u8>, &bytes);
    copied(kernels::copy_texels::<[u8; 2]>, bytes.as_chunks::<2>().0);
    copied(kernels::copy_texels::<[u8; 4]>, bytes.as_chunks::<4>().0);
    copied(
        kernels::copy_texels::<[i8; 4]>,
        bytemuck::cast_slice(&bytes),
    );
    copied(kernels::copy_texels::<i16>, &[-3, 7, i16::MIN, i16::MAX]);
    copied(kernels::copy_texels::<f16>, &halves);
    copied(kernels::copy_texels::<[f16; 2]>, halves.as_chunks::<2>().0);
    copied(
        kernels::copy_texels::<[u16; 4]>,
        &[[1, 2, 3, u16::MAX], [5, 6, 7, 8]],
    );
    copied(kernels::copy_texels::<f32>, &numbers(70));
    copied(kernels::copy_texels::<i32>, &[-1, i32::MIN, 5]);
    copied(kernels::copy_texels::<[u32; 2]>, words.as_chunks::<2>().0);
    copied(
        kernels::copy_texels::<[f32; 4]>,
        numbers(64).as_chunks::<4>().0,
    );
}

// covers: SURF-04
#[test]
fn texels_and_bytes_at_any_place() {
    let f = fixture();
    let stream = f.stream();
    let mirror = f.module.kernel(kernels::mirror_rows).unwrap();
    let size = Extent2 {
        width: 8,
        height: 3,
    };
    let texels: Vec<u32> = (0..24).collect();
    let mut from = stream.surface_array(&texels, size).unwrap();
    let mut to = stream.surface_array_zeroed::<u32, _>(size).unwrap();
    let (mut source, mut destination) = (from.surface().unwrap(), to.surface().unwrap());
    // SAFETY: a thread for each texel.
    unsafe {
        stream.launch_unchecked(
            &mirror,
            Grid::new(1, (8, 3, 1)),
            (&mut source, &mut destination),
        )
    }
    .unwrap();
    let expected: Vec<u32> = texels
        .chunks(8)
        .flat_map(|row| row.iter().rev().copied())
        .collect();
    assert_eq!(stream.download_array(&to).unwrap(), expected);

    let copy = f.module.kernel(kernels::copy_bytes).unwrap();
    let bytes: Vec<u8> = (0..64).collect();
    let mut from = stream.surface_array(&bytes, Extent1 { width: 64 }).unwrap();
    let mut to = stream
        .surface_array_zeroed::<u32, _>(Extent1 { width: 8 })
        .unwrap();
    let (mut source, mut destination) = (from.surface().unwrap(), to.surface().unwrap());
    let at = stream.upload(&[48_u32, 16]).unwrap();
    // SAFETY: 16 bytes from both of these lie in the line of 64, and two times four words are eight.
    unsafe {
        stream.launch_unchecked(&copy, Grid::new(1, 2), (&mut source, &mut destination, &at))
    }
    .unwrap();
    let found = stream.download_array(&to).unwrap();
    let found: &[u8] = bytemuck::cast_slice(&found);
    assert_eq!(found, [&bytes[48..64], &bytes[16..32]].concat());
}

// covers: SURF-04
#[test]
fn a_byte_inside_of_a_texel_is_a_fault() {
    use warpsmith_host::fault::FaultKind;

    let Side::Child = own_process(&[("WARPSMITH_REPORT", "0")]) else {
        return;
    };
    let f = Fixture::open().unwrap();
    let stream = f.stream();
    let copy = f.module.kernel(kernels::copy_bytes).unwrap();
    let mut from = stream
        .surface_array(&[0_u8; 64], Extent1 { width: 64 })
        .unwrap();
    let mut to = stream
        .surface_array_zeroed::<u32, _>(Extent1 { width: 8 })
        .unwrap();
    let (mut source, mut destination) = (from.surface().unwrap(), to.surface().unwrap());
    let at = stream.upload(&[3_u32]).unwrap();
    // SAFETY: it is not; the fault is what this is about.
    unsafe {
        stream.launch_unchecked(&copy, Grid::new(1, 1), (&mut source, &mut destination, &at))
    }
    .unwrap();
    let error = stream.synchronize().unwrap_err();
    assert_eq!(error.code(), Some(Code::MISALIGNED_ADDRESS), "{error}");
    if f.gpu.is_simulator() {
        let fault = error.fault().expect("a fault");
        assert_eq!(
            (fault.kind(), fault.kernel()),
            (FaultKind::MisalignedAddress, Some("copy_bytes"))
        );
    }
}

// covers: SURF-08
#[test]
fn an_array_is_not_written_where_it_is_used_twice() {
    let f = fixture();
    let stream = f.stream();
    let copy = f.module.kernel(kernels::copy_texels::<u8>).unwrap();
    let mut array = stream
        .surface_array(&[1_u8; 4], Extent1 { width: 4 })
        .unwrap();
    let (mut one, mut two) = (array.surface().unwrap(), array.surface().unwrap());
    let refused = stream
        .launch(&copy, Grid::new(1, 4), (&mut one, &mut two))
        .unwrap_err()
        .to_string();
    assert!(
        refused.contains("kernel `copy_texels__u8` is passed one array twice"),
        "{refused}"
    );
    // Nothing is left of it.
    let texture = array.texture(POINT).unwrap();
    assert_eq!(fetched(kernels::fetch_1d::<u32>, &texture), [1; 4]);
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

// covers: TEX-02, TEX-11
#[test]
fn elements_of_a_buffer_are_fetched_by_index() {
    let f = fixture();
    let stream = f.stream();
    let n = 1000;
    let grid = Grid::cover(n + 24, 128);
    let texels = numbers(n);
    let buffer = stream.upload(&texels).unwrap();
    let mut out = stream.zeroed::<f32>(n + 24).unwrap();
    let kernel = f.module.kernel(kernels::elements::<f32>).unwrap();
    stream
        .launch(&kernel, grid, (&buffer.texture(..).unwrap(), &mut out))
        .unwrap();
    let expected = [&texels[..], &[7.0; 24]].concat();
    assert_eq!(stream.download(&out).unwrap(), expected);

    let bytes = stream.upload(&[255_u8, 0, 51, 7]).unwrap();
    let mut out = stream.zeroed::<f32>(4).unwrap();
    let shares = bytes.normalised_texture(..).unwrap();
    stream
        .launch(&kernel, Grid::new(1, 4), (&shares, &mut out))
        .unwrap();
    assert_eq!(stream.download(&out).unwrap(), [1.0, 0.0, 0.2, 7.0 / 255.0]);
    let kernel = f.module.kernel(kernels::elements::<u32>).unwrap();
    let mut out = stream.zeroed::<u32>(4).unwrap();
    let whole = bytes.texture(..3).unwrap();
    stream
        .launch(&kernel, Grid::new(1, 4), (&whole, &mut out))
        .unwrap();
    assert_eq!(stream.download(&out).unwrap(), [255, 0, 51, 7]);

    // Written between two launches with one object.
    let mut words = stream.upload(&[1_i32, -2]).unwrap();
    let kernel = f.module.kernel(kernels::elements::<i32>).unwrap();
    let mut out = stream.zeroed::<i32>(2).unwrap();
    for value in [-2, 9] {
        stream.fill(&mut words.slice_mut(1..), value).unwrap();
        let texture = words.texture(..).unwrap();
        stream
            .launch(&kernel, Grid::new(1, 2), (&texture, &mut out))
            .unwrap();
        assert_eq!(stream.download(&out).unwrap(), [1, value]);
    }
}

// covers: TEX-11
#[test]
fn a_matrix_with_padded_rows_is_an_image() {
    let f = fixture();
    let stream = f.stream();
    let (width, height) = (65, 9);
    let texels = numbers(width * height);
    let image: PitchedBuffer<f32> = stream.pitched_upload(&texels, height, width).unwrap();
    let kernel = f.module.kernel(kernels::fetch_2d::<f32>).unwrap();
    let mut out = stream.zeroed::<f32>(texels.len()).unwrap();
    // In the middle of texels both filters give them alone.
    for options in [POINT, LINEAR] {
        let texture = image.texture(options).unwrap();
        let matrix = out.matrix_mut(height, width).unwrap();
        let grid = Grid::cover_2d((width, height), (16, 4));
        stream.launch(&kernel, grid, (&texture, matrix)).unwrap();
        assert_eq!(stream.download(&out).unwrap(), texels);
    }
}

// covers: TEX-01
#[test]
fn a_view_takes_texels_for_others() {
    let f = fixture();
    let stream = f.stream();
    macro_rules! fetched {
        ($fetched:ty, $texture:expr) => {{
            let texture = $texture.unwrap();
            let width = texture.extents().width;
            let kernel = f.module.kernel(kernels::fetch_1d::<$fetched>).unwrap();
            let mut out = stream.zeroed::<$fetched>(width).unwrap();
            stream
                .launch(&kernel, Grid::cover(width, 32), (&texture, &mut out))
                .unwrap();
            stream.download(&out).unwrap()
        }};
    }
    let floats = [1.0_f32, 2.0, -0.5, 0.25];
    let bits = floats.map(f32::to_bits);
    let line = stream.array(&bits, Extent1 { width: 4 }).unwrap();
    let seen = line.view_as::<f32>();
    assert_eq!(fetched!(f32, seen.texture(POINT)), floats);
    // Words are not filtered, but what they are taken for is.
    assert!(line.texture(LINEAR).is_err());
    assert_eq!(fetched!(f32, seen.texture(LINEAR)), floats);
    let seen = line.view_as::<[u8; 4]>();
    let bytes = bits.map(|word| word.to_ne_bytes().map(u32::from));
    assert_eq!(fetched!([u32; 4], seen.texture(POINT)), bytes);
    assert!(seen.texture(LINEAR).is_err());
    assert!(seen.srgb_texture(LINEAR).is_ok());
    let halves = stream
        .array(&[0xffff_0000_u32, 0x0000_ffff], Extent1 { width: 2 })
        .unwrap();
    let seen = halves.view_as::<[u16; 2]>();
    let shares = fetched!([f32; 2], seen.normalised_texture(LINEAR));
    assert_eq!(shares, [[0.0, 1.0], [1.0, 0.0]]);
    // The other way about, while the array's own texels stay what they are.
    let line = stream.array(&floats, Extent1 { width: 4 }).unwrap();
    assert_eq!(fetched!(u32, line.view_as::<u32>().texture(POINT)), bits);
    assert_eq!(fetched!(f32, line.texture(POINT)), floats);
    let same = line.view_as::<f32>().texture(POINT).unwrap();
    drop(line);
    assert_eq!(fetched!(f32, Ok::<_, Error>(same)), floats);
}

// covers: TEX-01, TEX-12, TEX-14, TEX-15, TEX-16
#[test]
fn a_view_has_all_layers_levels_and_faces() {
    let f = fixture();
    let stream = f.stream();
    let bits = |count: usize| -> Vec<u32> {
        numbers(count)
            .iter()
            .map(|number| number.to_bits())
            .collect()
    };
    let (width, height, layers) = (5, 3, 4);
    let extents = Layered2 {
        width,
        height,
        layers,
    };
    let images = stream
        .array(&bits(width * height * layers), extents)
        .unwrap();
    let seen = images.view_as::<f32>().texture(POINT).unwrap();
    let kernel = f.module.kernel(kernels::fetch_layered_2d).unwrap();
    let mut out = stream.zeroed::<f32>(width * height * layers).unwrap();
    let volume = out.volume_mut(layers, height, width).unwrap();
    let grid = Grid::new((1, 1, 4), (8, 4, 1));
    stream.launch(&kernel, grid, (&seen, volume)).unwrap();
    assert_eq!(
        stream.download(&out).unwrap(),
        numbers(width * height * layers)
    );

    let directions = [
        [1.0, 0.0, 0.0],
        [-1.0, 0.0, 0.0],
        [0.0, 1.0, 0.0],
        [0.0, 0.0, -1.0],
    ];
    let at = stream.upload(&directions).unwrap();
    let mut out = stream.zeroed::<f32>(4).unwrap();
    let cube = stream.array(&bits(6), Cube { width: 1 }).unwrap();
    let seen = cube.view_as::<f32>().texture(POINT).unwrap();
    let kernel = f.module.kernel(kernels::fetch_cube).unwrap();
    stream
        .launch(&kernel, Grid::new(1, 4), (&seen, &at, &mut out))
        .unwrap();
    assert_eq!(stream.download(&out).unwrap(), [1.0, 2.0, 3.0, 6.0]);
    let extents = LayeredCube { width: 1, cubes: 2 };
    let cubes = stream.array(&bits(12), extents).unwrap();
    assert!(cubes.view_as::<f32>().texture(LINEAR).is_ok());

    let levels: [&[u32]; 3] = [&bits(8), &bits(2), &bits(1)];
    let extents = Extent2 {
        width: 4,
        height: 2,
    };
    let image = stream.mipmapped_array(&levels, extents).unwrap();
    let options = TextureOptions {
        coordinates: Coordinates::Normalised,
        ..LINEAR
    };
    let smooth = LevelOptions {
        filter: Filter::Linear,
        ..Default::default()
    };
    assert!(
        image.texture(options, smooth).is_err(),
        "words are not filtered"
    );
    let seen = image.view_as::<f32>().texture(options, smooth).unwrap();
    let _ = seen.object();
    let level = image.level(1);
    let seen = level.view_as::<f32>().texture(POINT).unwrap();
    let kernel = f.module.kernel(kernels::fetch_2d::<f32>).unwrap();
    let mut out = stream.zeroed::<f32>(2).unwrap();
    let matrix = out.matrix_mut(1, 2).unwrap();
    stream
        .launch(&kernel, Grid::new(1, 2), (&seen, matrix))
        .unwrap();
    assert_eq!(stream.download(&out).unwrap(), [1.0, 2.0]);
}

// covers: TEX-01, TEX-14, TEX-16
#[test]
fn a_view_has_some_layers_or_levels() {
    let f = fixture();
    let stream = f.stream();
    let (width, height, layers) = (5, 3, 4);
    let extents = Layered2 {
        width,
        height,
        layers,
    };
    let all = numbers(width * height * layers);
    let images = stream.array(&all, extents).unwrap();
    let seen = images.view_as::<f32>().layers(1..3).unwrap();
    let seen = seen.texture(POINT).unwrap();
    assert_eq!(
        seen.extents(),
        Layered2 {
            layers: 2,
            ..extents
        }
    );
    let kernel = f.module.kernel(kernels::fetch_layered_2d).unwrap();
    let mut out = stream.zeroed::<f32>(width * height * 2).unwrap();
    let volume = out.volume_mut(2, height, width).unwrap();
    let grid = Grid::new((1, 1, 2), (8, 4, 1));
    stream.launch(&kernel, grid, (&seen, volume)).unwrap();
    let layer = width * height;
    assert_eq!(stream.download(&out).unwrap(), all[layer..3 * layer]);
    // The texture keeps the array.
    drop(images);
    let volume = out.volume_mut(2, height, width).unwrap();
    stream.launch(&kernel, grid, (&seen, volume)).unwrap();
    stream.synchronize().unwrap();

    let levels: [&[f32]; 4] = [&[0.0; 64], &[1.0; 16], &[2.0; 4], &[3.0]];
    let extents = Extent2 {
        width: 8,
        height: 8,
    };
    let image = stream.mipmapped_array(&levels, extents).unwrap();
    let options = TextureOptions {
        coordinates: Coordinates::Normalised,
        ..POINT
    };
    let kernel = f.module.kernel(kernels::fetch_level_2d::<f32>).unwrap();
    let details = stream.upload(&[0.0_f32, 1.0, 2.0, 3.0]).unwrap();
    let mut out = stream.zeroed::<f32>(4).unwrap();
    for (range, expected) in [(1..3, [1.0, 2.0, 2.0, 2.0]), (0..4, [0.0, 1.0, 2.0, 3.0])] {
        let first = range.start;
        let seen = image.view_as::<f32>().levels(range).unwrap();
        let seen = seen.texture(options, LevelOptions::default()).unwrap();
        assert_eq!(seen.extents().width, 8 >> first);
        stream
            .launch(&kernel, Grid::new(1, 32), (&seen, &details, &mut out))
            .unwrap();
        assert_eq!(stream.download(&out).unwrap(), expected);
    }
    for (first, end) in [(2, 2), (3, 1), (0, 5), (4, 5), (usize::MAX, usize::MAX)] {
        let text = match image.view_as::<f32>().levels(first..end) {
            Ok(_) => panic!("{first}..{end} was accepted"),
            Err(error) => error.to_string(),
        };
        assert!(text.contains("levels"), "{text}");
    }
}

// covers: TEX-01
#[test]
fn blocks_are_decompressed_on_a_gpu() {
    let f = fixture();
    let stream = f.stream();
    // Two blocks of BC1, whose first colour all pixels have: red, and blue.
    let blocks = [[0x0000_f800_u32, 0], [0x0000_001f, 0]];
    let extents = Extent2 {
        width: 2,
        height: 1,
    };
    let array = stream.array(&blocks, extents).unwrap();
    let made = array.block_texture::<compressed::Bc1>(POINT);
    if f.gpu.is_simulator() {
        let error = made.unwrap_err();
        assert_eq!(error.code(), Some(Code::NOT_SUPPORTED));
        assert!(
            error.to_string().contains("decompresses no blocks"),
            "{error}"
        );
        return;
    }
    let texture = made.unwrap();
    assert_eq!(
        texture.extents(),
        Extent2 {
            width: 8,
            height: 4
        }
    );
    let kernel = f.module.kernel(kernels::fetch_2d::<[f32; 4]>).unwrap();
    let mut out = stream.zeroed::<[f32; 4]>(32).unwrap();
    let matrix = out.matrix_mut(4, 8).unwrap();
    stream
        .launch(&kernel, Grid::new(1, (8, 4)), (&texture, matrix))
        .unwrap();
    for (index, pixel) in stream.download(&out).unwrap().into_iter().enumerate() {
        let expected = match index % 8 {
            0..4 => [1.0, 0.0, 0.0, 1.0],
            _ => [0.0, 0.0, 1.0, 1.0],
        };
        assert_eq!(pixel, expected, "pixel {index}");
    }
}
