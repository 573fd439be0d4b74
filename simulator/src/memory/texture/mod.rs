//! Texture and surface objects: what kernels reach arrays, and linear memory, by (CUDA driver API, "Texture Object Management" and
//! "Surface Object Management").

mod engine_objects;
mod resource;
mod sampling;

use std::sync::Arc;

pub(super) use self::engine_objects::{surface, texture};
use self::resource::{Description, Resource};
use self::sampling::check_sampling;
use super::array::Array;
use crate::error::{Result, code};
use crate::registry::{ContextBound, Registry};
use warpsmith_abi::{
    CUDA_ARRAY3D_SURFACE_LDST, CUDA_RESOURCE_DESC, CUDA_RESOURCE_VIEW_DESC, CUDA_TEXTURE_DESC,
    CUresourcetype as Type,
};

/// All texture objects.
pub(crate) static TEXTURES: Registry<Texture> = Registry::new();
/// All surface objects.
pub(crate) static SURFACES: Registry<Surface> = Registry::new();

impl ContextBound for Texture {
    fn context(&self) -> u64 {
        self.context
    }
}

impl ContextBound for Surface {
    fn context(&self) -> u64 {
        self.context
    }
}

/// A texture object.
pub(crate) struct Texture {
    pub(crate) handle: usize,
    context: u64,
    pub(crate) resource: Description,
    pub(crate) sampling: CUDA_TEXTURE_DESC,
    pub(crate) view: Option<CUDA_RESOURCE_VIEW_DESC>,
}

/// A surface object.
pub(crate) struct Surface {
    pub(crate) handle: usize,
    context: u64,
    pub(crate) resource: Description,
}

/// The descriptions of a texture, checked.
pub(crate) struct CheckedTexture {
    resource: CUDA_RESOURCE_DESC,
    sampling: CUDA_TEXTURE_DESC,
    view: Option<CUDA_RESOURCE_VIEW_DESC>,
}

impl CheckedTexture {
    /// # Errors
    ///
    /// A description contradicts itself or the others, or a device cannot have such a texture.
    pub(crate) fn new(
        resource: &CUDA_RESOURCE_DESC,
        sampling: &CUDA_TEXTURE_DESC,
        view: Option<&CUDA_RESOURCE_VIEW_DESC>,
        device: usize,
    ) -> Result<Self> {
        let what = Resource::of(resource, device)?;
        let format = match view {
            Some(view) => what.viewed_as(view)?,
            None => what.format(),
        };
        check_sampling(sampling, &what, format)?;
        Ok(Self {
            resource: *resource,
            sampling: *sampling,
            view: view.copied(),
        })
    }

    pub(crate) fn with_handle(self, handle: usize, context: u64) -> Texture {
        Texture {
            handle,
            context,
            resource: Description(self.resource),
            sampling: self.sampling,
            view: self.view,
        }
    }
}

impl Surface {
    /// The array that a surface is to have.
    ///
    /// # Errors
    ///
    /// The resource is no array, or one that was not made for surfaces.
    pub(crate) fn check(resource: &CUDA_RESOURCE_DESC) -> Result<Arc<Array>> {
        if resource.flags != 0 || resource.resType != Type::CU_RESOURCE_TYPE_ARRAY {
            return Err(code::INVALID_VALUE);
        }
        // SAFETY: the type says which field the caller has set; any bytes are a handle.
        let array = Array::of_use(unsafe { resource.res.array.hArray })?;
        match array.shape.descriptor().Flags & CUDA_ARRAY3D_SURFACE_LDST {
            0 => Err(code::INVALID_VALUE),
            _ => Ok(array),
        }
    }

    pub(crate) fn with_handle(
        handle: usize,
        context: u64,
        resource: CUDA_RESOURCE_DESC,
    ) -> Surface {
        Surface {
            handle,
            context,
            resource: Description(resource),
        }
    }
}
