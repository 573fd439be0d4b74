//! Panics on the device and in functions on the host: where they are told, which launch they belong to, and which wait hears of them.
//!
//! The launches of a stream are numbered ([`timeline`]). A position in a stream, where an event is recorded or a wait begins, comes after
//! launches of its own stream up to a number, and after those of the streams that it followed: that is its [`timeline::Reach`]. A kernel
//! that panics writes its launch's number into the log of its stream or graph ([`source`]). A wait hears of the panics in its reach, once;
//! others stay in their logs for the waits that come. Work of other libraries that was given up ([`unfinished`]) is told by its number, too, to who
//! reads what it was writing: memory has the mark of its last write ([`write_mark`]).

pub(crate) mod host_functions;
mod log;
pub(crate) mod names;
pub(crate) mod reports;
pub(crate) mod source;
pub(crate) mod timeline;
pub(crate) mod unfinished;
pub(crate) mod write_mark;
