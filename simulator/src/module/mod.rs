//! Loaded modules: their kernels as functions with attributes, and their variables in device memory.

mod load;

use std::collections::HashMap;
use std::sync::atomic::{AtomicI32, AtomicU32};
use std::sync::{Arc, Mutex};

pub(crate) use load::{Failure, Log, load, parse_target};

use crate::engine;
use crate::state::lock;

/// A loaded module.
pub(crate) struct Module {
    pub(crate) handle: usize,
    pub(crate) context: u64,
    pub(crate) code: engine::Module,
    /// Where its variables were placed.
    pub(crate) variables: Vec<usize>,
    /// The functions handed out so far, by name.
    pub(crate) functions: Mutex<HashMap<String, Arc<Function>>>,
}

/// A kernel with what the program has set for it.
pub(crate) struct Function {
    pub(crate) handle: usize,
    pub(crate) module: usize,
    pub(crate) context: u64,
    pub(crate) device: usize,
    pub(crate) kernel: Arc<engine::Kernel>,
    /// The number of the PTX's target: 90 for `sm_90a`.
    pub(crate) target: u32,
    /// The name as a C string, for `cuFuncGetName`.
    pub(crate) c_name: std::ffi::CString,
    pub(crate) max_dynamic_shared: AtomicI32,
    pub(crate) carveout: AtomicI32,
    pub(crate) non_portable_cluster: AtomicI32,
    pub(crate) cluster_scheduling: AtomicI32,
    /// The cluster size that the program has set; zeros for none.
    pub(crate) set_cluster: Mutex<[u32; 3]>,
    pub(crate) cache_config: AtomicU32,
}

impl Function {
    /// The cluster size that every launch has unless it names the same: compiled in, or set; zeros for none.
    pub(crate) fn required_cluster(&self) -> [u32; 3] {
        self.kernel
            .cluster
            .unwrap_or_else(|| *lock(&self.set_cluster))
    }

    /// Sets one dimension of the cluster size.
    pub(crate) fn set_required_cluster(&self, dimension: usize, size: u32) {
        lock(&self.set_cluster)[dimension] = size;
    }
}
