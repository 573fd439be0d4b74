//! Keys, which name the memory of one communicator.

use std::fs::File;

use crate::failure::{Failure, Result};

/// Bytes of what a key is made of.
pub(crate) const KEY: usize = 16;

/// What makes a key that no other communicator has.
pub(crate) fn random() -> Result<[u8; KEY]> {
    use std::io::Read;
    let mut bytes = [0; KEY];
    File::open("/dev/urandom")
        .and_then(|mut random| random.read_exact(&mut bytes))
        .map_err(|error| Failure::system("/dev/urandom", error))?;
    Ok(bytes)
}

/// The key that these bytes make.
pub(crate) fn key_of(bytes: &[u8; KEY]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A key that no other communicator has.
pub(crate) fn new_key() -> Result<String> {
    random().map(|bytes| key_of(&bytes))
}
