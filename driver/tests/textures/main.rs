//! CUDA arrays, and the textures and surfaces that kernels see them through.

mod arrays;
#[path = "../common/mod.rs"]
mod common;
mod cubes;
mod external_arrays;
mod mipmaps;
mod objects;
mod surfaces;
mod texels;
