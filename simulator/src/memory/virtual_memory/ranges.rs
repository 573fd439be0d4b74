//! Reserved ranges of addresses, and what is mapped into them.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, RwLock};

use super::GRANULARITY;
use super::mappable::Mappable;
use super::physical::Physical;
use super::rights::Rights;
use crate::check::stream_order::{PAGE, PhysicalPage};
use crate::engine::{AccessError, Extent};
use crate::error::{Result, code};
use crate::memory::access::Access;
use crate::memory::location::MemoryLocation;
use crate::memory::space::Memory;
use crate::sync::{read, write};

/// How many reservations that were given back are remembered for reports.
const REMEMBERED: usize = 64;

/// All reservations and mappings of the process.
struct Ranges {
    /// Bytes of each reservation, by its address.
    reserved: BTreeMap<usize, usize>,
    /// By address. Each lies in one reservation, and none overlaps another.
    mapped: BTreeMap<usize, Mapping>,
    /// The last ones that were given back, with their bytes.
    given_back: VecDeque<(usize, usize)>,
}

/// Physical memory or a multicast object at an address.
struct Mapping {
    shows: Mappable,
    rights: Rights,
}

static RANGES: RwLock<Ranges> = RwLock::new(Ranges {
    reserved: BTreeMap::new(),
    mapped: BTreeMap::new(),
    given_back: VecDeque::new(),
});

impl Mapping {
    fn bytes(&self) -> usize {
        self.shows.bytes()
    }
}

impl Ranges {
    /// The reservation around `address`, with its bytes.
    fn reservation(&self, address: usize) -> Option<(usize, usize)> {
        let (&base, &bytes) = self.reserved.range(..=address).next_back()?;
        (address - base < bytes).then_some((base, bytes))
    }

    fn mapping(&self, address: usize) -> Option<(usize, &Mapping)> {
        let (&base, mapping) = self.mapped.range(..=address).next_back()?;
        (address - base < mapping.bytes()).then_some((base, mapping))
    }

    /// The addresses of the mappings that `[address, address + bytes)` touches.
    fn touched(&self, address: usize, bytes: usize) -> Vec<usize> {
        let first = self.mapping(address).map_or(address, |(base, _)| base);
        let end = address.saturating_add(bytes);
        self.mapped
            .range(first..end)
            .map(|(&base, _)| base)
            .collect()
    }

    /// As [`touched`](Self::touched), if the range cuts none of them.
    fn whole(&self, address: usize, bytes: usize) -> Option<Vec<usize>> {
        let all = self.touched(address, bytes);
        let end = address.checked_add(bytes)?;
        all.iter()
            .all(|base| *base >= address && base + self.mapped[base].bytes() <= end)
            .then_some(all)
    }
}

/// Reserves `bytes` addresses, the first of them a multiple of `align` and of [`GRANULARITY`]. It takes no memory.
///
/// # Errors
///
/// Invalid value for sizes and alignments that are not allowed; out of memory if there are not so many addresses left.
pub(crate) fn reserve(bytes: usize, align: usize) -> Result<usize> {
    let aligned = align == 0 || align.is_power_of_two();
    if bytes == 0 || !bytes.is_multiple_of(GRANULARITY) || !aligned {
        return Err(code::INVALID_VALUE);
    }
    let base = Memory::global()
        .take_addresses(bytes, align.max(GRANULARITY))
        .ok_or(code::OUT_OF_MEMORY)?;
    write(&RANGES).reserved.insert(base, bytes);
    Ok(base)
}

/// Gives a reservation back, as a whole.
///
/// # Errors
///
/// Invalid value if there is none with this address and size, or if something is mapped into it.
pub(crate) fn free_range(address: usize, bytes: usize) -> Result {
    let mut ranges = write(&RANGES);
    let is_whole = ranges.reserved.get(&address) == Some(&bytes);
    if !is_whole || !ranges.touched(address, bytes).is_empty() {
        return Err(code::INVALID_VALUE);
    }
    ranges.reserved.remove(&address);
    if ranges.given_back.len() == REMEMBERED {
        ranges.given_back.pop_front();
    }
    ranges.given_back.push_back((address, bytes));
    Memory::global().give_addresses_back(address, bytes);
    Ok(())
}

/// Maps physical memory or a multicast object at an address. Nobody may access it there until [`set_access`].
///
/// # Errors
///
/// Invalid value if the addresses are not all reserved by one reservation and free, or not aligned; not supported if `bytes` is not
/// all of it; out of memory if the system refuses.
pub(crate) fn map(address: usize, bytes: usize, shows: Mappable) -> Result {
    if bytes == 0 || !address.is_multiple_of(GRANULARITY) {
        return Err(code::INVALID_VALUE);
    }
    if bytes != shows.bytes() {
        return Err(code::NOT_SUPPORTED);
    }
    let mut ranges = write(&RANGES);
    let (base, reserved) = ranges.reservation(address).ok_or(code::INVALID_VALUE)?;
    if bytes > reserved - (address - base) || !ranges.touched(address, bytes).is_empty() {
        return Err(code::INVALID_VALUE);
    }
    Memory::global()
        .map(address, bytes, shows.device(), shows.file())
        .ok_or(code::OUT_OF_MEMORY)?;
    let rights = Rights::default();
    ranges.mapped.insert(address, Mapping { shows, rights });
    Ok(())
}

/// Ends all mappings in a range; their addresses stay reserved.
///
/// # Errors
///
/// Invalid value if the range is not part of a reservation, or if it cuts a mapping.
pub(crate) fn unmap(address: usize, bytes: usize) -> Result {
    let gone: Vec<Mapping> = {
        let mut ranges = write(&RANGES);
        let whole = ranges.whole(address, bytes).ok_or(code::INVALID_VALUE)?;
        let (base, reserved) = ranges.reservation(address).ok_or(code::INVALID_VALUE)?;
        if bytes == 0 || bytes > reserved - (address - base) {
            return Err(code::INVALID_VALUE);
        }
        let mut gone = Vec::new();
        for base in whole {
            gone.extend(ranges.mapped.remove(&base));
            Memory::global().unmap(base);
        }
        gone
    };
    // Outside of the lock: a mapping may be the last owner of its memory.
    drop(gone);
    Ok(())
}

/// Sets what may be done from each of these locations with a range, which is mapped without gaps.
///
/// # Errors
///
/// Invalid value if it is not, or if the range cuts a mapping; not supported for the host's access to memory of a device; invalid device for a
/// device that is not of the team of a multicast object.
pub(crate) fn set_access(
    address: usize,
    bytes: usize,
    grants: &[(MemoryLocation, Access)],
) -> Result {
    let mut ranges = write(&RANGES);
    let whole = ranges.whole(address, bytes).ok_or(code::INVALID_VALUE)?;
    let mapped: usize = whole.iter().map(|base| ranges.mapped[base].bytes()).sum();
    if bytes == 0 || mapped != bytes {
        return Err(code::INVALID_VALUE);
    }
    let on_device = |base| {
        let memory = ranges.mapped[base].shows.memory();
        memory.is_none_or(|memory| matches!(memory.properties.location, MemoryLocation::Device(_)))
    };
    let for_host =
        |grant: &(MemoryLocation, Access)| matches!(grant.0, MemoryLocation::Host { .. });
    if grants.iter().any(for_host) && whole.iter().any(on_device) {
        return Err(code::NOT_SUPPORTED);
    }
    for base in &whole {
        let Mappable::Multicast(object) = &ranges.mapped[base].shows else {
            continue;
        };
        for (location, access) in grants {
            if let (MemoryLocation::Device(device), Access::Read | Access::ReadWrite) =
                (location, access)
            {
                object.require_member("cuMemSetAccess", *device)?;
            }
        }
    }
    for base in whole {
        let mapping = ranges.mapped.get_mut(&base).ok_or(code::INVALID_VALUE)?;
        for &(location, access) in grants {
            mapping.rights.set(location, access);
        }
    }
    Memory::global().changed();
    Ok(())
}

/// What may be done from `location` at an address.
///
/// # Errors
///
/// Invalid value if nothing is mapped there.
pub(crate) fn access_of(address: usize, location: MemoryLocation) -> Result<Access> {
    let ranges = read(&RANGES);
    let (_, mapping) = ranges.mapping(address).ok_or(code::INVALID_VALUE)?;
    Ok(mapping.rights.of(location))
}

/// What is mapped at an address.
pub(crate) fn mapped_at(address: usize) -> Option<Mappable> {
    let ranges = read(&RANGES);
    let (_, mapping) = ranges.mapping(address)?;
    Some(mapping.shows.clone())
}

/// The physical memory that an address shows, and which of its bytes.
pub(crate) fn memory_at(address: usize) -> Option<(Arc<Physical>, usize)> {
    let ranges = read(&RANGES);
    let (base, mapping) = ranges.mapping(address)?;
    Some((Arc::clone(mapping.shows.memory()?), address - base))
}

/// The mappings of physical memory that is mapped more than once. What is bound to a multicast object that is mapped counts as mapped once
/// more, at the addresses at which the engine reaches it.
#[derive(Default)]
pub(crate) struct AliasedPages {
    /// Address, bytes, and a number of the memory.
    mappings: Vec<(u64, u64, u64)>,
}

impl AliasedPages {
    /// Those that there are now.
    pub(crate) fn now() -> AliasedPages {
        let ranges = read(&RANGES);
        let described = |base: usize, memory: &Arc<Physical>| {
            let number = Arc::as_ptr(memory).addr() as u64;
            (base as u64, memory.bytes() as u64, number)
        };
        let mut mappings = Vec::new();
        for (&base, mapping) in &ranges.mapped {
            match &mapping.shows {
                Mappable::Memory(memory) => mappings.push(described(base, memory)),
                Mappable::Multicast(object) => mappings.extend(
                    (object.bound().iter())
                        .map(|replica| described(replica.window, &replica.memory)),
                ),
            }
        }
        // A multicast object that is mapped twice has its replicas once.
        mappings.sort_unstable();
        mappings.dedup();
        let mut times: HashMap<u64, u32> = HashMap::new();
        for &(.., number) in &mappings {
            *times.entry(number).or_default() += 1;
        }
        mappings.retain(|(.., number)| times[number] > 1);
        AliasedPages { mappings }
    }

    /// The physical memory of a page at this address, by a number, and the page's number in it.
    pub(crate) fn physical(&self, address: u64) -> Option<PhysicalPage> {
        let mut mappings = self.mappings.iter();
        mappings.find_map(|&(base, bytes, memory)| {
            let offset = address.wrapping_sub(base);
            (offset < bytes).then_some((memory, offset / PAGE))
        })
    }
}

/// The reservation around an address: its base and its bytes.
pub(crate) fn reserved_around(address: usize) -> Option<(usize, usize)> {
    read(&RANGES).reservation(address)
}

/// Whether a device may access `size` bytes, in one or several mappings without gaps, and in which range around them without further
/// questions. Without a device: whether any may, as a copy is done by one that may.
pub(in crate::memory) fn validate(
    address: usize,
    size: usize,
    writes: bool,
    device: Option<usize>,
) -> std::result::Result<Extent, AccessError> {
    let ranges = read(&RANGES);
    let end = address.checked_add(size).ok_or(AccessError::OutOfBounds)?;
    let mut extent: Option<Extent> = None;
    let mut next = address;
    loop {
        let (base, mapping) = ranges.mapping(next).ok_or(match extent {
            None => AccessError::Unmapped,
            Some(_) => AccessError::OutOfBounds,
        })?;
        if mapping.shows.memory().is_none() {
            return Err(AccessError::Multicast);
        }
        let right = match device {
            Some(device) => mapping.rights.of(MemoryLocation::Device(device)),
            None => mapping.rights.strongest(),
        };
        match right {
            Access::None => return Err(AccessError::NotGranted),
            Access::Read if writes => return Err(AccessError::ReadOnly),
            Access::Read | Access::ReadWrite => {}
        }
        next = base + mapping.bytes();
        let so_far = extent.get_or_insert(Extent {
            base: base as u64,
            end: 0,
            writable: true,
        });
        so_far.end = next as u64;
        so_far.writable &= right == Access::ReadWrite;
        if next >= end {
            return Ok(*so_far);
        }
    }
}

/// Where the engine reaches the bytes that a multicast address stands for, one address for each device of the team.
pub(in crate::memory) fn replicas(
    address: usize,
    size: usize,
    writes: bool,
    device: usize,
) -> std::result::Result<Vec<u64>, AccessError> {
    let ranges = read(&RANGES);
    let (base, mapping) = (ranges.mapping(address)).ok_or(AccessError::NotMulticast)?;
    let Mappable::Multicast(object) = &mapping.shows else {
        return Err(AccessError::NotMulticast);
    };
    match mapping.rights.of(MemoryLocation::Device(device)) {
        Access::None => return Err(AccessError::NotGranted),
        Access::Read if writes => return Err(AccessError::ReadOnly),
        Access::Read | Access::ReadWrite => {}
    }
    let offset = address - base;
    if size > mapping.bytes() - offset {
        return Err(AccessError::OutOfBounds);
    }
    object.replicas(offset, size)
}

/// What is known about an address at which nothing is mapped, with the range that it is said of.
pub(in crate::memory) fn describe(address: usize) -> Option<(usize, usize, &'static str)> {
    let ranges = read(&RANGES);
    if let Some((base, bytes)) = ranges.reservation(address) {
        let what = "range of addresses reserved by cuMemAddressReserve, where nothing is mapped";
        return Some((base, bytes, what));
    }
    let holds = |&&(base, bytes): &&(usize, usize)| address.wrapping_sub(base) < bytes;
    let (base, bytes) = *ranges.given_back.iter().rev().find(holds)?;
    let what = "range of addresses that cuMemAddressFree has given back";
    Some((base, bytes, what))
}
