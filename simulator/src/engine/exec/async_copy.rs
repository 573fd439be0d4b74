//! `cp.async` copies that are not done.

use super::issuer::Issuer;

/// A copy to shared memory that is not done yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AsyncCopy {
    /// Bytes to be written; those beyond `from_bytes` become zero.
    pub bytes: u8,
    /// Bytes to be read.
    pub from_bytes: u8,
    pub from: *const u8,
    pub to: *mut u8,
    /// The access word of the destination, and who issued it, for the checks.
    pub declared: u32,
    pub issuer: Issuer,
}
