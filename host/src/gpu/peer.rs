//! What two devices can do together.

use super::Gpu;
use crate::driver_call::call;
use crate::error::Result;

impl Gpu {
    /// Whether this device can reach the other one's memory over a link or the bus. Copies between the two
    /// ([`Stream::copy_from_peer`](crate::Stream::copy_from_peer)) work in either case; where it cannot, they go through the host.
    ///
    /// ```
    /// use warpsmith_host::prelude::*;
    ///
    /// # fn main() -> Result<()> {
    /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
    /// // A device is no peer of itself.
    /// assert!(!gpu.can_access_peer(&gpu)?);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// What the driver says (`cuDeviceCanAccessPeer`).
    pub fn can_access_peer(&self, other: &Gpu) -> Result<bool> {
        let mut can = 0;
        // SAFETY: the driver writes one number to `can`, which outlives the call.
        unsafe {
            call!(cuDeviceCanAccessPeer(
                &mut can,
                self.inner.context().device,
                other.inner.context().device
            ))
        }?;
        Ok(can != 0)
    }
}
