//! Handles of the driver's objects.

/// A handle that every thread may use: of a context, stream, event, module or function. `P` is the pointer type that the driver's
/// interface has for it. It owns nothing.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Handle<P>(P);

// SAFETY: the handle is opaque, this crate never follows it; the driver's functions may be called with it from any thread, they lock
// these objects themselves (CUDA driver API, "API synchronization behavior"). Graphs are the exception, and are never in here.
unsafe impl<T> Send for Handle<*mut T> {}
// SAFETY: a shared reference gives a copy of the handle, for which the reason given for `Send` holds.
unsafe impl<T> Sync for Handle<*mut T> {}

impl<P: Copy> Handle<P> {
    #[inline]
    pub(crate) fn new(raw: P) -> Handle<P> {
        Handle(raw)
    }

    /// What the driver's functions take.
    #[inline]
    pub(crate) fn raw(self) -> P {
        self.0
    }
}
