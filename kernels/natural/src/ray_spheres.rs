//! A picture of spheres, by a ray a pixel.

use bytemuck::{Pod, Zeroable};
use warpsmith_device::prelude::*;

/// A sphere.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Sphere {
    /// Its centre.
    pub centre: [f32; 3],
    /// Its radius.
    pub radius: f32,
}

/// A half line.
#[derive(Clone, Copy)]
pub struct Ray {
    origin: [f32; 3],
    direction: [f32; 3],
}

fn dot(a: [f32; 3], b: [f32; 3]) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

impl Ray {
    /// The ray through a point of the plane one before the eye.
    pub fn through(x: f32, y: f32) -> Ray {
        Ray {
            origin: [0.0, 0.0, -3.0],
            direction: [x, y, 1.0],
        }
    }
}

impl Sphere {
    /// How far along the ray it meets the sphere first; `None` where it misses.
    pub fn hit(&self, ray: &Ray) -> Option<f32> {
        let to_origin = [
            ray.origin[0] - self.centre[0],
            ray.origin[1] - self.centre[1],
            ray.origin[2] - self.centre[2],
        ];
        let a = dot(ray.direction, ray.direction);
        let half_b = dot(to_origin, ray.direction);
        let c = dot(to_origin, to_origin) - self.radius * self.radius;
        let discriminant = half_b * half_b - a * c;
        if discriminant < 0.0 {
            return None;
        }
        let root = FloatExt::sqrt(discriminant);
        let near = (-half_b - root) / a;
        let far = (-half_b + root) / a;
        if near > 0.0 {
            Some(near)
        } else if far > 0.0 {
            Some(far)
        } else {
            None
        }
    }
}

/// How far the nearest sphere is at each pixel; 0 where there is none.
#[kernel]
pub fn ray_spheres(spheres: &[Sphere], mut depths: MatrixOut<f32>) {
    let (row, column) = (depths.row(), depths.column());
    let (rows, columns) = (depths.rows(), depths.columns());
    if let Some(depth) = depths.mine() {
        let x = column as f32 / columns as f32 - 0.5;
        let y = row as f32 / rows as f32 - 0.5;
        let ray = Ray::through(x, y);
        let mut nearest: Option<f32> = None;
        for sphere in spheres {
            if let Some(distance) = sphere.hit(&ray) {
                nearest = match nearest {
                    Some(least) if least <= distance => Some(least),
                    _ => Some(distance),
                };
            }
        }
        *depth = nearest.unwrap_or(0.0);
    }
}
