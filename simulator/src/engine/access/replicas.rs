//! Where the bytes are that a multicast address stands for: one place for each device of the team.

use warpsmith_isa::effect::Space;

use super::bounds::Refused;
use super::declared::Declared;
use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::guest::host_pointer;
use crate::engine::exec::operand::{LANES, lanes_of};
use crate::engine::exec::warp::Warp;
use crate::engine::exec::windows::{FUNCTIONS, LOCAL, PARAMETERS, SHARED, window};

/// Each lane's places, for the lanes of the mask.
pub(super) struct Replicas([Vec<u64>; LANES]);

impl Replicas {
    /// Finds them; `None` if a fault was recorded.
    pub(super) fn find(
        warp: &mut Warp,
        cluster: &Cluster<'_>,
        declared: Declared,
        addresses: &[u64; LANES],
        size: u32,
    ) -> Option<Replicas> {
        let mut found = Replicas(std::array::from_fn(|_| Vec::new()));
        for lane in lanes_of(warp.mask) {
            let address = addresses[lane];
            let refused = Refused {
                lane,
                space: Space::Global,
                offset: address,
                size,
                align: size,
                kind: declared.kind(),
            };
            if !address.is_multiple_of(u64::from(size)) {
                refused.misaligned(warp);
                return None;
            }
            if let SHARED | LOCAL | PARAMETERS | FUNCTIONS = window(address) {
                let note = "a multimem instruction uses addresses of multicast objects alone";
                refused.outside(warp, note.into());
                return None;
            }
            let memory = cluster.grid.memory;
            match memory.replicas(address, u64::from(size), declared.writes()) {
                Ok(places) => found.0[lane] = places,
                Err(error) => {
                    refused.global(warp, cluster, &error);
                    return None;
                }
            }
        }
        Some(found)
    }

    /// The most that a lane has.
    pub(super) fn count(&self) -> usize {
        self.0.iter().map(Vec::len).max().unwrap_or(0)
    }

    /// Points the lanes to their places of this number; the mask of those that have one.
    pub(super) fn point(&self, warp: &mut Warp, number: usize) -> u32 {
        let mut mask = 0;
        for (lane, places) in self.0.iter().enumerate() {
            if let Some(&place) = places.get(number) {
                warp.pointers[lane] = host_pointer(place);
                mask |= 1 << lane;
            }
        }
        mask
    }
}
