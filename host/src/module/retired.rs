//! A module whose last owner was dropped, until its kernels are done.

use std::mem::ManuallyDrop;
use std::sync::Arc;

use super::panics::PanicSlot;
use crate::context::primary::Context;
use crate::driver_call::adopt::destroyed;
use crate::error::Result;
use crate::gpu::reports::{KernelPanicSource, WaitReports};
use crate::reclaim::{FreeCost, Reclaim};

/// A module, and where its kernels leave their panics.
pub(crate) struct RetiredModule {
    /// Leaks with its owner: unloading it is up to `free` alone.
    module: ManuallyDrop<cust::module::Module>,
    panics: Option<Arc<PanicSlot>>,
    reports: Arc<WaitReports>,
}

impl RetiredModule {
    pub(crate) fn new(
        module: cust::module::Module,
        panics: Option<Arc<PanicSlot>>,
        reports: Arc<WaitReports>,
    ) -> RetiredModule {
        RetiredModule {
            module: ManuallyDrop::new(module),
            panics,
            reports,
        }
    }
}

impl Reclaim for RetiredModule {
    fn free_cost(&self) -> FreeCost {
        FreeCost::WaitsForIdleDevice
    }

    fn free(self: Box<Self>, context: &Context) -> Result<()> {
        let RetiredModule {
            module,
            panics,
            reports,
        } = *self;
        let freed = panics.map_or(Ok(()), |panics| {
            let source: Arc<dyn KernelPanicSource> = panics.clone();
            reports.remove_source(&source);
            Box::new(panics.memory()).free(context)
        });
        let module = ManuallyDrop::into_inner(module);
        let unloaded = destroyed("cuModuleUnload", cust::module::Module::drop(module));
        freed.and(unloaded)
    }
}
