//! What two devices can do together.

use std::sync::Arc;

use super::Gpu;
use super::open_device::OpenDevice;
use crate::driver_call::call;
use crate::error::{Code, Error, Result};

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

/// # Errors
///
/// `accessor` cannot reach memory of `owner`, which may be the same device.
// covers: POOL-X12
pub(crate) fn require_reach(
    call: &'static str,
    accessor: &Arc<OpenDevice>,
    owner: &Arc<OpenDevice>,
) -> Result<()> {
    if Gpu::from(accessor).can_access_peer(&Gpu::from(owner))? {
        return Ok(());
    }
    let [other, own] = [accessor, owner].map(|gpu| gpu.context().choice);
    Err(Error::misuse(
        call,
        Code::PEER_ACCESS_UNSUPPORTED,
        match own == other {
            true => format!("`{own}` is no peer of itself"),
            false => format!("`{other}` cannot reach memory of `{own}`"),
        },
        "a device reaches its own memory without this; `stream.copy_from_peer` copies between any two devices",
    ))
}
