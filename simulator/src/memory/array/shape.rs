//! What an array is made of: its extents, its texels, its flags, and which of them a device has (CUDA driver API, `cuArray3DCreate`).

use core::fmt;

use super::super::extent::product;
use crate::device;
use crate::error::{Result, code};
use warpsmith_abi::{
    CUDA_ARRAY3D_COLOR_ATTACHMENT, CUDA_ARRAY3D_CUBEMAP, CUDA_ARRAY3D_DESCRIPTOR,
    CUDA_ARRAY3D_LAYERED, CUDA_ARRAY3D_SURFACE_LDST, CUDA_ARRAY3D_TEXTURE_GATHER,
    CUarray_format as Format, CUdevice_attribute as Attribute,
};

/// The flags that the simulator has.
const FLAGS: u32 = CUDA_ARRAY3D_LAYERED
    | CUDA_ARRAY3D_SURFACE_LDST
    | CUDA_ARRAY3D_CUBEMAP
    | CUDA_ARRAY3D_TEXTURE_GATHER;

/// The flags with which the depth counts layers.
pub(in crate::memory) const FACES_OR_LAYERS: u32 = CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP;

/// All flags of the interface: `CUDA_ARRAY3D_VIDEO_ENCODE_DECODE` is the last.
const KNOWN_FLAGS: u32 = 0x1ff;

/// A checked description.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ArrayShape(CUDA_ARRAY3D_DESCRIPTOR);

/// The greatest extents; an extent that an array does not have is 0.
type Limits = [u32; 3];

impl ArrayShape {
    /// # Errors
    ///
    /// The description contradicts itself, or a device cannot have such an array.
    pub(crate) fn new(given: CUDA_ARRAY3D_DESCRIPTOR, device: usize) -> Result<Self> {
        if given.Flags & !KNOWN_FLAGS != 0 || !matches!(given.NumChannels, 1 | 2 | 4) {
            return Err(code::INVALID_VALUE);
        }
        if given.Flags & !FLAGS != 0 {
            return Err(code::NOT_SUPPORTED);
        }
        component(given.Format)?;
        let flag = |flag: u32| given.Flags & flag != 0;
        let limit = |attribute| device::profile(device).limit(attribute);
        let (textures, surfaces) = limits(&given, limit).ok_or(code::INVALID_VALUE)?;
        let fits = |limits: &Limits| {
            let extents = [given.Width, given.Height, given.Depth];
            extents
                .iter()
                .zip(limits)
                .all(|(&extent, &limit)| extent <= limit as usize && (extent > 0) == (limit > 0))
        };
        let fits_surfaces = !flag(CUDA_ARRAY3D_SURFACE_LDST) || fits(&surfaces);
        if given.Width == 0 || !textures.iter().any(fits) || !fits_surfaces {
            return Err(code::INVALID_VALUE);
        }
        Ok(Self(given))
    }

    /// As [`new`](Self::new), of a mipmapped array's first level.
    ///
    /// # Errors
    ///
    /// As those of [`new`](Self::new); lines and rectangles have limits of their own.
    pub(crate) fn of_mipmapped(given: CUDA_ARRAY3D_DESCRIPTOR, device: usize) -> Result<Self> {
        let shape = Self::new(given, device)?;
        let limit = |attribute| device::profile(device).limit(attribute) as usize;
        let most = match (given.Flags & FACES_OR_LAYERS, given.Height, given.Depth) {
            (0, 0, 0) => [
                limit(Attribute::CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH),
                0,
            ],
            (0, _, 0) => [
                limit(Attribute::CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH),
                limit(Attribute::CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT),
            ],
            _ => return Ok(shape),
        };
        match given.Width <= most[0] && given.Height <= most[1] {
            true => Ok(shape),
            false => Err(code::INVALID_VALUE),
        }
    }

    /// As [`of_mipmapped`](Self::of_mipmapped), of external memory, to which another interface may draw.
    ///
    /// # Errors
    ///
    /// As those of [`of_mipmapped`](Self::of_mipmapped).
    pub(crate) fn of_external(given: CUDA_ARRAY3D_DESCRIPTOR, device: usize) -> Result<Self> {
        let others = CUDA_ARRAY3D_DESCRIPTOR {
            Flags: given.Flags & !CUDA_ARRAY3D_COLOR_ATTACHMENT,
            ..given
        };
        Self::of_mipmapped(others, device).map(|_| Self(given))
    }

    /// How many levels a mipmapped array can have: the last one's extents are 1.
    pub(crate) fn most_levels(&self) -> u32 {
        let longest = self.0.Width.max(self.0.Height).max(self.depth_in_texels());
        longest.max(1).ilog2() + 1
    }

    /// The depth; 0 of layers.
    fn depth_in_texels(&self) -> usize {
        match self.0.Flags & FACES_OR_LAYERS {
            0 => self.0.Depth,
            _ => 0,
        }
    }

    /// The shape of a level of a mipmapped array whose first level this is. Its extents are half as long as those of the level before, and at
    /// least 1; it has as many layers.
    pub(crate) fn level(&self, level: u32) -> Self {
        let halved = |extent: usize| match extent {
            0 => 0,
            _ => (extent >> level).max(1),
        };
        let depth = match self.depth_in_texels() {
            0 => self.0.Depth,
            depth => halved(depth),
        };
        Self(CUDA_ARRAY3D_DESCRIPTOR {
            Width: halved(self.0.Width),
            Height: halved(self.0.Height),
            Depth: depth,
            ..self.0
        })
    }

    /// The description as the program gave it.
    pub(crate) fn descriptor(&self) -> CUDA_ARRAY3D_DESCRIPTOR {
        self.0
    }

    /// Bytes of a texel.
    pub(crate) fn texel(&self) -> usize {
        // Refused when the shape was made, if it has none.
        component(self.0.Format).unwrap_or(1) * self.0.NumChannels as usize
    }

    /// The bytes of a row, the rows of a slice, the slices: of those that an array does not have, one. Layers are slices.
    pub(crate) fn bytes_rows_slices(&self) -> [usize; 3] {
        [
            self.0.Width * self.texel(),
            self.0.Height.max(1),
            self.0.Depth.max(1),
        ]
    }

    /// All bytes, if an address counts them.
    pub(crate) fn bytes(&self) -> Option<usize> {
        product(&self.bytes_rows_slices())
    }
}

impl fmt::Display for ArrayShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texels = format_args!("{} bytes each", self.texel());
        match (self.0.Width, self.0.Height, self.0.Depth) {
            (width, 0, 0) => write!(f, "{width} texels of {texels}"),
            (width, height, 0) => write!(f, "{width} x {height} texels of {texels}"),
            (width, height, depth) => {
                write!(
                    f,
                    "{width} x {} x {depth} texels of {texels}",
                    height.max(1)
                )
            }
        }
    }
}

/// Bytes of a component.
///
/// # Errors
///
/// The format is none, or one that the simulator does not have: compressed ones, those of video, and those with a fixed number of
/// components.
pub(in crate::memory) fn component(format: Format) -> Result<usize> {
    match format {
        Format::CU_AD_FORMAT_UNSIGNED_INT8 | Format::CU_AD_FORMAT_SIGNED_INT8 => Ok(1),
        Format::CU_AD_FORMAT_UNSIGNED_INT16
        | Format::CU_AD_FORMAT_SIGNED_INT16
        | Format::CU_AD_FORMAT_HALF => Ok(2),
        Format::CU_AD_FORMAT_UNSIGNED_INT32
        | Format::CU_AD_FORMAT_SIGNED_INT32
        | Format::CU_AD_FORMAT_FLOAT => Ok(4),
        Format(0x50..=0x5e | 0x91..=0xb5 | 0xc0..=0xcb) => Err(code::NOT_SUPPORTED),
        _ => Err(code::INVALID_VALUE),
    }
}

/// What the extents of an array may be: those that textures have, of which one is met, and those that surfaces have. `None` where flags and
/// extents are of no kind of array.
fn limits(
    given: &CUDA_ARRAY3D_DESCRIPTOR,
    limit: impl Fn(Attribute) -> u32,
) -> Option<(Vec<Limits>, Limits)> {
    let flag = |flag: u32| given.Flags & flag != 0;
    let (layered, cube) = (flag(CUDA_ARRAY3D_LAYERED), flag(CUDA_ARRAY3D_CUBEMAP));
    let square = |attribute, depth| [limit(attribute), limit(attribute), depth];
    if flag(CUDA_ARRAY3D_TEXTURE_GATHER) {
        let gather = [
            limit(Attribute::CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_WIDTH),
            limit(Attribute::CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_HEIGHT),
            0,
        ];
        let surface = surface_2d(&limit);
        return (!layered && !cube).then_some((vec![gather], surface));
    }
    Some(match (layered, cube) {
        (_, true) if given.Width != given.Height || !given.Depth.is_multiple_of(6) => return None,
        (false, true) if given.Depth != 6 => return None,
        (false, true) => (
            vec![square(
                Attribute::CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_WIDTH,
                6,
            )],
            square(
                Attribute::CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_WIDTH,
                6,
            ),
        ),
        (true, true) => (
            vec![square(
                Attribute::CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH,
                limit(Attribute::CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS),
            )],
            square(
                Attribute::CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH,
                limit(Attribute::CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS),
            ),
        ),
        (true, false) if given.Height == 0 => (
            vec![[
                limit(Attribute::CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_WIDTH),
                0,
                limit(Attribute::CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_LAYERS),
            ]],
            [
                limit(Attribute::CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_WIDTH),
                0,
                limit(Attribute::CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_LAYERS),
            ],
        ),
        (true, false) => (
            vec![[
                limit(Attribute::CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_WIDTH),
                limit(Attribute::CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_HEIGHT),
                limit(Attribute::CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_LAYERS),
            ]],
            [
                limit(Attribute::CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_WIDTH),
                limit(Attribute::CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_HEIGHT),
                limit(Attribute::CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_LAYERS),
            ],
        ),
        (false, false) => match (given.Height, given.Depth) {
            (0, 0) => (
                vec![[
                    limit(Attribute::CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH),
                    0,
                    0,
                ]],
                [
                    limit(Attribute::CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_WIDTH),
                    0,
                    0,
                ],
            ),
            (_, 0) => (
                vec![[
                    limit(Attribute::CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH),
                    limit(Attribute::CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT),
                    0,
                ]],
                surface_2d(&limit),
            ),
            _ => (
                vec![
                    [
                        limit(Attribute::CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH),
                        limit(Attribute::CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT),
                        limit(Attribute::CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH),
                    ],
                    [
                        limit(Attribute::CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE),
                        limit(Attribute::CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT_ALTERNATE),
                        limit(Attribute::CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH_ALTERNATE),
                    ],
                ],
                [
                    limit(Attribute::CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_WIDTH),
                    limit(Attribute::CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_HEIGHT),
                    limit(Attribute::CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_DEPTH),
                ],
            ),
        },
    })
}

fn surface_2d(limit: &impl Fn(Attribute) -> u32) -> Limits {
    [
        limit(Attribute::CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_WIDTH),
        limit(Attribute::CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_HEIGHT),
        0,
    ]
}
