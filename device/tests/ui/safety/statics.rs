//! The host sets statics to any bytes.
use warpsmith_device::prelude::*;
use warpsmith_device::statics::Plain;

warpsmith_device::device_static! {
    pub static WORDS: [u32; 4] = [0; 4];
    pub static COUNTS: [Atomic<u32>; 4] = [const { Atomic::new(0) }; 4];
    pub static PLAIN: [Plain<[f32; 2]>; 2] = [const { Plain::new([0.0; 2]) }; 2];
    pub static FLAG: bool = false;
}

warpsmith_device::managed_static! {
    pub static NAME: &str = "x";
}

warpsmith_device::constant! {
    pub static ANSWER: Option<u32> = None;
}

// The whole grid reaches a static.
warpsmith_device::device_static! {
    pub static OF_A_BLOCK: Atomic<u32, scope::Block> = Atomic::new(0);
}

static WITHOUT_A_NAME: [Atomic<u32, scope::Cluster>; 2] = [const { Atomic::new(0) }; 2];

fn main() {}
