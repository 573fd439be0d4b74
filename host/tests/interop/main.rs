//! Other libraries: tensors by DLPack, contexts, streams and memory by their handles.

mod callers_context;
#[path = "../common/mod.rs"]
mod common;
mod dlpack;
mod raw_handles;
