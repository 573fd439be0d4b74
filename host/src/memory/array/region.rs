//! Parts of arrays.

use super::Array;
use super::extents::ArrayExtents;
use super::texel::Texel;
use crate::error::{Code, Error, Result};

/// A part of an array: where it begins and how large it is, as x, y and depth or layer.
#[derive(Clone, Copy)]
pub(in crate::memory) struct Region {
    pub(in crate::memory) at: [usize; 3],
    /// An extent that the array does not have is 0.
    pub(in crate::memory) size: [usize; 3],
    pub(in crate::memory) texels: usize,
}

impl Region {
    pub(in crate::memory) fn whole<T: Texel, D: ArrayExtents>(array: &Array<T, D>) -> Region {
        Region {
            at: [0; 3],
            size: array.extents.driver(),
            texels: array.len(),
        }
    }

    /// # Errors
    ///
    /// It has no texels, or does not lie in the array.
    pub(in crate::memory) fn of<T: Texel, D: ArrayExtents>(
        call: &'static str,
        array: &Array<T, D>,
        at: D,
        size: D,
    ) -> Result<Region> {
        let (at_each, size_each) = (at.in_order(), size.in_order());
        let mut axes = at_each.iter().zip(&size_each).zip(array.extents.in_order());
        let lies_inside = axes.all(|((&at, &size), extent)| {
            size > 0 && at.checked_add(size).is_some_and(|end| end <= extent)
        });
        // A cube's faces are no places of its extents.
        let places = at.driver().into_iter().zip(size.driver());
        let mut ends = places.zip(array.extents.driver());
        let has_places = ends.all(|((at, size), extent): ((usize, usize), usize)| {
            at.checked_add(size).is_some_and(|end| end <= extent)
        });
        match size.texels() {
            Some(texels) if lies_inside && has_places => Ok(Region {
                at: at.driver(),
                size: size.driver(),
                texels,
            }),
            _ => Err(Error::misuse(
                call,
                Code::INVALID_VALUE,
                format!(
                    "{size:?} from {at:?} on do not lie in an array of {:?}",
                    array.extents
                ),
                "each extent is at least 1 and ends within the array",
            )),
        }
    }
}
