//! The developer's commands: `cargo xtask --help` lists them.

fn main() {}
