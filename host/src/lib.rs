//! The safe host library: memory, streams, events, graphs, typed launches.
