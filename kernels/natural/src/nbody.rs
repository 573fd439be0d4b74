//! Gravity between all pairs of bodies, through tiles in shared memory.

use warpsmith_device::prelude::*;
use warpsmith_device::vector::Float4;

/// Threads of a block, and bodies of a tile.
pub const THREADS: usize = 256;
/// What keeps close bodies from flying apart, squared.
pub const SOFTENING: f32 = 1e-3;

/// The acceleration of each body; a body is its place and, as `w`, its mass.
#[kernel(launch_bounds(256))]
pub fn nbody(bodies: &[Float4], mut accelerations: PerThread<[[f32; 3]]>) {
    let nothing = Float4::splat(0.0);
    let own = bodies.get(thread::index()).copied().unwrap_or(nothing);
    let mut sum = [0.0f32; 3];
    let mut tile = shared!([Float4; THREADS]);
    for start in (0..bodies.len()).step_by(THREADS) {
        let j = start + thread::thread_idx_x() as usize;
        let tile = tile
            .refill()
            .write(bodies.get(j).copied().unwrap_or(nothing))
            .sync();
        for other in tile.iter() {
            let (dx, dy, dz) = (other.x - own.x, other.y - own.y, other.z - own.z);
            let inverse = (dx * dx + dy * dy + dz * dz + SOFTENING).rsqrt_approx();
            let force = other.w * inverse * inverse * inverse;
            sum[0] += force * dx;
            sum[1] += force * dy;
            sum[2] += force * dz;
        }
    }
    if let Some(acceleration) = accelerations.mine() {
        *acceleration = sum;
    }
}
