//! Random work, whose conflicts are found by looking at each pair and each path between them.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::*;

/// Numbers without pattern.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) as usize % limit
    }
}

/// A piece of the model: the numbers of those directly before it, and what it touches.
struct Unit {
    before: Vec<usize>,
    place: Place,
    class: Class,
    bytes: (u64, u64),
}

/// An item of a line: units, and the place by which others come after it.
struct Item {
    units: Vec<usize>,
    /// All units that come before whatever comes after the item.
    last: Vec<usize>,
    place: Place,
}

const BASE: u64 = 0x10_0000;

/// Work in some lines, of which items wait for items of others, and some are graphs, in an order in which it may run.
fn work(random: &mut Random) -> Vec<Unit> {
    let lines: Vec<_> = (0..2 + random.below(3)).map(|_| Line::new()).collect();
    let mut items: Vec<Vec<Item>> = lines.iter().map(|_| Vec::new()).collect();
    let mut known: Vec<Clock> = lines.iter().map(|_| Clock::new()).collect();
    let mut units: Vec<Unit> = Vec::new();
    for number in 0..4 + random.below(12) {
        let line = random.below(lines.len());
        let mut before: Vec<usize> = items[line]
            .last()
            .map_or(Vec::new(), |item| item.last.clone());
        for _ in 0..random.below(3) {
            let other = random.below(lines.len());
            if other != line && !items[other].is_empty() {
                let item = &items[other][random.below(items[other].len())];
                item.place.enter(&mut known[line]);
                before.extend(&item.last);
            }
        }
        let index = items[line].len() as u64 + 1;
        let place = Place::of_item(&lines[line], index, index - 1, &known[line], number as u64);
        let first = units.len();
        let mut inner: Vec<Place> = Vec::new();
        let nodes = if random.below(3) == 0 {
            1 + random.below(4)
        } else {
            0
        };
        for node in 0..nodes.max(1) {
            let edges: Vec<usize> = (0..node).filter(|_| random.below(2) == 0).collect();
            let at = match nodes {
                0 => place.clone(),
                _ => place.inside(edges.iter().map(|&edge| &inner[edge])),
            };
            inner.push(at.clone());
            let start = BASE + random.below(3) as u64 * PAGE + random.below(24) as u64;
            let mut all_before = before.clone();
            all_before.extend(edges.iter().map(|edge| first + edge));
            units.push(Unit {
                before: all_before,
                place: at,
                class: if random.below(2) == 0 {
                    Class::Read
                } else {
                    Class::Write
                },
                bytes: (start, 1 + random.below(6) as u64),
            });
        }
        let all: Vec<usize> = (first..units.len()).collect();
        let mut last = all.clone();
        last.extend(before);
        items[line].push(Item {
            units: all,
            last,
            place,
        });
    }
    assert!(items.iter().flatten().all(|item| !item.units.is_empty()));
    units
}

/// Each unit with all that comes before it.
fn all_before(units: &[Unit]) -> Vec<BTreeSet<usize>> {
    let mut all: Vec<BTreeSet<usize>> = Vec::new();
    for unit in units {
        let mut before: BTreeSet<usize> = unit.before.iter().copied().collect();
        for &direct in &unit.before {
            before.extend(&all[direct]);
        }
        all.push(before);
    }
    all
}

/// An order in which the units may run.
fn some_order(random: &mut Random, before: &[BTreeSet<usize>]) -> Vec<usize> {
    let mut left: Vec<usize> = (0..before.len()).collect();
    let mut order: Vec<usize> = Vec::new();
    while !left.is_empty() {
        let ready: Vec<usize> = (left.iter().copied())
            .filter(|&unit| before[unit].iter().all(|earlier| order.contains(earlier)))
            .collect();
        let next = ready[random.below(ready.len())];
        left.retain(|&unit| unit != next);
        order.push(next);
    }
    order
}

fn piece(place: &Place) -> Arc<Piece> {
    let (what, at) = (String::new(), String::new());
    Arc::new(Piece::new(
        what,
        at,
        place.clone(),
        Agent::default(),
        Arc::default(),
    ))
}

#[test]
fn conflicts_are_those_of_pairs_without_a_path() {
    let (mut with, mut without) = (0, 0);
    for seed in 1..4000u64 {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let units = work(&mut random);
        let before = all_before(&units);
        let is_ordered =
            |one: usize, other: usize| before[one].contains(&other) || before[other].contains(&one);
        let overlap = |one: &Unit, other: &Unit| {
            let ((start, bytes), (other_start, other_bytes)) = (one.bytes, other.bytes);
            start < other_start + other_bytes && other_start < start + bytes
        };
        let writes = |unit: &Unit| unit.class == Class::Write;
        let mut pairs: BTreeSet<(usize, usize)> = BTreeSet::new();
        for one in 0..units.len() {
            for other in 0..one {
                let conflict = overlap(&units[one], &units[other])
                    && (writes(&units[one]) || writes(&units[other]));
                if conflict && !is_ordered(one, other) {
                    pairs.insert((other, one));
                }
                assert_eq!(
                    is_ordered(one, other),
                    units[one].place.is_before(&units[other].place)
                        || units[other].place.is_before(&units[one].place),
                    "seed {seed}: units {other} and {one}"
                );
            }
        }
        let mut shadow = Shadow::default();
        let pieces: Vec<_> = units.iter().map(|unit| piece(&unit.place)).collect();
        let number = |piece: &Arc<Piece>| {
            pieces
                .iter()
                .position(|known| Arc::ptr_eq(known, piece))
                .unwrap()
        };
        let mut found = BTreeSet::new();
        for unit in some_order(&mut random, &before) {
            let (start, bytes) = units[unit].bytes;
            let touched = Touched::range(units[unit].class, start, bytes);
            let conflict = shadow.end(&pieces[unit], &touched, Others::default(), |_| false);
            if let Some(conflict) = conflict {
                let (one, other) = (number(&conflict.earlier), number(&conflict.later));
                found.insert((one.min(other), one.max(other)));
            }
        }
        assert!(
            found.is_subset(&pairs),
            "seed {seed}: {found:?} of {pairs:?}"
        );
        assert_eq!(found.is_empty(), pairs.is_empty(), "seed {seed}: {pairs:?}");
        with += usize::from(!pairs.is_empty());
        without += usize::from(pairs.is_empty());
    }
    assert!(
        with > 100 && without > 100,
        "{with} with and {without} without conflicts"
    );
}

#[test]
fn a_recorder_collects_the_bytes_that_it_is_told() {
    for seed in 1..200u64 {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut told = BTreeSet::new();
        let mut recorders = [Recorder::default(), Recorder::default()];
        for _ in 0..random.below(40) {
            let start = BASE + random.below(3 * PAGE as usize) as u64;
            let bytes = match random.below(4) {
                0 => random.below(2 * PAGE as usize),
                _ => random.below(130),
            } as u64;
            recorders[random.below(2)].note(Class::Write, start, bytes);
            told.extend(start..start + bytes);
        }
        let [mut one, other] = recorders;
        one.merge(&other);
        let mut collected = BTreeSet::new();
        for page in one.finish().pages {
            for byte in 0..PAGE {
                if page.bits()[byte as usize / 64] >> (byte % 64) & 1 != 0 {
                    collected.insert(page.page * PAGE + byte);
                }
            }
        }
        assert_eq!(collected, told, "seed {seed}");
    }
}

#[test]
fn a_class_is_only_forgotten_for_one_that_conflicts_with_as_much() {
    assert!(Class::Write.covers(Class::Read) && Class::Write.covers(Class::SystemWrite));
    assert!(Class::Read.covers(Class::DeviceRead) && !Class::Read.covers(Class::DeviceWrite));
    assert!(!Class::SystemWrite.covers(Class::Write) && !Class::DeviceWrite.covers(Class::Read));
    assert!(Class::Read.conflicts(Class::DeviceWrite, true));
    assert!(!Class::DeviceRead.conflicts(Class::DeviceWrite, true));
    assert!(Class::DeviceRead.conflicts(Class::DeviceWrite, false));
    assert!(!Class::SystemRead.conflicts(Class::SystemWrite, false));
    assert!(!Class::WordWrite.conflicts(Class::DeviceRead, true));
    assert!(Class::WordWrite.conflicts(Class::WordRead, true));
}

/// A piece of a line of its own, which comes after nothing.
fn lone(class: Class, address: u64) -> (Arc<Piece>, Touched) {
    let touched = Touched::range(class, address, 4);
    let place = Place::of_item(&Line::new(), 1, 0, &Clock::new(), 1);
    let piece = Piece::new(
        String::new(),
        String::new(),
        place,
        Agent::default(),
        Arc::default(),
    );
    (Arc::new(piece.with_words(&touched)), touched)
}

#[test]
fn pieces_that_may_have_spoken_are_let_pass_but_not_by_a_free() {
    let both = |first: Class, second: Class| {
        let mut shadow = Shadow::default();
        let (one, mut data) = lone(first, BASE);
        data.add(Class::Write, BASE + 64, 4);
        let (other, mut more) = lone(second, BASE);
        more.add(Class::Read, BASE + 64, 4);
        let first = shadow.end(&one, &data, Others::default(), |_| false);
        let second = shadow.end(&other, &more, Others::default(), |_| false);
        assert!(first.is_none());
        let (free, _) = lone(Class::Free, BASE);
        let freed = shadow.free(&free, BASE, 128, false);
        assert!(freed.is_some(), "nothing comes before the free");
        second.is_none()
    };
    assert!(both(Class::SystemWrite, Class::SystemRead));
    assert!(both(Class::DeviceWrite, Class::DeviceRead));
    assert!(both(Class::WordWrite, Class::SystemRead));
    assert!(
        !both(Class::SystemRead, Class::SystemRead),
        "nobody said anything"
    );
    assert!(!both(Class::Read, Class::Read));
}

#[test]
fn a_piece_that_runs_excuses_only_what_may_have_heard_of_it() {
    for (since, is_excused) in [(2, false), (1, true)] {
        let mut shadow = Shadow::default();
        let (speaker, word) = lone(Class::DeviceWrite, BASE + PAGE);
        assert_eq!(speaker.ended, 1);
        let quiet = Others::default();
        assert!(shadow.end(&speaker, &word, quiet, |_| false).is_none());
        let mut known = Clock::new();
        speaker.place.enter(&mut known);
        let touched = Touched::range(Class::Write, BASE, 4);
        let [one, other] = [(); 2].map(|()| {
            let place = Place::of_item(&Line::new(), 1, 0, &known, 3);
            Arc::new(Piece::new(
                String::new(),
                String::new(),
                place,
                Agent::default(),
                Arc::default(),
            ))
        });
        assert!(shadow.end(&one, &touched, quiet, |_| false).is_none());
        let others = Others {
            run_since: Some(since),
            ..quiet
        };
        let found = shadow.end(&other, &touched, others, |_| false);
        assert_eq!(found.is_none(), is_excused);
    }
}

#[test]
fn what_all_work_comes_after_is_forgotten_when_there_is_much() {
    let mut shadow = Shadow::default();
    let (piece, _) = lone(Class::Write, BASE);
    let touched = Touched::range(Class::Write, BASE, (1 << 14) * PAGE);
    assert!(
        shadow
            .end(&piece, &touched, Others::default(), |_| false)
            .is_none()
    );
    let mut known = Clock::new();
    let (other, one_word) = lone(Class::Write, BASE);
    assert!(
        shadow
            .end(&other, &one_word, Others::default(), |_| false)
            .is_some()
    );
    piece.place.enter(&mut known);
    other.place.enter(&mut known);
    shadow.forget_known(&known);
    let (third, one_word) = lone(Class::Write, BASE);
    assert!(
        shadow
            .end(&third, &one_word, Others::default(), |_| false)
            .is_none()
    );
}
