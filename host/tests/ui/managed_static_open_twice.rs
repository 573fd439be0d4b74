//! What the host writes of a managed static nobody reads by the same object.

use warpsmith_host::prelude::*;

fn main() -> Result<()> {
    let gpu = Gpu::open_default()?;
    let mut total = gpu.load("")?.managed::<u32>("total")?;
    let mut writing = total.host_mut()?;
    let reading = total.host()?;
    writing[0] = reading[0];
    drop(total);
    Ok(())
}
