//! Uninitialised values that are followed.

use super::*;

/// A block of one warp with 512 bytes, none of them initialised.
fn machine(races: bool) -> SharedMemory {
    let mut shared = SharedMemory::new(1, 32, 512, races, true);
    shared.start();
    shared
}

/// A read by lane 0 at this offset whose value is followed.
fn read(offsets: &[u32; 32]) -> Access<'_> {
    Access {
        is_followed: true,
        ..access_by(0, 1, offsets, 4, READ, 9)
    }
}

fn decision(kind: DecisionKind) -> Decision {
    Decision {
        kind,
        block: 0,
        thread: 3,
        site: 11,
    }
}

/// Marks of these lanes, with the lanes' numbers as origins.
fn lanes(lanes: u32) -> Marks {
    let mut marks = Marks::NONE;
    for lane in (0..32).filter(|lane| lanes >> lane & 1 != 0) {
        marks.mark(lane, lane as u32);
    }
    marks
}

#[test]
fn a_read_whose_value_is_followed_is_no_finding_until_it_decides() {
    let mut shared = machine(false);
    let offsets = [16; 32];
    let access = read(&offsets);
    assert_eq!(shared.access(&access, &()), None);
    assert!(shared.take_reads_uninitialised());
    assert!(!shared.take_reads_uninitialised(), "taken");
    let origin = shared.poison_at(&access, 0, 16, 4).expect("nobody wrote");
    let memory = PoisonSource::Memory {
        block: 0,
        offset: 16,
        size: 4,
    };
    assert_eq!(origin.source, memory);
    assert_eq!(shared.overdue(true), None);
    shared.decide(origin, decision(DecisionKind::Guard));
    let found = shared.overdue(false).expect("nothing holds it back");
    let Finding::Uninitialised {
        access, decision, ..
    } = found
    else {
        panic!("{found:?}")
    };
    assert_eq!((access.site, access.thread), (9, 0));
    assert_eq!(decision, Some(self::decision(DecisionKind::Guard)));
    // One that is not followed is a finding by itself.
    let access = Access {
        is_followed: false,
        ..read(&offsets)
    };
    assert!(shared.access(&access, &()).is_some());
}

#[test]
fn a_decision_waits_for_the_next_barrier_where_it_may_be_a_race() {
    for is_written in [false, true] {
        let mut shared = SharedMemory::new(1, 64, 512, true, true);
        shared.start();
        let offsets = [16; 32];
        let access = read(&offsets);
        assert_eq!(shared.access(&access, &()), None);
        let origin = shared.poison_at(&access, 0, 16, 4).expect("nobody wrote");
        shared.decide(origin, decision(DecisionKind::Output));
        assert_eq!(shared.overdue(false), None);
        if is_written {
            race(shared.access(&access_by(1, 1, &offsets, 4, WRITE, 5), &()));
            continue;
        }
        (0..2).for_each(|warp| shared.arrive(0, 0, warp, !0, true));
        shared.complete(0, 0);
        assert!(shared.overdue(false).is_some());
    }
}

#[test]
fn stored_poison_comes_from_where_it_was_first_read() {
    let mut shared = machine(true);
    let offsets = [16; 32];
    let access = read(&offsets);
    assert_eq!(shared.access(&access, &()), None);
    let origin = shared.poison_at(&access, 0, 16, 4).expect("nobody wrote");
    let to = [64; 32];
    let store = access_by(0, 1, &to, 4, WRITE, 10);
    assert_eq!(shared.access(&store, &()), None);
    assert_eq!(
        shared.poison_at(&read(&to), 0, 64, 4),
        None,
        "it is written"
    );
    shared.spoil(64, 4, origin);
    assert_eq!(shared.poison_at(&read(&to), 0, 64, 4), Some(origin));
    // A value that is known ends it.
    assert_eq!(shared.access(&store, &()), None);
    assert_eq!(shared.poison_at(&read(&to), 0, 64, 4), None);
}

#[test]
fn a_known_bit_absorbs_and_a_known_selector_selects() {
    let (a, b) = (lanes(0b0011), lanes(0b0101));
    assert_eq!(a.with(&b).lanes(), 0b0111);
    // Lanes 1 and 2 have one operand that is known: it absorbs in lane 2 only. Lane 0's is poison, whatever it seems to be.
    let absorbed = Marks::absorbed((&a, 0b0101), (&b, 0b0001));
    assert_eq!(absorbed.lanes(), 0b0011);
    assert_eq!(absorbed.origin(1), Some(1));
    let selected = Marks::selected(&a, &b, &Marks::NONE, 0b0011, 0);
    assert_eq!(selected.lanes(), 0b0111);
    let selected = Marks::selected(&a, &b, &Marks::NONE, 0b1100, 0);
    assert_eq!(selected.lanes(), 0b0001);
    // With an unknown selector only equal and known values are known.
    let selected = Marks::selected(&a, &b, &lanes(0b1_1111), 0, 0b1_0001);
    assert_eq!(selected.lanes(), 0b0_1111);
}

#[test]
fn lanes_exchange_marks() {
    let marks = lanes(0b1000_0010);
    let mut from: [usize; 32] = std::array::from_fn(|lane| lane);
    (from[0], from[1]) = (7, 2);
    let gathered = marks.gathered(&from);
    assert_eq!(gathered.lanes(), 0b1000_0001);
    assert_eq!(gathered.origin(0), Some(7));
    assert_eq!(marks.spread(0xff).lanes(), 0xff);
    assert_eq!(marks.spread(0xff).origin(5), Some(1));
    assert_eq!(marks.spread(0xf00).lanes(), 0);
}

#[test]
fn registers_are_of_frames_and_lanes() {
    let mut poison = Poison::default();
    poison.write(0, 64, !0, &lanes(0b111));
    // A call passes it on for some lanes, and the callee's result comes back.
    poison.copy((0, 64), (1, 128), 4, 0b011);
    assert_eq!(poison.marks(1, 128).lanes(), 0b011);
    poison.transfer(1, 2, 0b001);
    assert_eq!(poison.marks(1, 128).lanes(), 0b010);
    assert_eq!(poison.marks(2, 128).lanes(), 0b001);
    poison.leave_frame(1, !0);
    assert_eq!(poison.marks(1, 128), Marks::NONE);
    // Written in lane 1, gone in lane 2.
    poison.write(0, 64, 0b010, &Marks::NONE);
    poison.exit(0b100);
    assert_eq!(poison.marks(0, 64).lanes(), 0b001);
    poison.exit(0b001);
    assert!(poison.is_empty());
    poison.write_local(3, 8, 4, Some(5));
    poison.write_local(3, 8, 2, None);
    assert_eq!(poison.read_local(3, 8, 2), None);
    assert_eq!(poison.read_local(3, 8, 4), Some(5));
    assert_eq!(poison.read_local(2, 8, 4), None);
    poison.exit(0b1000);
    assert!(poison.is_empty());
}

#[test]
fn registers_of_an_operation_in_flight_are_poison_to_those_who_read_them() {
    let mut shared = machine(false);
    let offsets = [16; 32];
    let origin = shared
        .in_flight(&read(&offsets))
        .expect("values are followed");
    let mut poison = Poison::default();
    poison.write(0, 8, u32::MAX, &lanes(0b101));
    for operation in [4, 5] {
        poison.hold(0, 8, operation, origin);
    }
    assert_eq!(poison.marks(0, 8).lanes(), u32::MAX);
    assert_eq!(poison.contents(0, 8), lanes(0b101));
    assert_eq!(poison.marks(1, 8), Marks::NONE, "of another frame");
    // What is written meanwhile is what the register holds.
    poison.write(0, 8, u32::MAX, &Marks::NONE);
    assert!(!poison.has_values() && !poison.is_empty());
    poison.release(4);
    let (_, number) = poison.marks(0, 8).first_of(1).expect("a later one has it");
    assert_eq!(poison.origin(number), origin);
    shared.decide(origin, decision(DecisionKind::Output));
    let found = shared.overdue(false);
    assert!(
        matches!(found, Some(Finding::InFlight { access, .. }) if access.site == 9),
        "{found:?}"
    );
    poison.release(5);
    assert!(poison.is_empty());
    // Without the check there is no such origin.
    let unchecked = SharedMemory::new(1, 32, 512, true, false);
    assert_eq!(unchecked.in_flight(&read(&offsets)), None);
}
