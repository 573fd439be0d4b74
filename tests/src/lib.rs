//! End-to-end tests: the same test runs on the simulator and on a GPU.
//!
//! A test opens the device that `WARPSMITH_DEVICE` names (else the default one), loads the test kernels' PTX, launches, and compares
//! with what the CPU says. This library holds what the tests share; the tests are in `tests/`, one file for each part of
//! the device library, beside `snapshots.rs`, which shows the PTX that each intrinsic became and needs no device.
//!
//! Tests of faults that may take the context with them go through [`isolated`].

pub mod ptx;

use std::process::Command;
use std::sync::OnceLock;

use warpsmith_host::prelude::*;

/// The device under test with the test kernels loaded.
pub struct Fixture {
    /// The device.
    pub gpu: Gpu,
    /// The test kernels, compiled for the newest architecture that the device has.
    pub module: Module,
}

impl Fixture {
    /// Opens the device and loads the kernels. Tests of one process share [`fixture`]; those that break a device open their own.
    pub fn open() -> Result<Fixture> {
        let gpu = Gpu::open_default()?;
        let module = gpu.load(ptx::for_capability(gpu.compute_capability()))?;
        Ok(Fixture { gpu, module })
    }

    /// A stream of the test's own.
    pub fn stream(&self) -> Stream {
        self.gpu.stream().expect("a stream")
    }
}

/// The device that all tests of this process share.
pub fn fixture() -> &'static Fixture {
    static FIXTURE: OnceLock<Fixture> = OnceLock::new();
    FIXTURE.get_or_init(|| Fixture::open().unwrap_or_else(|error| panic!("{error}")))
}

/// Runs the calling test in a process of its own, because it breaks the device's context for good; `body` fails by panicking.
///
/// Call it once, as the test's whole body.
pub fn isolated(body: impl FnOnce()) {
    const VARIABLE: &str = "WARPSMITH_ISOLATED_TEST";
    let thread = std::thread::current();
    let test = thread
        .name()
        .expect("tests run in threads that are named after them");
    if std::env::var(VARIABLE).as_deref() == Ok(test) {
        return body();
    }
    let output = Command::new(std::env::current_exe().expect("the test's own path"))
        .args([test, "--exact", "--nocapture", "--test-threads=1"])
        .env(VARIABLE, test)
        .output()
        .expect("the test's own program starts");
    let (stdout, stderr) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(
        output.status.success() && stdout.contains("1 passed"),
        "the test failed in its own process ({}):\n{stdout}\n{stderr}",
        output.status
    );
}

/// A small generator of test data: the same numbers on every machine.
pub struct Random(u64);

impl Random {
    /// With this seed.
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// The next 64 bits (xorshift64*).
    pub fn bits(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// An integer below `bound`.
    pub fn below(&mut self, bound: u32) -> u32 {
        (((self.bits() >> 32) * u64::from(bound)) >> 32) as u32
    }

    /// A number between -1 and 1.
    pub fn unit(&mut self) -> f32 {
        (self.below(1 << 24) as f32) / (1 << 23) as f32 - 1.0
    }
}
