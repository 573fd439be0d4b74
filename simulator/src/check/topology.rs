//! Which threads there are, and which of them a scope includes.

use warpsmith_isa::effect::Scope;

/// Blocks of equally many threads, in clusters, on devices.
#[derive(Clone, Debug)]
pub(super) struct Topology {
    block_threads: u32,
    /// Of each block.
    places: Vec<Place>,
    /// The scopes that include more threads than the next narrower one, and that of the block.
    scopes: Vec<Scope>,
}

/// Where a block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    cluster: u32,
    device: u32,
}

impl Topology {
    /// One cluster.
    pub fn cluster(blocks: u32, block_threads: u32) -> Topology {
        Topology::devices(&[1], blocks, block_threads)
    }

    /// Devices with so many clusters each, of `blocks` blocks.
    pub fn devices(clusters: &[u32], blocks: u32, block_threads: u32) -> Topology {
        let mut places = Vec::new();
        let mut cluster = 0;
        for (device, &clusters) in clusters.iter().enumerate() {
            for _ in 0..clusters {
                let device = device as u32;
                places.extend((0..blocks).map(|_| Place { cluster, device }));
                cluster += 1;
            }
        }
        let mut scopes = vec![Scope::Block];
        for (scope, is_wider) in [
            (Scope::Cluster, blocks > 1),
            (Scope::Device, clusters.iter().any(|&clusters| clusters > 1)),
            (Scope::System, clusters.len() > 1),
        ] {
            if is_wider {
                scopes.push(scope);
            }
        }
        Topology {
            block_threads,
            places,
            scopes,
        }
    }

    /// Threads of a block.
    #[inline]
    pub fn block_threads(&self) -> u32 {
        self.block_threads
    }

    /// Number of blocks.
    #[inline]
    pub fn blocks(&self) -> u32 {
        self.places.len() as u32
    }

    /// Number of threads.
    pub fn threads(&self) -> usize {
        self.places.len() * self.block_threads as usize
    }

    /// The scopes that tell threads apart, up to this one.
    #[inline]
    pub fn scopes(&self, widest: Scope) -> impl Iterator<Item = Scope> + use<'_> {
        let scopes = self.scopes.iter().copied();
        scopes.take_while(move |&scope| scope <= widest)
    }

    /// The number of the group of threads that a scope means to a thread of this block.
    #[inline]
    pub fn group(&self, block: u32, scope: Scope) -> u32 {
        match scope {
            Scope::Block => block,
            Scope::Cluster => self.places[block as usize].cluster,
            Scope::Device => self.places[block as usize].device,
            Scope::System => 0,
        }
    }

    /// Whether a scope means the same threads to both blocks.
    #[inline]
    pub fn includes(&self, scope: Scope, one: u32, other: u32) -> bool {
        one == other || scope > Scope::Block && self.group(one, scope) == self.group(other, scope)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_include_what_they_say() {
        // Blocks 0 to 3 in two clusters on the first device, 4 and 5 on the second.
        let topology = Topology::devices(&[2, 1], 2, 32);
        assert_eq!((topology.blocks(), topology.threads()), (6, 192));
        let includes = |one, other| {
            [Scope::Block, Scope::Cluster, Scope::Device, Scope::System]
                .map(|scope| topology.includes(scope, one, other))
        };
        assert_eq!(includes(1, 1), [true; 4]);
        assert_eq!(includes(2, 3), [false, true, true, true]);
        assert_eq!(includes(1, 2), [false, false, true, true]);
        assert_eq!(includes(3, 4), [false, false, false, true]);
        let scopes = |topology: &Topology, widest| topology.scopes(widest).collect::<Vec<_>>();
        let all = [Scope::Block, Scope::Cluster, Scope::Device, Scope::System];
        assert_eq!(scopes(&topology, Scope::System), all);
        assert_eq!(scopes(&topology, Scope::Cluster), all[..2]);
        // In one cluster the wider scopes include no more than its own; in one block nothing does.
        assert_eq!(scopes(&Topology::cluster(2, 32), Scope::System), all[..2]);
        assert_eq!(scopes(&Topology::cluster(1, 32), Scope::System), all[..1]);
    }
}
