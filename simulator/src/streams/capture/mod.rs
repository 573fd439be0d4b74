//! Captures as streams and events see them: which streams take part, where each stands in the graph, and what is forbidden meanwhile.
//! The graph itself belongs to a floor above (`graph::capture`).
//!
//! A capture begins on one stream and draws in others through events. What is forbidden meanwhile does not only fail: it invalidates the
//! capture, so that each later use of its streams answers 901 until the capture is ended on the stream that it began on.

mod frontier;
mod rules;
mod session;
mod slot;

pub(crate) use frontier::{Dependency, DependencyUpdate, Frontier};
pub(crate) use rules::{exchange_mode, refuse_unsafe_call, refuse_waiting_for_context};
pub(crate) use session::CaptureSession;
pub(crate) use slot::{CaptureInformation, CaptureSlot, CapturedEvent};
