//! Only plain values, of which all bytes are valid, are seen in other ones' bytes.

use warpsmith_host::prelude::*;

fn main() -> Result<()> {
    let gpu = Gpu::open_default()?;
    let stream = gpu.stream()?;
    let mut buffer = stream.upload(&[7_u8; 8])?;
    let booleans = buffer.slice(..).cast::<bool>()?;
    drop(booleans);
    let references = buffer.slice_mut(..).cast_mut::<&u32>()?;
    drop(references);
    Ok(())
}
