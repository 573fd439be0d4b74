//! Texture and surface objects.

use super::entry::*;
use crate::context::current;
use crate::memory::texture::{CheckedTexture, SURFACES, Surface, TEXTURES, Texture};
use crate::registry::Registry;
use std::sync::Arc;

driver_calls! {
    Ready fn cuTexObjectCreate(
        pTexObject: *mut CUtexObject, pResDesc: *const CUDA_RESOURCE_DESC, pTexDesc: *const CUDA_TEXTURE_DESC,
        pResViewDesc: *const CUDA_RESOURCE_VIEW_DESC,
    ) {
        let context = current()?;
        if pTexObject.is_null() {
            return Err(code::INVALID_VALUE);
        }
        let (resource, sampling) = (parameters(pResDesc)?, parameters(pTexDesc)?);
        let checked = CheckedTexture::new(resource, sampling, pResViewDesc.as_ref(), context.device)?;
        let texture = context.add_to(&TEXTURES, |handle| checked.with_handle(handle, context.id()));
        pTexObject.write(texture.handle as CUtexObject);
    }

    Ready fn cuTexObjectDestroy(texObject: CUtexObject) {
        current()?;
        remove(&TEXTURES, texObject)?;
    }

    Ready fn cuTexObjectGetResourceDesc(pResDesc: *mut CUDA_RESOURCE_DESC, texObject: CUtexObject) {
        put(pResDesc, texture(texObject)?.resource.0)?;
    }

    Ready fn cuTexObjectGetTextureDesc(pTexDesc: *mut CUDA_TEXTURE_DESC, texObject: CUtexObject) {
        put(pTexDesc, texture(texObject)?.sampling)?;
    }

    Ready fn cuTexObjectGetResourceViewDesc(pResViewDesc: *mut CUDA_RESOURCE_VIEW_DESC, texObject: CUtexObject) {
        // As on an H200, nothing is told of a view that there is not.
        if let Some(view) = texture(texObject)?.view {
            put(pResViewDesc, view)?;
        }
    }

    Ready fn cuSurfObjectCreate(pSurfObject: *mut CUsurfObject, pResDesc: *const CUDA_RESOURCE_DESC) {
        let context = current()?;
        if pSurfObject.is_null() {
            return Err(code::INVALID_VALUE);
        }
        let resource = parameters(pResDesc)?;
        Surface::check(resource)?;
        let surface = context.add_to(&SURFACES, |handle| Surface::with_handle(handle, context.id(), *resource));
        pSurfObject.write(surface.handle as CUsurfObject);
    }

    Ready fn cuSurfObjectDestroy(surfObject: CUsurfObject) {
        current()?;
        remove(&SURFACES, surfObject)?;
    }

    Ready fn cuSurfObjectGetResourceDesc(pResDesc: *mut CUDA_RESOURCE_DESC, surfObject: CUsurfObject) {
        current()?;
        put(pResDesc, object(&SURFACES, surfObject)?.resource.0)?;
    }
}

fn texture(handle: CUtexObject) -> Result<Arc<Texture>> {
    current()?;
    object(&TEXTURES, handle)
}

/// The object of a handle, which is a number here and no pointer.
fn object<T>(registry: &Registry<T>, handle: u64) -> Result<Arc<T>> {
    registry
        .get(handle as usize as *mut ())
        .map_err(|_| code::INVALID_VALUE)
}

/// As measured, no object is an object that is gone already.
fn remove<T>(registry: &Registry<T>, handle: u64) -> Result {
    if handle == 0 {
        return Ok(());
    }
    let removed = registry.remove(handle as usize as *mut ());
    removed.map(drop).map_err(|_| code::INVALID_VALUE)
}
