//! Lanes of one instruction that write to the same address.

use super::*;

/// What each lane writes.
struct Written(fn(usize) -> u32);

impl Values for Written {
    fn unchanged(&self, _: usize) -> bool {
        false
    }

    fn equal(&self, lane: usize, other: usize) -> Option<bool> {
        Some((self.0)(lane) == (self.0)(other))
    }
}

/// Values that are not known.
struct Unknown;

impl Values for Unknown {
    fn unchanged(&self, _: usize) -> bool {
        false
    }

    fn equal(&self, _: usize, _: usize) -> Option<bool> {
        None
    }
}

#[test]
fn lanes_of_one_instruction_do_not_race_unless_they_write_later() {
    let access = |class, values: &dyn Values| {
        let mut shared = Machine::new(1).shared;
        shared.access(&access_by(0, !0, &[8; 32], 4, class, 7), values)
    };
    assert_eq!(access(WRITE, &Written(|_| 1)), None);
    assert_eq!(access(WRITE, &Written(|lane| lane as u32)), None);
    assert_eq!(access(ATOMIC, &Written(|lane| lane as u32)), None);
    let (later, earlier, _) = race(access(WRITE, &Unknown));
    assert_eq!((later.thread, earlier.thread), (1, 0));
}

#[test]
fn other_instructions_and_warps_still_race() {
    let mut shared = Machine::new(1).shared;
    let lanes = Written(|lane| lane as u32);
    let mut write =
        |warp, mask, site| shared.access(&access_by(warp, mask, &[8; 32], 4, WRITE, site), &lanes);
    assert_eq!(write(0, !0, 7), None);
    // Another instruction of the same warp, and the same instruction of another one.
    race(write(0, 1, 8));
    race(write(1, !0, 7));
}

#[test]
fn different_values_at_one_address_collide() {
    let same = [8; 32];
    assert_eq!(colliding_lanes(!0, &same, &Written(|_| 1)), None);
    let by_half = Written(|lane| lane as u32 / 16);
    assert_eq!(colliding_lanes(!0, &same, &by_half), Some((0, 16)));
    assert_eq!(colliding_lanes(0xffff, &same, &by_half), None);
    assert_eq!(colliding_lanes(0xffff_ff00, &same, &by_half), Some((8, 16)));
    assert_eq!(colliding_lanes(!0, &same, &Unknown), None);
}

#[test]
fn different_addresses_do_not_collide() {
    let lane = Written(|lane| lane as u32);
    let ascending = std::array::from_fn(|lane| 4 * lane as u64);
    let descending = std::array::from_fn(|lane| 4 * (31 - lane) as u64);
    // Their slots in the table of addresses repeat.
    let far = std::array::from_fn(|lane| (lane as u64 * 7 % 32) << 40);
    for addresses in [ascending, descending, far] {
        assert_eq!(colliding_lanes(!0, &addresses, &lane), None);
        // Two that do, among all others.
        for (first, second) in [(0, 31), (4, 5), (30, 31)] {
            let mut addresses: [u64; 32] = addresses;
            addresses[second] = addresses[first];
            let found = colliding_lanes(!0, &addresses, &lane);
            assert_eq!(found, Some((first, second)));
        }
    }
}
