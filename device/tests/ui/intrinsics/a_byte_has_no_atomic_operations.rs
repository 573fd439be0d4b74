use warpsmith_device::atomic::{Atomic, Relaxed};

fn main() {
    Atomic::<u8>::new(0).load(Relaxed);
}
