//! The threads that programs are made for.

use warpsmith_isa::effect::Scope;

/// Warps of a block.
pub const WARPS: u32 = 2;

/// Threads of a block.
pub const THREADS: usize = 32 * WARPS as usize;

/// Devices with so many clusters each, of `blocks` blocks.
#[derive(Clone, Debug)]
pub struct World {
    pub clusters: Vec<u32>,
    pub blocks: u32,
}

impl World {
    /// All blocks.
    pub fn blocks(&self) -> u32 {
        self.clusters.iter().sum::<u32>() * self.blocks
    }

    /// One for each device.
    pub fn memories(&self) -> u32 {
        self.clusters.len() as u32
    }

    pub fn threads(&self) -> usize {
        self.blocks() as usize * THREADS
    }

    /// The device of a cluster.
    fn device(&self, cluster: usize) -> usize {
        let each = self.clusters.iter().enumerate();
        let devices = each.flat_map(|(device, &count)| (0..count).map(move |_| device));
        devices.clone().nth(cluster).expect("there is one")
    }

    /// Whether a scope includes both threads.
    pub fn includes(&self, scope: Scope, one: usize, other: usize) -> bool {
        let block = |thread: usize| thread / THREADS;
        let cluster = |thread: usize| block(thread) / self.blocks as usize;
        match scope {
            Scope::Block => block(one) == block(other),
            Scope::Cluster => cluster(one) == cluster(other),
            Scope::Device => self.device(cluster(one)) == self.device(cluster(other)),
            Scope::System => true,
        }
    }
}

/// Lanes of a warp.
#[derive(Clone, Copy, Debug)]
pub struct Lanes {
    pub block: u32,
    pub warp: u32,
    pub mask: u32,
}

/// The numbers of lanes' threads.
pub fn threads(by: Lanes) -> Vec<usize> {
    let first = by.block as usize * THREADS + by.warp as usize * 32;
    (0..32)
        .filter(|lane| by.mask >> lane & 1 != 0)
        .map(|lane| first + lane)
        .collect()
}
