//! Vertices moved by the bones of a skeleton, whose turns are quaternions.

use bytemuck::{Pod, Zeroable};
use core::ops::{Add, Mul};
use warpsmith_device::prelude::*;

/// Bones of a vertex.
pub const BONES: usize = 4;

/// A vector.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Vec3 {
    /// Its part along the first axis.
    pub x: f32,
    /// Its part along the second axis.
    pub y: f32,
    /// Its part along the third axis.
    pub z: f32,
}

impl Vec3 {
    fn cross(self, other: Vec3) -> Vec3 {
        Vec3 {
            x: self.y * other.z - self.z * other.y,
            y: self.z * other.x - self.x * other.z,
            z: self.x * other.y - self.y * other.x,
        }
    }

    fn dot(self, other: Vec3) -> f32 {
        self.x * other.x + self.y * other.y + self.z * other.z
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

impl Mul<f32> for Vec3 {
    type Output = Vec3;

    fn mul(self, by: f32) -> Vec3 {
        Vec3 {
            x: self.x * by,
            y: self.y * by,
            z: self.z * by,
        }
    }
}

/// A turn.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Quaternion {
    /// The axis, by the sine of half the angle.
    pub vector: Vec3,
    /// The cosine of half the angle.
    pub scalar: f32,
}

impl Quaternion {
    fn dot(self, other: Quaternion) -> f32 {
        self.vector.dot(other.vector) + self.scalar * other.scalar
    }

    fn normalized(self) -> Quaternion {
        self * (1.0 / FloatExt::sqrt(self.dot(self)))
    }
}

impl Add for Quaternion {
    type Output = Quaternion;

    fn add(self, other: Quaternion) -> Quaternion {
        Quaternion {
            vector: self.vector + other.vector,
            scalar: self.scalar + other.scalar,
        }
    }
}

impl Mul<f32> for Quaternion {
    type Output = Quaternion;

    fn mul(self, by: f32) -> Quaternion {
        Quaternion {
            vector: self.vector * by,
            scalar: self.scalar * by,
        }
    }
}

impl Mul<Vec3> for Quaternion {
    type Output = Vec3;

    fn mul(self, v: Vec3) -> Vec3 {
        let twice = self.vector.cross(v) * 2.0;
        v + twice * self.scalar + self.vector.cross(twice)
    }
}

/// Where a bone is.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Bone {
    /// How it is turned.
    pub turn: Quaternion,
    /// How it is moved.
    pub offset: Vec3,
}

/// A vertex and what moves it.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Vertex {
    /// Where it is when nothing moves.
    pub position: Vec3,
    /// How much each of its bones counts; together they are 1.
    pub weights: [f32; BONES],
    /// Its bones.
    pub bones: [u16; BONES],
}

/// Where each vertex is moved.
#[kernel]
pub fn skinning(vertices: &[Vertex], bones: &[Bone], mut moved: PerThread<[Vec3]>) {
    if let (Some(vertex), Some(to)) = (vertices.get(thread::index()), moved.mine()) {
        *to = vertex.moved(bones);
    }
}

impl Vertex {
    /// Where the bones move the vertex: their turns and moves are mixed.
    pub fn moved(&self, bones: &[Bone]) -> Vec3 {
        let first = bones[usize::from(self.bones[0])].turn;
        let mixed = self
            .bones
            .iter()
            .zip(&self.weights)
            .filter(|&(_, &weight)| weight > 0.0)
            .map(|(&bone, &weight)| {
                let Bone { turn, offset } = bones[usize::from(bone)];
                // A turn is also its negative: the one that is nearer to the first is meant.
                let sign = if turn.dot(first) < 0.0 { -1.0 } else { 1.0 };
                (turn * (weight * sign), offset * weight)
            })
            .reduce(|(turn, offset), (more, further)| (turn + more, offset + further));
        match mixed {
            Some((turn, offset)) => turn.normalized() * self.position + offset,
            None => self.position,
        }
    }
}
