//! CUDA arrays, textures and surfaces.

mod arrays;
#[path = "../common/mod.rs"]
mod common;
mod objects;
