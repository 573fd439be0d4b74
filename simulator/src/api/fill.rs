//! Fills with values of 1, 2 and 4 bytes.

use super::entry::*;
use crate::graph;
use crate::memory::Fill;
use crate::streams::{self, Operation};

macro_rules! fills {
    ($($plain:ident, $asynchronous:ident, $flat:ident, $flat_asynchronous:ident: $value:ty, $element:literal;)*) => {
        driver_calls! {
            $(
                Ready fn $flat(dstDevice: CUdeviceptr, value: $value, N: usize) {
                    fill(core::ptr::null_mut(), dstDevice, 0, value as u32, $element, N, 1)?;
                }

                Ready fn $flat_asynchronous(dstDevice: CUdeviceptr, value: $value, N: usize, hStream: CUstream) {
                    fill(hStream, dstDevice, 0, value as u32, $element, N, 1)?;
                }

                Ready fn $plain(dstDevice: CUdeviceptr, dstPitch: usize, value: $value, Width: usize, Height: usize) {
                    fill(core::ptr::null_mut(), dstDevice, dstPitch, value as u32, $element, Width, Height)?;
                }

                Ready fn $asynchronous(
                    dstDevice: CUdeviceptr, dstPitch: usize, value: $value, Width: usize, Height: usize, hStream: CUstream,
                ) {
                    fill(hStream, dstDevice, dstPitch, value as u32, $element, Width, Height)?;
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

fn fill(
    stream: CUstream,
    address: CUdeviceptr,
    pitch: usize,
    value: u32,
    element: usize,
    width: usize,
    height: usize,
) -> Result {
    let stream = streams::find(stream)?;
    let fill = Fill {
        address: address as usize,
        pitch,
        value,
        element,
        width,
        height,
    }
    .check()?;
    graph::perform(&stream, Operation::Fill(fill))?;
    Ok(())
}
