//! What another program says of its memory is nobody's to check: who takes it says that it is true.

use std::os::fd::OwnedFd;

use warpsmith_host::ExternalMemoryOptions;
use warpsmith_host::interop::dlpack::Tensor;
use warpsmith_host::prelude::*;

fn take(gpu: &Gpu, stream: &Stream, tensor: Tensor, descriptor: OwnedFd) -> Result<()> {
    let options = ExternalMemoryOptions {
        bytes: 4096,
        dedicated: false,
    };
    let memory = gpu.import_external_memory(descriptor, options)?;
    memory.map::<u32>(0, 1024)?;
    tensor.into_buffer::<u32>(stream)?;
    Ok(())
}

fn main() {}
