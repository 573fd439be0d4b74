//! Two devices of one process: two GPUs that reach each other where there are some, else two that are simulated.

use warpsmith_host::prelude::*;

use super::in_own_process;

/// Runs the calling test in a process of its own with two devices. On the simulator the order of their work is checked.
pub fn with_two(body: impl FnOnce(Gpu, Gpu)) {
    let simulated = [
        ("WARPSMITH_DEVICE", "simulator"),
        ("WARPSMITH_SIMULATOR_DEVICES", "2"),
        ("WARPSMITH_CHECKS", "default,stream-order"),
        ("WARPSMITH_REPORT", "0"),
    ];
    let variables = match two() {
        Some((one, other)) if are_peers(&one, &other) => &simulated[3..],
        _ => &simulated[..],
    };
    in_own_process(variables, || {
        let (one, other) = two().expect("there are two devices");
        body(one, other);
    });
}

fn two() -> Option<(Gpu, Gpu)> {
    let devices = Gpu::devices().ok()?;
    let open = |index: usize| Gpu::open(devices.get(index)?.choice).ok();
    Some((open(0)?, open(1)?))
}

fn are_peers(one: &Gpu, other: &Gpu) -> bool {
    let reaches = |from: &Gpu, to: &Gpu| from.can_access_peer(to).unwrap_or(false);
    reaches(one, other) && reaches(other, one)
}
