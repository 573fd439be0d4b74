//! Kernels for block barriers and what divergence must not do to them.

use warpsmith_device::block::NamedBarrier;
use warpsmith_device::prelude::*;

/// The three voting barriers.
#[kernel]
pub fn voting_barriers(x: &[u32], mut out: PerThread<[[u32; 3]]>) {
    let x = x.get(thread::index()).copied().unwrap_or(0);
    let votes = [
        block::sync_count(x > 1),
        u32::from(block::sync_and(x > 1)),
        u32::from(block::sync_or(x > 1)),
    ];
    if let Some(out) = out.mine() {
        *out = votes;
    }
}

/// Warp 0 produces, warp 1 consumes, over named barriers; the other warps take no part.
#[kernel(launch_bounds(96, exact))]
pub fn named_barriers(mut out: PerThread<[u32]>) {
    const FILLED: NamedBarrier<1> = NamedBarrier;
    const EMPTY: NamedBarrier<2> = NamedBarrier;
    let buffer = shared!(raw [u32; 32]).as_mut_ptr().cast::<u32>();
    let lane = warp::lane() as usize;
    let mut sum = 0;
    for round in 0..4 {
        match warp::index() {
            // SAFETY: each lane writes its own element; the barriers divide this from the reads of warp 1.
            0 => unsafe {
                buffer.add(lane).write(lane as u32 * 10 + round);
                FILLED.arrive(64);
                EMPTY.sync(64);
            },
            // SAFETY: after `FILLED`, before `EMPTY`: warp 0 does not write.
            1 => unsafe {
                FILLED.sync(64);
                sum += buffer.add(31 - lane).read();
                EMPTY.arrive(64);
            },
            _ => {}
        }
    }
    if let Some(out) = out.mine() {
        *out = sum;
    }
}

/// A barrier that warps reach diverged.
#[kernel(launch_bounds(64, exact))]
pub fn diverged_barrier(mut out: PerThread<[u32]>) {
    let buffer = shared!(raw [u32; 64]).as_mut_ptr().cast::<u32>();
    let own = thread::linear_in_block() as usize;
    // SAFETY: each thread writes its own element, and reads another's after the barrier.
    unsafe {
        buffer.add(own).write(own as u32);
        if own % 2 == 0 {
            block::sync_diverged();
        } else {
            block::sync_diverged();
        }
        if let Some(out) = out.mine() {
            *out = buffer.add(63 - own).read();
        }
    }
}

/// A full-mask shuffle before a branch that only some lanes take: it must not move into it.
#[kernel]
pub fn shuffle_before_branch(x: &[u32], mut out: PerThread<[u32]>) {
    let x = x.get(thread::index()).copied().unwrap_or(0);
    let other = warp::shuffle_xor(warp::FULL, x, 1);
    if x % 2 == 0
        && let Some(out) = out.mine()
    {
        *out = other;
    }
}

/// A barrier in each arm of a uniform branch: they must stay two.
#[kernel]
pub fn barriers_in_both_arms(flag: u32, x: &[u32], mut out: PerThread<[u32]>) {
    let buffer = shared!([u32; 256]);
    let own = thread::linear_in_block() as usize;
    let mine = x.get(thread::index()).copied().unwrap_or(0);
    let value = if flag != 0 {
        let view = buffer.write(mine + 1).sync();
        view[(own + 1) % view.len()]
    } else {
        let view = buffer.write(mine * 2).sync();
        view[(own + 2) % view.len()]
    };
    if let Some(out) = out.mine() {
        *out = value;
    }
}

/// Shuffles in a loop with the same number of rounds for all lanes.
#[kernel]
pub fn shuffles_in_a_loop(x: &[u32], rounds: u32, mut out: PerThread<[u32]>) {
    let mut value = x.get(thread::index()).copied().unwrap_or(0);
    for round in 0..rounds {
        let other = warp::shuffle_xor(warp::FULL, value, 1 << (round % 5));
        if warp::lane() % 3 != 0 {
            value = value.wrapping_mul(3).wrapping_add(other);
        }
    }
    if let Some(out) = out.mine() {
        *out = value;
    }
}

/// Twenty rounds in which each thread passes a value on to the next one, by a barrier in two halves; what it does between them counts, too.
#[kernel(launch_bounds(96))]
pub fn split_rounds(rounds: u32, mut out: PerThread<[u32]>) {
    let word = shared!([u64; 1]);
    let mut array = shared!([u32; 96]);
    let own = thread::linear_in_block();
    let threads = block::threads();
    let value = shared::split_barrier(word, |barrier| {
        let mut value = own;
        for round in 0..rounds {
            let filled = array.refill().write(value);
            let (values, added) = filled.sync_during(barrier, || round * own);
            value = values[((own + 1) % threads) as usize].wrapping_add(added);
            barrier.sync_during(|| ());
        }
        value
    });
    if let Some(out) = out.mine() {
        *out = value;
    }
}

/// Where each block begins, which is read behind a barrier, and what a neighbour has.
#[kernel(launch_bounds(32, exact))]
pub fn starts_behind_a_barrier(x: &[u32], starts: &[u32], mut out: PerThread<[u32]>) {
    let own = x.get(thread::index()).copied().unwrap_or(0);
    let words = shared!([u32; 32]).write(own).sync();
    let start = starts[thread::block_idx_x() as usize];
    if let Some(out) = out.mine() {
        *out = start + words[warp::lane() as usize ^ 1];
    }
}
