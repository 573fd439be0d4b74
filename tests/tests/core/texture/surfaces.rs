//! Surfaces: what kernels write, and which writes are refused.

use super::*;

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
