//! The rule of order, as a list of uses: a use comes after every earlier use that it conflicts with.

use smallvec::{SmallVec, smallvec};

use super::access::Access;

/// The uses of one allocation that later ones may have to follow. `P` stands for a position in an order: a stream's, a graph's node.
#[derive(Clone, Debug)]
pub(crate) struct Entries<P> {
    /// Most memory is used in one stream alone: one entry needs no memory of its own.
    list: SmallVec<[Entry<P>; 1]>,
}

#[derive(Clone, Debug)]
struct Entry<P> {
    position: P,
    access: Access,
}

impl<P> Default for Entries<P> {
    fn default() -> Self {
        Entries {
            list: SmallVec::new(),
        }
    }
}

impl<P> Entries<P> {
    /// One access, the first.
    pub(crate) fn first(position: P, access: Access) -> Self {
        Entries {
            list: smallvec![Entry { position, access }],
        }
    }
}

impl<P: Clone + PartialEq> Entries<P> {
    /// The positions that an access at `position` must come after.
    pub(crate) fn before(&self, position: &P, access: &Access) -> Vec<P> {
        let mut before = self.conflicting(access);
        before.retain(|earlier| earlier != position);
        before
    }

    /// The positions of all accesses that conflict with this one.
    pub(crate) fn conflicting(&self, access: &Access) -> Vec<P> {
        let mut conflicting: Vec<P> = Vec::new();
        for earlier in &self.list {
            if earlier.access.conflicts(access) && !conflicting.contains(&earlier.position) {
                conflicting.push(earlier.position.clone());
            }
        }
        conflicting
    }

    /// Notes an access that has been put in order.
    pub(crate) fn add(&mut self, position: &P, access: Access) {
        if access.writes() {
            // Everything that this write covers comes before it: whoever follows the write follows those too.
            self.list.retain(|earlier| !access.covers(&earlier.access));
        } else if self
            .list
            .iter()
            .any(|earlier| earlier.position == *position && earlier.access.covers(&access))
        {
            return;
        }
        self.list.push(Entry {
            position: position.clone(),
            access,
        });
    }

    /// Adds an access to everything, which comes after all others and stands for them from here on. The first such one stays: it may be that of
    /// the stream that owned the memory, in which another thread may be enqueuing a use without noting it.
    pub(crate) fn replace_all(&mut self, position: &P, access: Access) {
        let of_owner = self
            .list
            .iter()
            .position(|earlier| earlier.access == access);
        let of_owner = of_owner.map(|index| self.list.swap_remove(index));
        self.list.clear();
        self.list
            .extend(of_owner.filter(|earlier| earlier.position != *position));
        self.list.push(Entry {
            position: position.clone(),
            access,
        });
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    pub(crate) fn clear(&mut self) {
        self.list.clear();
    }

    pub(crate) fn positions(&self) -> Vec<P> {
        let mut positions: Vec<P> = Vec::new();
        for Entry { position, .. } in &self.list {
            if !positions.contains(position) {
                positions.push(position.clone());
            }
        }
        positions
    }

    /// The positions, which are not needed here any more.
    pub(crate) fn into_positions(self) -> SmallVec<[P; 1]> {
        let mut positions = SmallVec::new();
        for Entry { position, .. } in self.list {
            if !positions.contains(&position) {
                positions.push(position);
            }
        }
        positions
    }

    /// Replaces the positions; an entry whose position gets none is dropped.
    pub(crate) fn replace(&mut self, other: impl Fn(&P) -> Option<P>) {
        let old = std::mem::take(&mut self.list);
        self.list = old
            .into_iter()
            .filter_map(|Entry { position, access }| {
                let position = other(&position)?;
                Some(Entry { position, access })
            })
            .collect();
    }

    /// The only position, if there is only one.
    pub(crate) fn only(&self) -> Option<&P> {
        let first = &self.list.first()?.position;
        self.list
            .iter()
            .all(|entry| entry.position == *first)
            .then_some(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::access::AccessKind;

    fn read(start: u64, end: u64) -> Access {
        Access {
            start,
            end,
            kind: AccessKind::Read,
        }
    }

    fn write(start: u64, end: u64) -> Access {
        Access {
            start,
            end,
            kind: AccessKind::Write,
        }
    }

    #[test]
    fn reads_do_not_wait_for_reads_but_a_write_waits_for_all() {
        let mut entries = Entries::default();
        entries.add(&'a', write(0, 8));
        assert_eq!(entries.before(&'b', &read(0, 8)), ['a']);
        entries.add(&'b', read(0, 8));
        assert_eq!(entries.before(&'c', &read(0, 8)), ['a']);
        entries.add(&'c', read(0, 8));
        assert_eq!(entries.before(&'d', &write(0, 4)), ['a', 'b', 'c']);
        // A partial write leaves the entries, a full one repositions them.
        entries.add(&'d', write(0, 4));
        assert_eq!(entries.before(&'e', &write(4, 8)), ['a', 'b', 'c']);
        entries.add(&'e', write(0, 8));
        assert_eq!(entries.positions(), ['e']);
    }

    #[test]
    fn disjoint_parts_need_no_order() {
        let mut entries = Entries::default();
        entries.add(&1, write(0, 8));
        assert!(entries.before(&2, &write(8, 16)).is_empty());
        assert_eq!(entries.before(&2, &write(7, 16)), [1]);
    }

    #[test]
    fn the_same_position_is_in_order_by_itself() {
        let mut entries = Entries::default();
        entries.add(&1, write(0, 8));
        assert!(entries.before(&1, &write(0, 8)).is_empty());
        entries.add(&1, read(0, 8));
        assert_eq!(entries.len(), 1);
    }

    /// Compares with a slow model that keeps every access: each access that the model orders before another is reached through waits.
    #[test]
    fn what_stands_for_all_leaves_the_owner() {
        let mut entries = Entries::first('a', Access::EVERYTHING);
        entries.add(&'b', read(0, 8));
        entries.replace_all(&'c', Access::EVERYTHING);
        assert_eq!(entries.positions(), ['a', 'c']);
        entries.add(&'b', read(0, 8));
        entries.replace_all(&'d', Access::EVERYTHING);
        assert_eq!(entries.positions(), ['a', 'd']);
        entries.replace_all(&'a', Access::EVERYTHING);
        assert_eq!(entries.positions(), ['a']);
        // Whoever has it exclusively knows of no other thread.
        entries.replace_all(&'b', Access::EVERYTHING);
        entries.add(&'e', Access::EVERYTHING);
        assert_eq!(entries.positions(), ['e']);
    }

    #[test]
    fn nothing_is_forgotten() {
        // A small generator, so that the test needs no crate.
        let mut state = 0x2545_f491_4f6c_dd1d_u64;
        let mut next = |n: u64| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state % n
        };
        for _ in 0..warpsmith_testkit::cases(200) {
            let mut entries = Entries::default();
            let mut all: Vec<(u64, Access)> = Vec::new();
            // reached[i]: the accesses (by number) that are ordered before access i.
            let mut reached: Vec<std::collections::HashSet<usize>> = Vec::new();
            for i in 0..30 {
                let position = next(4);
                let start = next(6);
                let access = Access {
                    start,
                    end: start + 1 + next(4),
                    kind: if next(2) == 0 {
                        AccessKind::Write
                    } else {
                        AccessKind::Read
                    },
                };
                let mut mine = std::collections::HashSet::new();
                let mut positions = entries.before(&position, &access);
                positions.push(position);
                for (j, (other, _)) in all.iter().enumerate() {
                    // A wait for a position is a wait for all that was enqueued there.
                    if positions.contains(other) {
                        mine.insert(j);
                        mine.extend(reached[j].iter().copied());
                    }
                }
                for (j, (_, earlier)) in all.iter().enumerate() {
                    assert!(
                        !earlier.conflicts(&access) || mine.contains(&j),
                        "access {i} does not follow {j}"
                    );
                }
                entries.add(&position, access);
                all.push((position, access));
                reached.push(mine);
            }
        }
    }
}
