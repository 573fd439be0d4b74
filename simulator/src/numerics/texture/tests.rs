//! Fetches, filters and gathers against values computed by hand.

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
