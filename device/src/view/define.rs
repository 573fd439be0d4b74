//! What output views have in common: a pointer, how long what it leads to is, and how the launch makes them.

/// Defines a view of a slice: `PerThread<T>`, and what must hold of a pointer beside being valid.
macro_rules! slice_view {
    ($(#[$documentation:meta])* $view:ident<$element:ident$(: $bound:path)?> $(, where |$pointer:ident| $check:expr)?) => {
        $(#[$documentation])*
        pub struct $view<'a, $element: ?Sized> {
            pointer: *mut (),
            length: usize,
            slice: ::core::marker::PhantomData<&'a mut $element>,
        }

        impl<$element$(: $bound)?> $view<'_, [$element]> {
            /// # Safety
            /// `pointer` is valid for reads and writes of `length` elements of global memory for as long as the kernel runs, and during it
            /// reached through this view only, of which every thread has a copy made from the same arguments.
            #[inline(always)]
            pub(crate) unsafe fn from_raw_parts(pointer: *mut $element, length: usize) -> Self {
                // SAFETY: the pointer is valid, by the function's condition.
                unsafe { super::assume_valid(pointer) };
                $({
                    let $pointer = pointer;
                    $check;
                })?
                $view {
                    pointer: pointer.cast(),
                    length,
                    slice: ::core::marker::PhantomData,
                }
            }

            /// The number of elements of the whole slice.
            #[inline(always)]
            pub fn len(&self) -> usize {
                self.length
            }

            /// The number of elements of the whole slice, as [`SliceAt::len32`](crate::index::SliceAt::len32).
            ///
            /// # Panics
            /// If there are 2^32 or more.
            #[inline(always)]
            #[track_caller]
            pub fn len32(&self) -> u32 {
                crate::index::len32(self.length)
            }

            /// Whether the whole slice is empty.
            #[inline(always)]
            pub fn is_empty(&self) -> bool {
                self.length == 0
            }
        }
    };
}
pub(super) use slice_view;

/// Defines a view of a matrix or a volume with the extents in brackets, flat parameters of the type behind them, and what must hold of its
/// constants.
macro_rules! matrix_view {
    (
        $(#[$documentation:meta])*
        $view:ident<$element:ident$(, const $constant:ident: usize)*>($($extent:ident: $flat:ty),*) of $memory:literal $(, where $check:expr)?
    ) => {
        $(#[$documentation])*
        pub struct $view<'a, $element$(, const $constant: usize)*> {
            pointer: *mut $element,
            $($extent: $flat,)*
            data: ::core::marker::PhantomData<&'a mut [$element]>,
        }

        impl<$element$(, const $constant: usize)*> $view<'_, $element$(, $constant)*> {
            /// # Safety
            #[doc = concat!("`pointer` leads to ", $memory, ", valid for reads and writes for as long as the kernel runs, and during it \
                reached through this view only, of which every thread has a copy made from the same arguments.")]
            #[inline(always)]
            pub(crate) unsafe fn from_raw_parts(pointer: *mut $element, $($extent: $flat),*) -> Self {
                $(const { $check };)?
                // SAFETY: the pointer is valid, by the function's condition.
                unsafe { super::assume_valid(pointer) };
                $view {
                    pointer,
                    $($extent,)*
                    data: ::core::marker::PhantomData,
                }
            }
        }
    };
}
pub(super) use matrix_view;

/// Functions that tell the extents of a view, as `usize` and as `u32`.
macro_rules! extents {
    ($($(#[$documentation:meta])* $extent:ident, $extent32:ident;)*) => {$(
        $(#[$documentation])*
        #[inline(always)]
        pub fn $extent(&self) -> usize {
            self.$extent as usize
        }

        $(#[$documentation])*
        #[inline(always)]
        pub fn $extent32(&self) -> u32 {
            self.$extent
        }
    )*};
}
pub(super) use extents;
