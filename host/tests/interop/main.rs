//! Other libraries: tensors by DLPack, contexts, streams and memory by their handles.

mod callers_context;
#[path = "../common/mod.rs"]
mod common;
mod dlpack;
mod given_up;
mod raw_handles;
