//! Fills with values of 1, 2 and 4 bytes.
//!
//! Even those that are not called asynchronous do not wait for device memory; memory that the host reads is filled when they return.

use super::entry::*;
use crate::graph;
use crate::memory::{Fill, attachment};
use crate::streams::{self, Operation};

macro_rules! fills {
    ($($plain:ident, $asynchronous:ident, $flat:ident, $flat_asynchronous:ident: $value:ty, $element:literal;)*) => {
        driver_calls! {
            $(
                Ready fn $flat(dstDevice: CUdeviceptr, value: $value, N: usize) {
                    fill(None, dstDevice, 0, value as u32, $element, N, 1)?;
                }

                Ready fn $flat_asynchronous(dstDevice: CUdeviceptr, value: $value, N: usize, hStream: CUstream) {
                    fill(Some(hStream), dstDevice, 0, value as u32, $element, N, 1)?;
                }

                Ready fn $plain(dstDevice: CUdeviceptr, dstPitch: usize, value: $value, Width: usize, Height: usize) {
                    fill(None, dstDevice, dstPitch, value as u32, $element, Width, Height)?;
                }

                Ready fn $asynchronous(
                    dstDevice: CUdeviceptr, dstPitch: usize, value: $value, Width: usize, Height: usize, hStream: CUstream,
                ) {
                    fill(Some(hStream), dstDevice, dstPitch, value as u32, $element, Width, Height)?;
                }
            )*
        }
    };
}

fills! {
    cuMemsetD2D8_v2, cuMemsetD2D8Async, cuMemsetD8_v2, cuMemsetD8Async: c_uchar, 1;
    cuMemsetD2D16_v2, cuMemsetD2D16Async, cuMemsetD16_v2, cuMemsetD16Async: c_ushort, 2;
    cuMemsetD2D32_v2, cuMemsetD2D32Async, cuMemsetD32_v2, cuMemsetD32Async: c_uint, 4;
}

/// A fill on a stream; without one, on the default stream as the synchronous functions do it.
fn fill(
    stream: Option<CUstream>,
    address: CUdeviceptr,
    pitch: usize,
    value: u32,
    element: usize,
    width: usize,
    height: usize,
) -> Result {
    let waits = stream.is_none();
    let stream = streams::find(stream.unwrap_or(core::ptr::null_mut()))?;
    let fill = Fill {
        address: address as usize,
        pitch,
        value,
        element,
        width,
        height,
    };
    let waits = waits && fill.is_host_visible();
    let fill = fill.check()?;
    let device = stream.context()?.device;
    attachment::refuse_device("a memset", address as usize, device, stream.identity())?;
    fill.refuse_inaccessible(device)?;
    let done = graph::perform(&stream, Operation::Fill(fill))?;
    match done {
        Some(point) if waits => {
            point.wait();
            stream.context().map(drop)
        }
        _ => Ok(()),
    }
}
