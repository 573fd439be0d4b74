//! Where the operands of an instruction lie: the lanes of a warp's registers and constants.

/// Lanes of a warp.
pub(crate) const LANES: usize = 32;
/// All lanes.
pub(crate) const FULL: u32 = u32::MAX;
/// Set in an operand that lies in the constants.
pub(crate) const CONSTANT: u32 = 1 << 31;
/// A destination that drops its value.
pub(crate) const SINK: u32 = u32::MAX;

/// Where the operands of a warp's current instruction lie.
pub(crate) trait Registers {
    /// The lanes that execute.
    fn mask(&self) -> u32;
    /// Where an operand lies that is a register of the current frame or a constant of the current function.
    fn operand(&self, word: u32) -> *mut u8;
    /// Where a register of the current frame lies.
    fn register(&mut self, word: u32) -> *mut u8;
    /// A word of the current function's lists.
    fn list_word(&self, index: u32) -> u32;
}

/// The lanes of a mask, ascending.
#[inline(always)]
pub(crate) fn lanes_of(mask: u32) -> impl Iterator<Item = usize> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        if rest == 0 {
            return None;
        }
        let lane = rest.trailing_zeros() as usize;
        rest &= rest - 1;
        Some(lane)
    })
}
