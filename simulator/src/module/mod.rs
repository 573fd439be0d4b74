//! Loaded modules: their kernels as functions with attributes, and their variables in device memory.

mod attributes;
mod function;
mod image;
mod library;
mod link;
mod load;
mod loaded;
mod occupancy;
mod target;

pub(crate) use attributes::{attribute, set_attribute};
pub(crate) use function::{FUNCTIONS, Function};
pub(crate) use image::ptx_text;
pub(crate) use library::{KERNELS, LIBRARIES, Library, function_or_kernel};
pub(crate) use link::{LINKS, LinkState};
pub(crate) use load::{LoadFailure, load};
pub(crate) use loaded::{MODULES, Module};
pub(crate) use occupancy::{best_block, max_threads, resident_blocks, volume};
