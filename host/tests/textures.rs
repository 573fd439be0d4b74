//! Textures and surfaces: what they refuse, what they keep, how launches with them are put in order.

mod common;

use common::gpu;

use warpsmith_host::prelude::*;
use warpsmith_host::{
    AddressMode, Coordinates, Extent1, Extent2, Filter, ReadMode, Texel, TextureOptions,
};
use warpsmith_testkit::ptx;

const SIZE: Extent2 = Extent2 {
    width: 4,
    height: 2,
};

const LINEAR: TextureOptions = TextureOptions {
    address: [AddressMode::Clamp; 3],
    filter: Filter::Linear,
    read: ReadMode::Element,
    coordinates: Coordinates::Texels,
    border: [0.0; 4],
};

fn refusal<T: Texel>(stream: &Stream, options: TextureOptions) -> Result<Option<String>> {
    let image = stream.array_zeroed::<T, _>(SIZE)?;
    Ok(image.texture(options).err().map(|error| error.to_string()))
}

#[test]
fn only_floats_are_filtered() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    let normalised = TextureOptions {
        read: ReadMode::NormalisedFloat,
        ..LINEAR
    };
    assert_eq!(refusal::<f32>(&stream, LINEAR)?, None);
    assert_eq!(refusal::<[half::f16; 4]>(&stream, LINEAR)?, None);
    assert_eq!(refusal::<u8>(&stream, normalised)?, None);
    assert_eq!(refusal::<[i16; 2]>(&stream, normalised)?, None);
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
    for refused in [
        refusal::<f32>(&stream, normalised)?,
        refusal::<u32>(&stream, normalised)?,
    ] {
        let refused = refused.expect("a refusal");
        assert!(
            refused.contains("cannot be read as normalised floats"),
            "{refused}"
        );
    }
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
    let note = module.untyped_kernel::<(Value<u64>, Value<u64>, Out<u64>)>("note")?;
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
