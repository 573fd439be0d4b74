//! What texture and surface objects say of themselves.
//!
//! A kernel is passed the extents with the object, so it has no need to ask. An answer takes an instruction of the texture unit, but no
//! register that lives as long as the extents are needed.

use super::fetched::Fetched;
use super::geometry::{Positioned, sealed::Kind};
use super::read::Texture;
use super::surface::Surface;
use super::texel::SurfaceTexel;

macro_rules! ask {
    ($opcode:literal $question:literal, $object:expr) => {{
        let answer: u32;
        // SAFETY: the object is one that can be asked, by the contract of the caller, which reads no memory of the program.
        unsafe {
            instruction!(
                concat!($opcode, $question, ".b32 {answer}, [{object}];"),
                answer = lateout(reg32) answer, object = in(reg64) $object,
                options(pure, nomem, nostack)
            )
        }
        answer
    }};
}

/// Width, height, depth or layers, in the order of the geometry's positions; of an object of this geometry that the kernel was passed these
/// extents with. Drivers load no kernel that asks for the number of layers or levels (`array_size`, `num_mipmap_levels`; CUDA 13.0).
macro_rules! extents {
    ($opcode:literal, $kind:expr, $object:ident, $passed:expr) => {
        match $kind {
            Kind::Dim1 | Kind::Linear => [ask!($opcode ".width", $object), 1, 1],
            Kind::Dim2 | Kind::Gather2 => [
                ask!($opcode ".width", $object),
                ask!($opcode ".height", $object),
                1,
            ],
            Kind::Dim3 => [
                ask!($opcode ".width", $object),
                ask!($opcode ".height", $object),
                ask!($opcode ".depth", $object),
            ],
            Kind::Layered1 => [
                ask!($opcode ".width", $object),
                $passed[1],
                1,
            ],
            Kind::Layered2 | Kind::Cube | Kind::LayeredCube => [
                ask!($opcode ".width", $object),
                ask!($opcode ".height", $object),
                $passed[2],
            ],
        }
    };
}

impl<T: Fetched, D: Positioned> Texture<'_, T, D> {
    /// The extents as the texture unit has them: width, height, depth, those that there are; and the layers that the kernel was passed.
    ///
    /// Becomes `txq.width.b32`, `txq.height.b32` and `txq.depth.b32`. Any arch.
    ///
    /// ```
    /// use warpsmith_device::prelude::*;
    ///
    /// #[kernel]
    /// pub fn size(image: Texture2d<f32>, mut out: PerThread<[[u32; 2]]>) {
    ///     if let Some(out) = out.mine() {
    ///         *out = image.ask_extents();
    ///     }
    /// }
    /// ```
    #[inline(always)]
    pub fn ask_extents(&self) -> D::Position {
        let object = self.object();
        D::of_coordinates(extents!("txq", D::KIND, object, self.extents))
    }
}

impl<T: SurfaceTexel, D: Positioned> Surface<'_, T, D> {
    /// The extents as the surface's object has them, in texels: width, height, depth, those that there are; and the layers that the kernel was
    /// passed.
    ///
    /// Becomes `suq.width.b32`, `suq.height.b32` and `suq.depth.b32`. Any arch.
    #[inline(always)]
    pub fn ask_extents(&self) -> D::Position {
        let object = self.object();
        D::of_coordinates(extents!("suq", D::KIND, object, self.extents))
    }
}
