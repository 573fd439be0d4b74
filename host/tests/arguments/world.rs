//! What the calls are made with, and whether they have left it as it was.

use warpsmith_host::prelude::*;

use crate::common::{Add, add, launch_add, module};

pub const LEN: usize = 64;

pub struct World {
    pub gpu: Gpu,
    add: Add,
    pub stream: Stream,
    pub other: Stream,
    pub words: DeviceBuffer<u32>,
    pub pinned: PinnedBuffer<u32>,
    value: u32,
    far: Option<Box<World>>,
}

impl World {
    pub fn new(gpu: &Gpu) -> World {
        let module = module(gpu);
        let stream = gpu.stream().expect("a stream");
        World {
            gpu: gpu.clone(),
            add: add(&module),
            other: gpu.stream().expect("a stream"),
            words: stream.zeroed(LEN).expect("memory"),
            pinned: gpu.pinned(LEN).expect("memory"),
            stream,
            value: 0,
            far: None,
        }
    }

    pub fn with_far(one: &Gpu, other: &Gpu) -> World {
        let mut world = World::new(one);
        world.far = Some(Box::new(World::new(other)));
        world
    }

    /// Two halves, so that a call can take memory and streams of both devices.
    pub fn both(&mut self) -> (Near<'_>, &mut World) {
        let far = self.far.as_mut().expect("rows of two devices");
        let near = Near {
            gpu: &self.gpu,
            stream: &self.stream,
            words: &mut self.words,
            pinned: &mut self.pinned,
        };
        (near, far)
    }

    /// The memory holds what it did, and kernels, copies and the host still use it.
    pub fn expect_unharmed(&mut self, row: &str) {
        self.stream.synchronize().expect(row);
        self.other.synchronize().expect(row);
        let words = self.other.download(&self.words).expect(row);
        assert_eq!(words, [self.value; LEN], "{row}: memory was changed");
        assert_eq!(
            *self.pinned.host().expect(row),
            [0; LEN],
            "{row}: memory was changed"
        );
        self.value += 1;
        launch_add(&self.stream, &self.add, &mut self.words, 1);
        let words = self.other.download(&self.words).expect(row);
        assert_eq!(words, [self.value; LEN], "{row}: after it");
        if let Some(far) = &mut self.far {
            far.expect_unharmed(row);
        }
    }
}

/// The world's first device.
pub struct Near<'a> {
    pub gpu: &'a Gpu,
    pub stream: &'a Stream,
    pub words: &'a mut DeviceBuffer<u32>,
    pub pinned: &'a mut PinnedBuffer<u32>,
}
