//! Textures over buffers and parts of arrays: elements by index, pitched rows, other texel types, layers, levels, faces, compressed blocks.

use super::*;

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
