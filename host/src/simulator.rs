//! Brings the simulator into every program that uses this crate: the driver seam knows none by itself.

warpsmith_driver::provide_simulator! {
    // SAFETY: the simulator compiles each of its functions against the signature of its name, and keeps the driver's contracts.
    unsafe { warpsmith_driver::SimulatorBackend::new(warpsmith_simulator::entry_point) }
}
