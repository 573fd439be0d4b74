//! How a communicator is made.

use std::time::Duration;

use warpsmith_nccl_abi::ncclConfig_t;

/// How a communicator is made.
///
/// ```
/// use warpsmith_nccl::Options;
///
/// // Leaves the rest of the GPU to other kernels.
/// let few = Options { most_blocks: Some(8), ..Options::default() };
/// assert_eq!(few.timeout.as_secs(), 300);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// How long a call may wait on the host for other ranks: to come together, and to connect when they first speak to each other.
    pub timeout: Duration,
    /// The least number of blocks of NCCL's kernels, 1 or more (`minCTAs`); `None` leaves it to NCCL. The same for all ranks.
    pub least_blocks: Option<u32>,
    /// The greatest (`maxCTAs`): fewer leave more of the GPU to other kernels, and move data more slowly.
    pub most_blocks: Option<u32>,
}

impl Default for Options {
    /// Five minutes, and as many blocks as NCCL takes.
    fn default() -> Self {
        Options {
            timeout: Duration::from_secs(300),
            least_blocks: None,
            most_blocks: None,
        }
    }
}

impl Options {
    /// In NCCL's words, for calls that do not wait for other ranks.
    pub(crate) fn config(&self) -> ncclConfig_t {
        let blocks = |count: Option<u32>| match count {
            None => ncclConfig_t::DEFAULT.minCTAs,
            // NCCL refuses numbers beyond what it has.
            Some(count) => count.try_into().unwrap_or(i32::MAX),
        };
        ncclConfig_t {
            blocking: 0,
            minCTAs: blocks(self.least_blocks),
            maxCTAs: blocks(self.most_blocks),
            ..ncclConfig_t::DEFAULT
        }
    }
}
