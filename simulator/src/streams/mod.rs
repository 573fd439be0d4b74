//! Streams: what a program enqueues, in order, on queues that progress at the same time; events; and the default streams.
//!
//! | file | what |
//! | --- | --- |
//! | `attributes` | attributes of streams, kernel nodes and launches |
//! | `capture` | which streams are being captured, and what a capture forbids |
//! | `event` | events and what they were last recorded as |
//! | `host_call` | calls of the program's functions |
//! | `launch` | kernel launches and the limits of their shapes |
//! | `programmatic` | what a grid tells others before its end |
//! | `launch_request` | what a program asks of a launch besides its parameters |
//! | `resident_grids` | which of the grids that are ready a device executes |
//! | `memory_operation` | waits for words of memory, and writes of them |
//! | `patience` | waiting for what somebody else does |
//! | `semaphore` | semaphores of other program interfaces |
//! | `operation` | what a stream or a graph node does |
//! | `stream` | a stream |
//! | `default` | the default streams, and what a stream handle means |

mod attributes;
pub(crate) mod capture;
mod default;
mod event;
mod host_call;
mod launch;
mod launch_request;
mod memory_operation;
mod operation;
mod patience;
mod programmatic;
mod resident_grids;
pub(crate) mod semaphore;
mod stream;

pub(crate) use attributes::{Attribute, Hints, Holder, Window};
pub(crate) use default::{PerThreadDefault, find, legacy};
pub(crate) use event::{EVENTS, Event, EventPoint, Recording};
pub(crate) use host_call::{HostCall, StreamCallback, in_host_function};
pub(crate) use launch::{Launch, LaunchShape};
pub(crate) use launch_request::LaunchRequest;
pub(crate) use memory_operation::{Interface, MemoryBatch};
pub(crate) use operation::Operation;
pub(crate) use programmatic::Signals;
pub(crate) use stream::{STREAMS, Stream};
