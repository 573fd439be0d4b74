//! Which device a process gets, by `WARPSMITH_DEVICE`. Each in a process of its own, because a process keeps its driver.

use crate::common::in_own_process;
use warpsmith_host::prelude::*;

const VARIABLE: &str = "WARPSMITH_DEVICE";

#[test]
fn the_simulator_by_name() {
    in_own_process(&[(VARIABLE, "simulator")], || {
        let gpu = Gpu::open_default().unwrap();
        assert!(gpu.is_simulator());
        assert_eq!(gpu.choice().to_string(), "simulator");
        // The other kind of device is refused from then on, and the first goes on working.
        assert!(Gpu::open(DeviceChoice::Cuda(0)).is_err());
        let stream = gpu.stream().unwrap();
        assert_eq!(
            stream.download(&stream.upload(&[1_u8]).unwrap()).unwrap(),
            [1]
        );
    });
}

#[test]
fn nonsense_is_refused_with_what_may_stand_there() {
    in_own_process(&[(VARIABLE, "gpu")], || {
        let error = Gpu::open_default().unwrap_err().to_string();
        assert!(
            error.contains("`gpu`") && error.contains("simulator"),
            "{error}"
        );
    });
}

#[test]
fn a_device_that_is_not_there_is_named() {
    in_own_process(&[(VARIABLE, "cuda:77")], || {
        // Without a driver it says so; with one, how many devices there are.
        let error = Gpu::open_default().unwrap_err().to_string();
        assert!(
            error.contains("cuda:77") || error.contains("driver"),
            "{error}"
        );
        assert!(error.contains("WARPSMITH_DEVICE=simulator"), "{error}");
    });
}

#[test]
fn without_a_device_there_is_an_error() {
    let variables = [(VARIABLE, "simulator"), ("CUDA_VISIBLE_DEVICES", "")];
    in_own_process(&variables, || {
        let error = Gpu::open_default().unwrap_err();
        assert_eq!(error.code(), Some(Code::NO_DEVICE), "{error}");
    });
}
