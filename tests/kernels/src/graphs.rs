//! Kernels that launch graphs.

use warpsmith_device::graph::{self, Condition, DeviceGraph, GraphLaunchError};
use warpsmith_device::prelude::*;

/// What [`DeviceGraph`]'s functions answered.
fn code(result: Result<(), GraphLaunchError>) -> u32 {
    result.map_or_else(|error| error.0, |()| 0)
}

/// Adds, one thread for each element.
#[kernel]
pub fn add(value: u32, mut out: PerThread<[u32]>) {
    if let Some(out) = out.mine() {
        *out += value;
    }
}

/// Writes the position after the last one of a log.
#[kernel]
pub fn append(value: u32, log: AtomicSlice<u32>) {
    if thread::is_first() {
        let at = log[0].fetch_add(1, Relaxed);
        if let Some(place) = log.get(at as usize + 1) {
            place.store(value, Relaxed);
        }
    }
}

/// Tells its own value and has a graph run as its tail, `times` times.
#[kernel]
pub fn tail(next: DeviceGraph, times: u32, mut codes: PerThread<[u32]>) {
    let mut last = 77;
    if thread::is_first() {
        for _ in 0..times {
            last = code(next.launch_tail());
        }
    }
    if let Some(code) = codes.mine() {
        *code = last;
    }
}

/// Has one of two graphs run after it.
#[kernel]
pub fn choose(which: &u32, first: DeviceGraph, second: DeviceGraph) {
    if thread::is_first() {
        let chosen = if *which == 0 { first } else { second };
        let _ = chosen.launch_tail();
    }
}

/// Counts, and has its own graph run once more until the count is `most`; what the attempts beyond the first answer, too.
#[kernel]
pub fn again(counter: AtomicSlice<u32>, most: u32, codes: AtomicSlice<u32>) {
    if thread::is_first() && counter[0].fetch_add(1, Relaxed) + 1 < most {
        match graph::current() {
            None => codes[0].store(99, Relaxed),
            Some(own) => {
                codes[0].store(code(own.launch_tail()), Relaxed);
                codes[1].store(code(own.launch_tail()), Relaxed);
            }
        }
    }
}

/// Has a graph run beside its own.
///
/// # Safety
///
/// `child` uses none of the memory that the launching graph uses after this kernel's predecessors.
#[kernel]
pub unsafe fn fire(child: DeviceGraph, mut codes: PerThread<[u32]>) {
    if let Some(place) = codes.mine()
        && thread::is_first()
    {
        // SAFETY: by the kernel's condition; the kernel writes `codes` alone.
        *place = code(unsafe { child.launch_fire_and_forget() });
    }
}

/// Has a graph run beside its own and the tail of that.
///
/// # Safety
///
/// `sibling` and `last` have no memory in common, nor with the launching graph.
#[kernel]
pub unsafe fn sibling(sibling: DeviceGraph, last: DeviceGraph, mut codes: PerThread<[u32]>) {
    if let Some(place) = codes.mine()
        && thread::is_first()
    {
        // SAFETY: by the kernel's condition; the kernel writes `codes` alone.
        let beside = code(unsafe { sibling.launch_sibling() });
        *place = beside * 10 + code(last.launch_tail());
    }
}

/// Panics where the word says so, at an index that is it.
#[kernel]
pub fn indexed(index: &u32, words: &[u32], mut out: PerThread<[u32]>) {
    if let Some(out) = out.mine() {
        *out = words[*index as usize];
    }
}

/// Sets a condition, and counts.
#[kernel]
pub fn decide(value: u32, condition: Condition, count: AtomicSlice<u32>) {
    if thread::is_first() {
        condition.set(value);
        count[0].fetch_add(1, Relaxed);
    }
}

/// Counts down in a loop's body.
#[kernel]
pub fn count_down(left: AtomicSlice<u32>, again: Condition) {
    if thread::is_first() {
        again.set(left[0].fetch_sub(1, Relaxed) - 1);
    }
}
