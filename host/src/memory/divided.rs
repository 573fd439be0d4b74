//! What pieces of memory are cut off.

/// Kept to this crate: what an implementation cuts off is no longer part of the rest.
pub trait Divided: Sized {
    /// Elements.
    #[doc(hidden)]
    fn elements(&self) -> usize;
    /// The first `middle` elements, of at least as many, and the rest.
    #[doc(hidden)]
    fn divide(self, middle: usize) -> (Self, Self);
}
