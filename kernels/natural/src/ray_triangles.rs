//! The nearest triangle that each ray meets.

use bytemuck::{Pod, Zeroable};
use core::ops::{Add, Mul, Sub};
use warpsmith_device::prelude::*;

/// A point or a direction.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Vec3 {
    /// Its first coordinate.
    pub x: f32,
    /// Its second coordinate.
    pub y: f32,
    /// Its third coordinate.
    pub z: f32,
}

impl Vec3 {
    fn dot(self, other: Vec3) -> f32 {
        self.x * other.x + self.y * other.y + self.z * other.z
    }

    fn cross(self, other: Vec3) -> Vec3 {
        Vec3 {
            x: self.y * other.z - self.z * other.y,
            y: self.z * other.x - self.x * other.z,
            z: self.x * other.y - self.y * other.x,
        }
    }
}

impl Add for Vec3 {
    type Output = Vec3;

    fn add(self, other: Vec3) -> Vec3 {
        Vec3 {
            x: self.x + other.x,
            y: self.y + other.y,
            z: self.z + other.z,
        }
    }
}

impl Sub for Vec3 {
    type Output = Vec3;

    fn sub(self, other: Vec3) -> Vec3 {
        Vec3 {
            x: self.x - other.x,
            y: self.y - other.y,
            z: self.z - other.z,
        }
    }
}

impl Mul<f32> for Vec3 {
    type Output = Vec3;

    fn mul(self, factor: f32) -> Vec3 {
        Vec3 {
            x: self.x * factor,
            y: self.y * factor,
            z: self.z * factor,
        }
    }
}

/// A half line.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Ray {
    /// Where it begins.
    pub origin: Vec3,
    /// Where it goes.
    pub direction: Vec3,
}

/// What a ray meets.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Hit {
    /// The number of the triangle; `u32::MAX` for none.
    pub triangle: u32,
    /// How far away it is.
    pub distance: f32,
}

/// How far along the ray it meets a triangle (Möller and Trumbore).
pub fn meet(ray: &Ray, [a, b, c]: &[Vec3; 3]) -> Option<f32> {
    let (ab, ac) = (*b - *a, *c - *a);
    let p = ray.direction.cross(ac);
    let determinant = ab.dot(p);
    if determinant.abs() < 1e-6 {
        return None;
    }
    let inverse = 1.0 / determinant;
    let from = ray.origin - *a;
    let u = from.dot(p) * inverse;
    if !(0.0..=1.0).contains(&u) {
        return None;
    }
    let q = from.cross(ab);
    let v = ray.direction.dot(q) * inverse;
    if v < 0.0 || u + v > 1.0 {
        return None;
    }
    let distance = ac.dot(q) * inverse;
    (distance > 0.0).then_some(distance)
}

/// The nearest triangle of each ray.
#[kernel]
pub fn ray_triangles(rays: &[Ray], triangles: &[[Vec3; 3]], mut hits: PerThread<[Hit]>) {
    if let (Some(ray), Some(hit)) = (rays.get(thread::index()), hits.mine()) {
        let mut nearest = Hit {
            triangle: u32::MAX,
            distance: f32::INFINITY,
        };
        for (number, triangle) in triangles.iter().enumerate() {
            if let Some(distance) = meet(ray, triangle)
                && distance < nearest.distance
            {
                nearest = Hit {
                    triangle: number as u32,
                    distance,
                };
            }
        }
        *hit = nearest;
    }
}
