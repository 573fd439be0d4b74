//! A kernel of a loaded module with what the program has set for it.

use std::ffi::CString;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use warpsmith_abi::CUdevice_attribute;

use crate::context::Context;
use crate::device;
use crate::engine;
use crate::registry::{ContextBound, Registry};
use crate::sync::lock;

/// All functions that have been handed out.
pub(crate) static FUNCTIONS: Registry<Function> = Registry::new();

/// Bytes of shared memory, static and dynamic, that a block may have until the program asks for more dynamic memory. A kernel whose static
/// memory is more may have all that there is (H200, driver 580.159.04).
const SHARED_MEMORY_WITHOUT_OPT_IN: u32 = 48 << 10;

/// Bytes of shared memory that a block of the device can have.
pub(super) fn most_shared_memory(device: usize) -> u32 {
    let most = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN;
    device::profile(device).limit(most)
}

/// A kernel with what the program has set for it.
pub(crate) struct Function {
    pub(crate) handle: usize,
    /// The handle of its module.
    pub(crate) module: usize,
    pub(crate) context: u64,
    pub(crate) device: usize,
    /// How often the context had been reset when this was made.
    pub(crate) epoch: u64,
    pub(crate) kernel: Arc<engine::Kernel>,
    /// The number of the PTX's target: 90 for `sm_90a`.
    pub(crate) target: u32,
    /// The name as a C string, for `cuFuncGetName`.
    pub(crate) c_name: CString,
    pub(crate) max_dynamic_shared: AtomicI32,
    pub(crate) carveout: AtomicI32,
    pub(crate) non_portable_cluster: AtomicI32,
    pub(crate) cluster_scheduling: AtomicI32,
    /// The cluster size that the program has set; zeros for none.
    set_cluster: Mutex<[u32; 3]>,
    pub(crate) cache_config: AtomicU32,
}

impl ContextBound for Function {
    fn context(&self) -> u64 {
        self.context
    }
}

impl Function {
    /// A function with the attributes that it has at first.
    pub(crate) fn new(
        handle: usize,
        module: usize,
        context: u64,
        device: usize,
        target: u32,
        kernel: Arc<engine::Kernel>,
    ) -> Self {
        let most = match kernel.static_shared <= SHARED_MEMORY_WITHOUT_OPT_IN {
            true => SHARED_MEMORY_WITHOUT_OPT_IN,
            false => most_shared_memory(device),
        };
        let dynamic = most.saturating_sub(kernel.static_shared);
        Self {
            handle,
            module,
            context,
            device,
            epoch: Context::of_id(context).map_or(0, |context| context.epoch()),
            target,
            c_name: CString::new(kernel.name.as_str()).unwrap_or_default(),
            max_dynamic_shared: AtomicI32::new(dynamic as i32),
            carveout: AtomicI32::new(-1),
            non_portable_cluster: AtomicI32::new(0),
            cluster_scheduling: AtomicI32::new(0),
            set_cluster: Mutex::new([0; 3]),
            cache_config: AtomicU32::new(0),
            kernel,
        }
    }

    /// The cluster size that every launch has unless it names the same: compiled in, or set; zeros for none.
    pub(crate) fn required_cluster(&self) -> [u32; 3] {
        self.kernel
            .cluster
            .unwrap_or_else(|| *lock(&self.set_cluster))
    }

    /// Takes over what is set for another function of the same kernel.
    pub(super) fn set_as(&self, other: &Function) {
        for (own, other) in [
            (&self.max_dynamic_shared, &other.max_dynamic_shared),
            (&self.carveout, &other.carveout),
            (&self.non_portable_cluster, &other.non_portable_cluster),
            (&self.cluster_scheduling, &other.cluster_scheduling),
        ] {
            own.store(other.load(Ordering::Relaxed), Ordering::Relaxed);
        }
        let config = other.cache_config.load(Ordering::Relaxed);
        self.cache_config.store(config, Ordering::Relaxed);
        let cluster = *lock(&other.set_cluster);
        *lock(&self.set_cluster) = cluster;
    }

    /// Sets one dimension of the cluster size.
    pub(crate) fn set_required_cluster(&self, dimension: usize, size: u32) {
        lock(&self.set_cluster)[dimension] = size;
    }
}
