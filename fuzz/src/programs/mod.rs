//! Random device programs in Rust, whose results on the device are compared with those of the same Rust compiled for the host.

mod case;
mod project;
mod replay;
mod scalar;
mod types;
mod warp;

use std::time::Duration;

use crate::isolated::Limits;
use crate::kind::Kind;

/// What a process may use that builds a project of programs and runs them.
const LIMITS: Limits = Limits {
    // The linker optimises all kernels of a project at once.
    processor: Duration::from_secs(120),
    time: Duration::from_secs(600),
    memory: 4 << 30,
};

/// Faults are told of by the error that the launch answers.
const ENVIRONMENT: &[(&str, &str)] =
    &[("WARPSMITH_REPORT", "0"), ("WARPSMITH_DEVICE", "simulator")];

/// Programs of one thread.
pub const SCALAR: Kind = Kind {
    name: "scalar",
    summary: "programs of one thread, on the device and on the host",
    usual: Duration::from_secs(25),
    limits: LIMITS,
    environment: ENVIRONMENT,
    reducible: true,
    round: scalar::round,
    replay: scalar::replay,
};

/// Programs of warps.
pub const WARP: Kind = Kind {
    name: "warp",
    summary: "programs of warps, on the device and on the host with threads as lanes",
    usual: Duration::from_secs(25),
    limits: LIMITS,
    environment: ENVIRONMENT,
    reducible: true,
    round: warp::round,
    replay: warp::replay,
};
