//! Mipmapped arrays: arrays of several levels, each half as long in each direction as the one before.

use std::marker::PhantomData;
use std::ptr::null_mut;
use std::sync::Arc;

use warpsmith_driver::raw;

use super::block::ArrayBlock;
use super::extents::{self, LevelExtents};
use super::texel::Texel;
use super::{Array, bytes_of, refuse_capture};
use crate::driver_call::call;
use crate::driver_call::handle::Handle;
use crate::error::{Code, Error, LimitError, Result};
use crate::gpu::open_device::OpenDevice;
use crate::memory::allocation::Allocation;
use crate::stream::Stream;

/// The call that makes one.
const CALL: &str = extents::MIPMAPPED_CALL;

/// A mipmapped array (CUDA driver API, `cuMipmappedArrayCreate`): level 0 has the extents `D`, each other level half of those before it
/// (rounded down, at least 1), but as many layers.
///
/// A level is an [`Array`] as others are, for copies, textures and surfaces; several of them may be used at once, one level be read and the
/// next one written in one launch. A [`MipmappedTexture`](crate::MipmappedTexture) reads all of them. Whatever of it is left keeps the memory.
///
/// ```
/// use warpsmith_host::prelude::*;
/// use warpsmith_host::{Coordinates, Extent2, LevelOptions, TextureOptions};
///
/// # fn main() -> Result<()> {
/// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
/// let stream = gpu.stream()?;
/// let levels: [&[f32]; 2] = [&[1.0, 3.0, 5.0, 7.0], &[4.0]];
/// let image = stream.mipmapped_array(&levels, Extent2 { width: 2, height: 2 })?;
/// assert_eq!(stream.download_array(&image.level(1))?, [4.0]);
/// let options = TextureOptions { coordinates: Coordinates::Normalised, ..Default::default() };
/// let texture = image.texture(options, LevelOptions::default())?;
/// drop(image); // The texture keeps the texels.
/// assert_eq!(texture.extents(), Extent2 { width: 2, height: 2 });
/// # Ok(())
/// # }
/// ```
// covers: TEX-12
pub struct MipmappedArray<T: Texel, D: LevelExtents> {
    pub(super) allocation: Arc<Allocation>,
    pub(super) block: Arc<ArrayBlock>,
    /// The block's array.
    pub(super) texels: Handle<raw::CUmipmappedArray>,
    levels: Vec<Level<D>>,
    for_surfaces: bool,
    of: PhantomData<T>,
}

/// What the driver made, and its handle.
pub(super) type MadeLevels = (ArrayBlock, Handle<raw::CUmipmappedArray>);

/// A level, which is there as long as the whole.
#[derive(Clone, Copy)]
struct Level<D> {
    texels: Handle<raw::CUarray>,
    extents: D,
    /// Bytes of the levels before it.
    offset: u64,
}

impl<T: Texel, D: LevelExtents> MipmappedArray<T, D> {
    /// Of undefined contents.
    fn raw(
        stream: &Stream,
        extents: D,
        level_count: usize,
        for_surfaces: bool,
    ) -> Result<MipmappedArray<T, D>> {
        refuse_capture(stream, CALL)?;
        let gpu = &stream.gpu;
        let (kind, level_count) = ((for_surfaces, CALL), (extents, level_count));
        MipmappedArray::made(gpu, kind, level_count, |descriptor, levels, bytes| {
            ArrayBlock::mipmapped(gpu, descriptor, levels, bytes)
        })
    }

    /// An array of these extents and so many levels, for surfaces or not, which `make` makes by this call of the driver's description, the
    /// number of levels and the bytes of all texels.
    pub(super) fn made(
        gpu: &Arc<OpenDevice>,
        (for_surfaces, call): (bool, &'static str),
        (extents, level_count): (D, usize),
        make: impl FnOnce(raw::CUDA_ARRAY3D_DESCRIPTOR, u32, usize) -> Result<MadeLevels>,
    ) -> Result<MipmappedArray<T, D>> {
        let descriptor = extents::descriptor::<T, D>(gpu, extents, for_surfaces, call)?;
        let most = extents::most_levels(extents);
        if !(1..=most).contains(&level_count) {
            return Err(Error::Limit(Box::new(LimitError {
                call,
                code: Code::INVALID_VALUE,
                subject: format!("{extents:?}"),
                what: "the number of levels",
                value: level_count as u64,
                limit: if level_count == 0 { 1 } else { most as u64 },
                hint: "the first level is the whole array, and the last one that there can be has extents of 1".into(),
            })));
        }
        let of_level = |level: usize| extents.level(level as u32);
        let bytes = (0..level_count).map(|level| bytes_of::<T, D>(of_level(level)));
        let all_bytes = bytes.clone().fold(0_usize, usize::saturating_add);
        // At most 32, as an extent has so many halves.
        let (block, texels) = make(descriptor, level_count as u32, all_bytes)?;
        let block = Arc::new(block);
        // From here on it is freed with the allocation.
        let mut made = MipmappedArray {
            allocation: Allocation::of_array(gpu, block.clone()),
            block,
            texels,
            levels: Vec::new(),
            for_surfaces,
            of: PhantomData,
        };
        let mut offset = 0;
        for (level, bytes) in bytes.enumerate() {
            let mut array = null_mut();
            // SAFETY: the array was just made; the driver writes one handle to `array`.
            unsafe {
                call!(cuMipmappedArrayGetLevel(
                    &mut array,
                    texels.raw(),
                    level as u32
                ))
            }?;
            made.levels.push(Level {
                texels: Handle::new(array),
                extents: of_level(level),
                offset,
            });
            offset += bytes as u64;
        }
        Ok(made)
    }

    /// The extents of level 0.
    pub fn extents(&self) -> D {
        // There is at least one level (`raw`).
        self.levels[0].extents
    }

    /// How many levels there are.
    pub fn level_count(&self) -> usize {
        self.levels.len()
    }

    /// A level, as an array. It keeps the memory of the whole.
    ///
    /// # Panics
    ///
    /// There is no such level.
    pub fn level(&self, level: usize) -> Array<T, D> {
        let count = self.level_count();
        assert!(
            level < count,
            "level {level} of a mipmapped array of {count} levels"
        );
        let level = self.levels[level];
        Array {
            allocation: self.allocation.clone(),
            block: self.block.clone(),
            texels: level.texels,
            offset: level.offset,
            for_surfaces: self.for_surfaces,
            extents: level.extents,
            of: PhantomData,
        }
    }
}

impl<T: Texel, D: LevelExtents> std::fmt::Debug for MipmappedArray<T, D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "MipmappedArray<{}>[{:?}, {} levels]",
            std::any::type_name::<T>(),
            self.extents(),
            self.level_count()
        )
    }
}

impl Stream {
    /// A mipmapped array with copies of `levels`, each of which has its level's texels without gaps: x runs fastest, then y, then depth or
    /// layer. Waits until the data has been read.
    ///
    /// # Errors
    ///
    /// A level's data has another length, there are more levels than the extents have halves, an extent is 0 or more than the device's, the
    /// device has too little memory, or the stream is being captured.
    pub fn mipmapped_array<T: Texel, D: LevelExtents>(
        &self,
        levels: &[&[T]],
        extents: D,
    ) -> Result<MipmappedArray<T, D>> {
        self.filled_levels(levels, extents, false)
    }

    /// As [`mipmapped_array`](Self::mipmapped_array), whose levels kernels can write by a [`Surface`](crate::Surface).
    ///
    /// # Errors
    ///
    /// As for [`mipmapped_array`](Self::mipmapped_array); surfaces may have smaller extents on a device than textures.
    pub fn surface_mipmapped_array<T: Texel, D: LevelExtents>(
        &self,
        levels: &[&[T]],
        extents: D,
    ) -> Result<MipmappedArray<T, D>> {
        self.filled_levels(levels, extents, true)
    }

    fn filled_levels<T: Texel, D: LevelExtents>(
        &self,
        levels: &[&[T]],
        extents: D,
        for_surfaces: bool,
    ) -> Result<MipmappedArray<T, D>> {
        let array = MipmappedArray::raw(self, extents, levels.len(), for_surfaces)?;
        for (number, data) in levels.iter().enumerate() {
            let mut level = array.level(number);
            if data.len() != level.len() {
                return Err(Error::misuse(
                    CALL,
                    Code::INVALID_VALUE,
                    format!(
                        "level {number} is {:?}: {} texels, and {} are given",
                        level.extents(),
                        level.len(),
                        data.len()
                    ),
                    "give one texel for each place of each level",
                ));
            }
            self.upload_array(data, &mut level)?;
        }
        Ok(array)
    }

    /// A mipmapped array of zeros.
    ///
    /// # Errors
    ///
    /// As for [`mipmapped_array`](Self::mipmapped_array).
    pub fn mipmapped_array_zeroed<T: Texel, D: LevelExtents>(
        &self,
        extents: D,
        levels: usize,
    ) -> Result<MipmappedArray<T, D>> {
        self.cleared_levels(extents, levels, false)
    }

    /// A mipmapped array of zeros, whose levels kernels can write by a [`Surface`](crate::Surface): to fill each from the one before it.
    ///
    /// # Errors
    ///
    /// As for [`surface_mipmapped_array`](Self::surface_mipmapped_array).
    pub fn surface_mipmapped_array_zeroed<T: Texel, D: LevelExtents>(
        &self,
        extents: D,
        levels: usize,
    ) -> Result<MipmappedArray<T, D>> {
        self.cleared_levels(extents, levels, true)
    }

    fn cleared_levels<T: Texel, D: LevelExtents>(
        &self,
        extents: D,
        levels: usize,
        for_surfaces: bool,
    ) -> Result<MipmappedArray<T, D>> {
        let array = MipmappedArray::raw(self, extents, levels, for_surfaces)?;
        for number in 0..levels {
            self.clear_array(&mut array.level(number))?;
        }
        Ok(array)
    }
}
