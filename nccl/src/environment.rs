//! The environment variables that this crate reads, all of them.

use std::path::PathBuf;

fn set(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// A variable of a launcher of processes; `launcher.rs` says which there are.
pub(crate) fn launcher_variable(name: &'static str) -> Option<String> {
    set(name)
}

/// Whether `CUDA_VISIBLE_DEVICES` shows this process one device alone.
pub(crate) fn shows_one_device() -> bool {
    set("CUDA_VISIBLE_DEVICES").is_some_and(|list| !list.contains(','))
}

/// `WARPSMITH_NCCL_LIBRARY`: NCCL's file, or `simulator`.
pub(crate) fn library() -> Option<String> {
    set("WARPSMITH_NCCL_LIBRARY")
}

/// The cache folder: `WARPSMITH_CACHE`, else `$XDG_CACHE_HOME/warpsmith`, else `~/.cache/warpsmith`.
pub(crate) fn cache_folder() -> Option<PathBuf> {
    let path = |name| set(name).map(PathBuf::from);
    path("WARPSMITH_CACHE")
        .or_else(|| path("XDG_CACHE_HOME").map(|folder| folder.join("warpsmith")))
        .or_else(|| path("HOME").map(|folder| folder.join(".cache/warpsmith")))
}
