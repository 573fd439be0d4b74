//! The simulator, if the program has one.
//!
//! This crate does not depend on the simulator. A program that wants one says so with [`provide_simulator`](crate::provide_simulator)
//! anywhere in its crates; `warpsmith-host` does it for the programs that use it. The linker collects these statements, so the
//! simulator is there before `main`, and a driver call through `cust` finds it even if it is the program's first.

use core::ffi::c_void;

/// How a simulator in this process is reached: a function that finds its driver functions by their symbol names.
pub struct SimulatorBackend {
    entry_point: fn(&str) -> Option<*const c_void>,
}

impl SimulatorBackend {
    /// A simulator whose functions `entry_point` finds.
    ///
    /// # Safety
    ///
    /// An address that `entry_point` answers for a name in `warpsmith_abi`'s lists is a function of the type that the name has in
    /// [`signature`](warpsmith_abi::signature) or [`extension::signature`](warpsmith_abi::extension::signature), and keeps the
    /// contract of the driver function of that name. It stays valid until the process ends.
    pub const unsafe fn new(entry_point: fn(&str) -> Option<*const c_void>) -> Self {
        Self { entry_point }
    }

    /// The function of this symbol name.
    pub(crate) fn entry_point(&self, name: &str) -> Option<*const c_void> {
        (self.entry_point)(name)
    }
}

/// What [`provide_simulator`](crate::provide_simulator) adds to; the linker fills it.
#[doc(hidden)]
#[linkme::distributed_slice]
pub static SIMULATORS: [SimulatorBackend];

/// Makes a simulator available to this process. A program needs this once, in any of its crates; further ones change nothing.
///
/// ```
/// warpsmith_driver::provide_simulator! {
///     // SAFETY: the simulator compiles each of its functions against the signature of its name.
///     unsafe { warpsmith_driver::SimulatorBackend::new(warpsmith_simulator::entry_point) }
/// }
///
/// # fn main() -> Result<(), warpsmith_driver::SelectError> {
/// use warpsmith_driver::{Backend, Choice};
///
/// assert_eq!(warpsmith_driver::select(Choice::Simulator)?, Backend::Simulator);
/// # Ok(())
/// # }
/// ```
#[macro_export]
macro_rules! provide_simulator {
    ($backend:expr) => {
        const _: () = {
            #[$crate::linkme::distributed_slice($crate::SIMULATORS)]
            #[linkme(crate = $crate::linkme)]
            static SIMULATOR: $crate::SimulatorBackend = $backend;
        };
    };
}

/// The program's simulator.
pub(crate) fn provided() -> Option<&'static SimulatorBackend> {
    SIMULATORS.first()
}
