//! Copies of rectangles, boxes and arrays in a batch, next to those of elements in a row.

use bytemuck::Pod;

use super::array::{Array, ArrayExtents, Region, Texel};
use super::box_copy::{BoxCopy, Side};
use super::copy_batch::CopyBatch;
use super::matrix::{Matrix, MatrixMut};
use super::pinned_slice::{PinnedRead, PinnedWrite};
use super::size::length_mismatch;
use super::view::{DeviceRead, DeviceWrite};
use super::{check_length, check_same_extents, check_same_shape};
use crate::error::Result;

const CALL: &str = "cuMemcpy3DBatchAsync";

impl<'a> CopyBatch<'a> {
    /// Adds a copy of a matrix to another one of as many rows and columns; the strides may differ.
    ///
    /// ```
    /// use warpsmith_host::prelude::*;
    /// use warpsmith_host::CopyBatch;
    ///
    /// # fn main() -> Result<()> {
    /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
    /// let stream = gpu.stream()?;
    /// let picture = stream.upload(&[1_u8, 2, 3, 4, 5, 6, 7, 8, 9])?;
    /// let picture = picture.matrix(3, 3)?;
    /// let (left, right) = (picture.region(0..2, 0..2), picture.region(0..2, 1..3));
    /// let (mut one, mut two) = (stream.zeroed::<u8>(4)?, stream.zeroed::<u8>(4)?);
    /// let (mut to_one, mut to_two) = (one.matrix_mut(2, 2)?, two.matrix_mut(2, 2)?);
    /// let mut batch = CopyBatch::new();
    /// batch.copy_matrix(&left, &mut to_one)?;
    /// batch.copy_matrix(&right, &mut to_two)?;
    /// stream.copy_batch(batch)?;
    /// assert_eq!(stream.download(&one)?, [1, 2, 4, 5]);
    /// assert_eq!(stream.download(&two)?, [2, 3, 5, 6]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The extents differ.
    pub fn copy_matrix<T: Pod>(
        &mut self,
        from: &'a Matrix<'_, T>,
        to: &'a mut MatrixMut<'_, T>,
    ) -> Result<()> {
        check_same_shape(CALL, from, to)?;
        let (source, target) = (from.elements.view(), to.elements.view());
        let (from_rows, to_rows) = (
            Side::rows_of(source.address, from.shape),
            Side::rows_of(target.address, to.shape),
        );
        self.add_box(
            source,
            target,
            BoxCopy::of_rows::<T>(from_rows, to_rows, to.shape),
        );
        Ok(())
    }

    /// Adds a copy from page-locked memory, which has the matrix's rows without gaps. Until it is done the memory cannot be had for writing.
    ///
    /// # Errors
    ///
    /// The lengths differ.
    pub fn copy_matrix_from_host<T: Pod>(
        &mut self,
        from: &'a (impl PinnedRead<Item = T> + ?Sized),
        to: &'a mut MatrixMut<'_, T>,
    ) -> Result<()> {
        let (source, target) = (from.pinned_view(), to.elements.view());
        check_length(source.view.len, to.shape)?;
        let packed = Side::Memory {
            address: source.host_address(),
            row: to.shape.columns as usize,
        };
        let rows = Side::rows_of(target.address, to.shape);
        self.add_box(
            source.view,
            target,
            BoxCopy::of_rows::<T>(packed, rows, to.shape),
        );
        Ok(())
    }

    /// Adds a copy of the matrix's rows, without gaps, to page-locked memory. Until it is done the memory is closed to the host.
    ///
    /// # Errors
    ///
    /// The lengths differ.
    pub fn copy_matrix_to_host<T: Pod>(
        &mut self,
        from: &'a Matrix<'_, T>,
        to: &'a mut (impl PinnedWrite<Item = T> + ?Sized),
    ) -> Result<()> {
        // The borrow is exclusive for as long as the batch.
        let to: &'a _ = to;
        let (source, target) = (from.elements.view(), to.pinned_view());
        check_length(target.view.len, from.shape)?;
        let rows = Side::rows_of(source.address, from.shape);
        let packed = Side::Memory {
            address: target.host_address(),
            row: from.shape.columns as usize,
        };
        self.add_box(
            source,
            target.view,
            BoxCopy::of_rows::<T>(rows, packed, from.shape),
        );
        Ok(())
    }

    /// Adds a copy of an array to another one of the same extents.
    ///
    /// # Errors
    ///
    /// The extents differ, or both are the same level of a mipmapped array.
    pub fn copy_array<T: Texel, D: ArrayExtents>(
        &mut self,
        from: &'a Array<T, D>,
        to: &'a mut Array<T, D>,
    ) -> Result<()> {
        check_same_extents(CALL, from, to)?;
        let to: &'a Array<T, D> = to;
        let region = Region::whole(from);
        let copy = BoxCopy::of_texels::<T>(Side::of(from, region), Side::of(to, region), region);
        self.add_box(from.view(), to.view(), copy);
        Ok(())
    }

    /// Adds a copy of device memory, which has the array's texels without gaps, to an array.
    ///
    /// ```
    /// use warpsmith_host::prelude::*;
    /// use warpsmith_host::{CopyBatch, Extent2};
    ///
    /// # fn main() -> Result<()> {
    /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
    /// let stream = gpu.stream()?;
    /// let (texels, row) = (stream.upload(&[1_u16, 2, 3, 4, 5, 6])?, stream.upload(&[8_u16, 9])?);
    /// let mut image = stream.array_zeroed(Extent2 { width: 3, height: 2 })?;
    /// let mut other = stream.array_zeroed(Extent2 { width: 2, height: 2 })?;
    /// let mut batch = CopyBatch::new();
    /// batch.copy_to_array(&texels, &mut image)?;
    /// let (second, size) = (Extent2 { width: 0, height: 1 }, Extent2 { width: 2, height: 1 });
    /// batch.copy_to_array_region(&row, &mut other, second, size)?;
    /// stream.copy_batch(batch)?;
    /// assert_eq!(stream.download_array(&image)?, [1, 2, 3, 4, 5, 6]);
    /// assert_eq!(stream.download_array(&other)?, [0, 0, 8, 9]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The lengths differ.
    pub fn copy_to_array<T: Texel, D: ArrayExtents, S: DeviceRead<Item = T> + ?Sized>(
        &mut self,
        from: &'a S,
        to: &'a mut Array<T, D>,
    ) -> Result<()> {
        let region = Region::whole(to);
        self.add_to_array(from, to, region)
    }

    /// Adds a copy of device memory, which has the texels without gaps, to the part of an array that begins `at` these places and has this
    /// `size`.
    ///
    /// # Errors
    ///
    /// The part has no texels or does not lie in the array, or the lengths differ.
    pub fn copy_to_array_region<T: Texel, D: ArrayExtents, S: DeviceRead<Item = T> + ?Sized>(
        &mut self,
        from: &'a S,
        to: &'a mut Array<T, D>,
        at: D,
        size: D,
    ) -> Result<()> {
        let region = Region::of(CALL, to, at, size)?;
        self.add_to_array(from, to, region)
    }

    /// The caller has borrowed the array exclusively.
    fn add_to_array<T: Texel, D: ArrayExtents, S: DeviceRead<Item = T> + ?Sized>(
        &mut self,
        from: &'a S,
        to: &'a Array<T, D>,
        region: Region,
    ) -> Result<()> {
        let source = from.raw_view();
        if source.len != region.texels {
            return Err(length_mismatch(CALL, source.len, region.texels));
        }
        let packed = Side::Memory {
            address: source.address,
            row: region.size[0],
        };
        let copy = BoxCopy::of_texels::<T>(packed, Side::of(to, region), region);
        self.add_box(source, to.view(), copy);
        Ok(())
    }

    /// Adds a copy of an array to device memory, where its texels lie without gaps.
    ///
    /// # Errors
    ///
    /// The lengths differ.
    pub fn copy_from_array<T: Texel, D: ArrayExtents, W: DeviceWrite<Item = T> + ?Sized>(
        &mut self,
        from: &'a Array<T, D>,
        to: &'a mut W,
    ) -> Result<()> {
        self.add_from_array(from, Region::whole(from), to)
    }

    /// Adds a copy of the part of an array that begins `at` these places and has this `size` to device memory, where its texels lie without
    /// gaps.
    ///
    /// # Errors
    ///
    /// The part has no texels or does not lie in the array, or the lengths differ.
    pub fn copy_from_array_region<T: Texel, D: ArrayExtents, W: DeviceWrite<Item = T> + ?Sized>(
        &mut self,
        from: &'a Array<T, D>,
        at: D,
        size: D,
        to: &'a mut W,
    ) -> Result<()> {
        self.add_from_array(from, Region::of(CALL, from, at, size)?, to)
    }

    fn add_from_array<T: Texel, D: ArrayExtents, W: DeviceWrite<Item = T> + ?Sized>(
        &mut self,
        from: &'a Array<T, D>,
        region: Region,
        to: &'a mut W,
    ) -> Result<()> {
        let to: &'a W = to;
        let target = to.raw_view();
        if target.len != region.texels {
            return Err(length_mismatch(CALL, region.texels, target.len));
        }
        let packed = Side::Memory {
            address: target.address,
            row: region.size[0],
        };
        let copy = BoxCopy::of_texels::<T>(Side::of(from, region), packed, region);
        self.add_box(from.view(), target, copy);
        Ok(())
    }
}
