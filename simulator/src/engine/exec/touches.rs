//! What the threads of a cluster touch in global memory, for the check of the order of whole grids.

use super::grid::Grid;
use crate::check::stream_order::{Class, Recorder};
use crate::engine::environment::TouchSink;

/// Collects it while a worker runs the cluster, and hands it over at the end.
pub(crate) struct Touches<'g> {
    sink: &'g dyn TouchSink,
    /// Device memory: its first address, and how many bytes there are.
    arena: (u64, u64),
    /// Before and after the threads have waited for the grids before theirs.
    recorders: [Recorder; 2],
    has_spoken: bool,
    has_fenced_aliases: bool,
}

impl<'g> Touches<'g> {
    /// For a cluster of this grid, if somebody wants to know.
    pub fn of(grid: &Grid<'g>) -> Option<Box<Touches<'g>>> {
        let sink = grid.touches?;
        Some(Box::new(Touches {
            sink,
            arena: grid.memory.arena(),
            recorders: Default::default(),
            has_spoken: false,
            has_fenced_aliases: false,
        }))
    }

    /// A thread touches bytes, of whatever memory. `waited`: after it has waited.
    #[inline]
    pub fn note(&mut self, waited: bool, class: Class, pointer: *mut u8, bytes: u64) {
        let address = pointer.addr() as u64;
        let (base, len) = self.arena;
        if address.wrapping_sub(base) < len {
            if class == Class::SystemWrite && !self.has_spoken {
                self.has_spoken = true;
                self.sink.spoken();
            }
            self.recorders[usize::from(waited)].note(class, address, bytes);
        }
    }

    /// A thread executes `fence.proxy.alias`.
    pub fn fence_aliases(&mut self) {
        if !self.has_fenced_aliases {
            self.has_fenced_aliases = true;
            self.sink.aliases_fenced();
        }
    }
}

impl Drop for Touches<'_> {
    fn drop(&mut self) {
        for (waited, recorder) in self.recorders.iter().enumerate() {
            self.sink.touched(waited == 1, recorder);
        }
    }
}
