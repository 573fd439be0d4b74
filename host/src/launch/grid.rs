//! The shape of a launch: how many blocks of how many threads, and what comes with them.

use warpsmith_driver::raw;

use crate::trace::work::Sizes;

/// Extents in x, y and z; what is not given is 1.
///
/// ```
/// use warpsmith_host::Dim3;
///
/// assert_eq!(Dim3::from((3, 2)), Dim3 { x: 3, y: 2, z: 1 });
/// assert_eq!(Dim3::from(7).count(), 7);
/// ```
// covers: MODEL-03
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Dim3 {
    /// The fastest-running extent.
    pub x: u32,
    /// The middle one.
    pub y: u32,
    /// The slowest one.
    pub z: u32,
}

impl Dim3 {
    /// `x * y * z`, which fits in 128 bits always and in 64 for every grid that a device takes.
    pub const fn count(self) -> u64 {
        (self.x as u64)
            .saturating_mul(self.y as u64)
            .saturating_mul(self.z as u64)
    }

    pub(crate) const fn array(self) -> [u32; 3] {
        [self.x, self.y, self.z]
    }
}

impl From<u32> for Dim3 {
    fn from(x: u32) -> Self {
        Dim3 { x, y: 1, z: 1 }
    }
}

impl From<(u32, u32)> for Dim3 {
    fn from((x, y): (u32, u32)) -> Self {
        Dim3 { x, y, z: 1 }
    }
}

impl From<(u32, u32, u32)> for Dim3 {
    fn from((x, y, z): (u32, u32, u32)) -> Self {
        Dim3 { x, y, z }
    }
}

impl From<[u32; 3]> for Dim3 {
    fn from([x, y, z]: [u32; 3]) -> Self {
        Dim3 { x, y, z }
    }
}

/// Grid, block, dynamic shared memory, cluster, cooperation: everything about a launch that is not an argument.
///
/// ```
/// use warpsmith_host::{Dim3, Grid};
///
/// let grid = Grid::cover(1_000_000, 256);
/// assert_eq!(grid.blocks(), Dim3::from(3907));
/// assert_eq!(grid.threads(), Dim3::from(256));
///
/// // A picture of 1920 x 1080 points, one thread each, two blocks to a cluster:
/// let grid = Grid::cover_2d((1920, 1080), (16, 16)).cluster((2, 1, 1)).shared_bytes(4096);
/// assert_eq!(grid.blocks(), Dim3::from((120, 68)));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub struct Grid {
    pub(crate) blocks: Dim3,
    pub(crate) threads: Dim3,
    pub(crate) shared: u32,
    pub(crate) cluster: Option<Dim3>,
    pub(crate) cooperative: bool,
}

impl Grid {
    /// `blocks` blocks of `threads` threads: each a number, a pair or a triple.
    pub fn new(blocks: impl Into<Dim3>, threads: impl Into<Dim3>) -> Grid {
        Grid {
            blocks: blocks.into(),
            threads: threads.into(),
            shared: 0,
            cluster: None,
            cooperative: false,
        }
    }

    /// As many blocks of `threads` threads as `n` elements need with a thread each. `n = 0` gives an empty grid, which no device
    /// launches: test [`is_empty`](Self::is_empty) where that can happen. A grid that does not fit in 32 bits is refused at launch, and so are
    /// blocks of 0 threads.
    pub fn cover(n: usize, threads: u32) -> Grid {
        Grid::new(blocks(n, threads), threads)
    }

    /// As many blocks as `size` elements in x and y need.
    pub fn cover_2d(size: (usize, usize), threads: (u32, u32)) -> Grid {
        Grid::new(
            (blocks(size.0, threads.0), blocks(size.1, threads.1)),
            threads,
        )
    }

    /// As many blocks as `size` elements in x, y and z need.
    pub fn cover_3d(size: (usize, usize, usize), threads: (u32, u32, u32)) -> Grid {
        Grid::new(
            (
                blocks(size.0, threads.0),
                blocks(size.1, threads.1),
                blocks(size.2, threads.2),
            ),
            threads,
        )
    }

    /// Bytes of dynamic shared memory for each block. More than 48 KB needs an opt-in by the kernel, which the launch does by itself.
    pub fn shared_bytes(self, bytes: u32) -> Grid {
        Grid {
            shared: bytes,
            ..self
        }
    }

    /// Groups the blocks into clusters of this size (Hopper and later); the grid must be a multiple of it in each dimension.
    pub fn cluster(self, cluster: impl Into<Dim3>) -> Grid {
        Grid {
            cluster: Some(cluster.into()),
            ..self
        }
    }

    /// Launches all blocks at once, so that the grid can synchronise; it must fit on the device as a whole.
    pub fn cooperative(self) -> Grid {
        Grid {
            cooperative: true,
            ..self
        }
    }

    /// The grid's size in blocks.
    pub fn blocks(&self) -> Dim3 {
        self.blocks
    }

    /// A block's size in threads.
    pub fn threads(&self) -> Dim3 {
        self.threads
    }

    /// The sizes as the driver takes them, without stream and attributes.
    #[inline]
    pub(crate) fn configuration(&self) -> raw::CUlaunchConfig {
        raw::CUlaunchConfig {
            gridDimX: self.blocks.x,
            gridDimY: self.blocks.y,
            gridDimZ: self.blocks.z,
            blockDimX: self.threads.x,
            blockDimY: self.threads.y,
            blockDimZ: self.threads.z,
            sharedMemBytes: self.shared,
            ..Default::default()
        }
    }

    /// The sizes as a trace shows them.
    pub(crate) fn sizes(&self) -> Sizes {
        Sizes::Kernel {
            grid: self.blocks.array(),
            block: self.threads.array(),
            cluster: self.cluster.map(Dim3::array),
            dynamic_shared_bytes: self.shared,
        }
    }

    /// Whether it has no blocks, so that there is nothing to launch. A block without threads is a mistake instead, which a launch names.
    ///
    /// ```
    /// use warpsmith_host::Grid;
    ///
    /// assert!(Grid::cover(0, 256).is_empty());
    /// assert!(!Grid::cover(5, 0).is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.blocks.count() == 0
    }
}

/// `n / threads` rounded up; beyond 32 bits `u32::MAX`, which every device refuses. Blocks without threads are as many as those of one thread:
/// it is the block that a launch refuses then.
fn blocks(n: usize, threads: u32) -> u32 {
    u32::try_from(n.div_ceil(threads.max(1) as usize)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn covering_rounds_up_and_never_wraps() {
        for (n, expected) in [
            (0, 0),
            (1, 1),
            (255, 1),
            (256, 1),
            (257, 2),
            (usize::MAX, u32::MAX),
        ] {
            assert_eq!(Grid::cover(n, 256).blocks, Dim3::from(expected), "{n}");
        }
        assert_eq!(Grid::cover(5, 0), Grid::new(5, 0));
        assert_eq!(
            Grid::cover_3d((9, 8, 7), (8, 8, 8)).blocks,
            Dim3::from((2, 1, 1))
        );
    }
}
