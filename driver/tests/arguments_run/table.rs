//! A call of the table: its arguments, one of which can be changed.

use std::cell::Cell;

use crate::common::*;
use crate::world::World;

/// Which argument is wrong, and what it is instead.
pub struct Change {
    /// Its place among the arguments; none if the call is right.
    pub place: Option<usize>,
    /// Its bits.
    pub bits: u64,
    at: Cell<usize>,
}

impl Change {
    pub fn none() -> Self {
        Self::new(None, 0)
    }

    pub fn of(place: usize, bits: u64) -> Self {
        Self::new(Some(place), bits)
    }

    fn new(place: Option<usize>, bits: u64) -> Self {
        Self {
            place,
            bits,
            at: Cell::new(0),
        }
    }

    /// The next argument of the call, or what it is instead.
    pub fn apply<T: Copy>(&self, right: T) -> T {
        let at = self.at.replace(self.at.get() + 1);
        if self.place != Some(at) {
            return right;
        }
        assert!(size_of::<T>() <= size_of::<u64>(), "a structure by value");
        // SAFETY: the arguments of the driver's functions are integers, raw pointers, and pointers to functions that may be null, of at
        // most eight bytes; `wrong` gives bits that their types can have.
        unsafe { core::mem::transmute_copy(&self.bits) }
    }
}

/// A function of the driver, called with arguments that are right but for one.
pub struct Call {
    pub name: &'static str,
    /// What the call answers with arguments that are right.
    pub answer: u32,
    pub perform: fn(&World, &Change) -> CUresult,
}

/// A list of calls: `NAME(ARGUMENTS) ANSWER;`, with `w` the world of the test.
macro_rules! calls {
    ($w:ident: $($name:ident($($argument:expr),* $(,)?) $answer:literal;)*) => {
        pub const CALLS: &[$crate::table::Call] = &[$($crate::table::Call {
            name: stringify!($name),
            answer: $answer,
            perform: |$w, _change| {
                let _ = $w;
                // SAFETY: the arguments are what the function asks for, but for one that the driver finds out: see `wrong`.
                unsafe { $name($(_change.apply($argument)),*) }
            },
        }),*];
    };
}
pub(crate) use calls;
