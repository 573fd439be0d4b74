//! Particles in a box, as an array of structs.

use bytemuck::{Pod, Zeroable};
use warpsmith_device::prelude::*;

/// A particle.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Particle {
    /// Where it is.
    pub position: [f32; 3],
    /// How it moves.
    pub velocity: [f32; 3],
    /// Its mass.
    pub mass: f32,
    /// How often it met a wall.
    pub bounces: u32,
}

/// Moves each particle on by `dt`, under gravity; walls of the box from -1 to 1 throw it back.
#[kernel]
pub fn particles(dt: f32, gravity: f32, mut particles: PerThread<[Particle]>) {
    if let Some(particle) = particles.mine() {
        particle.advance(dt, gravity);
    }
}

impl Particle {
    /// Moves on by `dt`.
    pub fn advance(&mut self, dt: f32, gravity: f32) {
        self.velocity[1] -= gravity * self.mass * dt;
        for (position, velocity) in self.position.iter_mut().zip(&mut self.velocity) {
            *position += *velocity * dt;
            if position.abs() > 1.0 {
                *velocity = -*velocity;
                *position = position.clamp(-1.0, 1.0);
                self.bounces += 1;
            }
        }
    }
}
