//! Memory of several devices is passed where the kernel takes other memory, or other memory where it takes this.

use warpsmith_device::atomic::MulticastSlice;
use warpsmith_device::prelude::*;
use warpsmith_host::MulticastBuffer;
use warpsmith_host::prelude::*;

#[kernel]
pub fn plain(mut words: PerThread<[u32]>) {
    let _ = words.mine();
}

#[kernel]
pub fn of_one_device(words: AtomicSlice<'_, u32>) {
    words[0].add(1, Relaxed);
}

#[kernel]
pub fn of_all(words: MulticastSlice<'_, u32>) {
    words.reduce_add(0, 1, Relaxed);
}

fn main() -> Result<()> {
    let gpu = Gpu::open_default()?;
    let stream = gpu.stream()?;
    let module = gpu.load("")?;
    let words = MulticastBuffer::<u32>::zeroed(&[&gpu], 8)?;
    let grid = Grid::new(1, 1);
    stream.launch(&module.kernel(plain)?, grid, (words.on(&gpu)?,))?;
    stream.launch(&module.kernel(of_one_device)?, grid, (words.on(&gpu)?,))?;
    // Which device's replica it is has to be said.
    stream.launch(&module.kernel(of_all)?, grid, (&words,))?;
    let mut buffer = stream.zeroed::<u32>(8)?;
    stream.launch(&module.kernel(of_all)?, grid, (&mut buffer,))?;
    // Of another type.
    let singles = MulticastBuffer::<f32>::zeroed(&[&gpu], 8)?;
    stream.launch(&module.kernel(of_all)?, grid, (singles.on(&gpu)?,))?;
    // Copies have to be put in order with all devices.
    stream.download(&words.on(&gpu)?)?;
    // The kernels of other devices are not waited for.
    stream.launch_early(&module.kernel(of_all)?, grid, (words.on(&gpu)?,))?;
    Ok(())
}
