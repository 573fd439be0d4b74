//! What the compiler says when memory is read that a barrier has not yet made readable.

use core::ops::Index;

use super::{SharedCopying, SharedFilled, TileFilled, WarpRowFilled};

/// Memory that all its threads have filled. The types before a barrier are not, and exist to be told apart.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be read before a barrier: other threads may not have filled their parts yet",
    label = "filled by this thread only",
    note = "`.sync()` waits for all threads, and gives a view that can be read"
)]
pub trait Synchronised {}

macro_rules! not_readable {
    ($($name:ident [$($size:ident)*];)*) => {$(
        impl<T, I, $(const $size: usize),*> Index<I> for $name<'_, T, $($size),*>
        where
            Self: Synchronised,
        {
            type Output = T;

            fn index(&self, _: I) -> &T {
                unreachable!("the type is not `Synchronised`")
            }
        }
    )*};
}
not_readable! {
    SharedFilled [N];
    SharedCopying [N];
    TileFilled [R C S];
    WarpRowFilled [C];
}
