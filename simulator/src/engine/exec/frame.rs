//! Call frames. A frame belongs to the lanes that made the call together; the registers of all of them lie in it, lane by
//! lane, so groups that diverge inside the callee share it. It is free when the last of them has returned.

use crate::engine::memory::Aligned;

/// The parent of the kernel's own frame.
pub(crate) const NO_FRAME: u32 = u32::MAX;

/// A frame.
pub(crate) struct Frame {
    /// Number of the function.
    pub function: u32,
    pub registers_memory: Aligned,
    pub parent: u32,
    /// Where the caller goes on.
    pub return_pc: u32,
    /// Lanes that have not returned.
    pub lanes: u32,
    pub depth: u32,
    /// Where the frame's local variables start.
    pub local_base: u32,
    /// How far dynamic allocations reach.
    pub local_top: u32,
    /// Number of the caller's call site: where results go.
    pub site: u32,
}

impl Frame {
    /// The registers.
    pub fn registers(&self) -> *mut u8 {
        self.registers_memory.as_ptr()
    }
}
