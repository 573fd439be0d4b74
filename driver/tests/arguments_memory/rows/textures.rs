//! Texture and surface objects.

use crate::common::*;
use crate::row::*;
use crate::world::{BYTES, ODD, U8, changed, resource_of};

fn point() -> CUDA_TEXTURE_DESC {
    CUDA_TEXTURE_DESC::default()
}

/// Bytes in a row.
fn linear(address: CUdeviceptr, bytes: usize) -> CUDA_RESOURCE_DESC {
    let mut resource = CUDA_RESOURCE_DESC {
        resType: CUresourcetype::CU_RESOURCE_TYPE_LINEAR,
        ..Default::default()
    };
    resource.res.linear = CUDA_RESOURCE_DESC_st__bindgen_ty_1__bindgen_ty_3 {
        devPtr: address,
        format: U8,
        numChannels: 1,
        sizeInBytes: bytes,
    };
    resource
}

/// Rows of 64 bytes.
fn pitched(address: CUdeviceptr, height: usize, pitch: usize) -> CUDA_RESOURCE_DESC {
    let mut resource = CUDA_RESOURCE_DESC {
        resType: CUresourcetype::CU_RESOURCE_TYPE_PITCH2D,
        ..Default::default()
    };
    resource.res.pitch2D = CUDA_RESOURCE_DESC_st__bindgen_ty_1__bindgen_ty_4 {
        devPtr: address,
        format: U8,
        numChannels: 1,
        width: 64,
        height,
        pitchInBytes: pitch,
    };
    resource
}

fn mipmapped(array: CUmipmappedArray) -> CUDA_RESOURCE_DESC {
    let mut resource = CUDA_RESOURCE_DESC {
        resType: CUresourcetype::CU_RESOURCE_TYPE_MIPMAPPED_ARRAY,
        ..Default::default()
    };
    resource.res.mipmap.hMipmappedArray = array;
    resource
}

/// A view that fits the world's array.
fn view() -> CUDA_RESOURCE_VIEW_DESC {
    CUDA_RESOURCE_VIEW_DESC {
        format: CUresourceViewFormat::CU_RES_VIEW_FORMAT_SINT_1X8,
        width: 16,
        height: 4,
        ..Default::default()
    }
}

pub fn rows() -> Vec<Row> {
    rows! { |w|
        cuTexObjectCreate {
            "null result": INVALID_VALUE => (null_mut(), at(resource_of(w.array)), at(point()), null());
            "null resource": INVALID_VALUE => (out(), null(), at(point()), null());
            "null sampling": INVALID_VALUE => (out(), at(resource_of(w.array)), null(), null());
            "an odd type": INVALID_VALUE => (
                out(), changed(resource_of(w.array), |r| r.resType = CUresourcetype_enum(ODD)), at(point()), null(),
            );
            "odd flags of the resource": INVALID_VALUE => (
                out(), changed(resource_of(w.array), |r| r.flags = ODD), at(point()), null(),
            );
            "a null array" [undefined]: INVALID_VALUE => (out(), at(resource_of(null_mut())), at(point()), null());
            "a destroyed array" [undefined]: INVALID_VALUE => (
                out(), at(resource_of(w.destroyed_array)), at(point()), null(),
            );
            "a mipmapped array in an array's place" [undefined]: INVALID_VALUE => (
                out(), at(resource_of(w.mipmapped.cast())), at(point()), null(),
            );
            "an array of a destroyed context" [undefined]: INVALID_VALUE => (
                out(), at(resource_of(w.orphaned_array)), at(point()), null(),
            );
            "a destroyed mipmapped array" [undefined]: INVALID_VALUE => (
                out(), at(mipmapped(w.destroyed_mipmapped)), at(point()), null(),
            );
            "memory that is misaligned": INVALID_VALUE => (out(), at(linear(w.memory + 4, 64)), at(point()), null());
            "a pitch that is misaligned": INVALID_VALUE => (out(), at(pitched(w.memory, 2, 100)), at(point()), null());
            "no memory" [undefined]: INVALID_VALUE => (out(), at(linear(0, 64)), at(point()), null());
            "freed memory" [undefined]: INVALID_VALUE => (out(), at(linear(w.freed, 64)), at(point()), null());
            "beyond the memory" [undefined]: INVALID_VALUE => (out(), at(linear(w.memory, BYTES + 1)), at(point()), null());
            "rows beyond the memory" [undefined]: INVALID_VALUE => (
                out(), at(pitched(w.memory, BYTES / 64 + 1, 64)), at(point()), null(),
            );
            "more rows than the device has": INVALID_VALUE => (
                out(), at(pitched(w.memory, 1 << 20, 64)), at(point()), null(),
            );
            "an odd format": INVALID_VALUE => (
                out(), changed(linear(w.memory, 64), |r| r.res.linear.format = CUarray_format_enum(ODD)), at(point()), null(),
            );
            "three components": INVALID_VALUE => (
                out(), changed(linear(w.memory, 64), |r| r.res.linear.numChannels = 3), at(point()), null(),
            );
            "an odd addressing": INVALID_VALUE => (
                out(), at(resource_of(w.array)), changed(point(), |t| t.addressMode[0] = CUaddress_mode_enum(ODD)), null(),
            );
            "an odd filter": INVALID_VALUE => (
                out(), at(resource_of(w.array)), changed(point(), |t| t.filterMode = CUfilter_mode_enum(ODD)), null(),
            );
            "odd flags": INVALID_VALUE => (out(), at(resource_of(w.array)), changed(point(), |t| t.flags = ODD), null());
            "a view of linear memory" [gpu(OK)]: INVALID_VALUE => (out(), at(linear(w.memory, 64)), at(point()), at(view()));
            "a view of another width": INVALID_VALUE => (
                out(), at(resource_of(w.array)), at(point()), changed(view(), |v| v.width = 8),
            );
            "a view of texels of another size": INVALID_VALUE => (
                out(), at(resource_of(w.array)), at(point()),
                changed(view(), |v| v.format = CUresourceViewFormat::CU_RES_VIEW_FORMAT_FLOAT_1X32),
            );
            "a view of an odd format": INVALID_VALUE => (
                out(), at(resource_of(w.array)), at(point()), changed(view(), |v| v.format = CUresourceViewFormat_enum(ODD)),
            );
            "a view beyond the levels": INVALID_VALUE => (
                out(), at(resource_of(w.array)), at(point()), changed(view(), |v| v.lastMipmapLevel = 1),
            );
            "a view beyond the layers": INVALID_VALUE => (
                out(), at(resource_of(w.array)), at(point()), changed(view(), |v| v.lastLayer = 1),
            );
            "no context" [bare]: INVALID_CONTEXT => (out(), at(resource_of(w.array)), at(point()), null());
        }
        cuTexObjectDestroy {
            "nothing": OK => (0);
            "twice" [undefined]: INVALID_VALUE => (w.destroyed_texture);
            "a surface" [undefined]: INVALID_VALUE => (w.surface);
            "no context" [bare]: INVALID_CONTEXT => (w.texture);
        }
        cuTexObjectGetResourceDesc {
            "null result": INVALID_VALUE => (null_mut(), w.texture);
            "nothing": INVALID_VALUE => (out(), 0);
            "a destroyed texture" [undefined]: INVALID_VALUE => (out(), w.destroyed_texture);
            "no context" [bare]: INVALID_CONTEXT => (out(), w.texture);
        }
        cuTexObjectGetTextureDesc {
            "null result": INVALID_VALUE => (null_mut(), w.texture);
            "nothing": INVALID_VALUE => (out(), 0);
            "a destroyed texture" [undefined]: INVALID_VALUE => (out(), w.destroyed_texture);
            "no context" [bare]: INVALID_CONTEXT => (out(), w.texture);
        }
        cuTexObjectGetResourceViewDesc {
            "nothing": INVALID_VALUE => (out(), 0);
            "a destroyed texture" [undefined]: INVALID_VALUE => (out(), w.destroyed_texture);
            "no context" [bare]: INVALID_CONTEXT => (out(), w.texture);
        }
        cuSurfObjectCreate {
            "null result" [not_on_gpu(ENDS_PROCESS)]: INVALID_VALUE => (null_mut(), at(resource_of(w.box_array)));
            "null resource": INVALID_VALUE => (out(), null());
            "an odd type": INVALID_VALUE => (
                out(), changed(resource_of(w.box_array), |r| r.resType = CUresourcetype_enum(ODD)),
            );
            "odd flags": INVALID_VALUE => (out(), changed(resource_of(w.box_array), |r| r.flags = ODD));
            "an array that is not for surfaces" [gpu(OK)]: INVALID_VALUE => (out(), at(resource_of(w.array)));
            "linear memory" [undefined]: INVALID_VALUE => (out(), at(linear(w.memory, 64)));
            "a null array" [undefined]: INVALID_VALUE => (out(), at(resource_of(null_mut())));
            "a destroyed array" [undefined]: INVALID_VALUE => (out(), at(resource_of(w.destroyed_array)));
            "no context" [bare]: INVALID_CONTEXT => (out(), at(resource_of(w.box_array)));
        }
        cuSurfObjectDestroy {
            "nothing": OK => (0);
            "twice" [undefined]: INVALID_VALUE => (w.destroyed_surface);
            "a texture" [undefined]: INVALID_VALUE => (w.texture);
            "no context" [bare]: INVALID_CONTEXT => (w.surface);
        }
        cuSurfObjectGetResourceDesc {
            "null result": INVALID_VALUE => (null_mut(), w.surface);
            "nothing": INVALID_VALUE => (out(), 0);
            "a destroyed surface" [undefined]: INVALID_VALUE => (out(), w.destroyed_surface);
            "no context" [bare]: INVALID_CONTEXT => (out(), w.surface);
        }
    }
}
