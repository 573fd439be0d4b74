//! Who makes an access: asynchronous operations complete when others than their issuer run.

/// A warp at an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Issuer {
    /// The rank of the block in its cluster.
    pub block: u32,
    /// The number of the warp in its block.
    pub warp: u32,
    /// The instruction ([`Program::site`](crate::engine::program::Program::site)).
    pub site: u32,
}
