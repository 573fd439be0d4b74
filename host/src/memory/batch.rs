//! What calls for many ranges have in common.

use super::view::RawView;
use crate::error::{Code, Error, Result};

/// Whether the driver has no such call.
pub(super) fn is_missing(done: &Result<()>) -> bool {
    matches!(done, Err(error) if error.code() == Some(Code::NOT_SUPPORTED))
}

/// What the newest call of a batch of copies answers, or the older one, which writes the number of the copy that failed. `None` where the driver
/// has neither.
pub(super) fn by_newest(
    newest: impl FnOnce() -> Result<()>,
    older: impl FnOnce(&mut usize) -> Result<()>,
) -> Option<Result<()>> {
    let done = newest();
    if !is_missing(&done) {
        return Some(done);
    }
    let mut failed = usize::MAX;
    let done = older(&mut failed);
    if is_missing(&done) {
        return None;
    }
    Some(done.map_err(|error: Error| error.while_doing(|| format!("copy {failed}"))))
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
