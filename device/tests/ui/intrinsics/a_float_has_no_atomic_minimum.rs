use warpsmith_device::atomic::{Atomic, Relaxed};

fn main() {
    Atomic::<f32>::new(0.0).fetch_min(1.0, Relaxed);
}
