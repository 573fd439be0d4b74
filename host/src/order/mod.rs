//! The order of work on a device: who uses what, and when.
//!
//! The rule: a use of memory comes after every earlier use that it conflicts with (same bytes, at least one of the two writes). Within
//! a stream that holds by itself. Across streams the new use's stream waits for an event recorded in the other stream *now*, which
//! is after the earlier use; nothing is recorded for uses that no other stream follows, so a program with one stream pays nothing.
//!
//! [`entries`] is the rule, for anything that can stand for a position in an order; [`history`] applies it to streams, for whatever
//! has a [`history::UseHistory`]. This floor knows streams by the driver's handles ([`stream_handle`]) and memory by its history.

pub(crate) mod access;
pub(crate) mod capture;
pub(crate) mod device_order;
pub(crate) mod entries;
pub(crate) mod graph_memory;
pub(crate) mod history;
pub(crate) mod host_accesses;
pub(crate) mod launch_gate;
pub(crate) mod launchable_graph;
pub(crate) mod memory_use;
pub(crate) mod order_lock;
pub(crate) mod pool_lane;
pub(crate) mod position;
pub(crate) mod recorded_event;
pub(crate) mod stream_handle;
