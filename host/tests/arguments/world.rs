//! What the calls are made with, and whether they have left it as it was.

use warpsmith_device::dependent::AfterPrimary;
use warpsmith_device::prelude::*;
use warpsmith_host::prelude::*;

use crate::common::{self, Add, launch_add};

pub const LEN: usize = 64;

/// The entry `add` of the PTX by hand, as its items.
#[kernel]
pub fn add(mut y: PerThread<[u32]>, v: u32) {
    if let Some(y) = y.mine() {
        *y += v;
    }
}

pub mod early {
    use super::*;

    #[kernel]
    pub fn add(y: AfterPrimary<PerThread<[u32]>>, v: u32) {
        if let Some(y) = y.wait().mine() {
            *y += v;
        }
    }
}

pub struct World {
    pub gpu: Gpu,
    pub module: Module,
    pub add: Add,
    pub typed: TypedKernel<add>,
    pub early: TypedKernel<early::add>,
    pub stream: Stream,
    pub other: Stream,
    pub words: DeviceBuffer<u32>,
    pub pinned: PinnedBuffer<u32>,
    value: u32,
    far: Option<Box<World>>,
}

impl World {
    pub fn new(gpu: &Gpu) -> World {
        let module = common::module(gpu);
        // SAFETY: the PTX by hand does to its parameters what the items' bodies do.
        let (typed, early) = unsafe {
            (
                module.kernel_unchecked(add).expect("add"),
                module.kernel_unchecked(early::add).expect("add"),
            )
        };
        let stream = gpu.stream().expect("a stream");
        World {
            gpu: gpu.clone(),
            add: common::add(&module),
            typed,
            early,
            module,
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
            stream: &mut self.stream,
            words: &mut self.words,
            pinned: &mut self.pinned,
            add: &self.add,
            typed: &self.typed,
            early: &self.early,
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
    pub stream: &'a mut Stream,
    pub words: &'a mut DeviceBuffer<u32>,
    pub pinned: &'a mut PinnedBuffer<u32>,
    pub add: &'a Add,
    pub typed: &'a TypedKernel<add>,
    pub early: &'a TypedKernel<early::add>,
}
