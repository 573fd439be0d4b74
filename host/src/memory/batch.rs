//! What calls for many ranges have in common.

use super::view::RawView;
use crate::error::{Code, Result};

/// Whether the driver has no such call.
pub(super) fn is_missing(done: &Result<()>) -> bool {
    matches!(done, Err(error) if error.code() == Some(Code::NOT_SUPPORTED))
}

/// Ranges as the driver's batches take them: the address and the bytes of each.
pub(super) struct Ranges {
    pub(super) addresses: Vec<u64>,
    pub(super) sizes: Vec<usize>,
}

impl Ranges {
    pub(super) fn of<'a>(views: impl Iterator<Item = &'a RawView<'a>>) -> Ranges {
        let (addresses, sizes) = views.map(|view| (view.address, view.bytes)).unzip();
        Ranges { addresses, sizes }
    }
}
