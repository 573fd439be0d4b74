//! A thread's default stream goes to another thread.

use warpsmith_host::prelude::*;

fn main() -> Result<()> {
    let gpu = Gpu::open_default()?;
    let own = gpu.per_thread_stream()?;
    std::thread::scope(|scope| {
        scope.spawn(|| own.synchronize());
    });
    std::thread::spawn(move || own.synchronize());
    Ok(())
}
