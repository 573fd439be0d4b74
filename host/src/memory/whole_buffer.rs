//! What a whole buffer of memory that kernels reach gives: its parts, and itself as a matrix or a volume.

/// The parts of a buffer, which is the sole user of the memory that its `raw_view` names. `$eight` is Rust source that makes the `buffer`
/// of eight `u32` of the examples, in `stream` of `gpu`.
macro_rules! parts_on_device {
    ($name:ident, $eight:literal) => {
        $crate::memory::facts::facts!(
            $name,
            $eight,
            "buffer",
            this => $crate::memory::DeviceRead::raw_view(this)
        );

        impl<T: bytemuck::Pod> $name<T> {
            /// A part for reading.
            ///
            /// # Panics
            ///
            /// The range is out of bounds, as with slices.
            #[track_caller]
            pub fn slice(
                &self,
                range: impl std::ops::RangeBounds<usize>,
            ) -> $crate::memory::DeviceSlice<'_, T> {
                let view = $crate::memory::DeviceRead::raw_view(self);
                $crate::memory::DeviceSlice::of(view, range)
            }

            /// As [`slice`](Self::slice), for ranges that come from elsewhere.
            ///
            /// ```
            /// # use warpsmith_host::prelude::*;
            /// # fn main() -> Result<()> {
            /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
            /// # let stream = gpu.stream()?;
            #[doc = $eight]
            /// assert_eq!(buffer.try_slice(2..8)?.len(), 6);
            /// let error = buffer.try_slice(2..9).unwrap_err();
            /// assert_eq!(error.code(), Some(Code::INVALID_VALUE));
            /// # Ok(())
            /// # }
            /// ```
            ///
            /// # Errors
            ///
            /// The range is out of bounds.
            pub fn try_slice(
                &self,
                range: impl std::ops::RangeBounds<usize>,
            ) -> $crate::error::Result<$crate::memory::DeviceSlice<'_, T>> {
                self.slice(..).try_slice(range)
            }

            /// As [`slice_mut`](Self::slice_mut), for ranges that come from elsewhere.
            ///
            /// ```
            /// # use warpsmith_host::prelude::*;
            /// # fn main() -> Result<()> {
            /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
            /// # let stream = gpu.stream()?;
            #[doc = $eight]
            /// stream.fill(&mut buffer.try_slice_mut(2..8)?, 1)?;
            /// assert!(buffer.try_slice_mut(9..).is_err());
            /// # Ok(())
            /// # }
            /// ```
            ///
            /// # Errors
            ///
            /// The range is out of bounds.
            pub fn try_slice_mut(
                &mut self,
                range: impl std::ops::RangeBounds<usize>,
            ) -> $crate::error::Result<$crate::memory::DeviceSliceMut<'_, T>> {
                let view = $crate::memory::DeviceRead::raw_view(self);
                $crate::memory::DeviceSliceMut::try_of(view, range)
            }

            /// A part for writing. See [`DeviceSliceMut::split_at_mut`](crate::DeviceSliceMut::split_at_mut) for several at once.
            ///
            /// # Panics
            ///
            /// The range is out of bounds, as with slices.
            #[track_caller]
            pub fn slice_mut(
                &mut self,
                range: impl std::ops::RangeBounds<usize>,
            ) -> $crate::memory::DeviceSliceMut<'_, T> {
                let view = $crate::memory::DeviceRead::raw_view(self);
                $crate::memory::DeviceSliceMut::of(view, range)
            }

            /// The buffer as a matrix of `rows` rows of `columns` elements, for a kernel's `Matrix` parameter.
            ///
            /// # Errors
            ///
            /// The buffer is smaller than that, or an extent does not fit in 32 bits.
            pub fn matrix(
                &self,
                rows: usize,
                columns: usize,
            ) -> $crate::error::Result<$crate::memory::Matrix<'_, T>> {
                self.slice(..).as_matrix(
                    concat!(stringify!($name), "::matrix"),
                    (rows, columns),
                    columns,
                )
            }

            /// As [`matrix`](Self::matrix), with `stride` elements from row to row.
            ///
            /// ```
            /// # use warpsmith_host::prelude::*;
            /// # fn main() -> Result<()> {
            /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
            /// # let stream = gpu.stream()?;
            #[doc = $eight]
            /// // The last row needs no padding.
            /// let matrix = buffer.matrix_with_stride(2, 3, 5)?;
            /// assert_eq!((matrix.rows(), matrix.columns(), matrix.stride()), (2, 3, 5));
            /// assert!(buffer.matrix_with_stride(2, 3, 6).is_err());
            /// # Ok(())
            /// # }
            /// ```
            ///
            /// # Errors
            ///
            /// As for [`matrix`](Self::matrix), or the stride is less than `columns`.
            pub fn matrix_with_stride(
                &self,
                rows: usize,
                columns: usize,
                stride: usize,
            ) -> $crate::error::Result<$crate::memory::Matrix<'_, T>> {
                self.slice(..).as_matrix(
                    concat!(stringify!($name), "::matrix_with_stride"),
                    (rows, columns),
                    stride,
                )
            }

            /// The buffer as a matrix to write, for a kernel's `MatrixOut` parameter.
            ///
            /// # Errors
            ///
            /// As for [`matrix`](Self::matrix).
            pub fn matrix_mut(
                &mut self,
                rows: usize,
                columns: usize,
            ) -> $crate::error::Result<$crate::memory::MatrixMut<'_, T>> {
                self.slice_mut(..).into_matrix(
                    concat!(stringify!($name), "::matrix_mut"),
                    (rows, columns),
                    columns,
                )
            }

            /// As [`matrix_mut`](Self::matrix_mut), with `stride` elements from row to row.
            ///
            /// ```
            /// # use warpsmith_host::prelude::*;
            /// # fn main() -> Result<()> {
            /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
            /// # let stream = gpu.stream()?;
            #[doc = $eight]
            /// assert_eq!(buffer.matrix_mut_with_stride(2, 3, 5)?.stride(), 5);
            /// assert!(buffer.matrix_mut_with_stride(2, 3, 2).is_err());
            /// # Ok(())
            /// # }
            /// ```
            ///
            /// # Errors
            ///
            /// As for [`matrix_with_stride`](Self::matrix_with_stride).
            pub fn matrix_mut_with_stride(
                &mut self,
                rows: usize,
                columns: usize,
                stride: usize,
            ) -> $crate::error::Result<$crate::memory::MatrixMut<'_, T>> {
                self.slice_mut(..).into_matrix(
                    concat!(stringify!($name), "::matrix_mut_with_stride"),
                    (rows, columns),
                    stride,
                )
            }

            /// The buffer as `depth` layers of `rows` rows of `columns` elements to write, for a kernel's `VolumeOut` parameter.
            ///
            /// ```
            /// # use warpsmith_host::prelude::*;
            /// # fn main() -> Result<()> {
            /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
            /// # let stream = gpu.stream()?;
            #[doc = $eight]
            /// assert_eq!(buffer.volume_mut(2, 2, 2)?.extents(), (2, 2, 2));
            /// assert!(buffer.volume_mut(3, 2, 2).is_err());
            /// # Ok(())
            /// # }
            /// ```
            ///
            /// # Errors
            ///
            /// The buffer is smaller than that, or an extent does not fit in 32 bits.
            pub fn volume_mut(
                &mut self,
                depth: usize,
                rows: usize,
                columns: usize,
            ) -> $crate::error::Result<$crate::memory::VolumeMut<'_, T>> {
                self.slice_mut(..).into_volume(
                    concat!(stringify!($name), "::volume_mut"),
                    [depth, rows, columns],
                    columns,
                )
            }

            /// As [`volume_mut`](Self::volume_mut), with `stride` elements from row to row.
            ///
            /// ```
            /// # use warpsmith_host::prelude::*;
            /// # fn main() -> Result<()> {
            /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
            /// # let stream = gpu.stream()?;
            #[doc = $eight]
            /// assert_eq!(buffer.volume_mut_with_stride(2, 2, 1, 2)?.stride(), 2);
            /// assert!(buffer.volume_mut_with_stride(2, 2, 3, 2).is_err());
            /// # Ok(())
            /// # }
            /// ```
            ///
            /// # Errors
            ///
            /// As for [`volume_mut`](Self::volume_mut), or the stride is less than a row.
            pub fn volume_mut_with_stride(
                &mut self,
                depth: usize,
                rows: usize,
                columns: usize,
                stride: usize,
            ) -> $crate::error::Result<$crate::memory::VolumeMut<'_, T>> {
                self.slice_mut(..).into_volume(
                    concat!(stringify!($name), "::volume_mut_with_stride"),
                    [depth, rows, columns],
                    stride,
                )
            }

            /// The address on the device, for unsafe kernels and foreign libraries: the same as long as the buffer lives, and 0 where it has
            /// neither memory nor reserved addresses.
            pub fn as_device_ptr(&self) -> $crate::memory::DevicePointer<T> {
                let view = $crate::memory::DeviceRead::raw_view(self);
                $crate::memory::DevicePointer::from_address(view.address)
            }
        }
    };
}
pub(in crate::memory) use parts_on_device;

/// The methods and traits that kinds of buffers have in common. The type has the fields `allocation: Option<Arc<Allocation>>`, of which it
/// is the sole user, and `len: usize`, the elements at the allocation's start. `$eight` is that of `parts_on_device`.
macro_rules! whole_buffer {
    ($name:ident, $eight:literal) => {
        $crate::memory::whole_buffer::parts_on_device!($name, $eight);

        impl<T: bytemuck::Pod> $name<T> {
            /// Elements.
            pub fn len(&self) -> usize {
                self.len
            }

            /// Whether it has no elements.
            pub fn is_empty(&self) -> bool {
                self.len == 0
            }
        }

        impl<T: bytemuck::Pod> $crate::memory::view::sealed::Sealed for $name<T> {}

        impl<T: bytemuck::Pod> $crate::memory::DeviceRead for $name<T> {
            type Item = T;

            #[inline]
            fn raw_view(&self) -> $crate::memory::view::RawView<'_> {
                $crate::memory::view::RawView::whole::<T>(self.allocation.as_ref(), self.len)
            }
        }

        impl<T: bytemuck::Pod> $crate::memory::DeviceWrite for $name<T> {}
    };
}
pub(in crate::memory) use whole_buffer;
