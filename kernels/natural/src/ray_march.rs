//! How far rays go until they meet a scene, which is given by the distance from it.

use core::array::from_fn;
use warpsmith_device::prelude::*;

/// Steps of a ray.
pub const STEPS: usize = 64;
/// What is farther away is not seen.
pub const FAR: f32 = 20.0;

type Point = [f32; 3];

/// What has a distance from each point.
pub trait Shape {
    /// The distance; it is negative inside.
    fn distance(&self, point: Point) -> f32;
}

/// A ball.
pub struct Ball {
    centre: Point,
    radius: f32,
}

/// A box along the axes, with round edges.
pub struct Block {
    centre: Point,
    size: Point,
    round: f32,
}

/// A plane below which all is full.
pub struct Floor {
    height: f32,
}

/// Two shapes that flow into one another.
pub struct Blend<A, B> {
    first: A,
    second: B,
    width: f32,
}

/// A shape without another one.
pub struct Without<A, B> {
    whole: A,
    hole: B,
}

impl Shape for Ball {
    fn distance(&self, point: Point) -> f32 {
        length(from_fn(|i| point[i] - self.centre[i])) - self.radius
    }
}

impl Shape for Block {
    fn distance(&self, point: Point) -> f32 {
        let outside: Point = from_fn(|i| (point[i] - self.centre[i]).abs() - self.size[i]);
        let inside = outside.into_iter().fold(f32::NEG_INFINITY, f32::max);
        length(outside.map(|x| x.max(0.0))) + inside.min(0.0) - self.round
    }
}

impl Shape for Floor {
    fn distance(&self, [_, y, _]: Point) -> f32 {
        y - self.height
    }
}

impl<A: Shape, B: Shape> Shape for Blend<A, B> {
    fn distance(&self, point: Point) -> f32 {
        let (a, b) = (self.first.distance(point), self.second.distance(point));
        let part = (0.5 + 0.5 * (b - a) / self.width).clamp(0.0, 1.0);
        b + (a - b) * part - self.width * part * (1.0 - part)
    }
}

impl<A: Shape, B: Shape> Shape for Without<A, B> {
    fn distance(&self, point: Point) -> f32 {
        self.whole.distance(point).max(-self.hole.distance(point))
    }
}

fn length(vector: Point) -> f32 {
    FloatExt::sqrt(vector.iter().map(|x| x * x).sum::<f32>())
}

/// The scene: a block with a ball cut out and a ball beside it, on a floor.
pub fn scene() -> impl Shape {
    Blend {
        first: Floor { height: -1.0 },
        second: Blend {
            first: Without {
                whole: Block {
                    centre: [-0.8, 0.0, 4.0],
                    size: [0.7, 0.6, 0.8],
                    round: 0.1,
                },
                hole: Ball {
                    centre: [-0.5, 0.5, 3.4],
                    radius: 0.6,
                },
            },
            second: Ball {
                centre: [0.9, 0.1, 3.5],
                radius: 0.8,
            },
            width: 0.4,
        },
        width: 0.3,
    }
}

/// How far the ray through each pixel goes; the picture is seen from the origin.
#[kernel]
pub fn ray_march(mut distances: MatrixOut<f32>) {
    let (x, y) = (distances.column() as f32, distances.row() as f32);
    let (columns, rows) = (distances.columns() as f32, distances.rows() as f32);
    if let Some(distance) = distances.mine() {
        let direction = [
            (x - columns / 2.0) / columns,
            (rows / 2.0 - y) / columns,
            1.0,
        ];
        *distance = march(&scene(), direction);
    }
}

/// How far a ray in the direction goes.
pub fn march(scene: &impl Shape, direction: Point) -> f32 {
    let size = length(direction);
    let direction = direction.map(|x| x / size);
    let mut way = 0.0;
    for _ in 0..STEPS {
        let distance = scene.distance(direction.map(|x| x * way));
        way += distance;
        if distance < 1e-5 || way > FAR {
            break;
        }
    }
    way.min(FAR)
}
