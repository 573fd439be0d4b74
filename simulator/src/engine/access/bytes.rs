//! Bytes of guest memory that an access has found.

use crate::engine::exec::operand::LANES;
use crate::engine::exec::warp::Warp;

/// Bytes that an operation may touch: found, checked and ordered.
pub(crate) enum Bytes {
    /// Those of all 32 lanes, one after the other, from here.
    Row(*mut u8),
    /// Each lane's own, at `warp.pointers`, for the lanes that execute.
    Lanes,
}

impl Bytes {
    /// Where each lane's bytes are, `size` for each.
    #[inline(always)]
    pub fn pointers(&self, warp: &Warp, size: u32) -> [*mut u8; LANES] {
        match self {
            Bytes::Row(start) => {
                std::array::from_fn(|lane| start.wrapping_add(lane * size as usize))
            }
            Bytes::Lanes => warp.pointers,
        }
    }
}
