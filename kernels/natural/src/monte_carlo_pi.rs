//! Pi by random points.

use warpsmith_device::prelude::*;

/// How many of `points` random points lie in the circle, for each thread's own sequence.
#[kernel]
pub fn monte_carlo_pi(seed: u64, points: u32, mut hits: PerThread<[u32]>) {
    let i = thread::index();
    if let Some(hits) = hits.mine() {
        *hits = count(seed, i as u64, points);
    }
}

/// How many points of sequence `i` lie in the circle.
pub fn count(seed: u64, i: u64, points: u32) -> u32 {
    let mut random = Xorshift::new(seed ^ i.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let mut hits = 0;
    for _ in 0..points {
        let (x, y) = (random.unit(), random.unit());
        if x * x + y * y < 1.0 {
            hits += 1;
        }
    }
    hits
}

/// Marsaglia's xorshift with a multiplication.
struct Xorshift(u64);

impl Xorshift {
    fn new(seed: u64) -> Xorshift {
        Xorshift(seed | 1)
    }

    /// A number in [0, 1).
    fn unit(&mut self) -> f32 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let word = (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 40) as u32;
        word as f32 / (1 << 24) as f32
    }
}
