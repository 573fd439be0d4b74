//! Asynchronous work without knowledge of who issues it: queues, points in them that can be waited for, and the implicit order
//! between the queues of one context.
//!
//! Each item has a place in the order of all work ([`Place`](crate::check::stream_order::Place)), for the check of that order.

pub(crate) mod host;
mod order;
mod queue;

pub(crate) use order::{QueueRole, QueueSet};
pub(crate) use queue::{CompletionPoint, Room, Work, WorkQueue, at_place, place};
