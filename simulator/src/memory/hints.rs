//! What a program has said about managed memory. Hints move nothing here: host and device share the memory. They are remembered, so that
//! queries answer what was said.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Mutex;

use super::allocation::{AllocationInfo, AllocationKind, AllocationState};
use super::space::Memory;
use crate::error::{Result, code};
use crate::sync::lock;
use warpsmith_abi::{
    CU_DEVICE_CPU, CU_DEVICE_INVALID, CUdevice, CUmem_advise as Advice,
    CUmem_range_attribute as RangeAttribute, CUmemLocationType as LocationType,
};

/// Bytes for which hints are kept together.
const PAGE: usize = 4096;

/// Where a page may be wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Device(CUdevice),
    Host,
    /// A node of the host's memory.
    HostNode(i32),
}

impl Place {
    /// As a number of a device, for what knows no nodes.
    fn device(self) -> CUdevice {
        match self {
            Place::Device(device) => device,
            Place::Host | Place::HostNode(_) => CU_DEVICE_CPU,
        }
    }

    /// As a location's type and number; the host has none.
    fn location(self) -> (LocationType, i32) {
        match self {
            Place::Device(device) => (LocationType::CU_MEM_LOCATION_TYPE_DEVICE, device),
            Place::Host => (LocationType::CU_MEM_LOCATION_TYPE_HOST, 0),
            Place::HostNode(node) => (LocationType::CU_MEM_LOCATION_TYPE_HOST_NUMA, node),
        }
    }
}

/// What was said about one page.
#[derive(Clone, Default, PartialEq, Eq)]
struct Hints {
    read_mostly: bool,
    preferred: Option<Place>,
    accessed_by: Vec<Place>,
    prefetched: Option<Place>,
}

/// By page of live memory.
static HINTS: Mutex<BTreeMap<usize, Hints>> = Mutex::new(BTreeMap::new());

/// A range inside of a live managed allocation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ManagedRange {
    address: usize,
    bytes: usize,
    pub(crate) allocation: AllocationInfo,
}

impl ManagedRange {
    /// The range, which ends at the latest with the last page of its allocation.
    ///
    /// # Errors
    ///
    /// Invalid value if it is empty or does not lie in a live managed allocation.
    pub(crate) fn of(address: usize, bytes: usize) -> Result<Self> {
        let (allocation, detail) = Memory::global()
            .detail(address)
            .ok_or(code::INVALID_VALUE)?;
        let end = allocation.base + allocation.len.next_multiple_of(PAGE);
        let inside =
            allocation.state == AllocationState::Live && bytes <= end.saturating_sub(address);
        if detail.kind != AllocationKind::Managed || !inside || bytes == 0 {
            return Err(code::INVALID_VALUE);
        }
        Ok(Self {
            address,
            bytes,
            allocation,
        })
    }

    fn pages(&self) -> Range<usize> {
        (self.address / PAGE)..(self.address + self.bytes).div_ceil(PAGE)
    }

    /// Remembers a prefetch.
    pub(crate) fn prefetch(&self, to: Place) {
        let mut hints = lock(&HINTS);
        for page in self.pages() {
            hints.entry(page).or_default().prefetched = Some(to);
        }
    }

    /// Remembers an advice; `place` counts where the advice names one ([`names_place`]).
    ///
    /// # Errors
    ///
    /// Invalid value if there is no such advice, or none of accesses from one node of the host.
    pub(crate) fn advise(&self, advice: Advice, place: Place) -> Result {
        let accesses = matches!(
            advice,
            Advice::CU_MEM_ADVISE_SET_ACCESSED_BY | Advice::CU_MEM_ADVISE_UNSET_ACCESSED_BY
        );
        if accesses && matches!(place, Place::HostNode(_)) {
            return Err(code::INVALID_VALUE);
        }
        let mut hints = lock(&HINTS);
        for page in self.pages() {
            let hints = hints.entry(page).or_default();
            match advice {
                Advice::CU_MEM_ADVISE_SET_READ_MOSTLY => hints.read_mostly = true,
                Advice::CU_MEM_ADVISE_UNSET_READ_MOSTLY => hints.read_mostly = false,
                Advice::CU_MEM_ADVISE_SET_PREFERRED_LOCATION => hints.preferred = Some(place),
                Advice::CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION => hints.preferred = None,
                Advice::CU_MEM_ADVISE_SET_ACCESSED_BY => {
                    hints.accessed_by.retain(|&other| other != place);
                    hints.accessed_by.push(place);
                }
                Advice::CU_MEM_ADVISE_UNSET_ACCESSED_BY => {
                    hints.accessed_by.retain(|&other| other != place);
                }
                _ => return Err(code::INVALID_VALUE),
            }
        }
        Ok(())
    }

    /// An attribute of the whole range, as at most `count` integers.
    pub(crate) fn attribute(&self, attribute: RangeAttribute, count: usize) -> Result<Vec<i32>> {
        let hints = lock(&HINTS);
        let pages: Vec<Hints> = self
            .pages()
            .map(|page| hints.get(&page).cloned().unwrap_or_default())
            .collect();
        let uniform = |get: fn(&Hints) -> Option<Place>| {
            let first = get(&pages[0]);
            first.filter(|_| pages.iter().all(|hints| get(hints) == first))
        };
        let device = |place: Option<Place>| vec![place.map_or(CU_DEVICE_INVALID, Place::device)];
        let nowhere = (LocationType::CU_MEM_LOCATION_TYPE_INVALID, 0);
        let location = |place: Option<Place>| place.map_or(nowhere, Place::location);
        let kind = |place| vec![location(place).0.0 as i32];
        let number = |place| vec![location(place).1];
        let preferred = || uniform(|hints| hints.preferred);
        let prefetched = || uniform(|hints| hints.prefetched);
        let mut answer = match attribute {
            RangeAttribute::CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY => {
                vec![i32::from(pages.iter().all(|hints| hints.read_mostly))]
            }
            RangeAttribute::CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION => device(preferred()),
            RangeAttribute::CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION => device(prefetched()),
            RangeAttribute::CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE => kind(preferred()),
            RangeAttribute::CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID => number(preferred()),
            RangeAttribute::CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE => {
                kind(prefetched())
            }
            RangeAttribute::CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID => {
                number(prefetched())
            }
            RangeAttribute::CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY => {
                let mut list = pages[0].accessed_by.clone();
                list.retain(|place| pages.iter().all(|hints| hints.accessed_by.contains(place)));
                let mut list: Vec<_> = list.into_iter().map(Place::device).collect();
                list.resize(count, CU_DEVICE_INVALID);
                list
            }
            _ => return Err(code::INVALID_VALUE),
        };
        answer.truncate(count);
        Ok(answer)
    }
}

/// The allocation is no more.
pub(super) fn forget(allocation: &AllocationInfo) {
    let pages = allocation.base / PAGE..(allocation.base + allocation.len).div_ceil(PAGE);
    lock(&HINTS).extract_if(pages, |_, _| true).for_each(drop);
}

/// Whether an advice is about a place.
pub(crate) fn names_place(advice: Advice) -> bool {
    !matches!(
        advice,
        Advice::CU_MEM_ADVISE_SET_READ_MOSTLY
            | Advice::CU_MEM_ADVISE_UNSET_READ_MOSTLY
            | Advice::CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION
    )
}
