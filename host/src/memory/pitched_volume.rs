//! Volumes in device memory whose rows are padded.

use bytemuck::Pod;

use super::matrix::{Matrix, MatrixMut};
use super::pitched::PitchedBuffer;
use super::view::DevicePointer;
use super::volume::{VolumeMut, VolumeShape};
use crate::error::{Code, Error, Result};
use crate::stream::Stream;

/// A volume in device memory: layers of rows, each row padded as a [`PitchedBuffer`]'s (CUDA C++ Programming Guide, "Device Memory"). The
/// element at column `x` of row `y` of layer `z` is at `z * slice_pitch() + y * pitch() + x * size` bytes.
///
/// It is made in a stream ([`Stream::pitched_volume_zeroed`], [`Stream::pitched_volume_upload`]) and is used, ordered and freed as a
/// [`DeviceBuffer`](crate::DeviceBuffer) is. Kernels take it as their `VolumeOut` ([`volume_mut`](Self::volume_mut)); they and copies take a layer
/// ([`layer`](Self::layer), [`layer_mut`](Self::layer_mut)), or all of them as one matrix, the layers below each other
/// ([`matrix`](Self::matrix), [`matrix_mut`](Self::matrix_mut)).
///
/// ```
/// use warpsmith_host::prelude::*;
///
/// # fn main() -> Result<()> {
/// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
/// let stream = gpu.stream()?;
/// let texels: Vec<f32> = (0..24).map(|i| i as f32).collect();
/// let volume = stream.pitched_volume_upload(&texels, 2, 3, 4)?;
/// assert_eq!((volume.pitch(), volume.slice_pitch()), (512, 3 * 512));
/// assert_eq!(stream.download_matrix(&volume.layer(1))?, texels[12..]);
/// assert_eq!(stream.download_matrix(&volume.matrix())?, texels);
/// # Ok(())
/// # }
/// ```
// covers: MEM-05
pub struct PitchedVolume<T: Pod> {
    /// The rows of all layers.
    layers: PitchedBuffer<T>,
    depth: u32,
    rows: u32,
}

impl<T: Pod> PitchedVolume<T> {
    /// Layers.
    pub fn depth(&self) -> usize {
        self.depth as usize
    }

    /// Rows of a layer.
    pub fn rows(&self) -> usize {
        self.rows as usize
    }

    /// Elements of a row.
    pub fn columns(&self) -> usize {
        self.layers.columns()
    }

    /// Bytes from row to row.
    pub fn pitch(&self) -> usize {
        self.layers.pitch()
    }

    /// Bytes from layer to layer.
    pub fn slice_pitch(&self) -> usize {
        self.rows() * self.pitch()
    }

    /// A layer to read.
    ///
    /// # Panics
    ///
    /// There is no layer of this number.
    pub fn layer(&self, index: usize) -> Matrix<'_, T> {
        let rows = self.rows_of(index);
        self.layers.matrix().region(rows, 0..self.columns())
    }

    /// A layer to write.
    ///
    /// # Panics
    ///
    /// There is no layer of this number.
    pub fn layer_mut(&mut self, index: usize) -> MatrixMut<'_, T> {
        let rows = self.rows_of(index);
        self.layers.rows_mut(&rows)
    }

    /// All layers to read, below each other.
    pub fn matrix(&self) -> Matrix<'_, T> {
        self.layers.matrix()
    }

    /// All layers to write, below each other.
    pub fn matrix_mut(&mut self) -> MatrixMut<'_, T> {
        self.layers.matrix_mut()
    }

    /// The volume to write, for a kernel's `VolumeOut` parameter.
    ///
    /// ```
    /// use warpsmith_host::prelude::*;
    ///
    /// # fn main() -> Result<()> {
    /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
    /// let mut volume = gpu.stream()?.pitched_volume_zeroed::<f32>(2, 3, 4)?;
    /// let out = volume.volume_mut();
    /// assert_eq!((out.extents(), out.stride()), ((2, 3, 4), 128));
    /// # Ok(())
    /// # }
    /// ```
    pub fn volume_mut(&mut self) -> VolumeMut<'_, T> {
        let (depth, rows) = (self.depth, self.rows);
        let MatrixMut { elements, shape } = self.layers.matrix_mut();
        VolumeMut {
            elements,
            // As many rows as the matrix has, of which each layer has the same number.
            shape: VolumeShape {
                depth,
                rows,
                columns: shape.columns,
                stride: shape.stride,
            },
        }
    }

    /// The address of the first row, for unsafe kernels and foreign libraries; 0 where it is empty.
    pub fn as_device_ptr(&self) -> DevicePointer<T> {
        self.layers.as_device_ptr()
    }

    fn rows_of(&self, layer: usize) -> std::ops::Range<usize> {
        assert!(
            layer < self.depth(),
            "layer {layer} of a volume with {} layers",
            self.depth
        );
        layer * self.rows()..(layer + 1) * self.rows()
    }
}

impl<T: Pod> std::fmt::Debug for PitchedVolume<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "PitchedVolume<{}>[{} x {} x {}, pitch {}] at {:?}",
            std::any::type_name::<T>(),
            self.depth,
            self.rows,
            self.columns(),
            self.pitch(),
            self.as_device_ptr()
        )
    }
}

impl Stream {
    /// A volume of zeros with padded rows.
    ///
    /// # Errors
    ///
    /// The device has too little memory, or an extent or the rows of all layers do not fit in 32 bits.
    pub fn pitched_volume_zeroed<T: Pod>(
        &self,
        depth: usize,
        rows: usize,
        columns: usize,
    ) -> Result<PitchedVolume<T>> {
        const CALL: &str = "Stream::pitched_volume_zeroed";
        let (depth, rows, all_rows) = extents(CALL, depth, rows)?;
        Ok(PitchedVolume {
            layers: PitchedBuffer::new_zeroed(CALL, self, all_rows, columns)?,
            depth,
            rows,
        })
    }

    /// A volume with padded rows and a copy of `data`, which has `depth` layers of `rows` rows of `columns` elements without gaps. The data is
    /// read before this returns.
    ///
    /// # Errors
    ///
    /// The data has another length; or as [`pitched_volume_zeroed`](Self::pitched_volume_zeroed).
    pub fn pitched_volume_upload<T: Pod>(
        &self,
        data: &[T],
        depth: usize,
        rows: usize,
        columns: usize,
    ) -> Result<PitchedVolume<T>> {
        const CALL: &str = "Stream::pitched_volume_upload";
        let (depth, rows, all_rows) = extents(CALL, depth, rows)?;
        let mut layers = PitchedBuffer::new_zeroed(CALL, self, all_rows, columns)?;
        self.upload_matrix(data, &mut layers.matrix_mut())?;
        Ok(PitchedVolume {
            layers,
            depth,
            rows,
        })
    }
}

/// Layers, rows of each, and the rows of all.
fn extents(call: &'static str, depth: usize, rows: usize) -> Result<(u32, u32, usize)> {
    match (
        u32::try_from(depth),
        u32::try_from(rows),
        depth.checked_mul(rows),
    ) {
        (Ok(depth), Ok(rows), Some(all)) => Ok((depth, rows, all)),
        _ => Err(Error::misuse(
            call,
            Code::OUT_OF_MEMORY,
            format!("{depth} layers of {rows} rows do not fit in 32 bits"),
            "kernels index volumes with 32 bits; look at how the extents were computed",
        )),
    }
}
