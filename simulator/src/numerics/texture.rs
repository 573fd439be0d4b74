//! What a texture fetch computes (CUDA C++ Programming Guide, "Texture Fetching"): which texels, with which weights, and what becomes of them.
//!
//! Coordinates that are filtered are rounded to 8 fraction bits first, and the weight of each texel is a multiple of 1/256 (`corner_weight`);
//! the weighted sum is computed exactly and rounded once, to 16 bits where the texels have so many. All of this is an H200's way (driver
//! 580.159.04, measured with one texel that is not 0 at all pairs of fractions of a plane and 32768 triples of a volume); its sums differ in
//! their last place.

use half::f16;

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
    /// The border's colour.
    pub border: [f32; 4],
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
    if sampler.integers {
        let at = [picked[0][0].0, picked[1][0].0, picked[2][0].0];
        let [Some(x), Some(y), Some(z)] = at else {
            return Ok(sampler.border.map(|value| value as i32 as u32));
        };
        let texel = read([x, y, z])?;
        let mut result = [0, 0, 0, 1];
        for (to, &bits) in result.iter_mut().zip(&texel).take(components) {
            *to = format.integer(bits) as u32;
        }
        return Ok(result);
    }
    let mut sum = [0.0_f64; 4];
    let shares = picked.map(|[_, behind]| behind.1);
    for corner in 0..8_usize {
        let [x, y, z] = [0, 1, 2].map(|axis| picked[axis][corner >> axis & 1]);
        let weight = corner_weight(shares, corner);
        if weight == 0 {
            continue;
        }
        let texel = match (x.0, y.0, z.0) {
            (Some(x), Some(y), Some(z)) => {
                let bits = read([x, y, z])?;
                let mut texel = [0.0, 0.0, 0.0, 1.0];
                for (to, &bits) in texel.iter_mut().zip(&bits).take(components) {
                    *to = format.float(bits);
                }
                texel
            }
            _ => sampler.border,
        };
        if weight == 256 {
            // One texel alone keeps its bits.
            return Ok(texel.map(f32::to_bits));
        }
        for (sum, value) in sum.iter_mut().zip(texel) {
            *sum += f64::from(value) * f64::from(weight) / 256.0;
        }
    }
    Ok(sum.map(|value| {
        let rounded = match format {
            Format::F16 => to_half(value),
            _ => value as f32,
        };
        rounded.to_bits()
    }))
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
}
