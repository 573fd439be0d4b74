//! The attributes that a launch passes to the driver.

use std::mem::MaybeUninit;

use warpsmith_driver::raw;

use super::grid::Grid;

/// The driver's function that launches.
pub(crate) const CALL: &str = "cuLaunchKernelEx";

/// The launch's attributes in the driver's form.
// covers: MODEL-07, MODEL-25
pub(crate) struct LaunchAttributes<const MOST: usize = GRID_ATTRIBUTES> {
    /// The first `count` are there: most launches have none, and write none.
    list: [MaybeUninit<raw::CUlaunchAttribute>; MOST],
    count: u32,
}

/// As many attributes as a [`Grid`] stands for.
pub(crate) const GRID_ATTRIBUTES: usize = 2;

impl<const MOST: usize> LaunchAttributes<MOST> {
    /// None yet.
    #[inline]
    pub(crate) fn none() -> LaunchAttributes<MOST> {
        LaunchAttributes {
            list: [const { MaybeUninit::uninit() }; MOST],
            count: 0,
        }
    }

    /// Adds those of a grid: at most [`GRID_ATTRIBUTES`], for which there is room in an empty list.
    #[inline]
    pub(crate) fn add_grid(&mut self, grid: &Grid) {
        const { assert!(MOST >= GRID_ATTRIBUTES) };
        if let Some(cluster) = grid.cluster {
            let mut value = EMPTY.value;
            value.clusterDim.x = cluster.x;
            value.clusterDim.y = cluster.y;
            value.clusterDim.z = cluster.z;
            self.add(
                raw::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                value,
            );
        }
        if grid.cooperative {
            self.add(
                raw::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
                raw::CUlaunchAttributeValue { cooperative: 1 },
            );
        }
    }

    /// Adds one.
    ///
    /// # Panics
    ///
    /// The list is full.
    pub(super) fn add(&mut self, id: raw::CUlaunchAttributeID, value: raw::CUlaunchAttributeValue) {
        self.list[self.count as usize].write(raw::CUlaunchAttribute { id, value, ..EMPTY });
        self.count += 1;
    }

    /// Those that there are.
    #[inline]
    pub(crate) fn as_mut_slice(&mut self) -> &mut [raw::CUlaunchAttribute] {
        // SAFETY: `add` writes each one before it counts it in `count`, and `MaybeUninit<T>` is laid out as `T`.
        unsafe {
            std::slice::from_raw_parts_mut(self.list.as_mut_ptr().cast(), self.count as usize)
        }
    }
}

const EMPTY: raw::CUlaunchAttribute = raw::CUlaunchAttribute {
    id: raw::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_IGNORE,
    pad: [0; 4],
    value: raw::CUlaunchAttributeValue { pad: [0; 64] },
};
