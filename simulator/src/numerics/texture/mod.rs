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
mod tests {
    use super::*;
    use std::convert::Infallible;

    const PLAIN: Sampler = Sampler {
        address: [AddressMode::Clamp; 3],
        linear: false,
        normalised: false,
        integers: false,
        srgb: false,
        border: [0.0; 4],
    };

    /// A line of 0, 10, 20, 30 at x.
    fn line(sampler: Sampler, x: f32) -> f32 {
        let read = |[x, ..]: [u32; 3]| Ok::<_, Infallible>([(x as f32 * 10.0).to_bits(), 0, 0, 0]);
        let at = Coordinates::Floats([x, 0.0, 0.0]);
        let Ok(texel) = fetch(Format::F32, 1, &sampler, ([4, 1, 1], 1), at, read);
        f32::from_bits(texel[0])
    }

    #[test]
    fn points_lie_in_the_texel_below() {
        for (x, value) in [
            (-3.0, 0.0),
            (0.99, 0.0),
            (1.0, 10.0),
            (3.5, 30.0),
            (9.0, 30.0),
        ] {
            assert_eq!(line(PLAIN, x), value, "{x}");
        }
        let border = Sampler {
            address: [AddressMode::Border; 3],
            border: [7.0; 4],
            ..PLAIN
        };
        for (x, value) in [(-0.1, 7.0), (0.0, 0.0), (3.99, 30.0), (4.0, 7.0)] {
            assert_eq!(line(border, x), value, "{x}");
        }
    }

    #[test]
    fn normalised_coordinates_repeat() {
        let of = |mode| Sampler {
            address: [mode; 3],
            normalised: true,
            ..PLAIN
        };
        for (x, wrapped, mirrored) in [
            (0.3, 10.0, 10.0),
            (1.3, 10.0, 20.0),
            (-0.3, 20.0, 10.0),
            (1.0, 0.0, 30.0),
            (2.1, 0.0, 0.0),
            (-1.1, 30.0, 30.0),
        ] {
            assert_eq!(line(of(AddressMode::Wrap), x), wrapped, "wrap {x}");
            assert_eq!(line(of(AddressMode::Mirror), x), mirrored, "mirror {x}");
        }
    }

    #[test]
    fn weights_are_multiples_of_a_256th() {
        let linear = Sampler {
            linear: true,
            ..PLAIN
        };
        for (x, value) in [
            (0.5, 0.0),
            (1.0, 5.0),
            (1.5, 10.0),
            (0.0, 0.0),
            (1.5 + 1.0 / 1024.0, 10.0),
            (2.49805, 20.0),
            (1.75, 12.5),
            (4.0, 30.0),
        ] {
            assert_eq!(line(linear, x), value, "{x}");
        }
        let wrapping = Sampler {
            normalised: true,
            address: [AddressMode::Wrap; 3],
            ..linear
        };
        assert_eq!(line(wrapping, 0.0), 15.0);
        let bordered = Sampler {
            address: [AddressMode::Border; 3],
            border: [8.0; 4],
            ..linear
        };
        assert_eq!(line(bordered, 0.0), 4.0);
    }

    #[test]
    fn weights_of_several_dimensions_are_multiples_of_a_256th() {
        // As an H200 has them: the plane's middle and 5 256ths, and places of a volume.
        let plane = [0, 1, 2, 3].map(|corner| corner_weight([128, 5, 0], corner));
        assert_eq!(plane, [126, 125, 2, 3]);
        assert_eq!(corner_weight([102, 3, 213], 6), 1);
        assert_eq!(corner_weight([106, 3, 37], 2), 1);
        assert_eq!(corner_weight([36, 3, 149], 4), 127);
        assert_eq!(corner_weight([128, 3, 5], 0), 124);
        for x in 0..256 {
            for y in 0..256 {
                let at = [x, y, x ^ y];
                let sum: u32 = (0..8).map(|corner| corner_weight(at, corner)).sum();
                assert_eq!(sum, 256, "{at:?}");
            }
        }
    }

    #[test]
    fn halves_between_two_are_farther_from_zero() {
        for (value, half) in [
            (-3.3876953125, -3.388671875),
            (3.3876953125, 3.388671875),
            (1.0 + 1.0 / 2048.0, 1.0 + 1.0 / 1024.0),
            (1.0 + 1.0 / 2049.0, 1.0),
            (2.0_f64.powi(-25), 2.0_f64.powi(-24)),
            (0.0, 0.0),
            (65520.0, f64::INFINITY),
            (f64::NEG_INFINITY, f64::NEG_INFINITY),
        ] {
            assert_eq!(f64::from(to_half(value)), half, "{value}");
        }
        assert!(to_half(f64::NAN).is_nan());
    }

    #[test]
    fn integers_stay_or_become_shares() {
        let texel = |format, bits, integers| {
            let sampler = Sampler { integers, ..PLAIN };
            let read = |_| Ok::<_, Infallible>([bits, 0, 0, 0]);
            let at = Coordinates::Texels([0; 3]);
            let Ok(texel) = fetch(format, 1, &sampler, ([1; 3], 3), at, read);
            texel[0]
        };
        let share = |format, bits| f32::from_bits(texel(format, bits, false));
        assert_eq!(share(Format::U8, 255), 1.0);
        assert_eq!(share(Format::S8, 0x80), -1.0);
        assert_eq!(share(Format::S8, 0x81), -1.0);
        assert_eq!(share(Format::S16, 0x7fff), 1.0);
        assert_eq!(share(Format::F16, 0x3c00), 1.0);
        assert_eq!(texel(Format::U8, 255, true), 255);
        assert_eq!(texel(Format::S8, 0xff, true), u32::MAX);
    }

    #[test]
    fn eight_texels_are_weighted_in_three_dimensions() {
        let linear = Sampler {
            linear: true,
            ..PLAIN
        };
        let read = |[x, y, z]: [u32; 3]| {
            let value = (x + 2 * y + 4 * z) as f32;
            Ok::<_, Infallible>([value.to_bits(), 0, 0, 0])
        };
        let at = Coordinates::Floats([1.0, 1.0, 1.25]);
        let Ok(texel) = fetch(Format::F32, 1, &linear, ([2; 3], 3), at, read);
        assert_eq!(f32::from_bits(texel[0]), 0.5 + 1.0 + 3.0);
    }

    #[test]
    fn gathered_texels_begin_below_on_the_left() {
        // The guide's example: x = 2.49805 is between the columns 2 and 3.
        let read = |[x, y, _]: [u32; 3]| Ok::<_, Infallible>([x + 10 * y, 7, 0, 0]);
        let of = |format, sampler, component, at| {
            let Ok(texels) = gather(format, 2, component, &sampler, ([4, 4], at), read);
            texels
        };
        let whole = Sampler {
            integers: true,
            ..PLAIN
        };
        assert_eq!(of(Format::U32, whole, 0, [2.49805, 1.5]), [22, 23, 13, 12]);
        assert_eq!(of(Format::U32, whole, 0, [2.2, 0.0]), [1, 2, 2, 1]);
        assert_eq!(of(Format::U32, whole, 1, [2.2, 0.0]), [7; 4]);
        assert_eq!(of(Format::U32, whole, 3, [2.2, 0.0]), [1; 4]);
        let bordered = Sampler {
            address: [AddressMode::Border; 3],
            border: [5.0; 4],
            ..PLAIN
        };
        let shares = of(Format::U8, bordered, 1, [0.25, 2.0]).map(f32::from_bits);
        let share = 7.0 / 255.0;
        assert_eq!(shares, [5.0, share, share, 5.0]);
    }

    #[test]
    fn levels_are_weighed_by_256ths() {
        let bits = |value: f32| [value.to_bits(); 4];
        let between = |share| {
            let texel = between_levels(Format::F32, [bits(1.0), bits(3.0)], share);
            f32::from_bits(texel[2])
        };
        assert_eq!([between(0), between(64), between(128)], [1.0, 1.5, 2.0]);
    }

    #[test]
    fn colours_become_linear_light() {
        let colour = |bits: u32, component: usize| {
            let sampler = Sampler {
                srgb: true,
                ..PLAIN
            };
            let read = |_| Ok::<_, Infallible>([bits; 4]);
            let at = Coordinates::Texels([0; 3]);
            let Ok(texel) = fetch(Format::U8, 4, &sampler, ([1; 3], 2), at, read);
            f32::from_bits(texel[component])
        };
        assert_eq!([colour(0, 0), colour(255, 1)], [0.0, 1.0]);
        assert_eq!(colour(10, 2), (10.0 / 255.0 / 12.92) as f32);
        assert!((colour(188, 0) - 0.5029).abs() < 1e-4, "{}", colour(188, 0));
        // The fourth component is no colour.
        assert_eq!(colour(188, 3), 188.0 / 255.0);
    }
}
