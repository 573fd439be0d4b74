// A of u8 and B of i8 cannot be multiplied.
use warpsmith_device::wmma::{Accumulator, ColMajor, M16N16K16, MatrixA, MatrixB, RowMajor, mma};

fn main() {
    let a = MatrixA::<u8, M16N16K16, RowMajor>::fill(1);
    let b = MatrixB::<i8, M16N16K16, ColMajor>::fill(1);
    let c = Accumulator::<i32, M16N16K16>::fill(0);
    let _: Accumulator<i32, _> = mma(&a, &b, &c);
}
