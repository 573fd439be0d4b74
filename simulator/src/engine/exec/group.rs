//! Groups: the lanes of a warp that are at the same instruction of the same frame.

use super::wait::Wait;

/// Lanes that go on together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Group {
    pub mask: u32,
    pub pc: u32,
    pub frame: u32,
    pub wait: Wait,
    /// When it ran last.
    pub ran: u64,
}
