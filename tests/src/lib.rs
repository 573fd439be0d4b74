//! End-to-end tests: the same test runs on the simulator and on a GPU.
//!
//! A test opens the device that `WARPSMITH_DEVICE` names (else the default one), loads the test kernels' PTX, launches, and compares
//! with what the CPU says. This library holds what the tests share; the tests are in `tests/`, one file for each part of
//! the device library, beside `snapshots.rs`, which shows the PTX that each intrinsic became and needs no device.
//!
//! Tests of faults that may take the context with them go through [`own_process`].

pub mod ptx;

use std::sync::OnceLock;

use warpsmith_host::prelude::*;

pub use warpsmith_testkit::process::run_in_child;
pub use warpsmith_testkit::{Random, Side, own_process};

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
