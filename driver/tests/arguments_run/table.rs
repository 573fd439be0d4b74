//! A call of the table: its arguments, one of which can be changed.

use std::cell::Cell;

use crate::common::*;
use crate::world::World;

/// What is wrong with a call: one of its arguments, or the context that is current.
pub struct Change {
    /// The wrong argument's place, and its bits.
    argument: Option<(usize, u64)>,
    /// How many arguments the call has, and what happens before it.
    last: Option<(usize, fn())>,
    at: Cell<usize>,
}

impl Change {
    pub fn none() -> Self {
        Self {
            argument: None,
            last: None,
            at: Cell::new(0),
        }
    }

    pub fn of_argument(place: usize, bits: u64) -> Self {
        Self {
            argument: Some((place, bits)),
            ..Self::none()
        }
    }

    /// `action` comes after the `count` arguments are there.
    pub fn before(count: usize, action: fn()) -> Self {
        if count == 0 {
            action();
        }
        Self {
            last: Some((count, action)),
            ..Self::none()
        }
    }

    /// The next argument of the call, or what it is instead.
    pub fn apply<T: Copy>(&self, right: T) -> T {
        let at = self.at.replace(self.at.get() + 1);
        if let Some((count, action)) = self.last
            && count == at + 1
        {
            action();
        }
        match self.argument {
            Some((place, bits)) if place == at => {
                assert!(size_of::<T>() <= size_of::<u64>(), "a structure by value");
                // SAFETY: the arguments of the driver's functions are integers, raw pointers, and pointers to functions that may be
                // null, of at most eight bytes; `wrong` gives bits that their types can have.
                unsafe { core::mem::transmute_copy(&bits) }
            }
            _ => right,
        }
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
