//! What the tests share: a device, kernels written by hand, and a process of its own for those that cost the context.
#![allow(dead_code)]

pub mod awaited;
pub mod panicking;
pub mod said;
pub mod two;
pub mod watch;

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};

use warpsmith_host::prelude::*;
use warpsmith_host::{GraphBuilder, KernelNode};
use warpsmith_testkit::process::is_child;
use warpsmith_testkit::{Side, own_process};

pub const PTX: &str = include_str!("kernels.ptx");

/// The device under test, for one test at a time: while one holds a stream up, what others do (loading, freeing, waiting for the
/// device) would wait for it inside of the driver, and the test for them.
pub struct TestGpu {
    gpu: Gpu,
    _alone: MutexGuard<'static, ()>,
}

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

impl std::ops::Deref for TestGpu {
    type Target = Gpu;

    fn deref(&self) -> &Gpu {
        &self.gpu
    }
}

/// `WARPSMITH_DEVICE`, else a GPU, else the simulator.
pub fn gpu() -> TestGpu {
    let alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    TestGpu {
        gpu: Gpu::open_default().expect("a device"),
        _alone: alone,
    }
}

pub fn module(gpu: &Gpu) -> Module {
    gpu.load(PTX).unwrap_or_else(|error| panic!("{error}"))
}

/// `y[i] += v`
pub type Add = UntypedKernel<(Out<u32>, Value<u32>)>;

pub fn add(module: &Module) -> Add {
    module.untyped_kernel("add").expect("add")
}

/// Launches [`Add`].
pub fn launch_add(stream: &Stream, add: &Add, buffer: &mut DeviceBuffer<u32>, value: u32) {
    let grid = Grid::cover(buffer.len(), 128);
    // SAFETY: the entry takes a slice and a number, and writes only the slice.
    unsafe { stream.launch_untyped(add, grid, (buffer, value)) }.expect("launch")
}

/// Adds a node of [`Add`].
pub fn add_node(
    graph: &mut GraphBuilder,
    add: &Add,
    buffer: &mut DeviceBuffer<u32>,
    value: u32,
) -> KernelNode {
    let grid = Grid::cover(buffer.len(), 128);
    // SAFETY: the entry takes a slice and a number, and writes only the slice.
    unsafe { graph.kernel_untyped(add, grid, (buffer, value)) }.expect("kernel node")
}

/// The text of the error, hint and all.
pub fn refusal<T>(result: Result<T>) -> String {
    match result {
        Ok(_) => panic!("it was accepted"),
        Err(error) => error.to_string(),
    }
}

/// A gate that a stream waits at until it is opened: a kernel that watches a word of host memory.
pub struct Gate {
    kernel: UntypedKernel<(RawPtr<u32>,)>,
    flag: MappedBuffer<u32>,
    word: *mut u32,
    gpu: Gpu,
}

// SAFETY: the word is only written atomically.
unsafe impl Send for Gate {}

impl Gate {
    pub fn new(gpu: &Gpu, module: &Module) -> Gate {
        let kernel = module.untyped_kernel("wait_for").expect("wait_for");
        let mut flag = gpu.mapped::<u32>(1).expect("mapped memory");
        let word = flag.host_mut().expect("idle").as_mut_ptr();
        Gate {
            kernel,
            flag,
            word,
            gpu: gpu.clone(),
        }
    }

    /// Holds the stream up from here on.
    pub fn close(&mut self, stream: &Stream) {
        self.store(0);
        let pointer: DevicePointer<u32> = self.flag.as_device_ptr();
        // SAFETY: the word outlives the kernel: a gate is opened before it is dropped.
        unsafe { stream.launch_untyped(&self.kernel, Grid::new(1, 1), (pointer,)) }.expect("launch")
    }

    pub fn open(&self) {
        self.store(1);
    }

    /// Whether work of a stream that the closed gate holds up has not been done. A gate that its own limit has opened, since the driver had
    /// a call of another thread wait for it and this one's for that call, holds up nothing any more, and shows nothing.
    pub fn holds(&self, stream: &Stream) -> bool {
        const ENDED_BY_ITSELF: u32 = 2;
        let idle = stream.is_idle().expect("the stream works");
        // SAFETY: the device writes it by a volatile store, and the host by atomic ones.
        let ended =
            unsafe { AtomicU32::from_ptr(self.word) }.load(Ordering::SeqCst) == ENDED_BY_ITSELF;
        !idle || ended
    }

    fn store(&self, value: u32) {
        // SAFETY: the device reads it by volatile loads.
        unsafe { AtomicU32::from_ptr(self.word) }.store(value, Ordering::SeqCst);
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        self.open();
        // The kernel was given a bare pointer, so nobody else knows that it uses the word.
        let _ = self.gpu.synchronize();
    }
}

/// Runs the calling test again in a process of its own, with `variables` set, where `body` is called; here its output is returned. The process
/// has the device, too, for one test at a time: others count its free memory.
pub fn in_own_process(variables: &[(&str, &str)], body: impl FnOnce()) -> Option<String> {
    // In the child the body takes it.
    let alone = || ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let _alone = (!is_child()).then(alone);
    match own_process(variables) {
        Side::Child => {
            body();
            None
        }
        Side::Parent(output) => Some(output.text()),
    }
}

/// What the builder says of a kernel, in a signature for PTX by hand.
pub fn signed_kernel<K: Kernel>() -> warpsmith_signature::Kernel {
    warpsmith_signature::Kernel {
        name: K::NAME.into(),
        record: K::RECORD.into(),
        ..Default::default()
    }
}

/// Holds a stream up by a function on the host, until the result is dropped or sent to.
pub fn hold_up(stream: &Stream) -> Result<mpsc::Sender<()>> {
    let (sender, receiver) = mpsc::channel();
    stream.host_fn(move || {
        let _ = receiver.recv();
    })?;
    Ok(sender)
}

/// Lets a stream that was held up go on after a moment, from another thread: a call that waits for it meanwhile, as drivers may in copies and launches
/// across devices, waits no longer than that.
pub fn open_soon(late: mpsc::Sender<()>) {
    std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(30));
        drop(late);
    });
}

/// Waits until the stream has done what it holds, without a wait that could tell of errors.
pub fn wait_silently(stream: &Stream) -> Result<()> {
    let (sender, receiver) = mpsc::channel();
    stream.host_fn(move || {
        let _ = sender.send(());
    })?;
    receiver.recv().expect("the function was called");
    Ok(())
}
