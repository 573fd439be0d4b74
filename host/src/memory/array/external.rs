//! Mipmapped arrays in memory that another program interface made, as Vulkan's images are (CUDA C++ Programming Guide, "Mapping Mipmapped
//! Arrays onto Imported Memory Objects").

use std::ptr::null_mut;

use warpsmith_driver::raw;

use super::block::ArrayBlock;
use super::extents::{EXTERNAL_CALL as CALL, LevelExtents};
use super::mipmapped::MipmappedArray;
use super::texel::Texel;
use crate::driver_call::call;
use crate::driver_call::handle::Handle;
use crate::error::Result;
use crate::memory::external::ExternalMemory;

/// What another program interface's image is made for, as its exporter says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExternalArrayOptions {
    /// Kernels write it by a [`Surface`](crate::Surface) (`CUDA_ARRAY3D_SURFACE_LDST`; `VK_IMAGE_USAGE_STORAGE_BIT`).
    pub surfaces: bool,
    /// The other interface draws to it (`CUDA_ARRAY3D_COLOR_ATTACHMENT`; `VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT`).
    pub color_target: bool,
}

impl ExternalMemory {
    /// An image of the other interface, which begins `offset` bytes behind the memory's beginning, as a mipmapped array of `levels` levels;
    /// one of a single level is [`level(0)`](MipmappedArray::level) of it. Dropping all that is left of the array unmaps it after its last
    /// use; the memory object lives until then, whoever drops it.
    ///
    /// The type of the texels is the image's format (`[u8; 4]` of `VK_FORMAT_R8G8B8A8_UNORM` and of `_UINT`, `f32` of
    /// `VK_FORMAT_R32_SFLOAT`), and that of the extents the kind of its view:
    ///
    /// | `VkImageViewType` | extents |
    /// | --- | --- |
    /// | `1D`, `1D_ARRAY` | [`Extent1`](crate::Extent1), [`Layered1`](crate::Layered1) |
    /// | `2D`, `2D_ARRAY` | [`Extent2`](crate::Extent2), [`Layered2`](crate::Layered2) |
    /// | `3D` | [`Extent3`](crate::Extent3) |
    /// | `CUBE`, `CUBE_ARRAY` | [`Cube`](crate::Cube), [`LayeredCube`](crate::LayeredCube) |
    ///
    /// How texels lie in the memory is known to the driver and the exporter alone (`VK_IMAGE_TILING_OPTIMAL`). On the simulator the levels
    /// follow each other without gaps, in each layer by layer, row by row.
    ///
    /// ```
    /// use warpsmith_host::prelude::*;
    /// use warpsmith_host::{ExternalArrayOptions, ExternalMemory, Extent2};
    ///
    /// /// The mean of an image that Vulkan has drawn, which it keeps in its last level.
    /// ///
    /// /// # Safety
    /// ///
    /// /// The memory begins with the image, of 1024 x 1024 pixels and 11 levels, and Vulkan does not touch it meanwhile.
    /// unsafe fn mean(stream: &Stream, memory: &ExternalMemory) -> Result<[u8; 4]> {
    ///     let extents = Extent2 { width: 1024, height: 1024 };
    ///     let options = ExternalArrayOptions { color_target: true, ..Default::default() };
    ///     // SAFETY: it is this image, by the function's condition.
    ///     let image = unsafe { memory.map_array::<[u8; 4], _>(0, extents, 11, options)? };
    ///     Ok(stream.download_array(&image.level(10))?[0])
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// The texels reach beyond the memory, there are more levels than the extents have halves, an extent is 0 or more than the device's, or
    /// the driver refuses. The simulator maps from multiples of 4096 bytes on.
    ///
    /// # Safety
    ///
    /// - The other interface has an image there, of just this offset, format, extents, levels, and of what the options say.
    /// - No texel is read before the exporter or something here has written it.
    /// - What uses the array and what the other interface, or a buffer or another array of this memory, does to the same bytes is put in order
    ///   by the caller: the one has completed before the other begins. The order that arrays have by themselves is that of one array's uses.
    // covers: INTEROP-07
    pub unsafe fn map_array<T: Texel, D: LevelExtents>(
        &self,
        offset: u64,
        extents: D,
        levels: usize,
        options: ExternalArrayOptions,
    ) -> Result<MipmappedArray<T, D>> {
        let kind = (options.surfaces, CALL);
        MipmappedArray::made(
            &self.gpu,
            kind,
            (extents, levels),
            |descriptor, levels, bytes| {
                self.check_inside(CALL, offset, bytes, || {
                    let texel = std::any::type_name::<T>();
                    format!("{levels} levels of {extents:?} of {texel} at byte {offset}")
                })?;
                self.gpu.bind()?;
                self.gpu.reclaim();
                let color_target = match options.color_target {
                    true => raw::CUDA_ARRAY3D_COLOR_ATTACHMENT,
                    false => 0,
                };
                let wish = raw::CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC {
                    offset,
                    arrayDesc: raw::CUDA_ARRAY3D_DESCRIPTOR {
                        Flags: descriptor.Flags | color_target,
                        ..descriptor
                    },
                    numLevels: levels,
                    ..Default::default()
                };
                let mut array = null_mut();
                // SAFETY: the driver writes one handle to `array` and reads `wish`, which outlive the call; `self` owns the object, in which
                // there is such an image (the caller's contract).
                unsafe {
                    call!(cuExternalMemoryGetMappedMipmappedArray(
                        &mut array,
                        self.object.raw.raw(),
                        &wish
                    ))
                }
                .map_err(|error| self.refused_part(error, offset, bytes))?;
                let array = Handle::new(array);
                Ok((ArrayBlock::mapped(array, bytes, self.object.clone()), array))
            },
        )
    }
}
