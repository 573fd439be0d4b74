//! Everything that a crate without `unsafe` needs: `#[kernel]`, statics and launches.
#![forbid(unsafe_code)]

use warpsmith_device::prelude::*;
use warpsmith_host::prelude::*;

warpsmith_device::constant! {
    /// Factors.
    pub static FACTORS: [f32; 4] = [1.0; 4];
}

warpsmith_device::device_static! {
    /// Calls.
    pub static CALLS: Atomic<u32> = Atomic::new(0);
}

#[kernel(launch_bounds(64))]
pub fn scale(x: &[f32], mut y: PerThread<[f32]>) {
    if let (Some(x), Some(y)) = (x.get(thread::index()), y.mine()) {
        *y = x * FACTORS[0];
    }
    CALLS.fetch_add(1, Relaxed);
}

#[kernel(instantiate((f32, 4), (u32, 8)))]
pub fn clear<T: Copy + Default, const N: usize>(mut y: PerThread<[T]>) {
    if let Some(y) = y.mine() {
        *y = T::default();
    }
}

fn launch(gpu: &Gpu, module: &Module) -> Result<Vec<f32>> {
    let stream = gpu.stream()?;
    let x = stream.upload(&[1.0])?;
    let mut y = stream.zeroed(1)?;
    stream.launch(&module.kernel(scale)?, Grid::new(1, 64), (&x, &mut y))?;
    stream.launch(&module.kernel(clear::<f32, 4>)?, Grid::new(1, 64), (&mut y,))?;
    stream.download(&y)
}

fn main() {
    let _ = launch;
}
