//! Declaring operands, and the structs of them that operations take.

use crate::engine::slot::Slot;

/// A field of an operand struct.
///
/// # Safety
/// The type is `repr(C)` and consists of as many `u32` as its slot has words.
pub(crate) unsafe trait Operand: Copy {
    const SLOT: Slot;
}

/// The operands of an operation.
///
/// # Safety
/// The type is `repr(C)` and its fields are the operands that `SLOTS` lists, in this order.
pub(crate) unsafe trait Operands: Copy {
    const SLOTS: &'static [Slot];

    /// Their words, in the order of the slots.
    fn words(&self) -> &[u32] {
        let count = size_of::<Self>() / size_of::<u32>();
        // SAFETY: a `repr(C)` struct of so many `u32` (the condition of the trait), borrowed as long as the slice.
        unsafe { std::slice::from_raw_parts((&raw const *self).cast::<u32>(), count) }
    }

    /// The operands of these words.
    ///
    /// # Panics
    /// If there are not as many words as the operands have.
    fn of_words(words: &[u32]) -> Self {
        assert_eq!(size_of_val(words), size_of::<Self>(), "the operands' words");
        // SAFETY: a `repr(C)` struct of `u32` (the condition of the trait), for which any words are values, and there are as many.
        unsafe { words.as_ptr().cast::<Self>().read() }
    }
}

/// Declares operand structs.
macro_rules! operands {
    ($($(#[$meta:meta])* $vis:vis struct $name:ident $(<$($g:ident $(: $bound:path)?),+>)? {
        $($(#[$field_meta:meta])* $field:ident: $ty:ty),* $(,)?
    })*) => { $(
        $(#[$meta])*
        #[derive(Clone, Copy)]
        #[repr(C)]
        $vis struct $name $(<$($g $(: $bound)?),+>)? {
            $($(#[$field_meta])* pub $field: $ty,)*
        }
        // SAFETY: the struct is `repr(C)`, and the slots are those of its fields in order.
        unsafe impl $(<$($g $(: $bound)?),+>)? $crate::engine::exec::operand::Operands for $name $(<$($g),+>)? {
            const SLOTS: &'static [$crate::engine::exec::operand::Slot] = &[
                $(<$ty as $crate::engine::exec::operand::Operand>::SLOT,)*
            ];
        }
    )* };
}
pub(crate) use operands;

// SAFETY: no words, no slots.
unsafe impl Operands for () {
    const SLOTS: &'static [Slot] = &[];
}

// SAFETY: one word.
unsafe impl Operand for u32 {
    const SLOT: Slot = Slot::Number;
}

/// Declares an operand of one or more words that nobody sees, for values of a type or without one.
macro_rules! operand {
    ($(#[$meta:meta])* $name:ident $(<$t:ident>)? { $($word:ident),* } => $slot:expr) => {
        $(#[$meta])*
        #[repr(C)]
        pub(crate) struct $name $(<$t>)? {
            $($word: u32,)*
            $(ty: std::marker::PhantomData<$t>,)?
        }
        impl $(<$t>)? Clone for $name $(<$t>)? {
            #[inline(always)]
            fn clone(&self) -> Self { *self }
        }
        impl $(<$t>)? Copy for $name $(<$t>)? {}
        // SAFETY: the struct is `repr(C)` and has the words that are declared with its slot, and nothing of `PhantomData`.
        unsafe impl $(<$t: $crate::engine::exec::operand::Value>)? $crate::engine::exec::operand::Operand
            for $name $(<$t>)?
        {
            const SLOT: $crate::engine::exec::operand::Slot = {
                let slot = $slot;
                assert!(slot.words() == [$(stringify!($word)),*].len());
                slot
            };
        }
    };
}
pub(super) use operand;
