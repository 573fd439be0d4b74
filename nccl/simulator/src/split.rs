//! Splits: each rank of a communicator says a color and a key; those that say the same color come together in a new communicator, in the
//! order of their keys.

use std::time::Duration;

use warpsmith_nccl_abi::NCCL_SPLIT_NOCOLOR;

use crate::failure::{Failure, Result};
use crate::world::{self, Part, World};

/// A rank's place in a communicator, and by what its ranks come together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Seat {
    pub(crate) key: String,
    pub(crate) rank: usize,
    pub(crate) ranks: usize,
    /// Which ranks of the communicator that was split they are; empty for one that was not.
    pub(crate) members: Vec<usize>,
}

/// Takes part in the split of this number, and waits until all ranks have. `None` for a rank without a color.
///
/// # Errors
///
/// A rank is gone or has left, or has called something else before; or this one was told to stop.
pub(crate) fn split(
    world: &World,
    number: u64,
    own: &Part,
    stopped: &dyn Fn() -> bool,
) -> Result<Option<Seat>> {
    world.say_part(number, own);
    let is_missing = |rank: usize| world.part_of(rank, number).is_none();
    while let Some(rank) = (0..world.ranks).find(|&rank| is_missing(rank)) {
        // In this order: it may have said its part and left since.
        if world.has_left(rank) && is_missing(rank) {
            return Err(Failure::remote(format!(
                "rank {rank} has given its communicator back, and this rank splits it"
            )));
        }
        world.look(stopped, &is_missing)?;
        std::thread::sleep(Duration::from_micros(100));
    }
    let parts: Vec<Part> = (0..world.ranks)
        .filter_map(|rank| world.part_of(rank, number))
        .collect();
    let seat = seat(world.rank, &parts)?;
    // A rank that was stopped after it said its part, this one too, takes no part in what comes of the split.
    world.look_now(stopped, &|_| true)?;
    Ok(seat)
}

fn seat(own: usize, parts: &[Part]) -> Result<Option<Seat>> {
    let Part { color, calls, .. } = parts[own];
    let differs = |part: &Part| part.calls != Part::UNKNOWN && part.calls != calls;
    if calls != Part::UNKNOWN
        && let Some(other) = parts.iter().position(differs)
    {
        return Err(Failure::usage(format!(
            "rank {own} splits after {calls} collectives, rank {other} after {}: all ranks make the same calls in the same order",
            parts[other].calls
        )));
    }
    if color == NCCL_SPLIT_NOCOLOR {
        return Ok(None);
    }
    let mut members: Vec<usize> = (0..parts.len())
        .filter(|&rank| parts[rank].color == color)
        .collect();
    members.sort_by_key(|&rank| (parts[rank].key, rank));
    Ok(members
        .iter()
        .position(|&rank| rank == own)
        .map(|rank| Seat {
            key: world::key_of(&parts[members[0]].id),
            rank,
            ranks: members.len(),
            members: members.clone(),
        }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(color: i32, key: i32) -> Part {
        Part {
            color,
            key,
            calls: 0,
            id: [key as u8; 16],
        }
    }

    #[test]
    fn keys_and_then_ranks_give_the_order() {
        let parts = [part(1, 5), part(0, 3), part(1, -2), part(-1, 0), part(1, 5)];
        let of = |rank| seat(rank, &parts).expect("the same calls");
        let places: Vec<_> = [0, 2, 4]
            .map(|rank| of(rank).map(|seat| (seat.rank, seat.ranks)))
            .into();
        assert_eq!(places, [Some((1, 3)), Some((0, 3)), Some((2, 3))]);
        assert_eq!(of(0).map(|seat| seat.key), of(4).map(|seat| seat.key));
        assert_ne!(of(0).map(|seat| seat.key), of(1).map(|seat| seat.key));
        assert_eq!(of(3), None);
    }

    #[test]
    fn ranks_that_have_called_something_else_are_told() {
        let mut parts = [part(0, 0), part(0, 0), part(0, 0)];
        parts[1].calls = Part::UNKNOWN;
        assert!(seat(0, &parts).is_ok());
        parts[2].calls = 3;
        let error = seat(0, &parts).expect_err("other calls");
        assert!(
            error.reason.contains("after 0 collectives, rank 2 after 3"),
            "{error:?}"
        );
        assert!(seat(1, &parts).is_ok());
    }
}
