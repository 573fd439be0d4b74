//! What a texture reads, and whether a device can read it there.

use std::sync::Arc;

use super::super::array::{Array, ArrayShape, Mipmapped, component};
use super::super::space::Memory;
use crate::device;
use crate::error::{Result, code};
use crate::report;
use warpsmith_abi::{
    CUDA_ARRAY3D_LAYERED, CUDA_RESOURCE_DESC, CUDA_RESOURCE_VIEW_DESC, CUarray_format as Format,
    CUdevice_attribute as Attribute, CUresourceViewFormat as ViewFormat, CUresourcetype as Type,
};

/// A resource as a program gave it.
#[derive(Clone, Copy)]
pub(crate) struct Description(pub(crate) CUDA_RESOURCE_DESC);

// SAFETY: a description is numbers, addresses and handles, which own nothing and which nobody follows as pointers.
unsafe impl Send for Description {}
// SAFETY: a shared reference gives copies of the description, for which the reason given for `Send` holds.
unsafe impl Sync for Description {}

/// A checked resource.
pub(crate) enum Resource {
    Array(Arc<Array>),
    Mipmapped(Arc<Mipmapped>),
    /// Texels in a row at an address.
    Linear(Format),
    /// Rows of texels at an address.
    Pitched(Format),
}

impl Resource {
    /// # Errors
    ///
    /// The description is of no resource that the device can read, or its memory is not aligned or not there.
    pub(super) fn of(given: &CUDA_RESOURCE_DESC, device: usize) -> Result<Self> {
        if given.flags != 0 {
            return Err(code::INVALID_VALUE);
        }
        let limit = |attribute| device::profile(device).limit(attribute) as usize;
        let base_alignment = limit(Attribute::CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT);
        match given.resType {
            Type::CU_RESOURCE_TYPE_ARRAY => {
                // SAFETY: the type says which field the caller has set; any bytes are a handle.
                Array::of_use(unsafe { given.res.array.hArray }).map(Self::Array)
            }
            Type::CU_RESOURCE_TYPE_MIPMAPPED_ARRAY => {
                // SAFETY: the type says which field the caller has set; any bytes are a handle.
                Mipmapped::of_use(unsafe { given.res.mipmap.hMipmappedArray }).map(Self::Mipmapped)
            }
            Type::CU_RESOURCE_TYPE_LINEAR => {
                // SAFETY: the type says which field the caller has set; it is made of numbers.
                let linear = unsafe { given.res.linear };
                let texel = texel(linear.format, linear.numChannels)?;
                let most = limit(Attribute::CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH);
                let texels = linear.sizeInBytes / texel;
                let base = linear.devPtr as usize;
                let fits = texels > 0 && texels <= most && base.is_multiple_of(base_alignment);
                if !fits || !Memory::global().is_live(base, linear.sizeInBytes) {
                    return Err(code::INVALID_VALUE);
                }
                Ok(Self::Linear(linear.format))
            }
            Type::CU_RESOURCE_TYPE_PITCH2D => {
                // SAFETY: the type says which field the caller has set; it is made of numbers.
                let rows = unsafe { given.res.pitch2D };
                let texel = texel(rows.format, rows.numChannels)?;
                let pitch_alignment = limit(Attribute::CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT);
                let within = |value: usize, most| (1..=limit(most)).contains(&value);
                let base = rows.devPtr as usize;
                let fits = within(
                    rows.width,
                    Attribute::CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_WIDTH,
                ) && within(
                    rows.height,
                    Attribute::CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_HEIGHT,
                ) && within(
                    rows.pitchInBytes,
                    Attribute::CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_PITCH,
                ) && base.is_multiple_of(base_alignment)
                    && rows.pitchInBytes.is_multiple_of(pitch_alignment)
                    && rows.width * texel <= rows.pitchInBytes;
                // Bounded by the limits above.
                let span = || (rows.height - 1) * rows.pitchInBytes + rows.width * texel;
                if !fits || !Memory::global().is_live(base, span()) {
                    return Err(code::INVALID_VALUE);
                }
                Ok(Self::Pitched(rows.format))
            }
            _ => Err(code::INVALID_VALUE),
        }
    }

    /// The array, or the first level, and how many levels there are; `None` of memory with an address.
    pub(super) fn array(&self) -> Option<(&ArrayShape, u32)> {
        match self {
            Self::Array(array) => Some((&array.shape, 1)),
            Self::Mipmapped(mipmapped) => Some((&mipmapped.shape, mipmapped.level_count())),
            Self::Linear(_) | Self::Pitched(_) => None,
        }
    }

    /// What a component is.
    pub(super) fn format(&self) -> Format {
        match self {
            Self::Array(array) => array.shape.descriptor().Format,
            Self::Mipmapped(mipmapped) => mipmapped.shape.descriptor().Format,
            Self::Linear(format) | Self::Pitched(format) => *format,
        }
    }

    /// What a component is in a view.
    ///
    /// # Errors
    ///
    /// The view does not fit the resource, or has no format. Not supported: compressed blocks.
    pub(super) fn viewed_as(&self, view: &CUDA_RESOURCE_VIEW_DESC) -> Result<Format> {
        let (shape, level_count) = self.array().ok_or(code::INVALID_VALUE)?;
        let is = shape.descriptor();
        let layers = match is.Flags & CUDA_ARRAY3D_LAYERED {
            0 => 1,
            _ => is.Depth as u64,
        };
        let block = block_words(view.format);
        // A block is as many pixels wide and high.
        let side = if block.is_some() { 4 } else { 1 };
        let seen = [
            is.Width.checked_mul(side),
            is.Height.checked_mul(side),
            Some(is.Depth),
        ];
        let same_extents = [view.width, view.height, view.depth].map(Some) == seen;
        let (first, last) = (u64::from(view.firstLayer), u64::from(view.lastLayer));
        let levels = (view.firstMipmapLevel, view.lastMipmapLevel);
        if !same_extents
            || levels.0 > levels.1
            || levels.1 >= level_count
            || first > last
            || last >= layers
        {
            return Err(code::INVALID_VALUE);
        }
        if let Some(words) = block {
            let is_of_words = is.Format == Format::CU_AD_FORMAT_UNSIGNED_INT32;
            if !is_of_words || is.NumChannels != words {
                return Err(code::INVALID_VALUE);
            }
            report::remark(&format!(
                "cuTexObjectCreate: a view of compressed blocks ({}): the simulator decompresses none",
                view.format.0
            ));
            return Err(code::NOT_SUPPORTED);
        }
        // A view has a format (H200).
        let (format, components) = described(view.format)?;
        match component(format)? * components == shape.texel() {
            true => Ok(format),
            false => Err(code::INVALID_VALUE),
        }
    }
}

/// Bytes of a texel of linear memory.
pub(super) fn texel(format: Format, components: u32) -> Result<usize> {
    match components {
        1 | 2 | 4 => Ok(component(format)? * components as usize),
        _ => Err(code::INVALID_VALUE),
    }
}

/// The components of a view's texels.
pub(super) fn described(format: ViewFormat) -> Result<(Format, usize)> {
    const FORMATS: [Format; 8] = [
        Format::CU_AD_FORMAT_UNSIGNED_INT8,
        Format::CU_AD_FORMAT_SIGNED_INT8,
        Format::CU_AD_FORMAT_UNSIGNED_INT16,
        Format::CU_AD_FORMAT_SIGNED_INT16,
        Format::CU_AD_FORMAT_UNSIGNED_INT32,
        Format::CU_AD_FORMAT_SIGNED_INT32,
        Format::CU_AD_FORMAT_HALF,
        Format::CU_AD_FORMAT_FLOAT,
    ];
    match format.0 {
        // Of each format one, two and four components, in this order.
        number @ 1..=24 => {
            let index = number as usize - 1;
            Ok((FORMATS[index / 3], 1 << (index % 3)))
        }
        _ => Err(code::INVALID_VALUE),
    }
}

/// Of how many words of 32 bits a compressed block is, if the format is of such (CUDA driver API, `CUDA_RESOURCE_VIEW_DESC`).
fn block_words(format: ViewFormat) -> Option<u32> {
    match format {
        ViewFormat::CU_RES_VIEW_FORMAT_UNSIGNED_BC1
        | ViewFormat::CU_RES_VIEW_FORMAT_UNSIGNED_BC4
        | ViewFormat::CU_RES_VIEW_FORMAT_SIGNED_BC4 => Some(2),
        ViewFormat(25..=34) => Some(4),
        _ => None,
    }
}
