//! Which bytes a piece of work has touched, and how.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

use warpsmith_isa::effect::Scope;

/// Bytes of a page, by which touched bytes are kept. No two allocations have bytes on one page.
pub const PAGE: u64 = 4096;

const WORDS: usize = PAGE as usize / 64;

/// How bytes were touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Class {
    /// Read by a plain access, or a copy of many bytes.
    Read,
    /// Written by a plain access, or a copy of many bytes.
    Write,
    /// Read by a strong access whose scope is the device or less than the system.
    DeviceRead,
    /// Written, or read and written, by such an access.
    DeviceWrite,
    /// Read by a strong access of system scope.
    SystemRead,
    /// Written, or read and written, by such an access.
    SystemWrite,
    /// Read by a copy of a few bytes.
    WordRead,
    /// Written by a copy or a fill of a few bytes.
    WordWrite,
    /// Allocated.
    Allocate,
    /// Freed.
    Free,
    /// Read by a plain access of the read-only path (`ld.global.nc`).
    ReadOnly,
}

impl Class {
    pub(super) const ALL: [Class; 11] = [
        Class::Read,
        Class::Write,
        Class::DeviceRead,
        Class::DeviceWrite,
        Class::SystemRead,
        Class::SystemWrite,
        Class::WordRead,
        Class::WordWrite,
        Class::Allocate,
        Class::Free,
        Class::ReadOnly,
    ];

    /// Of an access by a thread; strong ones of less than the device are plain to other grids.
    #[inline(always)]
    pub fn of_access(writes: bool, strong: bool, scope: Scope) -> Class {
        match (strong, scope, writes) {
            (true, Scope::System, false) => Class::SystemRead,
            (true, Scope::System, true) => Class::SystemWrite,
            (true, Scope::Device, false) => Class::DeviceRead,
            (true, Scope::Device, true) => Class::DeviceWrite,
            (_, _, false) => Class::Read,
            (_, _, true) => Class::Write,
        }
    }

    /// Whether only the existence of the bytes is touched.
    pub fn is_lifetime(self) -> bool {
        matches!(self, Class::Allocate | Class::Free)
    }

    pub(super) fn writes(self) -> bool {
        !matches!(
            self,
            Class::Read | Class::ReadOnly | Class::DeviceRead | Class::SystemRead | Class::WordRead
        )
    }

    /// Whether others may hear of what was done before, by the value.
    pub(super) fn speaks(self) -> bool {
        matches!(
            self,
            Class::DeviceWrite | Class::SystemWrite | Class::WordWrite
        )
    }

    /// Whether it may hear of what others have done. An atomic operation reads, too.
    pub(super) fn hears(self) -> bool {
        matches!(
            self,
            Class::DeviceRead
                | Class::DeviceWrite
                | Class::SystemRead
                | Class::SystemWrite
                | Class::WordRead
        )
    }

    pub(super) fn is_of_device_scope(self) -> bool {
        matches!(self, Class::DeviceRead | Class::DeviceWrite)
    }

    fn is_strong(self) -> bool {
        self.is_of_device_scope() || matches!(self, Class::SystemRead | Class::SystemWrite)
    }

    /// Whether two unordered pieces may not touch a byte so.
    pub(super) fn conflicts(self, other: Class, same_device: bool) -> bool {
        if self.is_lifetime() || other.is_lifetime() {
            return true;
        }
        if !self.writes() && !other.writes() {
            return false;
        }
        let word = |class| matches!(class, Class::WordRead | Class::WordWrite);
        if (word(self) && other.is_strong()) || (word(other) && self.is_strong()) {
            return false;
        }
        let meet = self.is_strong() && other.is_strong();
        let scoped = self.is_of_device_scope() || other.is_of_device_scope();
        !meet || (scoped && !same_device)
    }

    /// Whether whoever conflicts with `earlier` conflicts with this, too, so that `earlier` need not be remembered.
    pub(super) fn covers(self, earlier: Class) -> bool {
        let as_bad =
            |other: Class, same| !earlier.conflicts(other, same) || self.conflicts(other, same);
        Class::ALL
            .into_iter()
            .all(|other| as_bad(other, true) && as_bad(other, false))
    }

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Class::Read | Class::ReadOnly | Class::WordRead => "reads",
            Class::Write | Class::WordWrite => "writes",
            Class::DeviceRead | Class::SystemRead => "reads (by a strong access)",
            Class::DeviceWrite | Class::SystemWrite => "writes (by a strong access)",
            Class::Allocate => "allocates",
            Class::Free => "frees",
        }
    }
}

/// Bytes of a page, a bit for each.
pub type Bits = [u64; WORDS];

const FULL: Bits = [u64::MAX; WORDS];

/// Bytes of one page that were touched in one way.
#[derive(Clone, Debug)]
pub struct TouchedPage {
    /// The number of the page: an address divided by [`PAGE`].
    pub page: u64,
    /// How.
    pub class: Class,
    /// Which; `None` for all.
    pub(super) bits: Option<Arc<Bits>>,
}

impl TouchedPage {
    pub(super) fn bits(&self) -> &Bits {
        self.bits.as_deref().unwrap_or(&FULL)
    }

    /// The first byte that both have, as an address.
    pub(super) fn meets(&self, other: &TouchedPage) -> Option<u64> {
        if self.page != other.page {
            return None;
        }
        Some(self.page * PAGE + self.first_common(other)?)
    }

    /// The first byte of the page that both have, whatever the pages' numbers.
    pub(super) fn first_common(&self, other: &TouchedPage) -> Option<u64> {
        let (one, two) = (self.bits(), other.bits());
        let word = (0..WORDS).find(|&word| one[word] & two[word] != 0)?;
        let bit = (one[word] & two[word]).trailing_zeros();
        Some(word as u64 * 64 + u64::from(bit))
    }

    /// Takes out what another has; false if nothing is left.
    pub(super) fn lose(&mut self, other: &TouchedPage) -> bool {
        let Some(theirs) = other.bits.as_deref() else {
            return false;
        };
        let mine = self.bits();
        let left: Bits = std::array::from_fn(|word| mine[word] & !theirs[word]);
        if left == [0; WORDS] {
            return false;
        }
        if left != *mine {
            self.bits = Some(Arc::new(left));
        }
        true
    }
}

/// All that a piece has touched, by page.
#[derive(Clone, Debug, Default)]
pub struct Touched {
    /// For each page and class, which bytes.
    pub pages: Vec<TouchedPage>,
}

impl Touched {
    /// Some bytes in a row.
    pub fn range(class: Class, address: u64, bytes: u64) -> Touched {
        let mut touched = Touched::default();
        touched.add(class, address, bytes);
        touched
    }

    /// The numbers of the pages.
    pub fn pages(&self) -> impl Iterator<Item = u64> {
        self.pages.iter().map(|page| page.page)
    }

    /// Adds bytes in a row.
    pub fn add(&mut self, class: Class, address: u64, bytes: u64) {
        if bytes == 0 {
            return;
        }
        let end = address + bytes;
        for page in address / PAGE..end.div_ceil(PAGE) {
            let start = page * PAGE;
            let (from, to) = (address.max(start) - start, end.min(start + PAGE) - start);
            let bits = (to - from < PAGE).then(|| {
                let mut bits = [0; WORDS];
                set(&mut bits, from, to);
                Arc::new(bits)
            });
            self.pages.push(TouchedPage { page, class, bits });
        }
    }
}

/// Sets the bits from one byte of a page to before another.
#[inline]
fn set(bits: &mut Bits, from: u64, to: u64) {
    let (mut word, last) = ((from / 64) as usize, ((to - 1) / 64) as usize);
    let mut mask = u64::MAX << (from % 64);
    while word < last {
        bits[word] |= mask;
        mask = u64::MAX;
        word += 1;
    }
    bits[word] |= mask & (u64::MAX >> (63 - (to - 1) % 64));
}

/// Numbers that are spread well enough already by one multiplication.
#[derive(Default)]
struct Spread(u64);

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = spread(self.0 ^ number);
    }
}

#[inline(always)]
fn spread(number: u64) -> u64 {
    let product = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    product ^ product >> 32
}

/// Pages that were found last.
const REMEMBERED: usize = 64;

/// Collects what the threads of a grid touch.
#[derive(Debug)]
pub struct Recorder {
    /// The place of a page and class in `pages`.
    places: HashMap<u64, u32, BuildHasherDefault<Spread>>,
    pages: Vec<(u64, Bits)>,
    last: [(u64, u32); REMEMBERED],
}

impl std::fmt::Debug for Spread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Spread")
    }
}

impl Default for Recorder {
    fn default() -> Self {
        Recorder {
            places: HashMap::default(),
            pages: Vec::new(),
            last: [(u64::MAX, 0); REMEMBERED],
        }
    }
}

impl Recorder {
    /// Bytes in a row are touched.
    #[inline]
    pub fn note(&mut self, class: Class, address: u64, bytes: u64) {
        let offset = address % PAGE;
        if offset + bytes <= PAGE && bytes > 0 {
            let bits = self.bits(address / PAGE, class);
            set(bits, offset, offset + bytes);
        } else {
            self.note_pages(class, address, bytes);
        }
    }

    #[cold]
    fn note_pages(&mut self, class: Class, address: u64, bytes: u64) {
        let end = address + bytes;
        let mut from = address;
        while from < end {
            let to = end.min((from / PAGE + 1) * PAGE);
            self.note(class, from, to - from);
            from = to;
        }
    }

    #[inline]
    fn bits(&mut self, page: u64, class: Class) -> &mut Bits {
        let key = page << 4 | class as u64;
        let slot = spread(key) as usize % REMEMBERED;
        let (known, place) = self.last[slot];
        let place = if known == key {
            place
        } else {
            self.find(key, slot)
        };
        &mut self.pages[place as usize].1
    }

    #[inline(never)]
    fn find(&mut self, key: u64, slot: usize) -> u32 {
        let fresh = self.pages.len() as u32;
        let place = *self.places.entry(key).or_insert(fresh);
        if place == fresh {
            self.pages.push((key, [0; WORDS]));
        }
        self.last[slot] = (key, place);
        place
    }

    /// Adds what another has collected.
    pub fn merge(&mut self, other: &Recorder) {
        for (key, bits) in &other.pages {
            let place = self.find(*key, spread(*key) as usize % REMEMBERED);
            let all = &mut self.pages[place as usize].1;
            (0..WORDS).for_each(|word| all[word] |= bits[word]);
        }
    }

    /// What has been collected, in the order of addresses.
    pub fn finish(mut self) -> Touched {
        self.pages.sort_unstable_by_key(|(key, _)| *key);
        let pages = self.pages.into_iter().map(|(key, bits)| TouchedPage {
            page: key >> 4,
            class: Class::ALL[(key & 15) as usize],
            bits: (bits != FULL).then(|| Arc::new(bits)),
        });
        Touched {
            pages: pages.collect(),
        }
    }
}
