use warpsmith_device::atomic::{Acquire, Atomic};

fn main() {
    Atomic::<u32>::new(0).store(1, Acquire);
}
