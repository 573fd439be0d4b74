//! Streams: what a program enqueues, in order, on lanes that progress at the same time; events; and the default streams.
//!
//! The legacy default stream waits for all blocking streams of its context and they for it; a non-blocking stream takes no part in
//! that. What a stream does is an [`Operation`], which it executes, or, while it captures, appends to a graph.

mod event;
mod lane;
mod operation;
mod stream;
mod transfer;

pub(crate) use event::{Event, Recording};
pub(crate) use lane::{Lane, Mark};
pub(crate) use operation::{HostCall, Launch, Operation};
pub(crate) use stream::{PerThreadDefault, Stream, find, settle};
pub(crate) use transfer::{Fill, Place, Transfer};
