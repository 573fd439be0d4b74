//! Variables that the driver reads at its start, set by the program.

use warpsmith_host::DriverVariables;
use warpsmith_host::prelude::*;
use warpsmith_testkit::{Side, own_process};

fn refusal(variables: &DriverVariables) -> String {
    variables.apply().expect_err("a refusal").to_string()
}

// covers: ENV-15, ENV-01
#[test]
fn a_program_sets_them_before_its_driver_starts() -> Result<()> {
    if let Side::Parent(output) = own_process(&[
        ("WARPSMITH_DEVICE", "simulator"),
        ("WARPSMITH_SIMULATOR_DEVICES", "3"),
        ("CUDA_VISIBLE_DEVICES", "0,1,2"),
    ]) {
        // Once as it was started, once as it starts itself, and then it has what it wants.
        assert_eq!(
            output.stdout.matches("before the driver").count(),
            2,
            "{output}"
        );
        assert_eq!(output.stdout.matches("devices: 1").count(), 1, "{output}");
        return Ok(());
    }
    println!("before the driver");
    let wanted = DriverVariables::new()
        .set("CUDA_VISIBLE_DEVICES", "1,2")
        .set("CUDA_VISIBLE_DEVICES", "2");
    wanted.apply()?;
    let gpu = Gpu::open_default()?;
    println!("devices: {}", Gpu::devices()?.len());
    // What is so stays allowed; what is not comes too late, and changes nothing.
    wanted.apply()?;
    let text = refusal(&wanted.clone().set("CUDA_VISIBLE_DEVICES", "0"));
    assert!(
        text.contains("before CUDA_VISIBLE_DEVICES was set to 0"),
        "{text}"
    );
    assert_eq!(std::env::var("CUDA_VISIBLE_DEVICES").as_deref(), Ok("2"));
    assert_eq!(Gpu::devices()?.len(), 1);
    drop(gpu);
    Ok(())
}

// covers: ENV-15
#[test]
fn what_no_environment_holds_is_refused() {
    for (name, value) in [("", "1"), ("A=B", "1"), ("A\0", "1"), ("A", "1\0")] {
        let text = refusal(&DriverVariables::new().set(name, value));
        assert!(text.contains("the environment has no variable"), "{text}");
    }
}
