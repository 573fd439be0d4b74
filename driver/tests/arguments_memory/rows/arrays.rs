//! CUDA arrays, plain, mipmapped and sparse.

use crate::common::*;
use crate::row::*;
use crate::world::{NO_DEVICE, ODD, U8, array_description, changed};

fn flat_description() -> CUDA_ARRAY_DESCRIPTOR {
    CUDA_ARRAY_DESCRIPTOR {
        Width: 16,
        Height: 4,
        Format: U8,
        NumChannels: 1,
    }
}

pub fn rows() -> Vec<Row> {
    rows! { |w|
        cuArrayCreate_v2 {
            "null result": INVALID_VALUE => (null_mut(), at(flat_description()));
            "null description": INVALID_VALUE => (out(), null());
            "no width": INVALID_VALUE => (out(), changed(flat_description(), |d| d.Width = 0));
            "three components": INVALID_VALUE => (out(), changed(flat_description(), |d| d.NumChannels = 3));
            "no components": INVALID_VALUE => (out(), changed(flat_description(), |d| d.NumChannels = 0));
            "no format": INVALID_VALUE => (out(), changed(flat_description(), |d| d.Format = CUarray_format_enum(0)));
            "an odd format": INVALID_VALUE => (out(), changed(flat_description(), |d| d.Format = CUarray_format_enum(ODD)));
            "wider than the device has": INVALID_VALUE => (out(), changed(flat_description(), |d| d.Width = 1 << 20));
            "a width that overflows": INVALID_VALUE => (out(), changed(flat_description(), |d| d.Width = usize::MAX));
            "higher than the device has": INVALID_VALUE => (out(), changed(flat_description(), |d| d.Height = 1 << 20));
            "no context" [bare]: INVALID_CONTEXT => (out(), at(flat_description()));
        }
        cuArray3DCreate_v2 {
            "null result": INVALID_VALUE => (null_mut(), at(array_description([8, 4, 2], 0)));
            "null description": INVALID_VALUE => (out(), null());
            "no width": INVALID_VALUE => (out(), at(array_description([0, 4, 2], 0)));
            "a depth without a height": INVALID_VALUE => (out(), at(array_description([8, 0, 2], 0)));
            "deeper than the device has": INVALID_VALUE => (out(), at(array_description([8, 4, 1 << 20], 0)));
            "more layers than the device has": INVALID_VALUE => (out(), at(array_description([8, 4, 4096], CUDA_ARRAY3D_LAYERED)));
            "no layers": INVALID_VALUE => (out(), at(array_description([8, 4, 0], CUDA_ARRAY3D_LAYERED)));
            "a cube of five faces": INVALID_VALUE => (out(), at(array_description([8, 8, 5], CUDA_ARRAY3D_CUBEMAP)));
            "a cube of oblongs": INVALID_VALUE => (out(), at(array_description([8, 4, 6], CUDA_ARRAY3D_CUBEMAP)));
            "a deep array to gather from": INVALID_VALUE => (out(), at(array_description([8, 4, 2], CUDA_ARRAY3D_TEXTURE_GATHER)));
            "odd flags": INVALID_VALUE => (out(), at(array_description([8, 4, 2], ODD)));
            "no context" [bare]: INVALID_CONTEXT => (out(), at(array_description([8, 4, 2], 0)));
        }
        cuArrayGetDescriptor_v2 {
            "null result": INVALID_VALUE => (null_mut(), w.array);
            "a null array": INVALID_HANDLE => (out(), null_mut());
            "a destroyed array" [undefined]: INVALID_HANDLE => (out(), w.destroyed_array);
            "an array of a destroyed context" [undefined]: INVALID_HANDLE => (out(), w.orphaned_array);
            "a mipmapped array" [undefined]: INVALID_HANDLE => (out(), w.mipmapped.cast());
            "no context" [bare, gpu(OK)]: INVALID_CONTEXT => (out(), w.array);
        }
        cuArray3DGetDescriptor_v2 {
            "null result": INVALID_VALUE => (null_mut(), w.array);
            "a null array": INVALID_HANDLE => (out(), null_mut());
            "a destroyed array" [undefined]: INVALID_HANDLE => (out(), w.destroyed_array);
            "an array of a destroyed context" [undefined]: INVALID_HANDLE => (out(), w.orphaned_array);
            "another kind of handle" [undefined]: INVALID_HANDLE => (out(), w.pool.cast());
            "no context" [bare, gpu(OK)]: INVALID_CONTEXT => (out(), w.array);
        }
        cuArrayDestroy {
            "null": INVALID_HANDLE => (null_mut());
            "twice" [undefined]: INVALID_HANDLE => (w.destroyed_array);
            "an array of a destroyed context" [undefined]: INVALID_HANDLE => (w.orphaned_array);
            "a mipmapped array" [undefined]: INVALID_HANDLE => (w.mipmapped.cast());
            "another kind of handle" [undefined]: INVALID_HANDLE => (w.stream.cast());
            "no context" [bare, gpu(OK)]: INVALID_CONTEXT => (w.array);
        }
        cuArrayGetPlane {
            "an array of one plane" [gpu(INVALID_VALUE)]: NOT_SUPPORTED => (out(), w.array, 0);
            "null result" [gpu(INVALID_VALUE)]: NOT_SUPPORTED => (null_mut(), w.array, 0);
        }
        cuArrayGetSparseProperties {
            "null result": INVALID_VALUE => (null_mut(), w.array);
            "a null array": INVALID_VALUE => (out(), null_mut());
            "an array that is not sparse": INVALID_VALUE => (out(), w.array);
            "a destroyed array" [undefined]: INVALID_HANDLE => (out(), w.destroyed_array);
            "no context" [bare]: INVALID_VALUE => (out(), w.array);
        }
        cuArrayGetMemoryRequirements {
            "null result": INVALID_VALUE => (null_mut(), w.array, 0);
            "a null array": INVALID_VALUE => (out(), null_mut(), 0);
            "an array whose memory is not mapped later": INVALID_VALUE => (out(), w.array, 0);
            "no such device": INVALID_VALUE => (out(), w.array, NO_DEVICE);
            "a destroyed array" [undefined]: INVALID_HANDLE => (out(), w.destroyed_array, 0);
            "no context" [bare]: INVALID_VALUE => (out(), w.array, 0);
        }
        cuMipmappedArrayCreate {
            "null result": INVALID_VALUE => (null_mut(), at(array_description([4, 4, 0], 0)), 1);
            "null description": INVALID_VALUE => (out(), null(), 1);
            "no width": INVALID_VALUE => (out(), at(array_description([0, 4, 0], 0)), 1);
            "odd flags": INVALID_VALUE => (out(), at(array_description([4, 4, 0], ODD)), 1);
            "wider than the device has": INVALID_VALUE => (out(), at(array_description([1 << 20, 4, 0], 0)), 1);
            "no context" [bare]: INVALID_CONTEXT => (out(), at(array_description([4, 4, 0], 0)), 1);
        }
        cuMipmappedArrayGetLevel {
            "null result": INVALID_VALUE => (null_mut(), w.mipmapped, 0);
            "a null array": INVALID_HANDLE => (out(), null_mut(), 0);
            "behind the last level": INVALID_VALUE => (out(), w.mipmapped, 3);
            "the last number": INVALID_VALUE => (out(), w.mipmapped, u32::MAX);
            "a destroyed array" [undefined]: INVALID_HANDLE => (out(), w.destroyed_mipmapped, 0);
            "an array that is not mipmapped" [undefined]: INVALID_HANDLE => (out(), w.array.cast(), 0);
            "no context" [bare, gpu(OK)]: INVALID_CONTEXT => (out(), w.mipmapped, 0);
        }
        cuMipmappedArrayDestroy {
            "null": INVALID_HANDLE => (null_mut());
            "twice" [undefined]: INVALID_HANDLE => (w.destroyed_mipmapped);
            "an array that is not mipmapped" [undefined]: INVALID_HANDLE => (w.array.cast());
            "no context" [bare, gpu(OK)]: INVALID_CONTEXT => (w.mipmapped);
        }
        cuMipmappedArrayGetSparseProperties {
            "null result": INVALID_VALUE => (null_mut(), w.mipmapped);
            "a null array": INVALID_VALUE => (out(), null_mut());
            "an array that is not sparse": INVALID_VALUE => (out(), w.mipmapped);
            "a destroyed array" [undefined]: INVALID_HANDLE => (out(), w.destroyed_mipmapped);
            "no context" [bare]: INVALID_VALUE => (out(), w.mipmapped);
        }
        cuMemMapArrayAsync {
            "null" [gpu(INVALID_VALUE)]: NOT_SUPPORTED => (null_mut(), 1, w.stream);
            "nothing to map" [gpu(INVALID_VALUE)]: NOT_SUPPORTED => (out(), 0, w.stream);
        }
        cuDeviceGetTexture1DLinearMaxWidth {
            "null result" [gpu(INVALID_VALUE)]: NOT_SUPPORTED => (null_mut(), U8, 1, 0);
            "no such device" [gpu(INVALID_DEVICE)]: NOT_SUPPORTED => (out(), U8, 1, NO_DEVICE);
            "an odd format" [gpu(INVALID_VALUE)]: NOT_SUPPORTED => (out(), CUarray_format_enum(ODD), 1, 0);
            "three components" [gpu(INVALID_VALUE)]: NOT_SUPPORTED => (out(), U8, 3, 0);
        }
    }
}
