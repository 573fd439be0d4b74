//! Other libraries: tensors by DLPack, contexts, streams and memory by their handles.

#[path = "../common/mod.rs"]
mod common;
mod dlpack;
mod raw_handles;
