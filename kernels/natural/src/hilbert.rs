//! Places along a curve that fills a square (Hilbert), and back.

use warpsmith_device::prelude::*;

/// The side of the square has `2^BITS` places.
pub const BITS: u32 = 16;

/// A place of the square.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// Its column.
    pub x: u32,
    /// Its row.
    pub y: u32,
}

impl Place {
    /// The place in the quarter that it lies in, turned as the curve is there; `last` is the quarter's last column.
    fn turned(self, right: u32, upper: u32, last: u32) -> Place {
        match (right, upper) {
            (0, 0) => Place {
                x: self.y,
                y: self.x,
            },
            (1, 0) => Place {
                x: last - self.y,
                y: last - self.x,
            },
            _ => self,
        }
    }

    /// How far along the curve the place is.
    pub fn along(self) -> u32 {
        let mut place = self;
        (0..BITS).rev().fold(0, |way, bit| {
            let (right, upper) = (place.x >> bit & 1, place.y >> bit & 1);
            let last = (1 << bit) - 1;
            let inside = Place {
                x: place.x & last,
                y: place.y & last,
            };
            place = inside.turned(right, upper, last);
            way << 2 | (3 * right) ^ upper
        })
    }

    /// The place that is so far along the curve.
    pub fn at(way: u32) -> Place {
        (0..BITS).fold(Place { x: 0, y: 0 }, |place, bit| {
            let quarter = way >> (2 * bit) & 3;
            let right = quarter >> 1;
            let upper = (quarter ^ right) & 1;
            let turned = place.turned(right, upper, (1 << bit) - 1);
            Place {
                x: turned.x | right << bit,
                y: turned.y | upper << bit,
            }
        })
    }
}

/// The place that is `distance` behind each on the curve.
#[kernel]
pub fn hilbert(places: &[[u16; 2]], distance: u32, mut moved: PerThread<[[u16; 2]]>) {
    if let (Some(&[x, y]), Some(to)) = (places.get(thread::index()), moved.mine()) {
        let place = Place {
            x: x.into(),
            y: y.into(),
        };
        let Place { x, y } = Place::at(place.along().wrapping_add(distance));
        *to = [x as u16, y as u16];
    }
}
