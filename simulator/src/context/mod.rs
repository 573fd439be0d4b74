//! Contexts: their state, their limits, what kernels print in them, and which one each thread works in.
//!
//! A context knows the queues of its streams and the identity under which its memory is kept, but none of the objects that the floors
//! above make in it. The owner of such objects registers itself ([`Context::keeps_objects_in`]) and is asked to drop them when the
//! context ends.

mod current;
mod guests;
mod limits;
mod loading;
mod loads;
mod output;
mod primary;
mod quiet;
mod state;

pub(crate) use current::{current, current_unchecked, pop, push, set_current};
pub(crate) use primary::{initialise, is_initialised, primary};
pub(crate) use quiet::while_quiet;
pub(crate) use state::{CONTEXTS, Context};
