//! Words that the host and running kernels use at the same time.
#![allow(missing_docs)]

use std::sync::atomic::Ordering;

use crate::common::{gpu, signed_kernel};
use warpsmith_device::prelude::*;
use warpsmith_host::SharedAtomics;
use warpsmith_host::prelude::*;
use warpsmith_signature::Signature;
use warpsmith_testkit::ptx;

/// Counts in word 1 until word 0 is not 0.
#[kernel]
pub fn count_until(words: AtomicSlice<u32, scope::System>) {
    while words[0].load(Acquire) == 0 {
        words[1].add(1, Relaxed);
    }
}

const PTX: &str = ptx!(
    "7.0",
    "sm_70",
    "
.visible .entry count_until(.param .u64 words, .param .u64 len)
{
    .reg .pred %p;
    .reg .b32 %stop, %old;
    .reg .b64 %w;
    ld.param.u64 %w, [words];
AGAIN:
    ld.acquire.sys.u32 %stop, [%w];
    setp.ne.u32 %p, %stop, 0;
    @%p bra DONE;
    atom.relaxed.sys.add.u32 %old, [%w+4], 1;
    bra AGAIN;
DONE:
    ret;
}
"
);

fn kernel(gpu: &Gpu) -> Result<TypedKernel<count_until>> {
    let signature = Signature {
        kernels: vec![signed_kernel::<count_until>()],
        ..Signature::default()
    };
    // SAFETY: the entry does what the kernel above does, and nothing else.
    let signed = unsafe { warpsmith_signature::sign(PTX, &signature) };
    gpu.load(&signed)?.kernel(count_until)
}

/// Lets kernels of two streams, which use the words at the same time, count until the host says so.
fn count(gpu: &Gpu, words: SharedAtomics<u32>) -> Result<()> {
    let kernel = kernel(gpu)?;
    let streams = [gpu.stream()?, gpu.stream()?];
    for stream in &streams {
        stream.launch(&kernel, Grid::new(1, 32), (&words,))?;
    }
    // Both count though neither ends: the host sees it while they do.
    let mut seen = 0;
    while seen < 1000 {
        let now = words.load(1, Ordering::Relaxed);
        assert!(now >= seen);
        seen = now;
        std::thread::yield_now();
    }
    words.store(0, 1, Ordering::Release);
    gpu.synchronize()?;
    let end = words.load(1, Ordering::Relaxed);
    assert!(end >= seen && end == words.load(1, Ordering::Relaxed));
    Ok(())
}

// covers: PINNED-07
#[test]
fn the_host_and_kernels_use_page_locked_words_at_a_time() -> Result<()> {
    let gpu = gpu();
    let words = gpu.shared_atomics(2)?;
    let native = gpu.attribute(Attribute::HOST_NATIVE_ATOMIC_SUPPORTED)? != 0;
    match words.words() {
        Ok(_) => assert!(native),
        Err(error) => {
            assert!(!native);
            assert!(error.to_string().contains("unified_atomics"), "{error}");
        }
    }
    count(&gpu, words)
}

// covers: PINNED-07, UM-01
#[test]
fn the_host_and_kernels_use_unified_words_at_a_time() -> Result<()> {
    let gpu = gpu();
    if gpu.attribute(Attribute::CONCURRENT_MANAGED_ACCESS)? == 0 {
        let error = gpu.unified_atomics::<u32>(2).unwrap_err().to_string();
        assert!(error.contains("shared_atomics"), "{error}");
        return Ok(());
    }
    let words = gpu.unified_atomics::<u32>(2)?;
    words.words()?[1].fetch_add(7, Ordering::Relaxed);
    count(&gpu, words)
}

/// The words are kept while a kernel uses them, also by a graph, and whoever is dropped.
#[test]
fn words_live_as_long_as_their_kernels() -> Result<()> {
    let gpu = gpu();
    let kernel = kernel(&gpu)?;
    let stream = gpu.stream()?;
    let words = gpu.shared_atomics::<u32>(2)?;
    words.store(0, 1, Ordering::Relaxed);
    let mut graph = gpu.graph()?;
    graph.kernel(&kernel, Grid::new(1, 1), (&words,))?;
    let mut ready = graph.instantiate()?;
    drop((graph, words));
    ready.launch(&stream)?;
    stream.synchronize()?;

    let words = gpu.shared_atomics::<u32>(2)?;
    let stop = words.as_device_ptr();
    assert_ne!(stop.address(), 0);
    stream.launch(&kernel, Grid::new(1, 1), (&words,))?;
    std::thread::scope(|scope| {
        scope.spawn(|| words.store(0, 1, Ordering::Release));
    });
    drop(words);
    let none = gpu.shared_atomics::<i64>(0)?;
    assert!(none.is_empty() && none.as_device_ptr().address() == 0);
    stream.synchronize()
}
