//! Graphs: nodes with operations, edges between them, and what can be done with the whole: capture, instantiate, update, launch.
//!
//! A [`Graph`] is a template that may be edited; an executable graph ([`Exec`]) holds a [`plan::Plan`] compiled from it, which later edits
//! do not touch.

mod capture;
mod conditional;
mod dot;
mod exec;
mod objects;
mod plan;
mod template;
mod update;

pub(crate) use capture::{
    CapturedEvent, Information, StreamCapture, append_if_capturing, begin, end, exchange_mode,
    guard_unsafe_call, information, is_capturing, record_event, refuse_implicit,
    refuse_synchronous, refuse_waiting_for_context, unsupported_while_capturing, update_frontier,
    wait_event,
};
pub(crate) use conditional::{
    Conditional, ConditionalKind, create_condition, set_condition, take_condition,
};
pub(crate) use dot::print as print_dot;
pub(crate) use exec::Exec;
pub(crate) use objects::UserObject;
pub(crate) use plan::{Problem, compile};
pub(crate) use template::{Edge, Graph, Node, PLAIN_EDGE};
pub(crate) use update::update;
