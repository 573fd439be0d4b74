//! Random test data.

/// A generator of test data (xorshift64*): the same numbers on every machine, and again in every run with the same seed.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A generator with this seed. Different seeds give unrelated sequences, zero included.
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// An integer below `bound`; 0 if that is 0.
    pub fn below(&mut self, bound: u32) -> u32 {
        (((self.bits() >> 32) * u64::from(bound)) >> 32) as u32
    }

    /// An index into `length` elements.
    ///
    /// # Panics
    /// If there are none, or more than `u32::MAX`.
    pub fn index(&mut self, length: usize) -> usize {
        assert_ne!(length, 0, "there is no index into nothing");
        let length = u32::try_from(length).expect("tests have fewer elements");
        self.below(length) as usize
    }

    /// A number in [-1, 1), a multiple of 2^-23.
    pub fn unit(&mut self) -> f32 {
        (self.below(1 << 24) as f32) / (1 << 23) as f32 - 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn numbers_repeat_with_the_seed_and_stay_in_their_range() {
        let draw = |seed| {
            let mut random = Random::new(seed);
            [(); 100].map(|()| (random.bits(), random.below(7), random.index(3)))
        };
        assert_eq!(draw(0), draw(0));
        assert_ne!(draw(0), draw(1));
        for (_, below, index) in draw(5) {
            assert!(below < 7 && index < 3);
        }
        let mut random = Random::new(2);
        assert!((0..100).all(|_| (-1.0..1.0).contains(&random.unit())));
        assert_eq!(random.below(0), 0);
    }
}
