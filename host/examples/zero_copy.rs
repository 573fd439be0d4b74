//! Which memory is worth it: a kernel on mapped memory against a copy and a kernel on device memory, and what an allocation costs with a
//! pool and without. `cargo run --release -p warpsmith-host --example zero_copy` measures on the device that there is; on the simulator
//! the numbers say nothing about a GPU.

use std::time::{Duration, Instant};

use warpsmith_driver::raw;
use warpsmith_host::prelude::*;

/// Each thread adds its element up `passes` times, each time read from memory anew.
const PTX: &str = "
.version 7.0
.target sm_70
.address_size 64
.visible .entry add_up(.param .u64 x, .param .u64 nx, .param .u64 y, .param .u64 ny, .param .u32 passes)
{
    .reg .pred %p<3>; .reg .b32 %r<8>; .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [nx];
    ld.param.u64 %rd3, [y];
    ld.param.u32 %r1, [passes];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.u32 %r5, %r2, %r3, %r4;
    cvt.u64.u32 %rd4, %r5;
    setp.ge.u64 %p1, %rd4, %rd2;
    @%p1 bra DONE;
    mul.wide.u32 %rd5, %r5, 4;
    add.u64 %rd6, %rd1, %rd5;
    add.u64 %rd7, %rd3, %rd5;
    mov.u32 %r6, 0;
AGAIN:
    ld.volatile.global.u32 %r7, [%rd6];
    add.u32 %r6, %r6, %r7;
    sub.u32 %r1, %r1, 1;
    setp.ne.u32 %p2, %r1, 0;
    @%p2 bra AGAIN;
    st.global.u32 [%rd7], %r6;
DONE:
    ret;
}
";

/// The median of some rounds after one to warm up: the first one also loads the kernel and fills the pool.
fn median(mut round: impl FnMut() -> Result<()>) -> Result<Duration> {
    round()?;
    let mut times = (0..7)
        .map(|_| {
            let start = Instant::now();
            round()?;
            Ok(start.elapsed())
        })
        .collect::<Result<Vec<_>>>()?;
    times.sort();
    Ok(times[3])
}

// covers: PINNED-09
fn main() -> Result<()> {
    let gpu = Gpu::open_default()?;
    let count = if gpu.is_simulator() { 1 << 14 } else { 1 << 26 };
    println!("{}, {} MiB", gpu.name(), (count * 4) >> 20);
    let native = gpu.attribute(Attribute::HOST_NATIVE_ATOMIC_SUPPORTED)?;
    let integrated = gpu.attribute(Attribute::INTEGRATED)?;
    println!(
        "atomic operations on host memory are native: {native}; memory is shared with the host: {integrated}"
    );

    let kernel = gpu
        .load(PTX)?
        .untyped_kernel::<(In<u32>, Out<u32>, Value<u32>)>("add_up")?;
    let stream = gpu.stream()?;
    let (mut pinned, mut mapped) = (gpu.pinned::<u32>(count)?, gpu.mapped::<u32>(count)?);
    pinned.host_mut()?.fill(1);
    mapped.host_mut()?.fill(1);
    let mut on_device = stream.zeroed::<u32>(count)?;
    let mut sums = stream.zeroed::<u32>(count)?;
    let grid = Grid::cover(count, 256);
    for passes in [1_u32, 8] {
        let zero_copy = median(|| {
            // SAFETY: two slices and a number; each thread reads one element and writes one.
            unsafe { stream.launch_untyped(&kernel, grid, (&mapped, &mut sums, passes)) }?;
            stream.synchronize()
        })?;
        let copied = median(|| {
            stream.copy_from_host(&pinned, &mut on_device)?;
            // SAFETY: two slices and a number; each thread reads one element and writes one.
            unsafe { stream.launch_untyped(&kernel, grid, (&on_device, &mut sums, passes)) }?;
            stream.synchronize()
        })?;
        println!("each element read {passes} times: mapped {zero_copy:?}, copied first {copied:?}");
    }
    assert!(stream.download(&sums)?.iter().all(|sum| *sum == 8));

    // covers: MEM-17
    const PAIRS: u32 = 100;
    let pooled = median(|| {
        // SAFETY: nothing reads it.
        (0..PAIRS).try_for_each(|_| unsafe { stream.uninit::<u8>(1 << 20) }.map(drop))?;
        stream.synchronize()
    })?;
    let plain = median(|| {
        for _ in 0..PAIRS {
            let mut address = 0;
            // SAFETY: the driver writes an address, which nothing uses before it is freed.
            let codes = unsafe {
                [
                    raw::cuMemAlloc_v2(&mut address, 1 << 20),
                    raw::cuMemFree_v2(address),
                ]
            };
            assert!(codes.iter().all(|code| code.0 == 0), "{codes:?}");
        }
        stream.synchronize()
    })?;
    println!(
        "an allocation of 1 MiB and its end: from the pool {:?}, cuMemAlloc and cuMemFree {:?}",
        pooled / PAIRS,
        plain / PAIRS
    );
    Ok(())
}
