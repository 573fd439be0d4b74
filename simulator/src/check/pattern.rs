//! How the offsets of a warp's lanes lie, found out once an access.

use super::access::Access;

/// Lanes of a run.
pub(super) const RUN_LANES: usize = 8;
/// Runs of a warp.
pub(super) const RUNS: usize = 32 / RUN_LANES;

/// How the lanes of a run lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RunPattern {
    /// One after the other.
    Consecutive,
    /// All at one offset.
    Same,
}

/// How the offsets lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pattern {
    /// All 32 lanes, one after the other.
    Consecutive,
    /// All 32 lanes at one offset.
    Same,
    /// All 32 lanes, in runs of eight: as in a tile narrower than a warp.
    Runs([RunPattern; RUNS]),
    /// Anything else.
    Scattered,
}

impl Pattern {
    /// How an access's offsets lie.
    #[inline]
    pub fn of(access: &Access<'_>) -> Pattern {
        if access.mask != u32::MAX {
            return Pattern::Scattered;
        }
        if access.size == 4 {
            // By far the most frequent: with the size known, the loops are additions of constants.
            Pattern::of_full(access.offsets, 4)
        } else {
            Pattern::of_full(access.offsets, access.size)
        }
    }

    #[inline(always)]
    fn of_full(offsets: &[u32; 32], size: u32) -> Pattern {
        match run_pattern(offsets, size) {
            Some(RunPattern::Consecutive) => return Pattern::Consecutive,
            Some(RunPattern::Same) => return Pattern::Same,
            None => {}
        }
        let mut runs = [RunPattern::Same; RUNS];
        for (run, offsets) in runs.iter_mut().zip(offsets.chunks_exact(RUN_LANES)) {
            match run_pattern(offsets, size) {
                Some(pattern) => *run = pattern,
                None => return Pattern::Scattered,
            }
        }
        Pattern::Runs(runs)
    }
}

#[inline(always)]
fn run_pattern(offsets: &[u32], size: u32) -> Option<RunPattern> {
    let start = offsets[0];
    let (mut apart, mut not_next) = (0, 0);
    for (lane, &offset) in offsets.iter().enumerate() {
        apart |= offset ^ start;
        not_next |= offset ^ start.wrapping_add(lane as u32 * size);
    }
    match (not_next, apart) {
        (0, _) => Some(RunPattern::Consecutive),
        (_, 0) => Some(RunPattern::Same),
        _ => None,
    }
}

/// What is quickly told of the offsets of the lanes that take part.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    pub lowest: u32,
    pub highest: u32,
    /// All of them, or-ed: how far they are aligned.
    pub bits: u32,
}

/// The offsets of the first lanes of the runs.
#[inline(always)]
pub(super) fn run_starts(access: &Access<'_>) -> [u32; RUNS] {
    std::array::from_fn(|run| access.offsets[run * RUN_LANES])
}

impl Extent {
    #[inline(always)]
    fn of_run(pattern: RunPattern, start: u32, lanes: u32, size: u32) -> Extent {
        match pattern {
            RunPattern::Consecutive => Extent {
                lowest: start,
                highest: start + (lanes - 1) * size,
                bits: start | size,
            },
            RunPattern::Same => Extent {
                lowest: start,
                highest: start,
                bits: start,
            },
        }
    }

    /// Of an access.
    #[inline]
    pub fn of(access: &Access<'_>, pattern: Pattern) -> Extent {
        const LANE: [u32; 32] = {
            let mut bits = [0; 32];
            let mut lane = 0;
            while lane < 32 {
                bits[lane] = 1 << lane;
                lane += 1;
            }
            bits
        };
        let first = access.offsets[0];
        match pattern {
            Pattern::Consecutive => Extent::of_run(RunPattern::Consecutive, first, 32, access.size),
            Pattern::Same => Extent::of_run(RunPattern::Same, first, 32, access.size),
            Pattern::Runs(runs) => {
                let mut extent = Extent {
                    lowest: u32::MAX,
                    highest: 0,
                    bits: 0,
                };
                for (run, start) in runs.into_iter().zip(run_starts(access)) {
                    let own = Extent::of_run(run, start, RUN_LANES as u32, access.size);
                    extent.lowest = extent.lowest.min(own.lowest);
                    extent.highest = extent.highest.max(own.highest);
                    extent.bits |= own.bits;
                }
                extent
            }
            Pattern::Scattered => {
                let (mut lowest, mut highest, mut bits) = (u32::MAX, 0, 0);
                for (&offset, bit) in access.offsets.iter().zip(LANE) {
                    // All ones for lanes that take part.
                    let on = if access.mask & bit != 0 { u32::MAX } else { 0 };
                    lowest = lowest.min(offset | !on);
                    highest = highest.max(offset & on);
                    bits |= offset & on;
                }
                Extent {
                    lowest,
                    highest,
                    bits,
                }
            }
        }
    }
}

/// The lanes of a mask.
pub(super) fn lanes_of(mask: u32) -> impl Iterator<Item = u32> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        let lane = rest.trailing_zeros();
        rest &= rest.wrapping_sub(1);
        (lane < 32).then_some(lane)
    })
}
