//! The tables: one file a family, one entry a syntax line of the PTX ISA manual.

use crate::form::Form;

mod atomic;
mod barrier;
mod bulk;
mod compare;
mod control;
mod convert;
mod cp_async;
mod float;
mod half;
mod integer;
mod logic;
mod matrix;
mod mbarrier;
mod memory;
mod misc;
mod moves;
mod multimem;
mod surface;
mod tcgen05;
mod texture;
mod video;
mod warp;
mod wgmma;

/// The forms of one file.
pub struct Family {
    /// The file's name.
    pub name: &'static str,
    /// What they do, as a heading.
    pub title: &'static str,
    /// The forms in the manual's order.
    pub forms: &'static [Form],
}

const fn family(name: &'static str, title: &'static str, forms: &'static [Form]) -> Family {
    Family { name, title, forms }
}

/// All forms.
pub static FAMILIES: &[Family] = TABLE;

/// The same for constant evaluation, which cannot read statics.
pub(crate) const TABLE: &[Family] = &[
    family("integer", "Integer arithmetic", integer::FORMS),
    family("float", "Floating point", float::FORMS),
    family("half", "Half precision", half::FORMS),
    family("compare", "Comparison and selection", compare::FORMS),
    family("logic", "Logic and shifts", logic::FORMS),
    family("moves", "Moves and addresses", moves::FORMS),
    family("convert", "Conversion", convert::FORMS),
    family("memory", "Loads, stores and cache control", memory::FORMS),
    family("atomic", "Atomics and reductions", atomic::FORMS),
    family(
        "cp_async",
        "Asynchronous copies of a thread",
        cp_async::FORMS,
    ),
    family("bulk", "Bulk and tensor copies", bulk::FORMS),
    family("multimem", "Several devices' memory", multimem::FORMS),
    family("mbarrier", "Barriers in memory", mbarrier::FORMS),
    family("barrier", "Barriers and fences", barrier::FORMS),
    family("warp", "Communication within a warp", warp::FORMS),
    family("matrix", "Matrices of a warp", matrix::FORMS),
    family("wgmma", "Matrices of a warpgroup", wgmma::FORMS),
    family("tcgen05", "Tensor memory", tcgen05::FORMS),
    family("control", "Control flow", control::FORMS),
    family("texture", "Textures", texture::FORMS),
    family("surface", "Surfaces", surface::FORMS),
    family("video", "Video instructions", video::FORMS),
    family("misc", "Stack, registers and the rest", misc::FORMS),
];
