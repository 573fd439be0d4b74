//! CUDA arrays: texels of every type, copies in the order of streams, and what is refused.

use crate::common::gpu;
use half::f16;
use warpsmith_host::prelude::*;
use warpsmith_host::{Extent1, Extent2, Extent3, Layered1, Layered2, Texel};

const IMAGE: Extent2 = Extent2 {
    width: 5,
    height: 3,
};

fn round_trip<T: Texel + PartialEq + std::fmt::Debug>(
    stream: &Stream,
    texel: impl Fn(u8) -> T,
) -> Result<()> {
    let texels: Vec<T> = (0..24).map(texel).collect();
    let line = stream.array(&texels, Extent1 { width: 24 })?;
    assert_eq!(stream.download_array(&line)?, texels);
    let image = stream.array(
        &texels,
        Extent2 {
            width: 6,
            height: 4,
        },
    )?;
    assert_eq!(stream.download_array(&image)?, texels);
    let volume = Extent3 {
        width: 4,
        height: 3,
        depth: 2,
    };
    let volume = stream.array(&texels, volume)?;
    assert_eq!(stream.download_array(&volume)?, texels);
    let lines = stream.array(
        &texels,
        Layered1 {
            width: 8,
            layers: 3,
        },
    )?;
    assert_eq!(stream.download_array(&lines)?, texels);
    let images = Layered2 {
        width: 2,
        height: 4,
        layers: 3,
    };
    let mut images = stream.array(&texels, images)?;
    assert_eq!(stream.download_array(&images)?, texels);
    // By way of a buffer.
    let mut buffer = stream.zeroed::<T>(24)?;
    stream.copy_from_array(&volume, &mut buffer)?;
    assert_eq!(stream.download(&buffer)?, texels);
    let mut zeros = stream.array_zeroed(images.extents())?;
    assert_eq!(stream.download_array(&zeros)?, vec![T::zeroed(); 24]);
    stream.copy_to_array(&buffer, &mut zeros)?;
    stream.upload_array(&[T::zeroed(); 24], &mut images)?;
    stream.copy_array(&zeros, &mut images)?;
    let mut back = vec![T::zeroed(); 24];
    stream.download_array_into(&images, &mut back)?;
    assert_eq!(back, texels);
    assert_eq!(images.len(), 24);
    Ok(())
}

// covers: SURF-01, SURF-02, TEX-03, MEM-08
#[test]
fn every_texel_comes_back() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    round_trip(&stream, |i| i)?;
    round_trip(&stream, |i| -(i as i8))?;
    round_trip(&stream, |i| [u16::from(i) << 8, 1])?;
    round_trip(&stream, |i| [i16::from(i), -1, 2, -3])?;
    round_trip(&stream, |i| u32::from(i) << 24)?;
    round_trip(&stream, |i| [i32::from(i), i32::MIN])?;
    round_trip(&stream, |i| f16::from_f32(f32::from(i)))?;
    round_trip(&stream, |i| [f16::from_f32(f32::from(i)); 4])?;
    round_trip(&stream, |i| [f32::from(i), 1.0, 2.0, 3.0])
}

#[test]
fn uses_in_several_streams_are_put_in_order() -> Result<()> {
    let gpu = gpu();
    let streams = [gpu.stream()?, gpu.stream()?, gpu.stream()?];
    let mut image = streams[0].array_zeroed(IMAGE)?;
    let mut buffer = streams[1].zeroed::<u32>(15)?;
    for round in 0..100_u32 {
        let stream = |i: usize| &streams[(round as usize + i) % 3];
        stream(0).fill(&mut buffer, round)?;
        stream(1).copy_to_array(&buffer, &mut image)?;
        let mut other = stream(2).array_zeroed(IMAGE)?;
        stream(0).copy_array(&image, &mut other)?;
        stream(1).copy_from_array(&other, &mut buffer)?;
        // It is dropped while it may be in use.
        drop(other);
        assert_eq!(stream(2).download(&buffer)?, [round; 15]);
    }
    Ok(())
}

#[test]
fn dropped_arrays_give_their_memory_back() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    let size = Extent2 {
        width: 1 << 12,
        height: 1 << 12,
    };
    let bytes = size.width * size.height;
    let texels = vec![7_u8; bytes];
    let before = gpu.memory_info()?.free;
    for _ in 0..8 {
        drop(stream.array(&texels, size)?);
    }
    stream.synchronize()?;
    let taken = before.saturating_sub(gpu.memory_info()?.free);
    assert!(taken < 2 * bytes, "{taken} bytes of {}", 8 * bytes);
    Ok(())
}

#[test]
fn copies_between_arrays_and_buffers_are_captured() -> Result<()> {
    let gpu = gpu();
    let mut stream = gpu.stream()?;
    let texels: Vec<u32> = (0..15).collect();
    let from = stream.upload(&texels)?;
    let mut image = stream.array_zeroed::<u32, _>(IMAGE)?;
    let mut to = stream.zeroed::<u32>(15)?;
    let graph = stream.capture(|capture| {
        capture.copy_to_array(&from, &mut image)?;
        capture.copy_from_array(&image, &mut to)?;
        // A wait cannot be captured, nor the allocation of an array.
        assert!(capture.download_array(&image).is_err());
        assert!(capture.array_zeroed::<u32, _>(IMAGE).is_err());
        Ok(())
    })?;
    assert_eq!(stream.download(&to)?, [0; 15]);
    let mut graph = graph.instantiate()?;
    // The graph keeps it.
    drop(image);
    graph.launch(&stream)?;
    assert_eq!(stream.download(&to)?, texels);
    Ok(())
}

#[test]
fn what_does_not_fit_is_named() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    fn text<T: std::fmt::Debug>(result: Result<T>) -> String {
        result.unwrap_err().to_string()
    }
    let short = text(stream.array(&[1_u8; 14], IMAGE));
    assert!(
        short.contains("Extent2 { width: 5, height: 3 } has 15 texels, and 14 are given"),
        "{short}"
    );
    let none = text(stream.array_zeroed::<u8, _>(Extent1 { width: 0 }));
    assert!(none.contains("width in texels is 0"), "{none}");
    let wide = Extent2 {
        width: 1 << 20,
        height: 1,
    };
    let wide = text(stream.array_zeroed::<u8, _>(wide));
    assert!(wide.contains("width in texels is 1048576"), "{wide}");
    let many = Layered1 {
        width: 1,
        layers: 1 << 20,
    };
    let many = text(stream.array_zeroed::<u8, _>(many));
    assert!(many.contains("number of layers is 1048576"), "{many}");
    let endless = Extent3 {
        width: usize::MAX,
        height: usize::MAX,
        depth: 2,
    };
    assert!(stream.array(&[1_u8], endless).is_err());
    assert!(stream.array_zeroed::<u8, _>(endless).is_err());

    let mut image = stream.array(&[1_u8; 15], IMAGE)?;
    let mut other = stream.array_zeroed::<u8, _>(Extent2 {
        width: 3,
        height: 5,
    })?;
    let differ = text(stream.copy_array(&image, &mut other));
    assert!(
        differ.contains("both must have the same extents"),
        "{differ}"
    );
    let mut buffer = stream.zeroed::<u8>(14)?;
    for result in [
        stream.copy_to_array(&buffer, &mut image),
        stream.copy_from_array(&image, &mut buffer),
        stream.upload_array(&[1; 16], &mut image),
        stream.download_array_into(&image, &mut [1; 14]),
    ] {
        let differ = text(result);
        assert!(differ.contains("elements and the destination"), "{differ}");
    }
    Ok(())
}

/// Parts of arrays of every shape are copied, and what lies beside them stays.
// covers: MEM-06
#[test]
fn parts_of_arrays_are_copied() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    let numbers: Vec<u32> = (0..60).collect();
    let volume = Extent3 {
        width: 5,
        height: 4,
        depth: 3,
    };
    let mut volume = stream.array(&numbers, volume)?;
    let at = Extent3 {
        width: 3,
        height: 1,
        depth: 1,
    };
    let size = Extent3 {
        width: 2,
        height: 2,
        depth: 2,
    };
    let inside = |[x, y, z]: [usize; 3]| (3..5).contains(&x) && (1..3).contains(&y) && z >= 1;
    let place = |index: usize| [index % 5, index / 5 % 4, index / 20];
    let expected: Vec<u32> = (0..60)
        .filter(|&i| inside(place(i)))
        .map(|i| i as u32)
        .collect();
    assert_eq!(stream.download_array_region(&volume, at, size)?, expected);
    let mut buffer = stream.zeroed::<u32>(8)?;
    stream.copy_from_array_region(&volume, at, size, &mut buffer)?;
    assert_eq!(stream.download(&buffer)?, expected);
    stream.fill(&mut buffer, 100)?;
    stream.copy_to_array_region(&buffer, &mut volume, at, size)?;
    for (index, texel) in stream.download_array(&volume)?.into_iter().enumerate() {
        let expected = if inside(place(index)) {
            100
        } else {
            index as u32
        };
        assert_eq!(texel, expected, "{index}");
    }

    let layers = |layers| Layered2 {
        width: 5,
        height: 4,
        layers,
    };
    let mut images = stream.array(&numbers, layers(3))?;
    let second = Layered2 {
        width: 0,
        height: 0,
        layers: 1,
    };
    assert_eq!(
        stream.download_array_region(&images, second, layers(1))?,
        numbers[20..40]
    );
    stream.upload_array_region(&[7; 20], &mut images, second, layers(1))?;
    let texels = stream.download_array(&images)?;
    assert_eq!(texels, [&numbers[..20], &[7; 20], &numbers[40..]].concat());

    let error = stream.download_array_region(&images, second, layers(3));
    let error = error.unwrap_err().to_string();
    assert!(error.contains("do not lie in an array"), "{error}");
    for size in [layers(0), layers(usize::MAX)] {
        assert!(
            stream
                .upload_array_region(&[], &mut images, second, size)
                .is_err()
        );
    }
    assert!(
        stream
            .upload_array_region(&[7; 19], &mut images, second, layers(1))
            .is_err()
    );
    Ok(())
}
