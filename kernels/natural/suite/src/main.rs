//! `natural`: lists, runs and times the natural kernels.

use std::process::ExitCode;

fn main() -> ExitCode {
    warpsmith_suite::program::main(&warpsmith_natural_suite::NATURAL)
}
