//! The program runs on a GPU; and where there is none on the simulator, as the library that both load.

use std::process::Command;

use warpsmith_driver::cuda_available;
use warpsmith_testkit::dropin::Dropin;
use warpsmith_testkit::process::{LIMIT, output};

#[test]
fn both_libraries_work_on_one_memory() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_with_cudarc"));
    let dropin = Dropin::unless(cuda_available());
    dropin.be_driver_of(&mut command);
    let output = output(&mut command, LIMIT).expect_success();
    assert!(
        output
            .stdout
            .starts_with("100000 elements are right, both ways, on "),
        "{output}"
    );
}
