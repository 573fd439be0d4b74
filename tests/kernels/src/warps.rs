//! Kernels for the warp operations: each writes what every lane got.

use warpsmith_device::prelude::*;

/// Shuffles of `f64` in all four modes; row `k` of the output has the results of the `k`-th.
#[kernel]
pub fn warp_shuffles(x: &[f64], operand: u32, mut out: PerThread<[[f64; 4]]>) {
    let Some(out) = out.mine() else { return };
    let x = x[thread::index()];
    *out = [
        warp::shuffle(warp::FULL, x, operand),
        warp::shuffle_up(warp::FULL, x, operand),
        warp::shuffle_down(warp::FULL, x, operand),
        warp::shuffle_xor(warp::FULL, x, operand),
    ];
}

/// The same in segments of eight lanes, with a type of 3 bytes.
#[kernel]
pub fn warp_shuffles_in_segments(operand: u32, mut out: PerThread<[[u32; 4]]>) {
    let Some(out) = out.mine() else { return };
    let lane = warp::lane() as u8;
    let join = |[a, b, c]: [u8; 3]| u32::from_le_bytes([a, b, c, 0]);
    let x = [lane, lane + 100, lane ^ 255];
    *out = [
        join(warp::shuffle_in::<8, _>(warp::FULL, x, operand)),
        join(warp::shuffle_up_in::<8, _>(warp::FULL, x, operand)),
        join(warp::shuffle_down_in::<8, _>(warp::FULL, x, operand)),
        join(warp::shuffle_xor_in::<8, _>(warp::FULL, x, operand)),
    ];
}

/// Votes, matches and the lane masks over the lanes of `mask`.
#[kernel]
pub fn warp_votes(mask: u32, x: &[u32], mut out: PerThread<[[u32; 12]]>) {
    let Some(out) = out.mine() else { return };
    let x = x[thread::index()];
    let lane = warp::lane();
    if mask >> lane & 1 == 0 {
        return;
    }
    *out = [
        u32::from(warp::all(mask, x > 1)),
        u32::from(warp::any(mask, x > 1)),
        u32::from(warp::uniform(mask, x > 1)),
        warp::ballot(mask, x > 1),
        warp::match_any(mask, x),
        warp::match_any(mask, u64::from(x) << 32),
        warp::match_all(mask, x / 64).unwrap_or(0),
        warp::match_all(mask, u64::from(x)).unwrap_or(0),
        u32::from(warp::elect(mask)),
        warp::lanemask_lt() | warp::lanemask_gt(),
        warp::lanemask_le() & warp::lanemask_ge(),
        warp::lanemask_eq(),
    ];
    warp::sync(mask);
}

/// The hardware's reductions over the lanes of `mask`.
#[kernel]
pub fn warp_reductions(mask: u32, x: &[u32], mut out: PerThread<[[u32; 9]]>) {
    let Some(out) = out.mine() else { return };
    let x = x[thread::index()];
    if mask >> warp::lane() & 1 == 0 {
        return;
    }
    *out = [
        warp::reduce_add(mask, x),
        warp::reduce_min(mask, x),
        warp::reduce_max(mask, x),
        warp::reduce_and(mask, x),
        warp::reduce_or(mask, x),
        warp::reduce_xor(mask, x),
        warp::reduce_add(mask, x as i32) as u32,
        warp::reduce_min(mask, x as i32) as u32,
        warp::reduce_max(mask, x as i32) as u32,
    ];
}

/// Generic reduction and scans.
#[kernel]
pub fn warp_scans(x: &[f32], mut out: PerThread<[[f32; 3]]>) {
    let Some(out) = out.mine() else { return };
    let x = x[thread::index()];
    *out = [
        warp::reduce(x, |a, b| a + b),
        warp::inclusive_scan(x, |a, b| a + b),
        warp::exclusive_scan(x, -1.0, |a, b| a + b),
    ];
}
