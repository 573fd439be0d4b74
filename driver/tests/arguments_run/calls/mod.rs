//! One call a function, with arguments that are right, by topic.

mod devices;
mod events;
mod executables;
mod functions;
mod graphs;
mod launches;
mod modules;
mod nodes;
mod semaphores;
mod streams;

use crate::table::Call;

/// All calls.
pub fn all() -> impl Iterator<Item = &'static Call> {
    [
        devices::CALLS,
        events::CALLS,
        executables::CALLS,
        functions::CALLS,
        graphs::CALLS,
        launches::CALLS,
        modules::CALLS,
        nodes::CALLS,
        semaphores::CALLS,
        streams::CALLS,
    ]
    .into_iter()
    .flatten()
}
