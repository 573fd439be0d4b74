//! Asynchronous work without knowledge of who issues it: queues, points in them that can be waited for, and the implicit order
//! between the queues of one context.

mod before;
mod order;
mod queue;

pub(crate) use order::{QueueRole, QueueSet};
pub(crate) use queue::{CompletionPoint, Room, Work, WorkQueue};
