//! Streams: order, completion, and waits for words and for other interfaces.

#[path = "../common/mod.rs"]
mod common;
mod completion;
mod downloads;
mod external_semaphores;
mod flags;
mod forks;
mod order;
mod shared_events;
