use warpsmith_device::half::f16;
use warpsmith_device::wmma::{M8N8K4, MatrixA, RowMajor};

fn main() {
    let _ = MatrixA::<f16, M8N8K4, RowMajor>::fill(f16::ONE);
}
