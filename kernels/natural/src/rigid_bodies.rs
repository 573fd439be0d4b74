//! Rigid bodies that fly and spin, a thread a body.

use bytemuck::{Pod, Zeroable};
use core::ops::{Add, AddAssign, Mul};
use warpsmith_device::prelude::*;

/// A vector.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Vec3(pub [f32; 3]);

impl Vec3 {
    fn cross(self, Vec3([d, e, f]): Vec3) -> Vec3 {
        let Vec3([a, b, c]) = self;
        Vec3([b * f - c * e, c * d - a * f, a * e - b * d])
    }

    /// Each part by the other's.
    fn scaled(self, Vec3([d, e, f]): Vec3) -> Vec3 {
        let Vec3([a, b, c]) = self;
        Vec3([a * d, b * e, c * f])
    }
}

impl Mul<f32> for Vec3 {
    type Output = Vec3;

    fn mul(self, by: f32) -> Vec3 {
        Vec3(self.0.map(|x| x * by))
    }
}

impl AddAssign for Vec3 {
    fn add_assign(&mut self, other: Vec3) {
        for (x, y) in self.0.iter_mut().zip(other.0) {
            *x += y;
        }
    }
}

/// A turn.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Quaternion {
    /// The cosine of half the angle.
    pub w: f32,
    /// The axis by the sine of half the angle, along x.
    pub x: f32,
    /// The same along y.
    pub y: f32,
    /// The same along z.
    pub z: f32,
}

impl Quaternion {
    fn normalised(self) -> Quaternion {
        let Quaternion { w, x, y, z } = self;
        self * (1.0 / (w * w + x * x + y * y + z * z).sqrt())
    }
}

impl Mul for Quaternion {
    type Output = Quaternion;

    fn mul(self, other: Quaternion) -> Quaternion {
        Quaternion {
            w: self.w * other.w - self.x * other.x - self.y * other.y - self.z * other.z,
            x: self.w * other.x + self.x * other.w + self.y * other.z - self.z * other.y,
            y: self.w * other.y - self.x * other.z + self.y * other.w + self.z * other.x,
            z: self.w * other.z + self.x * other.y - self.y * other.x + self.z * other.w,
        }
    }
}

impl Mul<f32> for Quaternion {
    type Output = Quaternion;

    fn mul(self, by: f32) -> Quaternion {
        let Quaternion { w, x, y, z } = self;
        Quaternion {
            w: w * by,
            x: x * by,
            y: y * by,
            z: z * by,
        }
    }
}

impl Add for Quaternion {
    type Output = Quaternion;

    fn add(self, other: Quaternion) -> Quaternion {
        Quaternion {
            w: self.w + other.w,
            x: self.x + other.x,
            y: self.y + other.y,
            z: self.z + other.z,
        }
    }
}

/// A body.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Body {
    /// Where it is.
    pub position: Vec3,
    /// How it moves.
    pub velocity: Vec3,
    /// How it is turned.
    pub orientation: Quaternion,
    /// How it spins.
    pub spin: Vec3,
}

impl Body {
    /// Moves on by `dt`. `inertia` is that of turns about each axis.
    pub fn step(&mut self, dt: f32, gravity: Vec3, inertia: Vec3) {
        self.velocity += gravity * dt;
        self.position += self.velocity * dt;

        let torque = self.spin.scaled(inertia).cross(self.spin);
        self.spin += torque.scaled(Vec3(inertia.0.map(|i| 1.0 / i))) * dt;
        let Vec3([x, y, z]) = self.spin * (0.5 * dt);
        let turn = Quaternion { w: 0.0, x, y, z } * self.orientation;
        self.orientation = (self.orientation + turn).normalised();
    }
}

/// Moves each body on by `dt`.
#[kernel]
pub fn rigid_bodies(dt: f32, gravity: Vec3, inertia: Vec3, mut bodies: PerThread<[Body]>) {
    if let Some(body) = bodies.mine() {
        body.step(dt, gravity, inertia);
    }
}
