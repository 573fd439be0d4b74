//! Texture and surface objects as the engine uses them.

use std::sync::Arc;

use super::resource::{described, texel};
use super::{SURFACES, Surface, TEXTURES, Texture};
use crate::engine::{ObjectError, TexelRecord, Texels, TextureObject};
use crate::memory::array::Array;
use crate::numerics::texture::{AddressMode, Format, Sampler};
use warpsmith_abi::{
    CU_TRSF_NORMALIZED_COORDINATES, CUDA_ARRAY3D_CUBEMAP, CUDA_ARRAY3D_LAYERED,
    CUaddress_mode as Mode, CUarray_format, CUfilter_mode, CUresourceViewFormat as ViewFormat,
    CUresourcetype as Type,
};

/// The texture object of a number.
pub(in crate::memory) fn texture(object: u64) -> Result<TextureObject, ObjectError> {
    let found = TEXTURES.get(object as usize as *mut ());
    let texture = found.map_err(|_| ObjectError::None)?;
    let texels = texels_of(&texture)?;
    let sampling = &texture.sampling;
    let format = driver_format(texels.format);
    let linear = sampling.filterMode == CUfilter_mode::CU_TR_FILTER_MODE_LINEAR
        && texture.resource.0.resType != Type::CU_RESOURCE_TYPE_LINEAR;
    Ok(TextureObject {
        sampler: Sampler {
            address: sampling.addressMode.map(|mode| match mode {
                Mode::CU_TR_ADDRESS_MODE_WRAP => AddressMode::Wrap,
                Mode::CU_TR_ADDRESS_MODE_MIRROR => AddressMode::Mirror,
                Mode::CU_TR_ADDRESS_MODE_BORDER => AddressMode::Border,
                _ => AddressMode::Clamp,
            }),
            linear,
            normalised: sampling.flags & CU_TRSF_NORMALIZED_COORDINATES != 0,
            integers: super::sampling::stays_integer(format, sampling.flags),
            border: sampling.borderColor,
        },
        texels,
    })
}

/// What the surface object of a number writes.
pub(in crate::memory) fn surface(object: u64) -> Result<Texels, ObjectError> {
    let found = SURFACES.get(object as usize as *mut ());
    let surface: Arc<Surface> = found.map_err(|_| ObjectError::None)?;
    // SAFETY: the object was made of an array, which `Surface::check` demands; any bytes are a handle.
    of_array(unsafe { surface.resource.0.res.array.hArray })
}

/// An array's bytes.
struct Bytes(Arc<Array>);

impl TexelRecord for Bytes {
    fn is_written(&self, first: u64, bytes: u32) -> bool {
        self.0.is_written(first as usize, bytes as usize)
    }

    fn note_written(&self, first: u64, bytes: u32) {
        self.0.note_bytes(first as usize, bytes as usize);
    }
}

fn of_array(handle: warpsmith_abi::CUarray) -> Result<Texels, ObjectError> {
    let array = Array::of_use(handle).map_err(|_| ObjectError::ArrayDestroyed)?;
    let is = array.shape.descriptor();
    let [pitch, rows, slices] = array.shape.bytes_rows_slices();
    let layered = is.Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP) != 0;
    let dimensions = match (is.Height, is.Depth) {
        (0, _) => 1,
        (_, 0) => 2,
        _ if layered => 2,
        _ => 3,
    };
    Ok(Texels {
        base: array.base() as u64,
        pitch: pitch as u64,
        slice: (pitch * rows) as u64,
        extents: [
            is.Width as u32,
            rows as u32,
            if layered { 1 } else { slices as u32 },
        ],
        dimensions,
        layers: layered.then_some(slices as u32),
        first_layer: 0,
        format: component(is.Format),
        components: is.NumChannels as usize,
        what: format!("a CUDA array ({})", array.shape),
        record: Some(Arc::new(Bytes(array))),
    })
}

fn texels_of(texture: &Texture) -> Result<Texels, ObjectError> {
    let resource = &texture.resource.0;
    // SAFETY: the type says which field the program has set; all are made of numbers and handles, which any bytes are.
    let (array, linear, rows) = unsafe {
        (
            resource.res.array,
            resource.res.linear,
            resource.res.pitch2D,
        )
    };
    let mut texels = match resource.resType {
        Type::CU_RESOURCE_TYPE_ARRAY => of_array(array.hArray)?,
        Type::CU_RESOURCE_TYPE_LINEAR => {
            // Checked when the object was made.
            let bytes = texel(linear.format, linear.numChannels).unwrap_or(1);
            let width = linear.sizeInBytes / bytes;
            Texels {
                base: linear.devPtr,
                pitch: linear.sizeInBytes as u64,
                slice: 0,
                extents: [width as u32, 1, 1],
                dimensions: 1,
                layers: None,
                first_layer: 0,
                format: component(linear.format),
                components: linear.numChannels as usize,
                record: None,
                what: format!("{width} texels of linear memory at {:#x}", linear.devPtr),
            }
        }
        _ => Texels {
            base: rows.devPtr,
            pitch: rows.pitchInBytes as u64,
            slice: 0,
            extents: [rows.width as u32, rows.height as u32, 1],
            dimensions: 2,
            layers: None,
            first_layer: 0,
            format: component(rows.format),
            components: rows.numChannels as usize,
            record: None,
            what: format!(
                "{} x {} texels of pitched memory at {:#x}",
                rows.width, rows.height, rows.devPtr
            ),
        },
    };
    if let Some(view) = &texture.view {
        if view.format != ViewFormat::CU_RES_VIEW_FORMAT_NONE
            && let Ok((format, components)) = described(view.format)
        {
            (texels.format, texels.components) = (component(format), components);
        }
        if texels.layers.is_some() {
            // A record counts from the array's first byte, so that a view of later layers keeps the first one's address.
            texels.first_layer = view.firstLayer;
            texels.layers = Some(view.lastLayer - view.firstLayer + 1);
        }
    }
    Ok(texels)
}

/// What a component is.
fn component(format: CUarray_format) -> Format {
    match format {
        CUarray_format::CU_AD_FORMAT_UNSIGNED_INT8 => Format::U8,
        CUarray_format::CU_AD_FORMAT_SIGNED_INT8 => Format::S8,
        CUarray_format::CU_AD_FORMAT_UNSIGNED_INT16 => Format::U16,
        CUarray_format::CU_AD_FORMAT_SIGNED_INT16 => Format::S16,
        CUarray_format::CU_AD_FORMAT_UNSIGNED_INT32 => Format::U32,
        CUarray_format::CU_AD_FORMAT_SIGNED_INT32 => Format::S32,
        CUarray_format::CU_AD_FORMAT_HALF => Format::F16,
        // No others are left: arrays and textures of them are refused.
        _ => Format::F32,
    }
}

/// The driver's name of it.
fn driver_format(format: Format) -> CUarray_format {
    match format {
        Format::U8 => CUarray_format::CU_AD_FORMAT_UNSIGNED_INT8,
        Format::S8 => CUarray_format::CU_AD_FORMAT_SIGNED_INT8,
        Format::U16 => CUarray_format::CU_AD_FORMAT_UNSIGNED_INT16,
        Format::S16 => CUarray_format::CU_AD_FORMAT_SIGNED_INT16,
        Format::U32 => CUarray_format::CU_AD_FORMAT_UNSIGNED_INT32,
        Format::S32 => CUarray_format::CU_AD_FORMAT_SIGNED_INT32,
        Format::F16 => CUarray_format::CU_AD_FORMAT_HALF,
        Format::F32 => CUarray_format::CU_AD_FORMAT_FLOAT,
    }
}
