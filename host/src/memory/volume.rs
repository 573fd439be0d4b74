//! Device memory seen as a volume, for kernels with `VolumeOut` parameters.

use bytemuck::Pod;

use super::slice::DeviceSliceMut;
use crate::error::{Code, Error, Result};

/// Device memory as a volume to write: `depth` layers of `rows` rows of `columns` elements, `stride` elements from row to row, also from a
/// layer's last row to the next layer's first. Of a [`PitchedVolume`](crate::PitchedVolume) that is
/// [`volume_mut`](crate::PitchedVolume::volume_mut).
///
/// ```
/// use warpsmith_host::prelude::*;
///
/// # fn main() -> Result<()> {
/// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
/// let mut buffer = gpu.stream()?.zeroed::<f32>(24)?;
/// assert_eq!(buffer.volume_mut(2, 3, 4)?.extents(), (2, 3, 4));
/// assert_eq!(buffer.volume_mut_with_stride(2, 2, 3, 7)?.stride(), 7);
/// assert!(buffer.volume_mut(3, 3, 4).is_err());
/// # Ok(())
/// # }
/// ```
pub struct VolumeMut<'a, T: Pod> {
    pub(crate) elements: DeviceSliceMut<'a, T>,
    pub(crate) shape: VolumeShape,
}

/// How large a volume is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct VolumeShape {
    pub(crate) depth: u32,
    pub(crate) rows: u32,
    pub(crate) columns: u32,
    /// Elements from row to row.
    pub(crate) stride: u32,
}

impl<'a, T: Pod> DeviceSliceMut<'a, T> {
    /// The part as `depth` layers of `rows` rows of `columns` elements to write.
    ///
    /// # Errors
    /// [`Error::Invalid`] if an extent does not fit in 32 bits, or the part has fewer elements.
    pub fn volume_mut(self, depth: usize, rows: usize, columns: usize) -> Result<VolumeMut<'a, T>> {
        self.into_volume(
            "DeviceSliceMut::volume_mut",
            [depth, rows, columns],
            columns,
        )
    }

    /// As [`volume_mut`](Self::volume_mut), with `stride` elements from row to row.
    ///
    /// # Errors
    /// As for [`volume_mut`](Self::volume_mut), or the stride is less than a row.
    pub fn volume_mut_with_stride(
        self,
        depth: usize,
        rows: usize,
        columns: usize,
        stride: usize,
    ) -> Result<VolumeMut<'a, T>> {
        self.into_volume(
            "DeviceSliceMut::volume_mut_with_stride",
            [depth, rows, columns],
            stride,
        )
    }

    /// `call` is what errors name.
    pub(super) fn into_volume(
        self,
        call: &'static str,
        extents: [usize; 3],
        stride: usize,
    ) -> Result<VolumeMut<'a, T>> {
        Ok(VolumeMut {
            shape: VolumeShape::new(call, self.len(), extents, stride)?,
            elements: self,
        })
    }
}

impl<T: Pod> VolumeMut<'_, T> {
    /// Depth, rows and columns.
    pub fn extents(&self) -> (usize, usize, usize) {
        let shape = self.shape;
        let [depth, rows, columns] =
            [shape.depth, shape.rows, shape.columns].map(|extent| extent as usize);
        (depth, rows, columns)
    }

    /// Elements from row to row.
    pub fn stride(&self) -> usize {
        self.shape.stride as usize
    }
}

impl VolumeShape {
    /// That of a volume in so many elements, which `call` makes.
    pub(super) fn new(
        call: &'static str,
        len: usize,
        extents: [usize; 3],
        stride: usize,
    ) -> Result<VolumeShape> {
        let [depth, rows, columns] = extents;
        let what = format_args!("{depth} x {rows} x {columns} with stride {stride}");
        let invalid = |message: String, hint: &str| {
            Err(Error::misuse(call, Code::INVALID_VALUE, message, hint))
        };
        let [Ok(d), Ok(r), Ok(c), Ok(s)] = [depth, rows, columns, stride].map(u32::try_from) else {
            return invalid(
                format!("{what} does not fit in 32 bits"),
                "kernels index volumes with 32 bits: have several smaller ones",
            );
        };
        if stride < columns {
            return invalid(
                format!("a stride of {stride} is less than {columns} columns"),
                "the stride counts elements, not bytes, and is at least the number of columns",
            );
        }
        let needed = match u128::from(d) * u128::from(r) {
            0 => 0,
            rows => (rows - 1) * u128::from(s) + u128::from(c),
        };
        if needed > len as u128 {
            return invalid(
                format!("{what} needs {needed} elements, the memory has {len}"),
                "use a larger buffer or a smaller volume",
            );
        }
        Ok(VolumeShape {
            depth: d,
            rows: r,
            columns: c,
            stride: s,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extents_are_checked() {
        let fits = |len, extents, stride: usize| {
            VolumeShape::new("volume_mut", len, extents, stride).is_ok()
        };
        assert!(fits(24, [2, 3, 4], 4));
        assert!(!fits(23, [2, 3, 4], 4));
        // The last row needs no padding.
        assert!(fits(5 * 10 + 4, [2, 3, 4], 10));
        assert!(!fits(5 * 10 + 3, [2, 3, 4], 10));
        assert!(!fits(24, [2, 3, 4], 3), "rows overlap");
        assert!(fits(0, [0, 3, 4], 4));
        assert!(fits(0, [3, 0, 4], 4));
        assert!(fits(0, [1, 1, 0], 0));
        // Rows that begin outside of the memory are none, though they have no columns.
        assert!(!fits(11, [2, 2, 0], 4));
        assert!(!fits(usize::MAX, [1 << 33, 1, 1], 1));
        assert!(!fits(usize::MAX, [1, 1, 1], 1 << 33));
        let most = u32::MAX as usize;
        assert!(!fits(usize::MAX, [most, most, most], most));
    }
}
