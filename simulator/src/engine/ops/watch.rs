//! The checks of shared memory: called for every access while they are on.

use super::resolve::Access;
use crate::engine::exec::warp::{Flow, Inst, Warp};

/// The lanes of `mask` access `size` bytes of shared memory at `warp.pointers`.
pub(crate) fn shared(warp: &mut Warp, inst: &Inst, mask: u32, size: u32, access: Access) -> Flow {
    let _ = (warp, inst, mask, size, access);
    Flow::Next
}
