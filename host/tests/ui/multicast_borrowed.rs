//! A replica is copied, or its buffer dropped, while it is being passed to a kernel.

use warpsmith_host::MulticastBuffer;
use warpsmith_host::prelude::*;

fn main() -> Result<()> {
    let gpu = Gpu::open_default()?;
    let stream = gpu.stream()?;
    let mut words = MulticastBuffer::<u32>::zeroed(&[&gpu], 8)?;
    let replica = words.on(&gpu)?;
    words.upload(&stream, &[0; 8])?;
    println!("{replica:?}");
    let replica = words.on(&gpu)?;
    words.download(&stream)?;
    println!("{replica:?}");
    let replica = words.on(&gpu)?;
    drop(words);
    println!("{replica:?}");
    Ok(())
}
