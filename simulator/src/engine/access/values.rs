//! The values that a store is about to write: two writes of the same value are no race.

use crate::check::Values;
use crate::engine::exec::guest::GuestWord;
use crate::engine::exec::operand::{LANES, Read, ReadList, Value};
use crate::engine::exec::warp::Warp;

/// The most bytes that a lane stores at once.
const MOST: usize = 32;

/// What an access writes, as far as it is known before.
#[derive(Clone, Copy)]
pub(crate) enum Stored<'v> {
    /// Nothing, or values that are not compared.
    Unknown,
    /// Each lane's bytes by this function: the part of a lane's value that goes to memory.
    Lanes(&'v dyn Fn(&Warp, usize) -> [u8; MOST]),
}

/// The bytes of one register's lane that go to memory, as the first of `M`'s size.
pub(crate) fn one<M, R: Value>(warp: &Warp, value: Read<R>, lane: usize) -> [u8; MOST] {
    let mut bytes = [0; MOST];
    put::<M, R>(&mut bytes, value.lanes(warp)[lane]);
    bytes
}

/// The same for the registers of a vector, one behind the other.
pub(crate) fn list<M, R: Value>(warp: &Warp, values: ReadList<R>, lane: usize) -> [u8; MOST] {
    let mut bytes = [0; MOST];
    for part in 0..values.len() {
        let value = values.get(warp, part).lanes(warp)[lane];
        put::<M, R>(&mut bytes[part * size_of::<M>()..], value);
    }
    bytes
}

fn put<M, R: Value>(bytes: &mut [u8], value: R) {
    let size = size_of::<M>().min(size_of::<R>());
    // SAFETY: register values are plain numbers without padding; `size` is within the value, and within the slice by its index.
    let value = unsafe { std::slice::from_raw_parts((&raw const value).cast::<u8>(), size) };
    bytes[..size].copy_from_slice(value);
}

/// The values of the warp that is about to store, beside what is in memory.
pub(super) struct Comparison<'a> {
    pub warp: &'a Warp,
    pub stored: Stored<'a>,
    pub pointers: &'a [*mut u8; LANES],
    pub size: usize,
}

impl Comparison<'_> {
    /// What a lane writes, as a number in hexadecimal; `?` where that is not known.
    pub fn shown(&self, lane: usize) -> String {
        let Stored::Lanes(bytes) = self.stored else {
            return "?".to_owned();
        };
        let bytes = bytes(self.warp, lane);
        let digits = bytes[..self.size].iter().rev();
        digits.fold("0x".to_owned(), |text, byte| format!("{text}{byte:02x}"))
    }
}

impl Values for Comparison<'_> {
    fn unchanged(&self, lane: usize) -> bool {
        let Stored::Lanes(bytes) = self.stored else {
            return false;
        };
        let bytes = bytes(self.warp, lane);
        let start = self.pointers[lane];
        // SAFETY: the lane's bytes were resolved (`path::resolved`), so each of them can be read.
        (0..self.size).all(|at| unsafe { u8::load(start.add(at)) } == bytes[at])
    }

    fn equal(&self, lane: usize, other: usize) -> Option<bool> {
        match self.stored {
            Stored::Lanes(bytes) => Some(bytes(self.warp, lane) == bytes(self.warp, other)),
            Stored::Unknown => None,
        }
    }
}
