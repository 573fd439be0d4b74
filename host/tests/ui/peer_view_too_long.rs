//! A view for another device outlives its access, and one that writes is beside another.

use warpsmith_host::prelude::*;

fn main() -> Result<()> {
    let devices = Gpu::devices()?;
    let (one, other) = (Gpu::open(devices[0].choice)?, Gpu::open(devices[1].choice)?);
    let (here, there) = (one.stream()?, other.stream()?);
    let mut buffer = here.zeroed::<u32>(8)?;
    let access = one.default_pool()?.allow_peer(&other)?;

    let view = access.view(&buffer)?;
    access.revoke()?;
    there.download(&view)?;

    let access = one.default_pool()?.allow_peer(&other)?;
    let view = access.view_mut(&mut buffer)?;
    here.download(&buffer)?;
    there.download(&view)?;
    Ok(())
}
