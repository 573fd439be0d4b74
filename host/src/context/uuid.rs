//! A device's identity.

use std::fmt;

use warpsmith_driver::raw;

use crate::driver_call::call;
use crate::error::Result;

/// A device's identity, which is the same in every process and for every program interface that has one (Vulkan's `deviceUUID`, say).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Uuid(pub [u8; 16]);

impl fmt::Display for Uuid {
    /// As `nvidia-smi` prints it: `GPU-8c2e...`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("GPU")?;
        let mut rest = &self.0[..];
        for length in [4, 2, 2, 2, 6] {
            let (part, others) = rest.split_at(length);
            f.write_str("-")?;
            part.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
            rest = others;
        }
        Ok(())
    }
}

impl fmt::Debug for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Uuid {
    /// Of a device of the driver.
    pub(crate) fn of(device: raw::CUdevice) -> Result<Uuid> {
        let mut uuid = raw::CUuuid { bytes: [0; 16] };
        // SAFETY: the driver writes 16 bytes to `uuid`, which outlives the call.
        unsafe { call!(cuDeviceGetUuid_v2(&mut uuid, device)) }?;
        Ok(Uuid(uuid.bytes.map(|byte| byte as u8)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uuid_is_written_as_nvidia_smi_does() {
        let uuid = Uuid(std::array::from_fn(|index| index as u8 * 16 + 1));
        assert_eq!(uuid.to_string(), "GPU-01112131-4151-6171-8191-a1b1c1d1e1f1");
    }
}
