//! How a texture is read.

use warpsmith_driver::raw::{self, CUaddress_mode as Mode, CUarray_format as Format};

use super::texel::Texel;
use crate::error::{Code, Error, Result};

/// What a coordinate outside of the texture means (CUDA C++ Programming Guide, "Texture Memory"). Such coordinates are never an error.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum AddressMode {
    /// The nearest texel inside.
    #[default]
    Clamp,
    /// [`TextureOptions::border`].
    Border,
    /// The texture repeats: the coordinate's fraction. With [`Coordinates::Normalised`] only.
    Wrap,
    /// The texture repeats, every second time backwards. With [`Coordinates::Normalised`] only.
    Mirror,
}

/// How many texels a fetch reads.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Filter {
    /// The one in which the coordinates lie.
    #[default]
    Point,
    /// Two in each dimension, between which it interpolates with weights of 8 bits. Where a fetch gives floats only.
    Linear,
}

impl Filter {
    fn driver(self) -> raw::CUfilter_mode {
        match self {
            Filter::Point => raw::CUfilter_mode::CU_TR_FILTER_MODE_POINT,
            Filter::Linear => raw::CUfilter_mode::CU_TR_FILTER_MODE_LINEAR,
        }
    }
}

/// What a fetch gives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ReadMode {
    /// The texel as it is: integers as integers, `f16` as `f32`.
    Element,
    /// Integers of 8 and 16 bits as floats: unsigned ones from 0 to 1, signed ones from -1 to 1.
    NormalisedFloat,
    /// Unsigned integers of 8 bits, whose first three components are sRGB values, as floats in linear light from 0 to 1.
    LinearLight,
}

/// What a coordinate counts.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Coordinates {
    /// Texels: from 0 to the extent.
    #[default]
    Texels,
    /// The whole extent: from 0 to 1.
    Normalised,
}

/// How a texture is read. The default is what is least surprising, not the zeros of the driver's structure: the texel in which the
/// coordinates lie, the nearest one for coordinates outside, and a border of zeros where one is asked for. Whether integers are normalised is part
/// of the texture's type: [`Array::texture`](crate::Array::texture), [`Array::normalised_texture`](crate::Array::normalised_texture).
///
/// ```
/// use warpsmith_host::{AddressMode, Coordinates, Filter, TextureOptions};
///
/// let options = TextureOptions {
///     address: [AddressMode::Wrap; 3],
///     coordinates: Coordinates::Normalised,
///     filter: Filter::Linear,
///     ..Default::default()
/// };
/// assert_eq!(TextureOptions::default().address, [AddressMode::Clamp; 3]);
/// assert_eq!(options.border, [0.0; 4]);
/// ```
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct TextureOptions {
    /// For x, y and z.
    pub address: [AddressMode; 3],
    /// How many texels a fetch reads.
    pub filter: Filter,
    /// What coordinates count.
    pub coordinates: Coordinates,
    /// What [`AddressMode::Border`] gives.
    pub border: [f32; 4],
}

impl TextureOptions {
    /// The driver's description.
    ///
    /// # Errors
    ///
    /// The options contradict each other or the texels.
    pub(super) fn describe<T: Texel>(&self, read: ReadMode) -> Result<raw::CUDA_TEXTURE_DESC> {
        let refuse = |message: String, hint: &str| {
            Err(Error::misuse(
                "cuTexObjectCreate",
                Code::INVALID_VALUE,
                message,
                hint,
            ))
        };
        let repeats = |mode: &AddressMode| matches!(mode, AddressMode::Wrap | AddressMode::Mirror);
        if self.coordinates == Coordinates::Texels
            && let Some(mode) = self.address.iter().find(|mode| repeats(mode))
        {
            return refuse(
                format!("`AddressMode::{mode:?}` means nothing for coordinates in texels"),
                "set `coordinates: Coordinates::Normalised`, or clamp",
            );
        }
        let texel = std::any::type_name::<T>();
        let is_float = matches!(
            T::FORMAT,
            Format::CU_AD_FORMAT_HALF | Format::CU_AD_FORMAT_FLOAT
        );
        let normalises = read != ReadMode::Element;
        if self.filter == Filter::Linear && !is_float && !normalises {
            return refuse(
                format!("integers are not filtered, and a fetch of `{texel}` gives integers"),
                "fetch by `Filter::Point`, or read texels of 8 and 16 bits by `normalised_texture`",
            );
        }
        let mut flags = 0;
        if self.coordinates == Coordinates::Normalised {
            flags |= raw::CU_TRSF_NORMALIZED_COORDINATES;
        }
        if !is_float && !normalises {
            // Without it the driver makes small integers floats.
            flags |= raw::CU_TRSF_READ_AS_INTEGER;
        }
        if read == ReadMode::LinearLight {
            flags |= raw::CU_TRSF_SRGB;
        }
        Ok(raw::CUDA_TEXTURE_DESC {
            addressMode: self.address.map(|mode| match mode {
                AddressMode::Clamp => Mode::CU_TR_ADDRESS_MODE_CLAMP,
                AddressMode::Border => Mode::CU_TR_ADDRESS_MODE_BORDER,
                AddressMode::Wrap => Mode::CU_TR_ADDRESS_MODE_WRAP,
                AddressMode::Mirror => Mode::CU_TR_ADDRESS_MODE_MIRROR,
            }),
            filterMode: self.filter.driver(),
            flags,
            borderColor: self.border,
            ..Default::default()
        })
    }
}

/// Which levels of a mipmapped array a texture reads. The default is the nearest level, of all that there are; not the zeros of the driver's
/// structure, with which only the first is read.
///
/// ```
/// use warpsmith_host::{Filter, LevelOptions};
///
/// let smooth = LevelOptions { filter: Filter::Linear, ..Default::default() };
/// assert_eq!(smooth.clamp, [0.0, f32::INFINITY]);
/// ```
// covers: TEX-12
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LevelOptions {
    /// Whether a fetch reads the nearest level, or the two nearest, between which it interpolates. The latter where a fetch gives floats only.
    pub filter: Filter,
    /// Added to each level of detail.
    pub bias: f32,
    /// The least and the greatest level of detail, after the bias.
    pub clamp: [f32; 2],
    /// Up to how many times as long as wide the place may be that a fetch by gradients takes in: 1 to 16. The simulator has 1.
    pub anisotropy: u32,
}

impl Default for LevelOptions {
    fn default() -> Self {
        LevelOptions {
            filter: Filter::Point,
            bias: 0.0,
            clamp: [0.0, f32::INFINITY],
            anisotropy: 1,
        }
    }
}

impl LevelOptions {
    /// Adds them to the description of a texture of so many levels of texels `T`.
    ///
    /// # Errors
    ///
    /// The options contradict each other or the texels.
    pub(super) fn describe<T: Texel>(
        &self,
        options: &TextureOptions,
        read: ReadMode,
        levels: usize,
    ) -> Result<raw::CUDA_TEXTURE_DESC> {
        let refuse = |message: String, hint| {
            let call = "cuTexObjectCreate";
            Err(Error::misuse(call, Code::INVALID_VALUE, message, hint))
        };
        if options.coordinates == Coordinates::Texels {
            return refuse(
                "coordinates in texels of a mipmapped array".into(),
                "its levels differ in their extents: set `coordinates: Coordinates::Normalised`",
            );
        }
        let [least, most] = self.clamp;
        if !self.bias.is_finite() || !(0.0..=most).contains(&least) {
            return refuse(
                format!(
                    "levels of detail from {least} to {most}, with a bias of {}",
                    self.bias
                ),
                "the bias is a number, the least level is at least 0, and the greatest not below it",
            );
        }
        if !(1..=16).contains(&self.anisotropy) {
            return refuse(
                format!("an anisotropy of {}", self.anisotropy),
                "it is at least 1, which is none, and at most 16",
            );
        }
        // What goes for texels goes for levels.
        TextureOptions {
            filter: self.filter,
            ..*options
        }
        .describe::<T>(read)?;
        let last = (levels - 1) as f32;
        let described = options.describe::<T>(read)?;
        Ok(raw::CUDA_TEXTURE_DESC {
            // Levels are weighed as the level of detail says, without a driver's shortcuts.
            flags: described.flags | raw::CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION,
            mipmapFilterMode: self.filter.driver(),
            mipmapLevelBias: self.bias,
            minMipmapLevelClamp: least.min(last),
            maxMipmapLevelClamp: most.min(last),
            maxAnisotropy: self.anisotropy,
            ..described
        })
    }
}
