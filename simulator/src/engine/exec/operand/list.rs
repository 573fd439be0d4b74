//! Operands that are lists of registers or labels, of which the instruction holds the start and the length.

use std::marker::PhantomData;

use super::declare::operand;
use super::registers::Registers;
use super::word::{Label, Read, WriteOptional};
use crate::engine::slot::Slot;

macro_rules! list_operands {
    ($($(#[$meta:meta])* $name:ident $(<$t:ident>)? => $slot:expr, $entry:ty;)*) => { $(
        operand! { $(#[$meta])* $name $(<$t>)? { start, len } => $slot }

        impl $(<$t>)? $name $(<$t>)? {
            /// The list of this length that starts at this entry of the function's lists.
            pub fn new(start: u32, len: u32) -> Self {
                Self { start, len, $(ty: PhantomData::<$t>,)? }
            }

            /// Its length.
            #[inline(always)]
            pub fn len(self) -> usize {
                self.len as usize
            }

            /// An entry.
            ///
            /// # Panics
            /// If there is none of this number.
            #[inline(always)]
            pub fn get(self, warp: &impl Registers, index: usize) -> $entry {
                assert!(index < self.len(), "an entry of the list");
                <$entry>::from_word(warp.list_word(self.start + index as u32))
            }
        }
    )* };
}
list_operands! {
    /// Sources, as many as the instruction has.
    ReadList<T> => Slot::ReadList(T::WIDTH), Read<T>;
    /// Destinations, as many as the instruction has; each may be the sink.
    WriteList<T> => Slot::WriteList(T::WIDTH), WriteOptional<T>;
    /// Labels.
    Labels => Slot::Labels, Label;
}
