//! `suite`: lists, runs and times the reference kernels.

use std::process::ExitCode;

fn main() -> ExitCode {
    warpsmith_suite::program::main(&warpsmith_suite::suite::SUITE)
}
