//! Rows and slices: the one place where sizes of several dimensions are multiplied. A program may pass any numbers; a size or an address
//! that 64 bits do not hold is refused, so that what is made here can be walked through without further checks.

use crate::error::{Result, code};

/// The size of a box of bytes: the bytes of a row, the rows of a slice, the slices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    width: usize,
    height: usize,
    depth: usize,
    bytes: usize,
}

/// Where the rows of a box lie in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// The first byte.
    address: usize,
    /// From one row to the next.
    row: usize,
    /// From one slice to the next.
    slice: usize,
    /// Bytes from the first to the last.
    span: usize,
}

impl Extent {
    /// # Errors
    ///
    /// Invalid value if there are more bytes than an address counts.
    pub(super) fn new(width: usize, height: usize, depth: usize) -> Result<Self> {
        let empty = width == 0 || height == 0 || depth == 0;
        let bytes = match empty {
            true => Some(0),
            false => product(&[width, height, depth]),
        };
        Ok(Self {
            width,
            height,
            depth,
            bytes: bytes.ok_or(code::INVALID_VALUE)?,
        })
    }

    pub(super) fn width(&self) -> usize {
        self.width
    }

    pub(super) fn height(&self) -> usize {
        self.height
    }

    pub(super) fn depth(&self) -> usize {
        self.depth
    }

    /// All bytes.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn is_empty(&self) -> bool {
        self.bytes == 0
    }
}

impl Layout {
    /// The layout of a box whose first byte is `[x, y, z]` bytes, rows and slices behind `base`.
    ///
    /// # Errors
    ///
    /// Invalid value if the box or the way to it leaves the address space.
    pub(super) fn new(
        base: usize,
        [x, y, z]: [usize; 3],
        [row, slice]: [usize; 2],
        extent: &Extent,
    ) -> Result<Self> {
        let behind = |from: usize, y: usize, z: usize| {
            from.checked_add(product(&[y, row])?)?
                .checked_add(product(&[z, slice])?)
        };
        let layout = || {
            let address = behind(base, y, z)?.checked_add(x)?;
            let span = match extent.is_empty() {
                true => 0,
                false => behind(extent.width, extent.height - 1, extent.depth - 1)?,
            };
            address.checked_add(span)?;
            Some(Self {
                address,
                row,
                slice,
                span,
            })
        };
        layout().ok_or(code::INVALID_VALUE)
    }

    /// The rows of a box without gaps.
    pub(super) fn packed(address: usize, extent: &Extent) -> Self {
        Self {
            address,
            row: extent.width,
            // Not more than all bytes, which were counted when the extent was made.
            slice: match extent.is_empty() {
                true => 0,
                false => extent.width * extent.height,
            },
            span: extent.bytes,
        }
    }

    pub(super) fn address(&self) -> usize {
        self.address
    }

    pub(super) fn row(&self) -> usize {
        self.row
    }

    pub(super) fn slice(&self) -> usize {
        self.slice
    }

    /// Bytes from the first to the last.
    pub(super) fn span(&self) -> usize {
        self.span
    }

    /// Where a row of the box starts.
    pub(super) fn start(&self, y: usize, z: usize) -> usize {
        // Inside of the span, which ends inside of the address space.
        self.address + z * self.slice + y * self.row
    }

    /// Where each row of the box starts, slice by slice.
    pub(super) fn rows(&self, extent: &Extent) -> impl Iterator<Item = usize> + use<> {
        let (layout, rows, slices) = (*self, extent.height, extent.depth);
        (0..slices).flat_map(move |z| (0..rows).map(move |y| layout.start(y, z)))
    }
}

/// A product of sizes, if 64 bits hold it.
pub(super) fn product(sizes: &[usize]) -> Option<usize> {
    sizes
        .iter()
        .try_fold(1usize, |all, &size| all.checked_mul(size))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_addresses_that_do_not_fit_are_refused() {
        const TOP: usize = 1 << 63;
        assert!(Extent::new(TOP, 2, 1).is_err());
        assert!(Extent::new(1 << 31, 1 << 32, 2).is_err());
        let none = Extent::new(TOP, TOP, 0).unwrap();
        assert_eq!((none.bytes(), none.is_empty()), (0, true));
        let rows = Extent::new(16, 3, 1).unwrap();
        for (base, [x, y, z], [row, slice]) in [
            // Twice this row is nothing.
            (4096, [0; 3], [TOP, 0]),
            (4096, [0, 2, 0], [TOP, 0]),
            (4096, [0, 0, 4], [16, TOP / 2]),
            (4096, [usize::MAX, 0, 0], [16, 0]),
            (usize::MAX - 40, [0; 3], [16, 0]),
        ] {
            let layout = Layout::new(base, [x, y, z], [row, slice], &rows);
            assert!(layout.is_err(), "{base:#x} {x} {y} {z} {row:#x} {slice:#x}");
        }
        let layout = Layout::new(4096, [1, 2, 3], [32, 128], &rows).unwrap();
        assert_eq!(layout.address(), 4096 + 1 + 64 + 384);
        assert_eq!(layout.span(), 16 + 2 * 32);
        assert_eq!(layout.start(2, 0), layout.address() + 64);
    }
}
