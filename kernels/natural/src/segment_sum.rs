//! Sums of values by sorted keys.

use warpsmith_device::prelude::*;

/// Adds to `sums[key]` the values of each key. Equal keys are neighbours mostly: the lanes of a warp add up first.
#[kernel]
pub fn segment_sum(keys: &[u32], values: &[f32], sums: AtomicSlice<f32>) {
    let i = thread::index();
    let lane = warp::lane();
    let pair = keys.get(i).zip(values.get(i));
    let (key, mut sum) = match pair {
        Some((&key, &value)) => (Some(key), value),
        None => (None, 0.0),
    };
    let number = key.unwrap_or(u32::MAX);
    let mut distance = 1;
    while distance < 32 {
        let other_key = warp::try_shuffle_up(u32::MAX, number, distance);
        let other_sum = warp::try_shuffle_up(u32::MAX, sum, distance);
        if let (Some(other_key), Some(other_sum)) = (other_key, other_sum)
            && other_key == number
        {
            sum += other_sum;
        }
        distance *= 2;
    }
    let next = warp::shuffle_down(u32::MAX, number, 1);
    if let Some(key) = key
        && (lane == 31 || next != key)
    {
        sums[key as usize].add(sum, Relaxed);
    }
}
