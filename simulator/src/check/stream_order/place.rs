//! The place of a piece of work in the order of all work.

use std::sync::Arc;

use super::clock::{Clock, Line};

/// Where an item of work stands: its number in its line, and what comes before it. An item of a graph stands inside of the launch's
/// own item, too, after which everything comes that comes after the launch.
#[derive(Clone, Debug)]
pub struct Place {
    /// The item itself, then those around it.
    positions: Vec<(Arc<Line>, u64)>,
    clock: Arc<Clock>,
    /// Counts submissions: when it was submitted.
    pub submitted: u64,
    /// What a report calls it: "stream 0x40".
    pub label: Arc<str>,
}

impl Place {
    /// An item of a line; `known` is what it comes after of other lines, `own` the last item of its own line that it comes after.
    pub fn of_item(line: &Arc<Line>, item: u64, own: u64, known: &Clock, submitted: u64) -> Place {
        let mut clock = known.clone();
        clock.note(line, own);
        Place {
            positions: vec![(Arc::clone(line), item)],
            clock: Arc::new(clock),
            submitted,
            label: Arc::default(),
        }
    }

    /// The same place, which reports call so.
    #[must_use]
    pub fn labelled(self, label: &Arc<str>) -> Place {
        Place {
            label: Arc::clone(label),
            ..self
        }
    }

    /// The first item of a line of its own inside of this one, after all that this one comes after, and after these.
    pub fn inside<'a>(&self, after: impl IntoIterator<Item = &'a Place>) -> Place {
        let mut clock = Clock::clone(&self.clock);
        for place in after {
            place.enter(&mut clock);
        }
        let mut positions = vec![(Line::new(), 1)];
        positions.extend(self.positions.iter().cloned());
        Place {
            positions,
            clock: Arc::new(clock),
            submitted: self.submitted,
            label: Arc::clone(&self.label),
        }
    }

    /// The same item, after all that a clock comes after.
    #[must_use]
    pub fn knowing(&self, known: &Clock) -> Place {
        let mut clock = Clock::clone(&self.clock);
        clock.join(known);
        Place {
            clock: Arc::new(clock),
            ..self.clone()
        }
    }

    /// Adds it, and what comes before it, to what a point comes after.
    pub fn enter(&self, clock: &mut Clock) {
        let (line, item) = &self.positions[0];
        clock.add(line, *item, &self.clock);
    }

    /// What it comes after.
    pub fn clock(&self) -> &Arc<Clock> {
        &self.clock
    }

    /// Whether all of it comes before another place.
    pub fn is_before(&self, other: &Place) -> bool {
        self.is_known_to(&other.clock)
    }

    /// Whether a point with this clock comes after all of it.
    pub fn is_known_to(&self, clock: &Clock) -> bool {
        let mut positions = self.positions.iter();
        positions.any(|(line, item)| clock.holds(line, *item))
    }

    /// Whether both are the same item, or one is inside of the other.
    pub fn overlaps(&self, other: &Place) -> bool {
        let holds = |outer: &Place, inner: &Place| {
            let (line, item) = &outer.positions[0];
            let mut positions = inner.positions.iter();
            positions.any(|(other, number)| Arc::ptr_eq(line, other) && number == item)
        };
        holds(self, other) || holds(other, self)
    }
}
