//! What a span says of a piece of work: its name, its category and its sizes.

use std::borrow::Cow;

use serde::Serialize;

/// A piece of work.
pub(crate) struct Work<'a> {
    pub(super) name: Cow<'a, str>,
    pub(super) category: &'static str,
    pub(super) sizes: Sizes,
    /// What it is on CUDA's list of what may keep work of different streams from overlapping, work before it from work after it (CUDA C++
    /// Programming Guide, "Implicit Synchronization").
    pub(super) may_serialise: Option<&'static str>,
}

/// The sizes of a piece of work, as the arguments of its span.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum Sizes {
    Kernel {
        /// In blocks.
        grid: [u32; 3],
        /// In threads.
        block: [u32; 3],
        /// In blocks.
        #[serde(skip_serializing_if = "Option::is_none")]
        cluster: Option<[u32; 3]>,
        dynamic_shared_bytes: u32,
    },
    Graph {
        /// Kernel nodes.
        kernels: usize,
    },
    Bytes {
        bytes: usize,
    },
    None {},
}

impl<'a> Work<'a> {
    /// A kernel's launch.
    pub(crate) fn kernel(name: &'a str, sizes: Sizes) -> Work<'a> {
        Work {
            name: name.into(),
            category: "kernel",
            sizes,
            may_serialise: None,
        }
    }

    /// A graph's launch.
    pub(crate) fn graph(kernels: usize) -> Work<'a> {
        Work {
            name: "graph".into(),
            category: "graph",
            sizes: Sizes::Graph { kernels },
            may_serialise: None,
        }
    }

    /// A copy or a fill, of so many bytes, by this call of the driver or of another library.
    pub(crate) fn call(call: &'static str, bytes: usize) -> Work<'a> {
        let category = if call.starts_with("cuMemcpy") {
            "copy"
        } else if call.starts_with("cuMemset") {
            "set"
        } else if call.starts_with("cu") {
            "memory"
        } else {
            "library"
        };
        Work {
            name: call.into(),
            category,
            sizes: Sizes::Bytes { bytes },
            may_serialise: serialising(call),
        }
    }

    /// A section of the program, which the program has named.
    pub(super) fn section(name: Cow<'a, str>) -> Work<'a> {
        Work {
            name,
            category: "section",
            sizes: Sizes::None {},
            may_serialise: None,
        }
    }

    /// Its size, where that is one number.
    #[cfg(feature = "nvtx")]
    pub(super) fn bytes(&self) -> Option<u64> {
        match self.sizes {
            Sizes::Bytes { bytes } => Some(bytes as u64),
            Sizes::Kernel { .. } | Sizes::Graph { .. } | Sizes::None {} => None,
        }
    }

    /// With a name of its own.
    pub(super) fn into_owned(self) -> Work<'static> {
        Work {
            name: self.name.into_owned().into(),
            category: self.category,
            sizes: self.sizes,
            may_serialise: self.may_serialise,
        }
    }
}

/// The kind of call on CUDA's list. Stream-ordered allocations are not on it.
fn serialising(call: &str) -> Option<&'static str> {
    match call {
        "cuMemHostAlloc" => Some("allocation of page-locked memory"),
        "cuMemAlloc" | "cuMemAllocManaged" => Some("allocation of device memory"),
        "cuMemcpyDtoDAsync" => Some("copy within the memory of a device"),
        _ if call.starts_with("cuMemset") => Some("memory set of a device"),
        _ => None,
    }
}
