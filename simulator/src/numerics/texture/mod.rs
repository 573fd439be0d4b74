//! What a texture fetch computes (CUDA C++ Programming Guide, "Texture Fetching"): which texels, with which weights, and what becomes of them.
//!
//! Coordinates that are filtered are rounded to 8 fraction bits first, and the weight of each texel is a multiple of 1/256 (`corner_weight`);
//! the weighted sum is computed exactly and rounded once, to 16 bits where the texels have so many. All of this is an H200's way (driver
//! 580.159.04, measured with one texel that is not 0 at all pairs of fractions of a plane and 32768 triples of a volume); its sums differ in
//! their last place.

//!
//! | file | what |
//! | --- | --- |
//! | `levels` | which levels of a mipmapped texture |
//! | `cube` | which face of a cube, and where |

mod cube;
mod levels;

use half::f16;

pub use cube::face;
pub use levels::{LevelSampler, detail_of_gradients};

/// What a component of a texel is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// 8 bits, unsigned.
    U8,
    /// 8 bits, signed.
    S8,
    /// 16 bits, unsigned.
    U16,
    /// 16 bits, signed.
    S16,
    /// 32 bits, unsigned.
    U32,
    /// 32 bits, signed.
    S32,
    /// A float of 16 bits.
    F16,
    /// A float of 32 bits.
    F32,
}

impl Format {
    /// Bytes of a component.
    pub fn bytes(self) -> u32 {
        match self {
            Format::U8 | Format::S8 => 1,
            Format::U16 | Format::S16 | Format::F16 => 2,
            Format::U32 | Format::S32 | Format::F32 => 4,
        }
    }

    /// The component with these bits as a whole number.
    fn integer(self, bits: u32) -> i64 {
        match self {
            Format::S8 => i64::from(bits as i8),
            Format::S16 => i64::from(bits as i16),
            Format::S32 => i64::from(bits as i32),
            _ => i64::from(bits),
        }
    }

    /// What the component of 8 bits with these bits, an sRGB value, is in linear light, from 0 to 1.
    fn linear_light(self, bits: u32) -> f32 {
        let share = self.integer(bits) as f64 / 255.0;
        let linear = match share <= 0.04045 {
            true => share / 12.92,
            false => ((share + 0.055) / 1.055).powf(2.4),
        };
        linear as f32
    }

    /// The component with these bits as a float: integers of 8 and 16 bits from -1 or 0 to 1.
    fn float(self, bits: u32) -> f32 {
        let share = |most: i64| (self.integer(bits) as f64 / most as f64).max(-1.0) as f32;
        match self {
            Format::U8 => share(0xff),
            Format::S8 => share(0x7f),
            Format::U16 => share(0xffff),
            Format::S16 => share(0x7fff),
            Format::F16 => f16::from_bits(bits as u16).to_f32(),
            Format::U32 | Format::S32 | Format::F32 => f32::from_bits(bits),
        }
    }
}

/// What a coordinate outside of the texture means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressMode {
    /// The texture repeats; coordinates in texels are clamped.
    Wrap,
    /// The nearest texel.
    Clamp,
    /// The texture repeats, every second time backwards; coordinates in texels are clamped.
    Mirror,
    /// The border's colour.
    Border,
}

/// How a texture is read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampler {
    /// For x, y and z.
    pub address: [AddressMode; 3],
    /// Whether several texels are weighted.
    pub linear: bool,
    /// Whether coordinates count extents instead of texels.
    pub normalised: bool,
    /// Whether a fetch gives integers.
    pub integers: bool,
    /// Whether the first three components of 8 bits are sRGB values, which become linear before they are filtered.
    pub srgb: bool,
    /// The border's colour.
    pub border: [f32; 4],
}

impl Sampler {
    /// The four components that the border or the bits of a texel give, of which the texel has the first `components`.
    fn texel(&self, format: Format, components: usize, bits: Option<[u32; 4]>) -> [f32; 4] {
        let Some(bits) = bits else {
            return self.border;
        };
        let mut texel = [0.0, 0.0, 0.0, 1.0];
        for (index, (to, &bits)) in texel.iter_mut().zip(&bits).enumerate().take(components) {
            *to = match self.srgb && format == Format::U8 && index < 3 {
                true => format.linear_light(bits),
                false => format.float(bits),
            };
        }
        texel
    }

    /// As [`texel`](Self::texel), as the bits of whole numbers.
    fn whole(&self, format: Format, components: usize, bits: Option<[u32; 4]>) -> [u32; 4] {
        let Some(bits) = bits else {
            return self.border.map(|value| value as i32 as u32);
        };
        let mut texel = [0, 0, 0, 1];
        for (to, &bits) in texel.iter_mut().zip(&bits).take(components) {
            *to = format.integer(bits) as u32;
        }
        texel
    }
}

/// The coordinates of a fetch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Coordinates {
    /// As the sampler says.
    Floats([f32; 3]),
    /// Whole texels.
    Texels([i32; 3]),
}

/// The texels of one dimension that a fetch reads, with their weights in 256ths; `None` is the border.
type Picked = [(Option<u32>, u32); 2];

impl AddressMode {
    /// The texel of a number that may lie outside of so many.
    fn texel(self, number: i64, extent: u32, normalised: bool) -> Option<u32> {
        let last = i64::from(extent) - 1;
        let inside = match self {
            AddressMode::Border if !(0..=last).contains(&number) => return None,
            AddressMode::Wrap if normalised => number.rem_euclid(last + 1),
            AddressMode::Mirror if normalised => {
                let within = number.rem_euclid(2 * (last + 1));
                within.min(2 * last + 1 - within)
            }
            _ => number.clamp(0, last),
        };
        Some(inside as u32)
    }

    /// A normalised coordinate, brought into the extent where the mode repeats it.
    fn folded(self, x: f32) -> f32 {
        let floor = x.floor();
        match self {
            AddressMode::Wrap => x - floor,
            AddressMode::Mirror if floor % 2.0 == 0.0 => x - floor,
            AddressMode::Mirror => 1.0 - (x - floor),
            AddressMode::Clamp | AddressMode::Border => x,
        }
    }

    fn pick(self, x: f32, extent: u32, linear: bool, normalised: bool) -> Picked {
        let x = match normalised {
            true => self.folded(x) * extent as f32,
            false => x,
        };
        if !linear {
            let number = match self {
                // A fraction next to 1 may be rounded to the extent, which is no texel of the next repetition.
                AddressMode::Wrap | AddressMode::Mirror => {
                    (x.floor() as i64).clamp(0, i64::from(extent) - 1)
                }
                _ => x.floor() as i64,
            };
            return [(self.texel(number, extent, normalised), 256), (None, 0)];
        }
        let fixed = (f64::from(x) * 256.0 + 0.5).floor() as i64;
        let fixed = fixed.saturating_sub(128);
        let (number, weight) = (fixed >> 8, (fixed & 255) as u32);
        [
            (self.texel(number, extent, normalised), 256 - weight),
            (self.texel(number + 1, extent, normalised), weight),
        ]
    }
}

/// Fetches a texel of `components` components, as the bits of the four that a fetch gives: floats, or integers if the sampler says so.
/// A texture has the first `dimensions` of these extents. `read` gives the components' bits of a texel in the texture.
///
/// # Errors
///
/// What `read` answers.
pub fn fetch<E>(
    format: Format,
    components: usize,
    sampler: &Sampler,
    (extents, dimensions): ([u32; 3], usize),
    coordinates: Coordinates,
    mut read: impl FnMut([u32; 3]) -> Result<[u32; 4], E>,
) -> Result<[u32; 4], E> {
    let mut picked = [[(Some(0), 256), (None, 0)]; 3];
    for axis in 0..dimensions {
        let (mode, extent) = (sampler.address[axis], extents[axis]);
        picked[axis] = match coordinates {
            Coordinates::Floats(at) => {
                mode.pick(at[axis], extent, sampler.linear, sampler.normalised)
            }
            Coordinates::Texels(at) => [
                (mode.texel(i64::from(at[axis]), extent, false), 256),
                (None, 0),
            ],
        };
    }
    let mut bits_at = |at: [Option<u32>; 3]| match at {
        [Some(x), Some(y), Some(z)] => read([x, y, z]).map(Some),
        _ => Ok(None),
    };
    if sampler.integers {
        let bits = bits_at(picked.map(|[first, _]| first.0))?;
        return Ok(sampler.whole(format, components, bits));
    }
    let mut sum = [0.0_f64; 4];
    let shares = picked.map(|[_, behind]| behind.1);
    for corner in 0..8_usize {
        let weight = corner_weight(shares, corner);
        if weight == 0 {
            continue;
        }
        let at = [0, 1, 2].map(|axis| picked[axis][corner >> axis & 1].0);
        let texel = sampler.texel(format, components, bits_at(at)?);
        if weight == 256 {
            // One texel alone keeps its bits.
            return Ok(texel.map(f32::to_bits));
        }
        for (sum, value) in sum.iter_mut().zip(texel) {
            *sum += f64::from(value) * f64::from(weight) / 256.0;
        }
    }
    Ok(sum.map(|value| rounded(format, value)))
}

/// The bits of a sum.
fn rounded(format: Format, sum: f64) -> u32 {
    let rounded = match format {
        Format::F16 => to_half(sum),
        _ => sum as f32,
    };
    rounded.to_bits()
}

/// What lies between the fetches of two levels, of which the second one has this share in 256ths.
pub fn between_levels(format: Format, [near, far]: [[u32; 4]; 2], share: u32) -> [u32; 4] {
    let weighted =
        |bits: u32, weight: u32| f64::from(f32::from_bits(bits)) * f64::from(weight) / 256.0;
    std::array::from_fn(|part| {
        let sum = weighted(near[part], 256 - share) + weighted(far[part], share);
        rounded(format, sum)
    })
}

/// Gathers a component of the four texels that a linear filter would weigh in the first two dimensions, whatever the sampler's filter is:
/// their bits as a fetch gives them, from the lower left one (less x, greater y) counterclockwise. `read` is that of [`fetch`].
///
/// # Errors
///
/// What `read` answers.
pub fn gather<E>(
    format: Format,
    components: usize,
    component: usize,
    sampler: &Sampler,
    (extents, at): ([u32; 2], [f32; 2]),
    mut read: impl FnMut([u32; 3]) -> Result<[u32; 4], E>,
) -> Result<[u32; 4], E> {
    let [columns, rows] = [0, 1]
        .map(|axis| sampler.address[axis].pick(at[axis], extents[axis], true, sampler.normalised));
    let mut gathered = [0; 4];
    for (to, [column, row]) in gathered.iter_mut().zip([[0, 1], [1, 1], [1, 0], [0, 0]]) {
        let bits = match (columns[column].0, rows[row].0) {
            (Some(x), Some(y)) => Some(read([x, y, 0])?),
            _ => None,
        };
        *to = match sampler.integers {
            true => sampler.whole(format, components, bits)[component],
            false => sampler.texel(format, components, bits)[component].to_bits(),
        };
    }
    Ok(gathered)
}

/// The nearest number of 16 bits; the one farther from zero where a value lies between two.
fn to_half(value: f64) -> f32 {
    const LEAST_EXPONENT: i32 = -14;
    let exponent = (value.to_bits() >> 52 & 0x7ff) as i32 - 1023;
    let unit = 2.0_f64.powi(exponent.max(LEAST_EXPONENT) - 10);
    // `round` goes away from zero.
    f16::from_f64((value / unit).round() * unit).to_f32()
}

/// The weight in 256ths of one of the eight texels around a place, by the shares of those behind along each axis: bit 0 of `corner` says
/// whether it is behind along x, bit 1 along y, bit 2 along z. The share along x is divided along z, and what comes of that along y.
fn corner_weight([x, y, z]: [u32; 3], corner: usize) -> u32 {
    let [behind_x, behind_y, behind_z] = [0, 1, 2].map(|axis| corner >> axis & 1 == 1);
    let divide = |weight: u32, share: u32, half: u32, behind: bool| {
        let far = (weight * share + half) >> 8;
        if behind { far } else { weight - far }
    };
    let along_x = if behind_x { x } else { 256 - x };
    let along_z = divide(along_x, z, 128, behind_z);
    // A half is rounded up for the texels behind along x, down for the others.
    divide(along_z, y, if behind_x { 128 } else { 127 }, behind_y)
}

#[cfg(test)]
mod tests;
