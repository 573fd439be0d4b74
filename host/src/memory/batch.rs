//! What calls for many ranges have in common.

use crate::error::{Code, Result};

/// Whether the driver has no such call.
pub(super) fn is_missing(done: &Result<()>) -> bool {
    matches!(done, Err(error) if error.code() == Some(Code::NOT_SUPPORTED))
}
