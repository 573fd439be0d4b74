//! No memory is both managed and constant.
use warpsmith_device::statics::Constant;

warpsmith_device::managed_static! {
    pub static ONE: Constant<u32> = Constant::new(1);
}

warpsmith_device::managed_static! {
    pub static SEVERAL: [[Constant<u32>; 2]; 1] = [[const { Constant::new(1) }; 2]];
}

fn main() {}
