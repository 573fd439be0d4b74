//! Cells for the pages of a memory that are touched.

use std::ops::ControlFlow;

use rustc_hash::FxHashMap;

use super::{Cells, refined, width};

/// Bytes of a page.
const PAGE: u64 = 4096;

/// The cells of a page: each of the same width.
#[derive(Debug)]
struct Page<C> {
    /// Bytes that a cell stands for: 4, 2 or 1.
    grain: u32,
    cells: Box<[C]>,
}

/// Cells for words at any addresses, kept by page once a page is touched. Narrow accesses make the cells of their own pages
/// narrower.
#[derive(Debug)]
pub(in super::super) struct PagedCells<C> {
    untouched: C,
    pages: FxHashMap<u64, Page<C>>,
}

impl<C: Copy> PagedCells<C> {
    /// For any memory.
    pub fn new(untouched: C) -> PagedCells<C> {
        PagedCells {
            untouched,
            pages: FxHashMap::default(),
        }
    }

    /// The page of an address.
    fn page(&mut self, address: u64) -> &mut Page<C> {
        let untouched = self.untouched;
        self.pages.entry(address / PAGE).or_insert_with(|| Page {
            grain: 4,
            cells: vec![untouched; PAGE as usize / 4].into(),
        })
    }
}

/// The parts of a range, each in one page: where it starts, and its bytes.
fn parts(address: u64, bytes: u32) -> impl Iterator<Item = (u64, u32)> {
    let end = address + u64::from(bytes);
    let mut at = address;
    std::iter::from_fn(move || {
        let start = at;
        at = end.min((start / PAGE + 1) * PAGE);
        (start < end).then_some((start, (at - start) as u32))
    })
}

impl<C: Copy> Cells<C> for PagedCells<C> {
    type Address = u64;

    fn clear(&mut self) {
        self.pages.clear();
    }

    fn narrow(&mut self, address: u64, bytes: u32, mut copy: impl FnMut(&C) -> C) {
        for (start, bytes) in parts(address, bytes) {
            let need = width((start % PAGE) as u32, bytes);
            let page = self.page(start);
            if need < page.grain {
                page.cells = refined(&page.cells, page.grain / need, &mut copy).into();
                page.grain = need;
            }
        }
    }

    fn visit<B>(
        &mut self,
        address: u64,
        bytes: u32,
        mut visit: impl FnMut(u64, &mut C) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        for (start, bytes) in parts(address, bytes) {
            let page = self.page(start);
            let grain = page.grain;
            let inside = (start % PAGE) as u32;
            let (first, end) = (inside / grain, (inside + bytes).div_ceil(grain));
            let mut at = start - u64::from(inside % grain);
            for cell in &mut page.cells[first as usize..end as usize] {
                visit(at, cell)?;
                at += u64::from(grain);
            }
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first bytes of the cells of a range, and what is in them.
    fn seen(cells: &mut PagedCells<u32>, address: u64, bytes: u32) -> Vec<(u64, u32)> {
        let mut seen = Vec::new();
        let flow = cells.visit::<()>(address, bytes, |at, cell| {
            seen.push((at, *cell));
            *cell += 1;
            ControlFlow::Continue(())
        });
        assert_eq!(flow, ControlFlow::Continue(()));
        seen
    }

    #[test]
    fn ranges_cross_pages_and_pages_are_narrowed_one_by_one() {
        let mut cells = PagedCells::new(7);
        let end = 0x7f12_3456_8000;
        assert_eq!(seen(&mut cells, end - 4, 8), [(end - 4, 7), (end, 7)]);
        // A byte of the second page: its cells become bytes, and those of the first page stay words.
        cells.narrow(end + 1, 1, |cell| cell + 10);
        let bytes = [(end, 8), (end + 1, 18), (end + 2, 18), (end + 3, 18)];
        let all = [&[(end - 4, 8)], &bytes[..]].concat();
        assert_eq!(seen(&mut cells, end - 4, 8), all);
        cells.narrow(end - 4, 8, |cell| *cell);
        assert_eq!(seen(&mut cells, end - 2, 1), [(end - 4, 9)]);
        cells.clear();
        assert_eq!(seen(&mut cells, end, 4), [(end, 7)]);
    }
}
