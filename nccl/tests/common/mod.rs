//! What the tests share.
#![allow(dead_code)]

use std::process::{Child, Command};
use std::time::{Duration, Instant};

use warpsmith_host::prelude::*;
use warpsmith_nccl::Communicator;
use warpsmith_testkit::{Side, own_process};

/// Runs the calling test in a process of its own, which sees so many simulated devices. `true` there.
pub fn with_devices(count: &str) -> bool {
    let variables = [
        ("WARPSMITH_DEVICE", "simulator"),
        ("WARPSMITH_SIMULATOR_DEVICES", count),
        ("WARPSMITH_REPORT", "0"),
    ];
    matches!(own_process(&variables), Side::Child)
}

/// All devices.
pub fn gpus() -> Vec<Gpu> {
    let devices = Gpu::devices().expect("devices");
    devices
        .iter()
        .map(|device| Gpu::open(device.choice).expect("a device"))
        .collect()
}

/// A rank of each device, with a stream of it.
pub fn ranks(gpus: &[Gpu]) -> Vec<(Communicator, Stream)> {
    let communicators = Communicator::all(gpus).expect("communicators");
    communicators
        .into_iter()
        .zip(gpus)
        .map(|(communicator, gpu)| (communicator, gpu.stream().expect("a stream")))
        .collect()
}

/// A process that runs the calling test again, with these variables; it is killed with this value.
pub struct Rank(Child);

impl Rank {
    pub fn start(variables: &[(&str, String)]) -> Rank {
        let test = std::thread::current();
        let test = test.name().expect("a test's thread has its name");
        let mut command = Command::new(std::env::current_exe().expect("a test knows its program"));
        command
            .args([test, "--exact", "--nocapture", "--test-threads=1"])
            .env("WARPSMITH_DEVICE", "simulator")
            .env("WARPSMITH_REPORT", "0");
        for (name, value) in variables {
            command.env(name, value);
        }
        Rank(command.spawn().expect("a process"))
    }

    /// Waits for its end.
    pub fn succeeded(&mut self) -> bool {
        let end = Instant::now() + Duration::from_secs(120);
        while Instant::now() < end {
            if let Some(status) = self.0.try_wait().expect("a child can be waited for") {
                return status.success();
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        false
    }

    pub fn kill(&mut self) {
        self.0.kill().expect("a child can be killed");
    }
}

impl Drop for Rank {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
