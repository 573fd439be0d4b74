//! What no barrier or ordinary fence makes coherent inside one grid: loads of the read-only path beside writes of the same bytes, and two
//! virtual addresses of the same physical memory (PTX ISA, "Proxies"; CUDA C++ Programming Guide, "Virtual Aliasing Support").

use std::collections::HashMap;

use super::touched::{Class, PAGE, Touched, TouchedPage};

/// Bytes that a grid writes, and reads or writes by another path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Incoherent {
    /// The address of the first byte that is written.
    pub written: u64,
    /// The address of the same byte by the other path.
    pub other: u64,
    /// What is done there.
    pub class: Class,
}

impl Incoherent {
    /// Whether both paths have one address, and differ in the kind of load.
    pub fn is_read_only_path(&self) -> bool {
        self.written == self.other
    }
}

/// A page of physical memory: a number of the memory, and the page's number in it.
pub type PhysicalPage = (u64, u64);

/// The first such bytes in what the parts of a grid have touched. `aliased` gives the physical memory of a page that is mapped more than
/// once; it says nothing of others, and nothing at all of a grid that has executed `fence.proxy.alias`.
pub fn incoherent(
    parts: &[&Touched],
    aliased: impl Fn(u64) -> Option<PhysicalPage>,
) -> Option<Incoherent> {
    let pages = || parts.iter().flat_map(|part| &part.pages);
    let mut read_only: HashMap<u64, Vec<&TouchedPage>> = HashMap::new();
    let mut physical: HashMap<PhysicalPage, Vec<&TouchedPage>> = HashMap::new();
    for page in pages() {
        if page.class == Class::ReadOnly {
            read_only.entry(page.page).or_default().push(page);
        }
        if let Some(place) = aliased(page.page) {
            physical.entry(place).or_default().push(page);
        }
    }
    if read_only.is_empty() && physical.is_empty() {
        return None;
    }
    let writes = || pages().filter(|page| page.class.writes());
    let by_read_only_path = writes().find_map(|written| {
        let reads = read_only.get(&written.page)?;
        let other = reads.iter().find(|read| read.meets(written).is_some())?;
        found(written, other)
    });
    by_read_only_path.or_else(|| {
        writes().find_map(|written| {
            let all = physical.get(&aliased(written.page)?)?;
            let mut elsewhere = all.iter().filter(|other| other.page != written.page);
            elsewhere.find_map(|other| found(written, other))
        })
    })
}

/// The first byte that both pages have, of whatever addresses.
fn found(written: &TouchedPage, other: &TouchedPage) -> Option<Incoherent> {
    let byte = written.first_common(other)?;
    Some(Incoherent {
        written: written.page * PAGE + byte,
        other: other.page * PAGE + byte,
        class: other.class,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pages 0 and 8 are one, and so are 1 and 9.
    fn two_mappings(page: u64) -> Option<PhysicalPage> {
        Some((7, page % 8)).filter(|_| page % 8 < 2)
    }

    #[test]
    fn bytes_that_are_written_are_not_read_by_the_read_only_path() {
        let reads = Touched::range(Class::ReadOnly, 100, 8);
        for (writes, expected) in [
            (Touched::range(Class::Write, 108, 8), None),
            (Touched::range(Class::Read, 100, 8), None),
            (Touched::range(Class::DeviceWrite, 104, 8), Some(104)),
        ] {
            let here = incoherent(&[&reads, &writes], |_| None);
            assert_eq!(here.map(|found| found.written), expected);
            assert!(here.is_none_or(|found| found.is_read_only_path()));
        }
    }

    #[test]
    fn one_byte_is_not_used_at_two_addresses() {
        let written = Touched::range(Class::Write, PAGE + 16, 4);
        for (other, expected) in [
            (Touched::range(Class::Read, PAGE + 16, 4), None),
            (Touched::range(Class::Read, 9 * PAGE + 20, 4), None),
            (Touched::range(Class::Read, 8 * PAGE + 16, 4), None),
            (
                Touched::range(Class::Read, 9 * PAGE + 18, 4),
                Some(9 * PAGE + 18),
            ),
        ] {
            let here = incoherent(&[&other, &written], two_mappings);
            assert_eq!(here.map(|found| found.other), expected);
        }
        let both_read = [Class::Read, Class::ReadOnly].map(|class| Touched::range(class, 0, 4));
        let elsewhere = Touched::range(Class::Read, 8 * PAGE, 4);
        let parts = [&both_read[0], &both_read[1], &elsewhere];
        assert_eq!(incoherent(&parts, two_mappings), None);
    }
}
