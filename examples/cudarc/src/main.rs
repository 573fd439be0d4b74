//! One program with two libraries: `cudarc` has a stream and memory, and a kernel in Rust works on them; then the other way round. Both load the same
//! driver and use the device's primary context, so nothing is copied.
//!
//! ```text
//! cargo run -p warpsmith-example-cudarc
//! ```
//!
//! Without a GPU: `LD_LIBRARY_PATH=$(cargo xtask simulator) WARPSMITH_DEVICE=cuda cargo run -p warpsmith-example-cudarc`.

mod kernels;

use std::error::Error;
use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaSlice, CudaStream, DevicePtr};
use warpsmith_host::ForeignWork;
use warpsmith_host::prelude::*;

/// The kernels of `src/kernels.rs` as PTX, made by `build.rs`.
const PTX: &str = include_str!(concat!(env!("OUT_DIR"), "/kernels.ptx"));

const LEN: usize = 100_000;

fn main() -> Result<(), Box<dyn Error>> {
    let context = CudaContext::new(0)?;
    let theirs = context.new_stream()?;
    // cudarc has made its context current, which is the device's primary one.
    let gpu = Gpu::of_current_context()?;
    // SAFETY: cudarc destroys the stream with the last share of it, of which the keeper is one, and nobody captures it.
    let stream = unsafe { gpu.adopt_stream(theirs.cu_stream().cast(), theirs.clone()) }?;
    let scale = gpu.load(PTX)?.kernel(kernels::scale)?;

    kernel_on_their_memory(&theirs, &stream, &scale)?;
    their_work_on_our_memory(&gpu, &theirs, &stream, &scale)?;
    println!("{LEN} elements are right, both ways, on {}", gpu.name());
    Ok(())
}

/// A kernel of ours on memory of cudarc's, in cudarc's stream: in order without an event or a wait. (Another stream of cudarc's, which knows of no write, would
/// have to `join` this one.)
fn kernel_on_their_memory(
    theirs: &Arc<CudaStream>,
    stream: &Stream,
    scale: &TypedKernel<kernels::scale>,
) -> Result<(), Box<dyn Error>> {
    let numbers: Vec<f32> = (0..LEN).map(|i| i as f32).collect();
    let slice = Arc::new(theirs.clone_htod(&numbers)?);
    {
        let (address, _recorded) = slice.device_ptr(theirs);
        // SAFETY: the slice has these numbers, written in this stream; it is freed with its last share, of which the keeper is one. cudarc does not use it
        // before the buffer is dropped, but in this stream.
        let mut buffer = unsafe {
            stream.adopt::<f32, _>(DevicePointer::from_address(address), LEN, slice.clone())?
        };
        stream.launch(scale, Grid::cover(LEN, 256), (2.0, &mut buffer))?;
    }
    let doubled = theirs.clone_dtoh(&*slice)?;
    theirs.synchronize()?;
    assert!(doubled.iter().zip(&numbers).all(|(y, x)| *y == 2.0 * x));

    // The keeper is dropped at a wait of ours that finds the memory unused: then the slice is cudarc's alone again.
    stream.synchronize()?;
    let slice: CudaSlice<f32> = Arc::try_unwrap(slice).map_err(|_| "the slice is still shared")?;
    drop(slice);
    Ok(())
}

/// Work of cudarc's on memory of ours, which was used in another stream before and is afterwards.
fn their_work_on_our_memory(
    gpu: &Gpu,
    theirs: &Arc<CudaStream>,
    stream: &Stream,
    scale: &TypedKernel<kernels::scale>,
) -> Result<(), Box<dyn Error>> {
    let own = gpu.stream()?;
    let mut buffer = own.upload(&[3.0_f32; LEN])?;
    own.launch(scale, Grid::cover(LEN, 256), (2.0, &mut buffer))?;

    let mut work = ForeignWork::new("cudarc's fill");
    let memory = work.writes(stream, &mut buffer)?;
    let fill = || -> Result<(), Box<dyn Error>> {
        // SAFETY: the first half of the buffer, which is memory of the stream's device, and is not freed by cudarc: `leak` below.
        let mut half =
            unsafe { theirs.upgrade_device_ptr::<f32>(memory.pointer().address(), LEN / 2) };
        let filled = theirs.memset_zeros(&mut half);
        half.leak();
        Ok(filled?)
    };
    // SAFETY: the fill is enqueued in cudarc's stream, which was named, and writes the buffer, which was named for writing.
    unsafe { work.enqueue(fill) }?;

    own.launch(scale, Grid::cover(LEN, 256), (2.0, &mut buffer))?;
    let numbers = own.download(&buffer)?;
    let (zeros, rest) = numbers.split_at(LEN / 2);
    assert!(zeros.iter().all(|&x| x == 0.0) && rest.iter().all(|&x| x == 12.0));
    Ok(())
}
