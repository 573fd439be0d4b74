//! That another library's stream, memory or event exists is nobody's to check: who hands it over says so.

use std::ffi::c_void;

use warpsmith_host::prelude::*;

fn take(gpu: &Gpu, handle: *mut c_void, event: *mut c_void) -> Result<()> {
    let stream = gpu.adopt_stream(handle, ())?;
    stream.adopt::<u32, _>(DevicePointer::from_address(0x1000), 1024, ())?;
    stream.wait_raw_event(event)?;
    stream.record_raw_event(event)?;
    Ok(())
}

fn main() {}
