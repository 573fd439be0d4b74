//! Which levels of a mipmapped texture a fetch reads, and with which weights.
//!
//! The level of detail is the one that is asked for, or that of the gradients; the sampler's offset is added, and it is kept within the
//! sampler's bounds and within the levels that there are. It has 8 fraction bits, as coordinates have.

/// How a sampler picks levels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LevelSampler {
    /// Whether the two nearest levels are weighted.
    pub linear: bool,
    /// Added to each level of detail.
    pub bias: f32,
    /// The least level of detail.
    pub least: f32,
    /// The greatest.
    pub most: f32,
}

/// The level that is read, and the share in 256ths of the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PickedLevel {
    /// The number of the level.
    pub level: usize,
    /// What the level behind it contributes.
    pub share_of_next: u32,
}

impl LevelSampler {
    /// What a level of detail means for so many levels.
    pub fn pick(&self, detail: f32, levels: usize) -> PickedLevel {
        let last = levels as f32 - 1.0;
        // A NaN is the least.
        let detail = (detail + self.bias).max(self.least).min(self.most);
        let detail = detail.max(0.0).min(last);
        let fixed = (f64::from(detail) * 256.0).round() as u32;
        let (level, share_of_next) = match self.linear {
            true => (fixed >> 8, fixed & 255),
            false => ((fixed + 128) >> 8, 0),
        };
        PickedLevel {
            level: level as usize,
            share_of_next,
        }
    }
}

/// The level of detail of gradients in normalised coordinates: how many texels of the first level the longer one spans, as a power of two.
pub fn detail_of_gradients(gradients: [[f32; 3]; 2], extents: [u32; 3], dimensions: usize) -> f32 {
    let length = |gradient: [f32; 3]| {
        let squares = (0..dimensions)
            .map(|axis| (f64::from(gradient[axis]) * f64::from(extents[axis])).powi(2));
        squares.sum::<f64>().sqrt()
    };
    let [x, y] = gradients.map(length);
    x.max(y).log2() as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEAREST: LevelSampler = LevelSampler {
        linear: false,
        bias: 0.0,
        least: 0.0,
        most: 9.0,
    };

    fn picked(sampler: LevelSampler, detail: f32) -> (usize, u32) {
        let picked = sampler.pick(detail, 4);
        (picked.level, picked.share_of_next)
    }

    #[test]
    fn a_point_filter_takes_the_nearest_level() {
        for (detail, level) in [
            (-1.0, 0),
            (0.0, 0),
            (0.49, 0),
            (0.51, 1),
            (1.0, 1),
            (2.4, 2),
            (3.0, 3),
            (77.0, 3),
            (f32::NEG_INFINITY, 0),
            (f32::INFINITY, 3),
            (f32::NAN, 0),
        ] {
            assert_eq!(picked(NEAREST, detail), (level, 0), "{detail}");
        }
    }

    #[test]
    fn a_linear_filter_weighs_two_levels_by_256ths() {
        let linear = LevelSampler {
            linear: true,
            ..NEAREST
        };
        for (detail, level, share) in [
            (0.0, 0, 0),
            (0.5, 0, 128),
            (1.25, 1, 64),
            (1.0 + 1.0 / 1024.0, 1, 0),
            (3.5, 3, 0),
        ] {
            assert_eq!(picked(linear, detail), (level, share), "{detail}");
        }
    }

    #[test]
    fn the_offset_comes_before_the_bounds() {
        let sampler = LevelSampler {
            bias: 1.0,
            least: 1.5,
            most: 2.25,
            linear: true,
        };
        assert_eq!(picked(sampler, -5.0), (1, 128));
        assert_eq!(picked(sampler, 1.0), (2, 0));
        assert_eq!(picked(sampler, 2.0), (2, 64));
    }

    #[test]
    fn gradients_count_texels_of_the_first_level() {
        let of = |x, y| detail_of_gradients([x, y], [16, 8, 1], 2);
        assert_eq!(of([1.0 / 16.0, 0.0, 0.0], [0.0; 3]), 0.0);
        assert_eq!(of([0.25, 0.0, 0.0], [0.0, 0.125, 0.0]), 2.0);
        assert_eq!(of([0.0, 0.0, 9.0], [0.0, 0.25, 0.0]), 1.0);
        assert_eq!(of([3.0 / 16.0, 4.0 / 8.0, 0.0], [0.0; 3]), 5.0_f32.log2());
        assert_eq!(of([0.0; 3], [0.0; 3]), f32::NEG_INFINITY);
    }
}
