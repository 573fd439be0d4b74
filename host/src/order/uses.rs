//! Who uses a piece of memory, in which stream, so that uses in different streams are put in order.
//!
//! The rule: a use must come after every earlier use that it conflicts with (same bytes, at least one of the two writes). Within a
//! stream that holds by itself. Across streams the new use's stream waits for an event recorded in the other stream *now*, which is
//! after the earlier use; nothing is recorded for uses that nobody in another stream follows, which is what makes one stream free.
//!
//! The fast path is one comparison. The allocation's *owner* holds a stream's number as long as every use so far was in that stream; a launch
//! there needs nothing else. Why that is sound without a lock: a write needs `&mut` and so happens-after every call that had the
//! buffer before, while reads by two threads in two streams do not conflict; the entry that stands for the owner is kept as a *write of
//! everything*, so a read that slips in by the fast path while another thread enters its stream is covered by it. Where exclusive
//! use of the whole cannot be relied on (halves of a split buffer, buffers that a graph holds) the owner is `NOBODY`, and the check
//! and the enqueueing happen together under the device's order lock.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Code, Error, Result};
use crate::stream::{Mark, StreamInner};
use warpsmith_driver::raw;

/// No stream has this number: every use takes the slow path.
pub(crate) const NOBODY: u64 = 0;

/// More entries than this are merged into one.
const MOST: usize = 24;

/// Bytes of an allocation, and what is done to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Access {
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) write: bool,
}

impl Access {
    pub(crate) const EVERYTHING: Access = Access {
        start: 0,
        end: u64::MAX,
        write: true,
    };

    pub(crate) fn conflicts(&self, other: &Access) -> bool {
        (self.write || other.write) && self.start < other.end && other.start < self.end
    }

    pub(crate) fn covers(&self, other: &Access) -> bool {
        self.start <= other.start && other.end <= self.end && (self.write || !other.write)
    }
}

/// The entries of [`Uses`]; generic over what stands for a place in an order, so that graphs (nodes) and streams share the rule.
#[derive(Debug)]
pub(crate) struct Entries<P> {
    list: Vec<(P, Access)>,
}

impl<P> Default for Entries<P> {
    fn default() -> Self {
        Entries { list: Vec::new() }
    }
}

impl<P: Clone + PartialEq> Entries<P> {
    /// The places that an access at `place` must come after.
    pub(crate) fn before(&self, place: &P, access: &Access) -> Vec<P> {
        let mut before: Vec<P> = Vec::new();
        for (other, earlier) in &self.list {
            if other != place && earlier.conflicts(access) && !before.contains(other) {
                before.push(other.clone());
            }
        }
        before
    }

    /// Notes an access that has been put in order.
    pub(crate) fn add(&mut self, place: &P, access: Access) {
        if access.write {
            // Everything that this write covers comes before it: whoever follows the write follows those too.
            self.list.retain(|(_, earlier)| {
                !(access.start <= earlier.start && earlier.end <= access.end)
            });
        } else if self
            .list
            .iter()
            .any(|(other, earlier)| other == place && earlier.covers(&access))
        {
            return;
        }
        self.list.push((place.clone(), access));
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    pub(crate) fn clear(&mut self) {
        self.list.clear();
    }

    pub(crate) fn places(&self) -> Vec<P> {
        let mut places: Vec<P> = Vec::new();
        for (place, _) in &self.list {
            if !places.contains(place) {
                places.push(place.clone());
            }
        }
        places
    }

    /// Puts other places for the known ones; an entry whose place gets none goes.
    fn replace(&mut self, other: impl Fn(&P) -> Option<P>) {
        let old = std::mem::take(&mut self.list);
        self.list = old
            .into_iter()
            .filter_map(|(place, access)| Some((other(&place)?, access)))
            .collect();
    }

    /// The only place, if there is only one.
    fn only(&self) -> Option<&P> {
        let (first, _) = self.list.first()?;
        self.list
            .iter()
            .all(|(place, _)| place == first)
            .then_some(first)
    }

    pub(crate) fn writes(&self) -> bool {
        self.list.iter().any(|(_, access)| access.write)
    }
}

/// A place in the order of what a device does.
#[derive(Clone, Debug)]
pub(crate) enum Place {
    /// The end of a stream as it is when somebody asks.
    Stream(Arc<StreamInner>),
    /// A certain moment of a stream.
    Mark(Arc<Mark>),
}

impl PartialEq for Place {
    fn eq(&self, other: &Place) -> bool {
        match (self, other) {
            (Place::Stream(one), Place::Stream(other)) => Arc::ptr_eq(one, other),
            (Place::Mark(one), Place::Mark(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }
}

impl Place {
    /// Lets later work in `follower` follow this. The caller holds the order lock.
    pub(crate) fn lead(&self, follower: raw::CUstream) -> Result<()> {
        match self {
            Place::Stream(stream) => stream.lead(follower),
            Place::Mark(mark) => mark.lead(follower),
        }
    }

    /// Whether it is past. The caller holds the order lock.
    pub(crate) fn is_done(&self) -> Result<bool> {
        match self {
            Place::Stream(stream) => stream.past_is_done(),
            Place::Mark(mark) => mark.is_done(),
        }
    }

    /// An event for it, for the caller to destroy; `None` if it is past. The caller holds the order lock.
    pub(crate) fn event(&self) -> Result<Option<raw::CUevent>> {
        match self {
            Place::Stream(stream) => stream.event(),
            Place::Mark(mark) => mark.event(),
        }
    }
}

/// The uses of one allocation, touched under the device's order lock only; `owner` beside it is the fast path.
#[derive(Default)]
pub(crate) struct Uses {
    pub(crate) entries: Entries<Place>,
    /// Held by a graph: the owner stays `NOBODY`.
    pub(crate) in_graphs: bool,
    /// Managed memory on a device that cannot share it: which streams may use it.
    pub(crate) attached: Attached,
}

/// Who may use managed memory on a device that cannot share it with the host.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) enum Attached {
    #[default]
    Everywhere,
    HostOnly,
    OneStream(u64),
}

impl Uses {
    /// Puts an access by work that is about to be enqueued in `stream` after all that it conflicts with. `whole` promises that no
    /// view of a part of the memory exists beside the one that is used.
    pub(crate) fn order(
        &mut self,
        owner: &AtomicU64,
        stream: &Arc<StreamInner>,
        access: Access,
        whole: bool,
    ) -> Result<()> {
        self.check_attachment(stream)?;
        let place = &Place::Stream(stream.clone());
        if self.entries.len() >= MOST {
            for other in self.entries.before(place, &Access::EVERYTHING) {
                other.lead(stream.raw)?;
            }
            self.entries.clear();
            self.entries.add(place, Access::EVERYTHING);
        } else {
            for other in self.entries.before(place, &access) {
                other.lead(stream.raw)?;
            }
            self.entries.add(place, access);
        }
        let sole = whole
            && !self.in_graphs
            && self.attached == Attached::Everywhere
            && self.entries.only() == Some(place);
        if sole {
            self.entries.clear();
            self.entries.add(place, Access::EVERYTHING);
        }
        owner.store(if sole { stream.number } else { NOBODY }, Ordering::Release);
        Ok(())
    }

    /// Fixes the uses so far at this moment: what their streams do later is none of the memory's business. For when parts go
    /// separate ways. The caller holds the order lock, and nobody else uses the memory.
    pub(crate) fn fix(&mut self) -> Result<()> {
        let mut fixed: Vec<(Place, Option<Place>)> = Vec::new();
        for place in self.entries.places() {
            let mark = match &place {
                Place::Stream(stream) => stream.mark()?.map(|mark| Place::Mark(Arc::new(mark))),
                Place::Mark(mark) if mark.is_done()? => None,
                Place::Mark(_) => Some(place.clone()),
            };
            fixed.push((place, mark));
        }
        self.entries.replace(|place| {
            fixed
                .iter()
                .find(|(old, _)| old == place)
                .and_then(|(_, new)| new.clone())
        });
        Ok(())
    }

    pub(crate) fn check_attachment(&self, stream: &StreamInner) -> Result<()> {
        match self.attached {
            Attached::Everywhere => Ok(()),
            Attached::OneStream(number) if number == stream.number => Ok(()),
            Attached::OneStream(_) | Attached::HostOnly => Err(Error::misuse(
                "UnifiedBuffer",
                Code::NOT_PERMITTED,
                "the memory is attached to the host or to another stream, and this device cannot share it",
                "attach it to this stream or globally first",
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(start: u64, end: u64) -> Access {
        Access {
            start,
            end,
            write: false,
        }
    }

    fn write(start: u64, end: u64) -> Access {
        Access {
            start,
            end,
            write: true,
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
        // A partial write leaves the entries, a full one replaces them.
        entries.add(&'d', write(0, 4));
        assert_eq!(entries.before(&'e', &write(4, 8)), ['a', 'b', 'c']);
        entries.add(&'e', write(0, 8));
        assert_eq!(entries.places(), ['e']);
    }

    #[test]
    fn disjoint_parts_do_not_meet() {
        let mut entries = Entries::default();
        entries.add(&1, write(0, 8));
        assert!(entries.before(&2, &write(8, 16)).is_empty());
        assert_eq!(entries.before(&2, &write(7, 16)), [1]);
    }

    #[test]
    fn the_same_place_is_in_order_by_itself() {
        let mut entries = Entries::default();
        entries.add(&1, write(0, 8));
        assert!(entries.before(&1, &write(0, 8)).is_empty());
        entries.add(&1, read(0, 8));
        assert_eq!(entries.len(), 1);
    }

    /// Against a slow model that keeps every access for ever: whoever the model says must come before is reached through waits.
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
        for _ in 0..200 {
            let mut entries = Entries::default();
            let mut all: Vec<(u64, Access)> = Vec::new();
            // reached[i]: the accesses (by number) that are ordered before access i.
            let mut reached: Vec<std::collections::HashSet<usize>> = Vec::new();
            for i in 0..30 {
                let place = next(4);
                let start = next(6);
                let access = Access {
                    start,
                    end: start + 1 + next(4),
                    write: next(2) == 0,
                };
                let mut mine = std::collections::HashSet::new();
                let mut places = entries.before(&place, &access);
                places.push(place);
                for (j, (other, _)) in all.iter().enumerate() {
                    // A wait for a place is a wait for all that was enqueued there.
                    if places.contains(other) {
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
                entries.add(&place, access);
                all.push((place, access));
                reached.push(mine);
            }
        }
    }
}
