//! Mipmapped arrays: arrays of which each is half as long in each direction as the one before (CUDA driver API, `cuMipmappedArrayCreate`).
//!
//! A level is an array as others are, with a handle of its own, but ends with the whole.
//!
//! Of external memory a GPU's driver knows how another interface lays texels out. Here the levels follow each other without gaps, each as
//! rows of texels, and slices or layers of rows.

use std::sync::Arc;

use warpsmith_abi::{CUarray, CUmipmappedArray};

use super::super::external::External;
use super::shape::ArrayShape;
use super::{Array, NewArray, end};
use crate::error::{Result, code};
use crate::registry::{ContextBound, Registry};
use crate::report;

/// All mipmapped arrays.
pub(crate) static MIPMAPPED_ARRAYS: Registry<Mipmapped> = Registry::new();

impl ContextBound for Mipmapped {
    fn context(&self) -> u64 {
        self.context
    }
}

/// A mipmapped array.
pub(crate) struct Mipmapped {
    pub(crate) handle: usize,
    context: u64,
    /// Of the first level.
    pub(crate) shape: ArrayShape,
    /// The levels' handles; at least one.
    levels: Vec<usize>,
}

impl Mipmapped {
    /// Memory for each level of a mipmapped array that is made in a context: for as many as there can be, where more are asked for, and for
    /// one at least.
    ///
    /// # Errors
    ///
    /// The device has too little.
    pub(crate) fn allocate(
        context: u64,
        device: usize,
        shape: &ArrayShape,
        levels: u32,
    ) -> Result<Vec<NewArray>> {
        const CALL: &str = "cuMipmappedArrayCreate";
        let mut made: Vec<NewArray> = Vec::new();
        for level in 0..levels.clamp(1, shape.most_levels()) {
            match NewArray::allocate(context, device, shape.level(level), CALL) {
                Ok(array) => made.push(array),
                Err(error) => {
                    for array in made {
                        array.give_up(CALL);
                    }
                    return Err(error);
                }
            }
        }
        Ok(made)
    }

    /// A part of external memory, from the byte `offset` on, as each level of a mipmapped array that is made in a context.
    ///
    /// # Errors
    ///
    /// Invalid value if there is no level, more than there can be, or the levels do not lie in the memory; others as of
    /// [`External::map`].
    pub(crate) fn in_external(
        context: u64,
        memory: &External,
        offset: u64,
        shape: &ArrayShape,
        levels: u32,
    ) -> Result<Vec<NewArray>> {
        const CALL: &str = "cuExternalMemoryGetMappedMipmappedArray";
        if !(1..=shape.most_levels()).contains(&levels) {
            report::remark(&format!(
                "{CALL}: {levels} levels of {shape}: the exporter has made at least 1, and at most {}, of which the last one's extents are 1",
                shape.most_levels()
            ));
            return Err(code::INVALID_VALUE);
        }
        let shapes: Vec<_> = (0..levels).map(|level| shape.level(level)).collect();
        let bytes = shapes
            .iter()
            .try_fold(0_usize, |before, shape| before.checked_add(shape.bytes()?));
        let bytes = bytes.ok_or(code::INVALID_VALUE)?;
        let part = memory.map_texels(offset, bytes as u64, CALL)?;
        let mut before = 0;
        let arrays = shapes.into_iter().map(|shape| {
            let at = before;
            // Counted above.
            before += shape.bytes().unwrap_or(0);
            NewArray::in_part(context, &part, at, shape)
        });
        Ok(arrays.collect())
    }

    /// The mipmapped array of these levels.
    pub(crate) fn with_handle(
        handle: usize,
        context: u64,
        shape: ArrayShape,
        levels: Vec<usize>,
    ) -> Self {
        Self {
            handle,
            context,
            shape,
            levels,
        }
    }

    /// The mipmapped array of a handle that a texture was given.
    pub(in crate::memory) fn of_use(handle: CUmipmappedArray) -> Result<Arc<Self>> {
        MIPMAPPED_ARRAYS
            .get(handle)
            .map_err(|_| code::INVALID_VALUE)
    }

    /// How many levels there are.
    pub(in crate::memory) fn level_count(&self) -> u32 {
        self.levels.len() as u32
    }

    /// The array that a level is.
    ///
    /// # Errors
    ///
    /// There is no such level.
    pub(crate) fn level(&self, level: u32) -> Result<Arc<Array>> {
        let handle = self.levels.get(level as usize).ok_or(code::INVALID_VALUE)?;
        Array::of_use(*handle as CUarray)
    }

    /// Ends a mipmapped array with all of its levels.
    ///
    /// # Errors
    ///
    /// There is none of this handle.
    pub(crate) fn destroy(handle: CUmipmappedArray) -> Result {
        let mipmapped = MIPMAPPED_ARRAYS.remove(handle)?;
        for &level in &mipmapped.levels {
            end(level as CUarray, "cuMipmappedArrayDestroy")?;
        }
        Ok(())
    }
}
