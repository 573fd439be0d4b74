//! Words that the host uses at the same time are passed where the kernel's operations are not atomic for it.

use warpsmith_device::prelude::*;
use warpsmith_host::prelude::*;

#[kernel]
pub fn plain(mut words: PerThread<[u32]>) {
    let _ = words.mine();
}

#[kernel]
pub fn of_the_device(words: AtomicSlice<u32>) {
    words[0].add(1, Relaxed);
}

fn main() -> Result<()> {
    let gpu = Gpu::open_default()?;
    let stream = gpu.stream()?;
    let words = gpu.shared_atomics::<u32>(8)?;
    let module = gpu.load("")?;
    stream.launch(&module.kernel(plain)?, Grid::new(1, 1), (&words,))?;
    stream.launch(&module.kernel(of_the_device)?, Grid::new(1, 1), (&words,))?;
    stream.download(&words)?;
    Ok(())
}
