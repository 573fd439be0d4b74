//! Parts of memory as elements of another type.

use bytemuck::Pod;

use super::host_memory::HostView;
use super::pinned_slice::{PinnedSlice, PinnedSliceMut};
use super::slice::{DeviceSlice, DeviceSliceMut};
use super::view::RawView;
use crate::error::{Code, Error, Refused, Result};

/// The elements of `U` that the bytes of `len` elements of `T`, from `address` on, are.
///
/// # Errors
///
/// The bytes are no whole number of `U`, or do not begin where one may.
fn elements<T: Pod, U: Pod>(call: &'static str, address: u64, len: usize) -> Result<usize> {
    let (from, to) = (std::any::type_name::<T>(), std::any::type_name::<U>());
    let bytes = len * size_of::<T>();
    if !address.is_multiple_of(align_of::<U>() as u64) {
        return Err(Error::misuse(
            call,
            Code::INVALID_VALUE,
            format!(
                "the elements of `{from}` begin at {address:#x}, which is not aligned to the {} bytes of `{to}`",
                align_of::<U>()
            ),
            "begin the part at another element: what the driver allocates begins at a multiple of 256 bytes",
        ));
    }
    if size_of::<T>() == size_of::<U>() {
        return Ok(len);
    }
    match bytes.checked_rem(size_of::<U>()).unwrap_or(bytes) {
        0 => Ok(bytes.checked_div(size_of::<U>()).unwrap_or(0)),
        _ => Err(Error::misuse(
            call,
            Code::INVALID_VALUE,
            format!(
                "the {bytes} bytes of {len} elements of `{from}` are no whole number of `{to}`, which has {}",
                size_of::<U>()
            ),
            "end the part at another element",
        )),
    }
}

fn cast_view<'a, T: Pod, U: Pod>(call: &'static str, view: RawView<'a>) -> Result<RawView<'a>> {
    let len = elements::<T, U>(call, view.address, view.len)?;
    Ok(RawView { len, ..view })
}

/// The host's address is the one that the host reads elements at; copies take bytes.
fn cast_host_view<'a, T: Pod, U: Pod>(
    call: &'static str,
    memory: HostView<'a>,
) -> Result<HostView<'a>> {
    let len = elements::<T, U>(call, memory.host.addr() as u64, memory.view.len)?;
    let view = RawView { len, ..memory.view };
    Ok(HostView { view, ..memory })
}

macro_rules! cast {
    ($read:ident, $write:ident, $memory:ident, $cast:ident, $of:literal) => {
        impl<'a, T: Pod> $read<'a, T> {
            /// The same bytes as elements of `U`. Both are plain values, of which all bytes are valid; a part of another type is one of as many bytes.
            ///
            /// ```
            /// # use warpsmith_host::prelude::*;
            /// # fn main() -> Result<()> {
            /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
            /// # let stream = gpu.stream()?;
            #[doc = $of]
            /// assert_eq!(words.slice(..).cast::<[u16; 2]>()?.len(), 3);
            /// let bytes = words.slice(..).cast::<u8>()?;
            /// // Three bytes are no whole number of `u16`, and a `u16` does not begin at an odd address.
            /// assert!(bytes.slice(..3).cast::<u16>().is_err());
            /// assert!(bytes.slice(1..3).cast::<u16>().is_err());
            /// # Ok(())
            /// # }
            /// ```
            ///
            /// # Errors
            ///
            /// The bytes are no whole number of elements, or do not begin at a multiple of their alignment: what `bytemuck::try_cast_slice` refuses.
            pub fn cast<U: Pod>(&self) -> Result<$read<'a, U>> {
                const CALL: &str = concat!(stringify!($read), "::cast");
                Ok($read::of_view($cast::<T, U>(CALL, self.$memory())?))
            }
        }

        impl<'a, T: Pod> $write<'a, T> {
            #[doc = concat!("The same bytes as elements of `U`, for writing: see [`", stringify!($read), "::cast`].")]
            ///
            /// # Errors
            ///
            /// The bytes are no whole number of elements, or do not begin at a multiple of their alignment; the part is given back.
            pub fn cast_mut<U: Pod>(self) -> Result<$write<'a, U>, Refused<Self>> {
                const CALL: &str = concat!(stringify!($write), "::cast_mut");
                match $cast::<T, U>(CALL, self.$memory()) {
                    Ok(memory) => Ok($write::of_view(memory)),
                    Err(error) => Err(Refused::new(error, self)),
                }
            }
        }
    };
}

cast!(
    DeviceSlice,
    DeviceSliceMut,
    view,
    cast_view,
    "let words = stream.upload(&[1_u32, 2, 3])?;"
);
cast!(
    PinnedSlice,
    PinnedSliceMut,
    memory,
    cast_host_view,
    "let words = gpu.pinned_from(&[1_u32, 2, 3])?;"
);
