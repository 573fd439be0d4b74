//! Element types: their alignment, and variables that are read as others.

use crate::common::gpu;
use warpsmith_host::prelude::*;

/// Elements aligned to as much as the driver's memory is.
#[derive(Clone, Copy, PartialEq, Debug)]
#[repr(C, align(256))]
struct Aligned([u32; 64]);

// SAFETY: 64 words, which fill the 256 bytes; zeros are words.
unsafe impl bytemuck::Zeroable for Aligned {}
// SAFETY: 64 words, which fill the 256 bytes.
unsafe impl bytemuck::Pod for Aligned {}

/// More than that.
#[derive(Clone, Copy)]
#[repr(C, align(512))]
struct OverAligned([u32; 128]);

// SAFETY: 128 words, which fill the 512 bytes; zeros are words.
unsafe impl bytemuck::Zeroable for OverAligned {}
// SAFETY: 128 words, which fill the 512 bytes.
unsafe impl bytemuck::Pod for OverAligned {}

#[test]
fn memory_is_aligned_to_256_bytes() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    let value = Aligned(std::array::from_fn(|i| i as u32));
    // Other sizes before each, so that a multiple is no accident.
    for bytes in [1, 300, 1000, 5000] {
        let (_device, _pinned) = (stream.zeroed::<u8>(bytes)?, gpu.pinned::<u8>(bytes)?);
        let (_mapped, _unified) = (gpu.mapped::<u8>(bytes)?, gpu.unified::<u8>(bytes)?);
        let device = stream.filled(3, value)?;
        assert_eq!(device.as_device_ptr().address() % 256, 0);
        let mut pinned = gpu.pinned::<Aligned>(3)?;
        stream.copy_to_host(&device, &mut pinned)?;
        stream.synchronize()?;
        assert_eq!(*pinned.host()?, [value; 3]);
        let mut mapped = gpu.mapped::<Aligned>(3)?;
        let mut unified = gpu.unified::<Aligned>(3)?;
        assert_eq!(mapped.as_device_ptr().address() % 256, 0);
        assert_eq!(unified.as_device_ptr().address() % 256, 0);
        mapped.host_mut()?[2] = value;
        unified.host_mut()?[2] = value;
        assert_eq!(stream.download(&mapped)?[2], value);
        assert_eq!(stream.download(&unified)?[2], value);
        assert_eq!(stream.download(&stream.upload(&[value])?)?, [value]);
    }
    Ok(())
}

#[test]
fn more_than_256_bytes_are_refused() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    let value: OverAligned = bytemuck::Zeroable::zeroed();
    for error in [
        stream.upload(&[value]).map(drop),
        stream.upload::<OverAligned>(&[]).map(drop),
        stream.zeroed::<OverAligned>(1).map(drop),
        stream.filled(1, value).map(drop),
        gpu.pinned::<OverAligned>(1).map(drop),
        gpu.mapped::<OverAligned>(1).map(drop),
        gpu.unified::<OverAligned>(1).map(drop),
        // SAFETY: nothing reads it.
        unsafe { stream.uninit::<OverAligned>(1) }.map(drop),
    ] {
        let Err(Error::Limit(error)) = error else {
            panic!("{error:?}")
        };
        assert_eq!((error.value, error.limit), (512, 256), "{error}");
        let text = error.to_string();
        assert!(
            text.contains("OverAligned") && text.contains("align(256)"),
            "{text}"
        );
    }
    Ok(())
}

/// Variables are copied byte by byte, so the host may take them for what it likes.
#[test]
fn a_variable_may_be_read_as_any_type() -> Result<()> {
    let gpu = gpu();
    let module = gpu.load(
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .global .align 512 .b8 wide[1024];\n",
    )?;
    let wide = module.global::<OverAligned>("wide")?;
    wide.set_slice(&[OverAligned([7; 128]), OverAligned([9; 128])])?;
    let read = wide.get_vec()?;
    assert_eq!((read[0].0, read[1].0), ([7; 128], [9; 128]));
    Ok(())
}
