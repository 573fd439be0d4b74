//! The texture objects of one piece of memory, one for each way to read it.
//!
//! They live as long as the memory, whoever has dropped what: a launch that was captured holds the memory and knows the object by number only.

use std::sync::{Arc, Mutex};

use warpsmith_driver::raw::{self, CUarray_format, CUresourceViewFormat};

use super::sampling::{LevelOptions, ReadMode, TextureOptions};
use crate::context::primary::Context;
use crate::driver_call::call;
use crate::driver_call::handle::Handle;
use crate::error::Result;
use crate::gpu::open_device::OpenDevice;
use crate::reclaim::{FreeCost, Reclaim};
use crate::sync::lock;

/// What is read, and how.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Reading {
    pub(super) texels: Texels,
    pub(super) options: TextureOptions,
    /// Where there are several levels.
    pub(super) levels: LevelOptions,
    pub(super) read: ReadMode,
    /// Where the texels are taken for others.
    pub(super) view: Option<ResourceView>,
}

/// What texels of an array are taken for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct ResourceView {
    pub(super) format: CUresourceViewFormat,
    /// Width, height and depth of the whole array as the driver wants them, in what is seen.
    pub(super) extents: [usize; 3],
    pub(super) levels: Part,
    /// The only one where texels are not in layers.
    pub(super) layers: Part,
}

/// Which levels or layers of an array.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Part {
    pub(super) first: u32,
    /// At least 1.
    pub(super) count: u32,
}

impl Part {
    /// All of so many, at least 1.
    pub(super) fn all(count: u32) -> Part {
        Part { first: 0, count }
    }

    fn last(self) -> u32 {
        self.first + self.count - 1
    }
}

impl ResourceView {
    /// As the driver takes it.
    fn description(self) -> raw::CUDA_RESOURCE_VIEW_DESC {
        let [width, height, depth] = self.extents;
        raw::CUDA_RESOURCE_VIEW_DESC {
            format: self.format,
            width,
            height,
            depth,
            firstMipmapLevel: self.levels.first,
            lastMipmapLevel: self.levels.last(),
            firstLayer: self.layers.first,
            lastLayer: self.layers.last(),
            ..Default::default()
        }
    }
}

/// Where texels are.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Texels {
    /// In an array.
    Array(Handle<raw::CUarray>),
    /// In all levels of a mipmapped array.
    Mipmapped(Handle<raw::CUmipmappedArray>),
    /// In a row at an address.
    Linear {
        address: u64,
        bytes: usize,
        format: CUarray_format,
        components: u32,
    },
    /// In rows at an address.
    Pitched {
        address: u64,
        width: usize,
        height: usize,
        pitch: usize,
        format: CUarray_format,
        components: u32,
    },
}

impl Texels {
    /// As the driver takes it.
    pub(super) fn resource(self) -> raw::CUDA_RESOURCE_DESC {
        let mut resource = raw::CUDA_RESOURCE_DESC::default();
        match self {
            Texels::Array(array) => {
                resource.resType = raw::CUresourcetype::CU_RESOURCE_TYPE_ARRAY;
                resource.res.array.hArray = array.raw();
            }
            Texels::Mipmapped(array) => {
                resource.resType = raw::CUresourcetype::CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
                resource.res.mipmap.hMipmappedArray = array.raw();
            }
            Texels::Linear {
                address,
                bytes,
                format,
                components,
            } => {
                resource.resType = raw::CUresourcetype::CU_RESOURCE_TYPE_LINEAR;
                resource.res.linear.devPtr = address;
                resource.res.linear.format = format;
                resource.res.linear.numChannels = components;
                resource.res.linear.sizeInBytes = bytes;
            }
            Texels::Pitched {
                address,
                width,
                height,
                pitch,
                format,
                components,
            } => {
                resource.resType = raw::CUresourcetype::CU_RESOURCE_TYPE_PITCH2D;
                resource.res.pitch2D.devPtr = address;
                resource.res.pitch2D.format = format;
                resource.res.pitch2D.numChannels = components;
                resource.res.pitch2D.width = width;
                resource.res.pitch2D.height = height;
                resource.res.pitch2D.pitchInBytes = pitch;
            }
        }
        resource
    }
}

/// Those that were made so far.
#[derive(Default)]
pub(crate) struct TextureObjects(Mutex<Vec<(Reading, raw::CUtexObject)>>);

impl TextureObjects {
    /// The texture object that reads so.
    ///
    /// # Errors
    ///
    /// The driver refuses.
    ///
    /// # Safety
    ///
    /// The texels are in the memory whose objects these are, and whatever uses an object keeps the memory.
    pub(super) unsafe fn object(
        &self,
        gpu: &OpenDevice,
        reading: Reading,
        sampling: &raw::CUDA_TEXTURE_DESC,
    ) -> Result<raw::CUtexObject> {
        gpu.bind()?;
        let mut known = lock(&self.0);
        if let Some((_, object)) = known.iter().find(|(others, _)| *others == reading) {
            return Ok(*object);
        }
        let (mut object, resource) = (0, reading.texels.resource());
        let view = reading.view.map(ResourceView::description);
        let view = view.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        // SAFETY: the driver writes one number to `object` and reads the descriptions before the call returns; the texels exist now and
        // as long as the object is used, by the caller's contract.
        unsafe { call!(cuTexObjectCreate(&mut object, &resource, sampling, view)) }?;
        known.push((reading, object));
        Ok(object)
    }

    /// Destroys all of them.
    ///
    /// # Safety
    ///
    /// Nothing uses them, now or later.
    pub(super) unsafe fn destroy(&self) -> Result<()> {
        for (_, object) in std::mem::take(&mut *lock(&self.0)) {
            // SAFETY: cuTexObjectCreate gave the object, and nothing uses it by the caller's contract.
            unsafe { call!(cuTexObjectDestroy(object)) }?;
        }
        Ok(())
    }
}

/// The objects of memory whose last owner was dropped.
pub(crate) struct UnusedTextures(pub(crate) Arc<TextureObjects>);

impl Reclaim for UnusedTextures {
    fn free_cost(&self) -> FreeCost {
        FreeCost::None
    }

    fn free(self: Box<Self>, _context: &Context) -> Result<()> {
        // SAFETY: the allocation that had the memory, which every texture holds, was dropped; `Reclaim::free` is called when nothing on the
        // device uses it.
        unsafe { self.0.destroy() }
    }
}
