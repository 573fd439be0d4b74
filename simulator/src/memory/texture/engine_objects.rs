//! Texture and surface objects as the engine uses them.

use std::sync::Arc;

use super::resource::{described, texel};
use super::{SURFACES, Surface, TEXTURES, Texture};
use crate::engine::{Faces, ObjectError, TexelRecord, Texels, TextureObject};
use crate::memory::array::{Array, FACES_OR_LAYERS, Mipmapped};
use crate::numerics::texture::{AddressMode, Format, LevelSampler, Sampler};
use warpsmith_abi::{
    CU_TRSF_NORMALIZED_COORDINATES, CU_TRSF_SEAMLESS_CUBEMAP, CU_TRSF_SRGB, CUDA_ARRAY3D_CUBEMAP,
    CUDA_ARRAY3D_LAYERED, CUDA_ARRAY3D_TEXTURE_GATHER, CUaddress_mode as Mode, CUarray_format,
    CUfilter_mode, CUresourcetype as Type,
};

/// The texture object of a number.
pub(in crate::memory) fn texture(object: u64) -> Result<TextureObject, ObjectError> {
    let found = TEXTURES.get(object as usize as *mut ());
    let texture = found.map_err(|_| ObjectError::None)?;
    let levels = levels_of(&texture)?;
    let sampling = &texture.sampling;
    let format = driver_format(levels[0].format);
    let is_linear = |filter| filter == CUfilter_mode::CU_TR_FILTER_MODE_LINEAR;
    let has = |flag: u32| sampling.flags & flag != 0;
    let linear = is_linear(sampling.filterMode)
        && texture.resource.0.resType != Type::CU_RESOURCE_TYPE_LINEAR;
    // With this flag a cube's faces have no outside.
    let is_seamless = has(CU_TRSF_SEAMLESS_CUBEMAP) && levels[0].faces != Faces::None;
    let address = |mode| match mode {
        _ if is_seamless => AddressMode::Clamp,
        Mode::CU_TR_ADDRESS_MODE_WRAP => AddressMode::Wrap,
        Mode::CU_TR_ADDRESS_MODE_MIRROR => AddressMode::Mirror,
        Mode::CU_TR_ADDRESS_MODE_BORDER => AddressMode::Border,
        _ => AddressMode::Clamp,
    };
    Ok(TextureObject {
        sampler: Sampler {
            address: sampling.addressMode.map(address),
            linear,
            normalised: has(CU_TRSF_NORMALIZED_COORDINATES),
            integers: super::sampling::stays_integer(format, sampling.flags),
            srgb: has(CU_TRSF_SRGB),
            border: sampling.borderColor,
        },
        between_levels: LevelSampler {
            linear: is_linear(sampling.mipmapFilterMode),
            bias: sampling.mipmapLevelBias,
            least: sampling.minMipmapLevelClamp,
            most: sampling.maxMipmapLevelClamp,
        },
        levels,
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
    match Array::of_use(handle) {
        Ok(array) => Ok(texels_in(array)),
        Err(_) => Err(ObjectError::ArrayDestroyed),
    }
}

fn texels_in(array: Arc<Array>) -> Texels {
    let is = array.shape.descriptor();
    let [pitch, rows, slices] = array.shape.bytes_rows_slices();
    let layered = is.Flags & FACES_OR_LAYERS != 0;
    let dimensions = match (is.Height, is.Depth) {
        (0, _) => 1,
        (_, 0) => 2,
        _ if layered => 2,
        _ => 3,
    };
    let faces = match is.Flags & CUDA_ARRAY3D_CUBEMAP != 0 {
        false => Faces::None,
        true if is.Flags & CUDA_ARRAY3D_LAYERED != 0 => Faces::OfCubes,
        true => Faces::OfCube,
    };
    Texels {
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
        faces,
        first_layer: 0,
        gathers: is.Flags & CUDA_ARRAY3D_TEXTURE_GATHER != 0,
        format: component(is.Format),
        components: is.NumChannels as usize,
        what: format!("a CUDA array ({})", array.shape),
        record: Some(Arc::new(Bytes(array))),
    }
}

/// The texels of each level that a texture reads; at least one.
fn levels_of(texture: &Texture) -> Result<Vec<Texels>, ObjectError> {
    let resource = &texture.resource.0;
    // SAFETY: the type says which field the program has set; all are made of numbers and handles, which any bytes are.
    let (array, mipmap, linear, rows) = unsafe {
        (
            resource.res.array,
            resource.res.mipmap,
            resource.res.linear,
            resource.res.pitch2D,
        )
    };
    let mut levels = match resource.resType {
        Type::CU_RESOURCE_TYPE_ARRAY => vec![of_array(array.hArray)?],
        Type::CU_RESOURCE_TYPE_MIPMAPPED_ARRAY => {
            let whole = Mipmapped::of_use(mipmap.hMipmappedArray);
            let whole = whole.map_err(|_| ObjectError::ArrayDestroyed)?;
            let all = 0..=whole.level_count() - 1;
            let seen = texture.view.map_or(all, |view| {
                // Checked when the object was made.
                view.firstMipmapLevel..=view.lastMipmapLevel
            });
            let levels = seen.map(|level| whole.level(level).map(texels_in));
            levels
                .collect::<Result<_, _>>()
                .map_err(|_| ObjectError::ArrayDestroyed)?
        }
        Type::CU_RESOURCE_TYPE_LINEAR => {
            // Checked when the object was made.
            let bytes = texel(linear.format, linear.numChannels).unwrap_or(1);
            let width = linear.sizeInBytes / bytes;
            vec![Texels {
                base: linear.devPtr,
                pitch: linear.sizeInBytes as u64,
                slice: 0,
                extents: [width as u32, 1, 1],
                dimensions: 1,
                layers: None,
                faces: Faces::None,
                first_layer: 0,
                gathers: false,
                format: component(linear.format),
                components: linear.numChannels as usize,
                record: None,
                what: format!("{width} texels of linear memory at {:#x}", linear.devPtr),
            }]
        }
        _ => vec![Texels {
            base: rows.devPtr,
            pitch: rows.pitchInBytes as u64,
            slice: 0,
            extents: [rows.width as u32, rows.height as u32, 1],
            dimensions: 2,
            layers: None,
            faces: Faces::None,
            first_layer: 0,
            gathers: false,
            format: component(rows.format),
            components: rows.numChannels as usize,
            record: None,
            what: format!(
                "{} x {} texels of pitched memory at {:#x}",
                rows.width, rows.height, rows.devPtr
            ),
        }],
    };
    if let Some(view) = &texture.view {
        for texels in &mut levels {
            if let Ok((format, components)) = described(view.format) {
                (texels.format, texels.components) = (component(format), components);
            }
            // The faces of one cube are no layers.
            if texels.layers.is_some() && texels.faces != Faces::OfCube {
                // A record counts from the array's first byte, so that a view of later layers keeps the first one's address.
                texels.first_layer = view.firstLayer;
                texels.layers = Some(view.lastLayer - view.firstLayer + 1);
            }
        }
    }
    Ok(levels)
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
