//! Textures and surfaces: what they refuse, what they keep, how launches with them are put in order.

use crate::common::gpu;
use warpsmith_host::prelude::*;
use warpsmith_host::{
    AddressMode, Attribute, Coordinates, Cube, Extent1, Extent2, Extent3, Filter, Gather2,
    Layered1, LayeredCube, LevelOptions, NormalisedTexel, Texel, TextureOptions,
};
use warpsmith_testkit::ptx;

const SIZE: Extent2 = Extent2 {
    width: 4,
    height: 2,
};

const LINEAR: TextureOptions = TextureOptions {
    address: [AddressMode::Clamp; 3],
    filter: Filter::Linear,
    coordinates: Coordinates::Texels,
    border: [0.0; 4],
};

fn refusal<T: Texel>(stream: &Stream, options: TextureOptions) -> Result<Option<String>> {
    let image = stream.array_zeroed::<T, _>(SIZE)?;
    Ok(image.texture(options).err().map(|error| error.to_string()))
}

fn filters_normalised<T: NormalisedTexel>(stream: &Stream) -> Result<()> {
    let image = stream.array_zeroed::<T, _>(SIZE)?;
    image.normalised_texture(LINEAR).map(drop)
}

#[test]
fn only_floats_are_filtered() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    assert_eq!(refusal::<f32>(&stream, LINEAR)?, None);
    assert_eq!(refusal::<[half::f16; 4]>(&stream, LINEAR)?, None);
    filters_normalised::<u8>(&stream)?;
    filters_normalised::<[i16; 2]>(&stream)?;
    let element = TextureOptions::default();
    assert_eq!(refusal::<u32>(&stream, element)?, None);
    assert_eq!(refusal::<[i8; 4]>(&stream, element)?, None);

    let integers = refusal::<u8>(&stream, LINEAR)?.expect("a refusal");
    assert!(
        integers.contains("a fetch of `u8` gives integers"),
        "{integers}"
    );
    let integers = refusal::<[i32; 2]>(&stream, LINEAR)?.expect("a refusal");
    assert!(integers.contains("integers are not filtered"), "{integers}");
    Ok(())
}

#[test]
fn coordinates_wrap_only_where_they_are_normalised() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    for mode in [AddressMode::Wrap, AddressMode::Mirror] {
        let options = TextureOptions {
            address: [AddressMode::Clamp, mode, AddressMode::Border],
            ..Default::default()
        };
        let refused = refusal::<f32>(&stream, options)?.expect("a refusal");
        assert!(
            refused.contains("means nothing for coordinates in texels"),
            "{refused}"
        );
        let normalised = TextureOptions {
            coordinates: Coordinates::Normalised,
            ..options
        };
        assert_eq!(refusal::<f32>(&stream, normalised)?, None);
    }
    Ok(())
}

#[test]
fn what_an_array_is_read_by_is_one_object() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    let mut image = stream.surface_array_zeroed::<f32, _>(SIZE)?;
    let (one, two) = (image.texture(LINEAR)?, image.texture(LINEAR)?);
    assert_eq!(one.object(), two.object());
    let other = image.texture(TextureOptions::default())?;
    assert_ne!(one.object(), other.object());
    let bytes = stream.array(&[1_u8, 2, 3], Extent1 { width: 3 })?;
    let options = TextureOptions::default();
    let (whole, shares) = (bytes.texture(options)?, bytes.normalised_texture(options)?);
    assert_ne!(whole.object(), shares.object());
    assert_eq!(image.surface()?.object(), image.surface()?.object());
    assert_eq!(one.extents(), SIZE);
    // It keeps the array.
    drop((image, one));
    stream.synchronize()?;
    assert_eq!(two.extents(), SIZE);
    let mut plain = stream.array(&[1_u8, 2, 3], Extent1 { width: 3 })?;
    let refused = plain.surface().unwrap_err().to_string();
    assert!(refused.contains("`stream.surface_array`"), "{refused}");
    Ok(())
}

const NOTE: &str = ptx!(
    "7.8",
    "sm_90",
    "
.visible .entry note(.param .u64 texture, .param .u64 surface, .param .u64 out, .param .u64 n)
{
    .reg .b64 %t, %s, %o;
    ld.param.u64 %t, [texture];
    ld.param.u64 %s, [surface];
    ld.param.u64 %o, [out];
    cvta.to.global.u64 %o, %o;
    st.global.u64 [%o], %t;
    st.global.u64 [%o+8], %s;
    ret;
}"
);

#[test]
fn kernels_get_the_numbers_in_the_order_of_the_arrays_uses() -> Result<()> {
    let gpu = gpu();
    let module = gpu.load(NOTE)?;
    let note = module.untyped_kernel::<(TextureObject, SurfaceObject, Out<u64>)>("note")?;
    let (stream, other) = (gpu.stream()?, gpu.stream()?);
    let read = stream.array(&[1.0_f32; 8], SIZE)?;
    let mut written = stream.surface_array_zeroed::<f32, _>(SIZE)?;
    let texture = read.texture(LINEAR)?;
    let mut surface = written.surface()?;
    let mut out = stream.zeroed::<u64>(2)?;
    let numbers = [texture.object(), surface.object()];
    drop(read);
    for stream in [&other, &stream] {
        // SAFETY: the entry takes two numbers and writes two words.
        unsafe {
            stream.launch_untyped(&note, Grid::new(1, 1), (&texture, &mut surface, &mut out))?
        };
        assert_eq!(stream.download(&out)?, numbers);
    }
    // The array is as any other, with the surface beside it.
    other.upload_array(&[2.0; 8], &mut written)?;
    assert_eq!(stream.download_array(&written)?, [2.0; 8]);
    Ok(())
}

// covers: TEX-11
#[test]
fn memory_that_a_texture_cannot_read_is_refused_with_the_limit() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    let alignment = gpu.attribute(Attribute::TEXTURE_ALIGNMENT)? as usize;
    let words = stream.zeroed::<u32>(alignment)?;
    let refused = words.texture(1..).unwrap_err().to_string();
    assert!(
        refused.contains("the alignment of its first byte")
            && refused.contains(&format!("is 4, the least is {alignment}")),
        "{refused}"
    );
    assert_eq!(
        words.texture(alignment / 4..)?.len(),
        alignment - alignment / 4
    );
    let refused = words.texture(3..3).unwrap_err().to_string();
    assert!(refused.contains("a texture of no elements"), "{refused}");
    let refused = stream
        .zeroed::<f32>(0)?
        .texture(..)
        .unwrap_err()
        .to_string();
    assert!(refused.contains("a texture of no elements"), "{refused}");
    let mut graph = gpu.graph()?;
    let scratch = graph.zeroed::<u32>(8)?;
    let refused = scratch.texture(..).unwrap_err().to_string();
    assert!(
        refused.contains("memory that a graph allocates"),
        "{refused}"
    );
    let image = stream.pitched_zeroed::<u8>(2, 0)?;
    assert!(image.texture(TextureOptions::default()).is_err());
    // Rows of a driver's pitch are a texture's.
    let image = stream.pitched_zeroed::<[half::f16; 2]>(3, 70)?;
    let texture = image.texture(LINEAR)?;
    assert_eq!(
        texture.extents(),
        Extent2 {
            width: 70,
            height: 3
        }
    );
    // The same reading is the same object.
    assert_eq!(texture.object(), image.texture(LINEAR)?.object());
    assert_ne!(
        texture.object(),
        image.texture(TextureOptions::default())?.object()
    );
    Ok(())
}

#[test]
fn memory_is_freed_with_its_textures() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    for _ in 0..20 {
        let words = stream.upload(&[1_u32; 300])?;
        assert_ne!(words.texture(..)?.object(), 0);
    }
    gpu.synchronize()
}

const NORMALISED: TextureOptions = TextureOptions {
    coordinates: Coordinates::Normalised,
    filter: Filter::Point,
    ..LINEAR
};

// covers: TEX-12
#[test]
fn levels_are_arrays_that_keep_the_whole() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    let whole = stream.surface_mipmapped_array_zeroed::<u16, _>(SIZE, 3)?;
    assert_eq!((whole.level_count(), whole.extents()), (3, SIZE));
    let mut levels = [whole.level(0), whole.level(1), whole.level(2)];
    let extents = levels.each_ref().map(|level| level.extents());
    let of = |width, height| Extent2 { width, height };
    assert_eq!(extents, [of(4, 2), of(2, 1), of(1, 1)]);
    for (number, level) in levels.iter_mut().enumerate() {
        assert_eq!(stream.download_array(level)?, vec![0; level.len()]);
        stream.upload_array(&vec![number as u16 + 5; level.len()], level)?;
    }
    // The texture and the surface of a level are one object each, and none of another level's.
    let mut again = whole.level(1);
    let options = TextureOptions::default();
    let [zero, one, _] = &mut levels;
    assert_eq!(
        one.texture(options)?.object(),
        again.texture(options)?.object()
    );
    assert_ne!(
        zero.texture(options)?.object(),
        again.texture(options)?.object()
    );
    assert_eq!(one.surface()?.object(), again.surface()?.object());
    assert_ne!(zero.surface()?.object(), again.surface()?.object());
    let all = whole.texture(NORMALISED, LevelOptions::default())?;
    assert_eq!(
        all.object(),
        whole.texture(NORMALISED, LevelOptions::default())?.object()
    );
    // In any order.
    let surface = again.surface()?;
    let [zero, one, two] = levels;
    drop((whole, again, all, zero, two));
    stream.synchronize()?;
    assert_eq!(stream.download_array(&one)?, [6, 6]);
    drop(one);
    stream.synchronize()?;
    assert_ne!(surface.object(), 0);
    Ok(())
}

#[test]
fn levels_are_swapped_without_harm() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    let levels: [&[f32]; 2] = [&[1.0; 8], &[2.0; 2]];
    let (one, two) = (
        stream.mipmapped_array(&levels, SIZE)?,
        stream.mipmapped_array(&levels, SIZE)?,
    );
    let (mut a, mut b) = (one.level(0), two.level(0));
    std::mem::swap(&mut a, &mut b);
    let texture = one.texture(NORMALISED, LevelOptions::default())?;
    drop((one, a, two));
    stream.upload_array(&[7.0; 8], &mut b)?;
    assert_eq!(stream.download_array(&b)?, [7.0; 8]);
    assert_eq!(texture.extents(), SIZE);
    Ok(())
}

#[test]
fn dropped_levels_give_their_memory_back() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    let size = Extent2 {
        width: 1 << 12,
        height: 1 << 12,
    };
    let bytes = size.width * size.height;
    let before = gpu.memory_info()?.free;
    for _ in 0..4 {
        let whole = stream.mipmapped_array_zeroed::<u8, _>(size, 2)?;
        drop((
            whole.texture(NORMALISED, LevelOptions::default())?,
            whole.level(1),
        ));
    }
    stream.synchronize()?;
    gpu.synchronize()?;
    let taken = before.saturating_sub(gpu.memory_info()?.free);
    assert!(taken < 3 * bytes, "{taken} bytes of {}", 5 * bytes);
    Ok(())
}

#[test]
fn what_no_mipmapped_array_is_is_named() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    let text = |result: Result<()>| result.unwrap_err().to_string();
    for (levels, bound) in [(0, "is 0, the least is 1"), (4, "is 4, the limit is 3")] {
        let made = stream.mipmapped_array_zeroed::<f32, _>(SIZE, levels);
        let refused = text(made.map(drop));
        assert!(
            refused.contains("the number of levels") && refused.contains(bound),
            "{refused}"
        );
    }
    let short: [&[f32]; 2] = [&[1.0; 8], &[2.0; 3]];
    assert!(stream.mipmapped_array(&short, SIZE).is_err());
    let wide = Extent1 { width: 1 << 20 };
    let refused = text(stream.mipmapped_array_zeroed::<u8, _>(wide, 1).map(drop));
    assert!(refused.contains("width in texels is 1048576"), "{refused}");
    let whole = stream.mipmapped_array_zeroed::<u8, _>(SIZE, 3)?;
    let refused = text(whole.texture(LINEAR, LevelOptions::default()).map(drop));
    assert!(refused.contains("coordinates in texels"), "{refused}");
    let smooth = LevelOptions {
        filter: Filter::Linear,
        ..Default::default()
    };
    let refused = text(whole.texture(NORMALISED, smooth).map(drop));
    assert!(refused.contains("integers are not filtered"), "{refused}");
    whole.normalised_texture(NORMALISED, smooth)?;
    for wrong in [
        LevelOptions {
            clamp: [2.0, 1.0],
            ..smooth
        },
        LevelOptions {
            clamp: [-1.0, 1.0],
            ..smooth
        },
        LevelOptions {
            clamp: [f32::NAN, 1.0],
            ..smooth
        },
        LevelOptions {
            bias: f32::NAN,
            ..smooth
        },
        LevelOptions {
            anisotropy: 17,
            ..smooth
        },
    ] {
        assert!(
            whole.normalised_texture(NORMALISED, wrong).is_err(),
            "{wrong:?}"
        );
    }
    let levels = whole.level_count();
    let beyond = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| whole.level(levels)));
    assert!(beyond.is_err());
    Ok(())
}

// covers: TEX-15, TEX-16, TEX-17
#[test]
fn cubes_and_gathered_arrays_are_arrays() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    let texels: Vec<u32> = (0..2 * 6 * 4).collect();
    let cubes = LayeredCube { width: 2, cubes: 2 };
    assert_eq!(
        stream.download_array(&stream.array(&texels, cubes)?)?,
        texels
    );
    let cube = stream.array(&texels[..24], Cube { width: 2 })?;
    assert_eq!(cube.len(), 24);
    assert_eq!(stream.download_array(&cube)?, texels[..24]);
    let gathered = Gather2 {
        width: 12,
        height: 4,
    };
    let gathered = stream.array(&texels, gathered)?;
    assert_eq!(stream.download_array(&gathered)?, texels);
    let text = |result: Result<()>| result.unwrap_err().to_string();
    let none = LayeredCube { width: 2, cubes: 0 };
    let refused = text(stream.array_zeroed::<u8, _>(none).map(drop));
    assert!(refused.contains("number of faces is 0"), "{refused}");
    let endless = LayeredCube {
        width: usize::MAX,
        cubes: usize::MAX,
    };
    assert!(stream.array_zeroed::<u8, _>(endless).is_err());
    assert!(stream.array(&texels[..23], Cube { width: 2 }).is_err());
    // Levels of each have as many layers.
    let lines = Layered1 {
        width: 9,
        layers: 5,
    };
    let level = stream.mipmapped_array_zeroed::<u8, _>(lines, 3)?.level(2);
    assert_eq!((level.extents().width, level.extents().layers), (2, 5));
    let volume = Extent3 {
        width: 4,
        height: 1,
        depth: 8,
    };
    let level = stream.mipmapped_array_zeroed::<u8, _>(volume, 4)?.level(3);
    assert_eq!(level.len(), 1);
    let level = stream.mipmapped_array_zeroed::<u8, _>(cubes, 2)?.level(1);
    assert_eq!(
        (level.extents(), level.len()),
        (LayeredCube { width: 1, cubes: 2 }, 12)
    );
    Ok(())
}
