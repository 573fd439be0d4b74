//! A module whose last owner was dropped, until its kernels are done.

use std::mem::ManuallyDrop;

use crate::context::primary::Context;
use crate::driver_call::adopt::destroyed;
use crate::error::Result;
use crate::reclaim::{FreeCost, Reclaim};

/// A module to be unloaded.
pub(crate) struct RetiredModule {
    /// Leaks with its owner: unloading it is up to `free` alone.
    module: ManuallyDrop<cust::module::Module>,
}

impl RetiredModule {
    pub(crate) fn new(module: cust::module::Module) -> RetiredModule {
        RetiredModule {
            module: ManuallyDrop::new(module),
        }
    }
}

impl Reclaim for RetiredModule {
    fn free_cost(&self) -> FreeCost {
        FreeCost::WaitsForIdleDevice
    }

    fn free(self: Box<Self>, _context: &Context) -> Result<()> {
        let module = ManuallyDrop::into_inner(self.module);
        destroyed("cuModuleUnload", cust::module::Module::drop(module))
    }
}
