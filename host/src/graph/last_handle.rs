//! Handles of graphs on their way to their destruction.

/// The handle of a graph or an executable graph whose only remaining use is its destruction.
pub(super) struct LastHandle<P>(P);

// SAFETY: the driver's graphs may be used from any thread, but by one at a time (CUDA driver API, "graph object thread safety"): who has
// the last handle, which is no `Copy`, is the only one.
unsafe impl<T> Send for LastHandle<*mut T> {}

impl<P: Copy> LastHandle<P> {
    /// The owner gives its handle up.
    pub(super) fn new(raw: P) -> LastHandle<P> {
        LastHandle(raw)
    }

    pub(super) fn raw(&self) -> P {
        self.0
    }
}
