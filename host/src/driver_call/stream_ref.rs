//! A stream of the driver, borrowed from whoever destroys it.

use std::marker::PhantomData;

use warpsmith_driver::raw;

/// A stream that is alive as long as `'a`.
#[derive(Clone, Copy)]
pub(crate) struct StreamRef<'a> {
    raw: raw::CUstream,
    owner: PhantomData<&'a ()>,
}

impl StreamRef<'_> {
    /// # Safety
    ///
    /// Nobody destroys the stream as long as the result's lifetime.
    #[inline]
    pub(crate) unsafe fn new(raw: raw::CUstream) -> Self {
        StreamRef {
            raw,
            owner: PhantomData,
        }
    }

    /// The driver's handle.
    #[inline]
    pub(crate) fn raw(self) -> raw::CUstream {
        self.raw
    }
}
