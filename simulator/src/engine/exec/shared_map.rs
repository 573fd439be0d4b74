//! Which bytes of a block's shared memory belong to a variable. The layout leaves gaps between variables, so that an access that runs
//! over the end of one is found out instead of reaching the next.

use crate::engine::program::Program;

/// The variables of a kernel, and its dynamic memory, by address.
#[derive(Debug, Default)]
pub(crate) struct SharedMap {
    ranges: Vec<SharedRange>,
}

/// The bytes of one variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SharedRange {
    pub start: u32,
    pub end: u32,
    /// Its number in the program; `None` for dynamic memory, or for all where nobody asks.
    pub variable: Option<u32>,
}

impl SharedRange {
    /// Whether bytes lie inside.
    pub fn holds(&self, offset: u64, size: u64) -> bool {
        offset >= u64::from(self.start) && offset + size <= u64::from(self.end)
    }

    /// Bytes between an address and the range; 0 inside.
    fn distance(&self, offset: u64) -> u64 {
        let (start, end) = (u64::from(self.start), u64::from(self.end));
        start.saturating_sub(offset).max(offset.saturating_sub(end))
    }

    /// What a report calls it.
    pub fn name(&self, program: &Program) -> String {
        match self.variable {
            Some(number) => format!("shared variable `{}`", program.shared[number as usize].name),
            None => "dynamic shared memory".to_owned(),
        }
    }
}

impl SharedMap {
    /// A map in which all bytes may be accessed.
    pub fn whole(bytes: u32) -> SharedMap {
        SharedMap {
            ranges: vec![SharedRange {
                start: 0,
                end: bytes,
                variable: None,
            }],
        }
    }

    /// The variables of a kernel, given by its function's number, and its dynamic memory behind them.
    pub fn of_kernel(program: &Program, entry: u32, dynamic: std::ops::Range<u32>) -> SharedMap {
        let variables = program.shared.iter().enumerate();
        let mut ranges: Vec<SharedRange> = variables
            .filter(|(_, variable)| variable.kernels.contains(&entry))
            .map(|(number, variable)| SharedRange {
                start: variable.address,
                end: variable.address.saturating_add(variable.size),
                variable: Some(number as u32),
            })
            .collect();
        if !dynamic.is_empty() {
            ranges.push(SharedRange {
                start: dynamic.start,
                end: dynamic.end,
                variable: None,
            });
        }
        ranges.sort_unstable_by_key(|range| range.start);
        SharedMap { ranges }
    }

    /// The range that holds all bytes, if there is only one.
    pub fn only(&self) -> Option<SharedRange> {
        match self.ranges.as_slice() {
            [range] => Some(*range),
            _ => None,
        }
    }

    /// The range that bytes lie in.
    pub fn holding(&self, offset: u64, size: u64) -> Option<SharedRange> {
        let after = self
            .ranges
            .partition_point(|range| u64::from(range.start) <= offset);
        let range = *self.ranges.get(after.checked_sub(1)?)?;
        range.holds(offset, size).then_some(range)
    }

    /// The range that an address lies in or is nearest to.
    pub fn nearest(&self, offset: u64) -> Option<SharedRange> {
        let ranges = self.ranges.iter();
        ranges.min_by_key(|range| range.distance(offset)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::program::SharedVariable;

    #[test]
    fn bytes_lie_in_one_variable_or_in_none() {
        let variable = |name: &str, address, size, kernels: &[u32]| SharedVariable {
            name: name.into(),
            address,
            size,
            kernels: kernels.into(),
        };
        let program = Program {
            shared: vec![
                variable("b", 128, 64, &[0, 1]),
                variable("a", 0, 64, &[0]),
                variable("other", 64, 64, &[1]),
            ],
            ..Program::default()
        };
        let map = SharedMap::of_kernel(&program, 0, 256..512);
        let name = |range: Option<SharedRange>| range.map(|range| range.name(&program));
        assert_eq!(name(map.holding(0, 64)), Some("shared variable `a`".into()));
        assert_eq!(
            name(map.holding(188, 4)),
            Some("shared variable `b`".into())
        );
        assert_eq!(
            name(map.holding(508, 4)),
            Some("dynamic shared memory".into())
        );
        for (offset, size) in [(64, 4), (60, 8), (127, 1), (192, 1), (510, 4), (512, 1)] {
            assert_eq!(map.holding(offset, size), None, "{size} bytes at {offset}");
        }
        assert_eq!(name(map.nearest(66)), Some("shared variable `a`".into()));
        assert_eq!(name(map.nearest(120)), Some("shared variable `b`".into()));
        assert_eq!(map.only(), None);
        assert_eq!(
            SharedMap::whole(100).holding(0, 100),
            SharedMap::whole(100).only()
        );
    }
}
