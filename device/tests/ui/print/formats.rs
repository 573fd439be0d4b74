//! Formats that do not parse or do not fit.
use warpsmith_device::prelude::*;

fn main() {
    let x = 1;
    gpu_println!("{} {}", x);
    gpu_println!("{}", x, x);
    gpu_println!("{}", y = x);
    gpu_println!("{");
    gpu_println!("}");
    gpu_println!("{:^8}", x);
    gpu_println!("{:*<8}", x);
    gpu_println!("{:b}", x);
    gpu_println!("{:#?}", x);
    gpu_println!("{x.0}");
    gpu_println!("{:.*}", 3, 1.5);
    gpu_println!(x);
    gpu_println!(
        "{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}",
        x
    );
    gpu_assert!(x > 0, "{}", x);
}
