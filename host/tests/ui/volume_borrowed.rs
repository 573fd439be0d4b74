//! A padded volume is one output, which keeps others out and ends with the volume.
// covers: MEM-05

use warpsmith_device::prelude::*;
use warpsmith_host::prelude::*;

#[kernel]
pub fn split(mut a: VolumeOut<f32>, mut b: VolumeOut<f32>) {
    let _ = (a.mine(), b.mine());
}

#[kernel]
pub fn clear(mut a: VolumeOut<f32>) {
    let _ = a.mine();
}

fn main() -> Result<()> {
    let gpu = Gpu::open_default()?;
    let (stream, module) = (gpu.stream()?, gpu.load("")?);
    let mut volume = stream.pitched_volume_zeroed::<f32>(2, 2, 2)?;
    let grid = Grid::new((1, 1, 1), (2, 2, 2));
    stream.launch(&module.kernel(split)?, grid, (volume.volume_mut(), volume.volume_mut()))?;

    let out = volume.volume_mut();
    stream.download_matrix(&volume.layer(0))?;
    stream.launch(&module.kernel(clear)?, grid, (out,))?;

    let shared = &volume;
    stream.launch(&module.kernel(clear)?, grid, (shared.volume_mut(),))?;

    let out = volume.volume_mut();
    drop(volume);
    stream.launch(&module.kernel(clear)?, grid, (out,))
}
