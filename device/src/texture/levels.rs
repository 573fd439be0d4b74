//! Geometries in several levels, each half as long in each direction as the one before.

use core::marker::PhantomData;

use super::geometry::{Geometry, sealed};

/// The geometry `D` in several levels.
#[derive(Clone, Copy, Debug)]
pub struct Mipmapped<D>(PhantomData<D>);

impl<D: Geometry> sealed::Geometry for Mipmapped<D> {
    const KIND: sealed::Kind = D::KIND;
    const MIPMAPPED: bool = true;
}

impl<D: Geometry> Geometry for Mipmapped<D> {}
