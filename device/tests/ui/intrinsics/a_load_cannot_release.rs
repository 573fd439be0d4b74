use warpsmith_device::atomic::{Atomic, Release};

fn main() {
    Atomic::<u32>::new(0).load(Release);
}
