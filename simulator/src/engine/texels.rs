//! Texture and surface objects as instructions use them: where the texels lie, and how they are read.

use std::sync::Arc;

use crate::numerics::texture::{Format, LevelSampler, Sampler};

/// Who remembers which bytes of a CUDA array something has written.
pub trait TexelRecord: Send + Sync {
    /// Whether all of these bytes have been written; the first one counts from the array's first byte.
    fn is_written(&self, first: u64, bytes: u32) -> bool;

    /// Notes that these bytes have been written.
    fn note_written(&self, first: u64, bytes: u32);
}

/// Whether layers are the faces of cubes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Faces {
    /// They are not.
    None,
    /// Of one cube.
    OfCube,
    /// Of several, each six layers.
    OfCubes,
}

/// Texels in memory: rows of texels, and slices of rows.
#[derive(Clone)]
pub struct Texels {
    /// The first texel's address.
    pub base: u64,
    /// Bytes from a row to the next.
    pub pitch: u64,
    /// Bytes from a slice, or layer, to the next.
    pub slice: u64,
    /// Width, height and depth in texels; 1 where there is none.
    pub extents: [u32; 3],
    /// In how many dimensions they lie in a layer.
    pub dimensions: usize,
    /// How many layers there are; `None` where texels are not in layers.
    pub layers: Option<u32>,
    /// Whether they are the faces of cubes.
    pub faces: Faces,
    /// The slice of the first layer.
    pub first_layer: u32,
    /// Whether they may be gathered.
    pub gathers: bool,
    /// What a component is.
    pub format: Format,
    /// Components of a texel.
    pub components: usize,
    /// Which bytes have been written, where that is known.
    pub record: Option<Arc<dyn TexelRecord>>,
    /// What they are of, for reports.
    pub what: String,
}

impl Texels {
    /// Bytes of a texel.
    pub fn texel(&self) -> u32 {
        self.format.bytes() * self.components as u32
    }

    /// The address of a byte of a row.
    pub fn address(&self, x: u64, y: u32, slice: u32) -> u64 {
        self.base + x + u64::from(y) * self.pitch + u64::from(slice + self.first_layer) * self.slice
    }
}

/// A texture object.
#[derive(Clone)]
pub struct TextureObject {
    /// What it reads: at least one level, and more of a mipmapped array.
    pub levels: Vec<Texels>,
    /// How.
    pub sampler: Sampler,
    /// How levels are picked.
    pub between_levels: LevelSampler,
}

/// Why there is no object behind a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectError {
    /// There is no such object (any more).
    None,
    /// Its array was destroyed.
    ArrayDestroyed,
}
