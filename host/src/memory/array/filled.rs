//! New arrays, of given texels or of zeros.

use super::extents::ArrayExtents;
use super::texel::Texel;
use super::{Array, block};
use crate::error::{Code, Error, Result};
use crate::stream::Stream;

impl Stream {
    /// An array with a copy of `data`, which has its texels without gaps: x runs fastest, then y, then depth or layer. Waits until the data
    /// has been read.
    ///
    /// # Errors
    ///
    /// The data has another length, an extent is 0 or more than the device's, the device has too little memory, or the stream is being
    /// captured.
    // covers: SURF-01, SURF-02
    pub fn array<T: Texel, D: ArrayExtents>(&self, data: &[T], extents: D) -> Result<Array<T, D>> {
        self.filled_array(data, extents, false)
    }

    fn filled_array<T: Texel, D: ArrayExtents>(
        &self,
        data: &[T],
        extents: D,
        for_surfaces: bool,
    ) -> Result<Array<T, D>> {
        // Before the memory is taken.
        let wanted = extents.texels();
        if wanted != Some(data.len()) {
            return Err(Error::misuse(
                block::CALL,
                Code::INVALID_VALUE,
                match wanted {
                    Some(wanted) => {
                        format!(
                            "{extents:?} has {wanted} texels, and {} are given",
                            data.len()
                        )
                    }
                    None => format!("{extents:?} has more texels than can be counted"),
                },
                "give one texel for each place in the array",
            ));
        }
        let mut array = Array::raw(self, extents, for_surfaces)?;
        self.upload_array(data, &mut array)?;
        Ok(array)
    }

    /// An array of zeros.
    ///
    /// # Errors
    ///
    /// As for [`array`](Self::array).
    pub fn array_zeroed<T: Texel, D: ArrayExtents>(&self, extents: D) -> Result<Array<T, D>> {
        self.cleared_array(extents, false)
    }

    /// As [`array`](Self::array), of an array that kernels can write by a [`Surface`](crate::Surface).
    ///
    /// # Errors
    ///
    /// As for [`array`](Self::array); surfaces may have smaller extents on a device than textures.
    pub fn surface_array<T: Texel, D: ArrayExtents>(
        &self,
        data: &[T],
        extents: D,
    ) -> Result<Array<T, D>> {
        self.filled_array(data, extents, true)
    }

    /// An array of zeros that kernels can write by a [`Surface`](crate::Surface).
    ///
    /// # Errors
    ///
    /// As for [`surface_array`](Self::surface_array).
    pub fn surface_array_zeroed<T: Texel, D: ArrayExtents>(
        &self,
        extents: D,
    ) -> Result<Array<T, D>> {
        self.cleared_array(extents, true)
    }

    fn cleared_array<T: Texel, D: ArrayExtents>(
        &self,
        extents: D,
        for_surfaces: bool,
    ) -> Result<Array<T, D>> {
        let mut array = Array::raw(self, extents, for_surfaces)?;
        self.clear_array(&mut array)?;
        Ok(array)
    }

    /// Makes all texels zeros.
    pub(super) fn clear_array<T: Texel, D: ArrayExtents>(
        &self,
        array: &mut Array<T, D>,
    ) -> Result<()> {
        // The driver fills no arrays.
        let zeros = self.zeroed::<T>(array.len())?;
        self.copy_to_array(&zeros, array)
    }
}
