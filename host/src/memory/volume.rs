//! Device memory seen as a volume, for kernels with `VolumeOut` parameters.

use bytemuck::Pod;

use super::slice::DeviceSliceMut;
use crate::error::{Code, Error, Result};

/// Device memory as a volume to write: `depth` layers of `rows` rows of `columns` elements, without gaps.
///
/// ```
/// use warpsmith_host::prelude::*;
///
/// # fn main() -> Result<()> {
/// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
/// let mut buffer = gpu.stream()?.zeroed::<f32>(24)?;
/// assert_eq!(buffer.volume_mut(2, 3, 4)?.extents(), (2, 3, 4));
/// assert!(buffer.volume_mut(3, 3, 4).is_err());
/// # Ok(())
/// # }
/// ```
pub struct VolumeMut<'a, T: Pod> {
    pub(crate) elements: DeviceSliceMut<'a, T>,
    /// Depth, rows, columns.
    pub(crate) extents: [u32; 3],
}

impl<'a, T: Pod> DeviceSliceMut<'a, T> {
    /// The part as `depth` layers of `rows` rows of `columns` elements to write.
    ///
    /// # Errors
    /// [`Error::Invalid`] if an extent does not fit in 32 bits, or the part has fewer elements.
    pub fn volume_mut(self, depth: usize, rows: usize, columns: usize) -> Result<VolumeMut<'a, T>> {
        Ok(VolumeMut {
            extents: extents(self.len(), [depth, rows, columns])?,
            elements: self,
        })
    }
}

impl<T: Pod> VolumeMut<'_, T> {
    /// Depth, rows and columns.
    pub fn extents(&self) -> (usize, usize, usize) {
        let [depth, rows, columns] = self.extents.map(|extent| extent as usize);
        (depth, rows, columns)
    }
}

fn extents(len: usize, extents: [usize; 3]) -> Result<[u32; 3]> {
    let [depth, rows, columns] = extents;
    let invalid = |message: String, hint: &str| {
        Err(Error::misuse("volume", Code::INVALID_VALUE, message, hint))
    };
    let (Ok(d), Ok(r), Ok(c)) = (
        u32::try_from(depth),
        u32::try_from(rows),
        u32::try_from(columns),
    ) else {
        return invalid(
            format!("{depth} x {rows} x {columns} does not fit in 32 bits"),
            "kernels index volumes with 32 bits",
        );
    };
    let needed = u128::from(d) * u128::from(r) * u128::from(c);
    if needed > len as u128 {
        return invalid(
            format!("{depth} x {rows} x {columns} needs {needed} elements, the memory has {len}"),
            "use a larger buffer or a smaller volume",
        );
    }
    Ok([d, r, c])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extents_are_checked() {
        assert_eq!(extents(24, [2, 3, 4]).expect("it fits"), [2, 3, 4]);
        assert!(extents(23, [2, 3, 4]).is_err());
        assert!(extents(0, [0, 3, 4]).is_ok());
        assert!(extents(usize::MAX, [1 << 33, 1, 1]).is_err());
        let most = u32::MAX as usize;
        assert!(extents(usize::MAX, [most, most, most]).is_err());
    }
}
