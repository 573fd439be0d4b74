//! CUDA arrays: texels in a layout that only the driver knows (CUDA driver API, `cuArray3DCreate`).
//!
//! Copies reach an array by its handle, kernels by textures and surfaces, nobody by an address: that of the rows here, which lie one after
//! the other, never leaves the simulator. A new array's contents are undefined, so it is known of each byte whether something has written
//! it.

mod mipmapped;
mod shape;
mod written;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

pub(crate) use mipmapped::{MIPMAPPED_ARRAYS, Mipmapped};
pub(crate) use shape::ArrayShape;
pub(super) use shape::{FACES_OR_LAYERS, component};

use self::written::Written;
use super::accounting;
use super::allocation::AllocationKind;
use super::extent::{Extent, Layout};
use super::external::TexelPart;
use crate::error::{Result, code};
use crate::registry::{ContextBound, Registry};
use crate::report;
use crate::settings;
use warpsmith_abi::CUarray;

/// All arrays.
pub(crate) static ARRAYS: Registry<Array> = Registry::new();

impl ContextBound for Array {
    fn context(&self) -> u64 {
        self.context
    }
}

/// An array. Its memory is its context's, too, and ends with it.
pub(crate) struct Array {
    pub(crate) handle: usize,
    context: u64,
    pub(crate) shape: ArrayShape,
    /// Whether it is a level of a mipmapped array, with which it ends.
    is_level: bool,
    texels: TexelMemory,
    written: Written,
    /// Whether it was said that a copy read what nothing had written.
    is_told: AtomicBool,
}

/// Where an array's texels are.
enum TexelMemory {
    /// At this address, in an allocation of the array's own.
    Own(usize),
    /// So many bytes behind the beginning of a part of external memory.
    External(Arc<TexelPart>, usize),
}

impl TexelMemory {
    /// The first texel's address.
    fn base(&self) -> usize {
        match self {
            Self::Own(base) => *base,
            Self::External(part, offset) => part.base() + offset,
        }
    }
}

/// A box of bytes of an array, as one end of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ArrayPart {
    pub(super) handle: usize,
    /// Bytes, rows and slices before the box.
    pub(super) at: [usize; 3],
}

/// Memory for an array that is made in a context.
pub(crate) struct NewArray {
    context: u64,
    shape: ArrayShape,
    texels: TexelMemory,
}

impl NewArray {
    /// Takes the memory.
    ///
    /// # Errors
    ///
    /// The device has too little.
    pub(crate) fn allocate(
        context: u64,
        device: usize,
        shape: ArrayShape,
        by: &'static str,
    ) -> Result<Self> {
        let bytes = shape.bytes().ok_or(code::OUT_OF_MEMORY)?;
        let base = accounting::allocate(context, device, bytes, AllocationKind::Array, by)?;
        Ok(Self {
            context,
            shape,
            texels: TexelMemory::Own(base),
        })
    }

    /// The array whose texels are so many bytes behind the beginning of a part of external memory.
    fn in_part(context: u64, part: &Arc<TexelPart>, offset: usize, shape: ArrayShape) -> Self {
        Self {
            context,
            shape,
            texels: TexelMemory::External(part.clone(), offset),
        }
    }

    /// Gives the memory back.
    fn give_up(self, by: &'static str) {
        if let TexelMemory::Own(base) = self.texels {
            accounting::release(base, by);
        }
    }

    /// As [`with_handle`](Self::with_handle), a level of a mipmapped array.
    pub(crate) fn level_with_handle(self, handle: usize) -> Array {
        Array {
            is_level: true,
            ..self.with_handle(handle)
        }
    }

    /// The array that has this memory.
    pub(crate) fn with_handle(self, handle: usize) -> Array {
        Array {
            handle,
            context: self.context,
            written: match &self.texels {
                // Its bytes were counted when they were allocated.
                TexelMemory::Own(_) => Written::nothing_of(self.shape.bytes().unwrap_or(0)),
                // Whoever made the memory writes it, too.
                TexelMemory::External(..) => Written::by_others(),
            },
            shape: self.shape,
            is_level: false,
            texels: self.texels,
            is_told: AtomicBool::new(false),
        }
    }
}

/// Takes an array out and gives its memory back.
fn end(handle: CUarray, by: &'static str) -> Result {
    let array = ARRAYS.remove(handle)?;
    match &array.texels {
        TexelMemory::Own(base) => accounting::release(*base, by).ok_or(code::INVALID_HANDLE),
        TexelMemory::External(part, _) => {
            part.end(by);
            Ok(())
        }
    }
}

impl Array {
    /// The array of a handle that a copy or a texture was given.
    ///
    /// # Errors
    ///
    /// There is none, or the external memory that it lies in was destroyed.
    pub(super) fn of_use(handle: CUarray) -> Result<Arc<Self>> {
        let array = ARRAYS.get(handle).map_err(|_| code::INVALID_VALUE)?;
        match &array.texels {
            TexelMemory::External(part, _) if part.has_ended() => Err(code::INVALID_VALUE),
            _ => Ok(array),
        }
    }

    /// Ends an array: no copy starts with it any more.
    ///
    /// # Errors
    ///
    /// There is none, or it is a level of a mipmapped array.
    pub(crate) fn destroy(handle: CUarray) -> Result {
        if ARRAYS.get(handle)?.is_level {
            report::remark(
                "cuArrayDestroy: the array is a level of a mipmapped array, which cuMipmappedArrayDestroy ends as a whole",
            );
            return Err(code::INVALID_HANDLE);
        }
        end(handle, "cuArrayDestroy")
    }

    /// Where the rows of a box lie.
    ///
    /// # Errors
    ///
    /// The box does not lie in the array. It may begin within a texel, as on an H200.
    pub(super) fn layout(&self, at: [usize; 3], extent: &Extent) -> Result<Layout> {
        let [row, rows, slices] = self.shape.bytes_rows_slices();
        let inside = |offset: usize, count: usize, size: usize| {
            offset.checked_add(count).is_some_and(|end| end <= size)
        };
        let fits = inside(at[0], extent.width(), row)
            && inside(at[1], extent.height(), rows)
            && inside(at[2], extent.depth(), slices);
        if !fits {
            return Err(code::INVALID_VALUE);
        }
        Layout::new(self.base(), at, [row, row * rows], extent)
    }

    /// Notes that a copy has written a box.
    pub(super) fn note_written(&self, layout: &Layout, extent: &Extent) {
        for start in layout.rows(extent) {
            self.written.insert(start - self.base(), extent.width());
        }
    }

    /// Notes that a copy has written a box with what another one holds, of which some may be undefined.
    pub(super) fn note_copied(&self, to: &Layout, from: (&Array, &Layout), extent: &Extent) {
        let (source, source_layout) = from;
        let known: Vec<_> = source_layout
            .rows(extent)
            .map(|start| source.written.bits(start - source.base(), extent.width()))
            .collect();
        for (start, row) in to.rows(extent).zip(known) {
            self.written.assign(start - self.base(), &row);
        }
    }

    /// The first texel's address.
    pub(super) fn base(&self) -> usize {
        self.texels.base()
    }

    /// Whether something has written these bytes.
    pub(super) fn is_written(&self, first: usize, bytes: usize) -> bool {
        self.written.first_missing(first, bytes).is_none()
    }

    /// Notes that a kernel has written bytes.
    pub(super) fn note_bytes(&self, first: usize, bytes: usize) {
        self.written.insert(first, bytes);
    }

    /// Says once where a copy reads what nothing has written.
    pub(super) fn check_written(&self, layout: &Layout, extent: &Extent) {
        if !settings::get().checks.uninitialised {
            return;
        }
        let missing = layout.rows(extent).enumerate().find_map(|(row, start)| {
            let byte = self
                .written
                .first_missing(start - self.base(), extent.width());
            byte.map(|byte| (row, byte))
        });
        if let Some((row, byte)) = missing
            && !self.is_told.swap(true, Ordering::Relaxed)
        {
            report::remark(&format!(
                "a copy of {} bytes reads texels of a CUDA array ({}) that nothing has written: the first one is byte {} of \
                 row {} of slice {} of what is copied",
                extent.bytes(),
                self.shape,
                byte,
                row % extent.height(),
                row / extent.height(),
            ));
        }
    }
}
