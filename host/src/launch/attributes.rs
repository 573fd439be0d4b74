//! Attributes: what the kernel's source says, and what a launch passes to the driver.

use warpsmith_device::launch::KernelAttributes;
use warpsmith_driver::raw;

use super::grid::Grid;

/// For kernels about whose source nothing is known.
pub(crate) static UNKNOWN: KernelAttributes = KernelAttributes {
    max_threads: None,
    exact: false,
    min_blocks: None,
    max_registers: None,
    cluster: None,
    max_cluster: None,
    launch_dimensions: 3,
};

/// The launch's attributes in the driver's form.
// covers: MODEL-07, MODEL-25
pub(crate) struct LaunchAttributes<const MOST: usize = GRID_ATTRIBUTES> {
    pub(crate) list: [raw::CUlaunchAttribute; MOST],
    pub(crate) count: u32,
}

/// As many attributes as a [`Grid`] stands for.
pub(crate) const GRID_ATTRIBUTES: usize = 2;

impl<const MOST: usize> LaunchAttributes<MOST> {
    /// Those of a grid, in a list with room for `MOST`, at least [`GRID_ATTRIBUTES`].
    #[inline]
    pub(crate) fn new(grid: &Grid) -> LaunchAttributes<MOST> {
        const { assert!(MOST >= GRID_ATTRIBUTES) };
        let mut attributes = LaunchAttributes {
            list: [EMPTY; MOST],
            count: 0,
        };
        if let Some(cluster) = grid.cluster {
            let mut value = EMPTY.value;
            value.clusterDim.x = cluster.x;
            value.clusterDim.y = cluster.y;
            value.clusterDim.z = cluster.z;
            attributes.add(
                raw::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                value,
            );
        }
        if grid.cooperative {
            attributes.add(
                raw::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
                raw::CUlaunchAttributeValue { cooperative: 1 },
            );
        }
        attributes
    }

    /// Adds one.
    ///
    /// # Panics
    ///
    /// The list is full.
    pub(super) fn add(&mut self, id: raw::CUlaunchAttributeID, value: raw::CUlaunchAttributeValue) {
        self.list[self.count as usize] = raw::CUlaunchAttribute { id, value, ..EMPTY };
        self.count += 1;
    }
}

const EMPTY: raw::CUlaunchAttribute = raw::CUlaunchAttribute {
    id: raw::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_IGNORE,
    pad: [0; 4],
    value: raw::CUlaunchAttributeValue { pad: [0; 64] },
};
