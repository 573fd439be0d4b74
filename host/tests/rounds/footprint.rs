//! What a process holds of the host and of its device, and by how much that may grow in a thousand rounds.

use warpsmith_host::prelude::*;

use crate::heap;

/// One thing that a process holds, and more or less of it.
pub struct Measure {
    pub what: &'static str,
    /// How much more of it there may be after all rounds of a case than after its warm-up.
    tolerance: u64,
    read: fn(&Gpu) -> Result<u64>,
}

const KIB: u64 = 1 << 10;

/// The tolerances are far below one unit a round: what leaks one block of the heap, one descriptor, one byte of a pool in each of a thousand
/// rounds is found. The heap's are for tables that happen to grow between the two looks; the pages', for what the system's allocator
/// keeps of freed blocks.
pub const MEASURES: [Measure; 9] = [
    Measure {
        what: "blocks of the heap",
        tolerance: 24,
        read: |_| Ok(heap::blocks() as u64),
    },
    Measure {
        what: "bytes of the heap",
        tolerance: 24 * KIB,
        read: |_| Ok(heap::bytes() as u64),
    },
    Measure {
        what: "bytes in memory",
        tolerance: 768 * KIB,
        read: |_| Ok(resident()),
    },
    Measure {
        what: "open descriptors",
        tolerance: 0,
        read: |_| Ok(entries("/proc/self/fd")),
    },
    Measure {
        what: "threads",
        tolerance: 0,
        read: |_| Ok(entries("/proc/self/task")),
    },
    Measure {
        what: "bytes of the device",
        tolerance: 0,
        read: |gpu| {
            let memory = gpu.memory_info()?;
            Ok((memory.total - memory.free) as u64)
        },
    },
    Measure {
        what: "bytes of the pool that are in use",
        tolerance: 0,
        read: |gpu| Ok(gpu.default_pool()?.usage()?.used),
    },
    Measure {
        what: "bytes that the pool has reserved",
        tolerance: 0,
        read: |gpu| Ok(gpu.default_pool()?.usage()?.reserved),
    },
    Measure {
        what: "bytes of graphs that are in use",
        tolerance: 0,
        read: |gpu| Ok(gpu.graph_memory()?.used),
    },
];

/// Bytes of the process's pages that are in memory.
fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").expect("Linux has it");
    let pages = text
        .split(' ')
        .nth(1)
        .and_then(|word| word.parse::<u64>().ok());
    pages.expect("the second number is that of the pages") * rustix::param::page_size() as u64
}

fn entries(folder: &str) -> u64 {
    std::fs::read_dir(folder).expect("Linux has it").count() as u64
}

/// How much there is of each measure.
#[derive(Clone, Copy)]
pub struct Footprint([u64; MEASURES.len()]);

impl Footprint {
    /// What there is now, when the device has done all work and freed what waited for that.
    pub fn now(gpu: &Gpu) -> Result<Footprint> {
        gpu.synchronize()?;
        let mut values = [0; MEASURES.len()];
        for (value, measure) in values.iter_mut().zip(&MEASURES) {
            *value = (measure.read)(gpu)?;
        }
        Ok(Footprint(values))
    }

    /// By how much it is larger than before.
    pub fn since(&self, before: &Footprint) -> Grown {
        let mut grown = Grown::default();
        for (index, more) in grown.0.iter_mut().enumerate() {
            *more = self.0[index].saturating_sub(before.0[index]);
        }
        grown
    }
}

/// By how much each measure has grown.
#[derive(Clone, Copy, Default, PartialEq)]
pub struct Grown([u64; MEASURES.len()]);

impl Grown {
    /// What goes beyond others' growth by more than a quarter of that.
    pub fn beyond(&self, others: &Grown) -> Grown {
        let mut rest = *self;
        for (more, theirs) in rest.0.iter_mut().zip(others.0) {
            *more = more.saturating_sub(theirs + theirs / 4);
        }
        rest
    }

    /// By how much each measure has grown here and there.
    pub fn least(&self, other: &Grown) -> Grown {
        let mut least = *self;
        for (more, theirs) in least.0.iter_mut().zip(other.0) {
            *more = (*more).min(theirs);
        }
        least
    }

    /// What has grown by more than the tolerance, in words.
    pub fn lines(&self) -> Vec<String> {
        let grown = MEASURES.iter().zip(self.0);
        grown
            .filter(|(measure, more)| *more > measure.tolerance)
            .map(|(measure, more)| format!("{} grew by {more}", measure.what))
            .collect()
    }
}
