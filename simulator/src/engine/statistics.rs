//! What a grid did, in numbers.

/// What a grid did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Instructions executed, counted once for each warp (or part of one) that executed them.
    pub warp_instructions: u64,
}
