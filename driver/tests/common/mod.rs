//! What the tests of the driver's C interface share. They run on whatever `WARPSMITH_DEVICE` names, else on the simulator.
#![allow(dead_code, unused_macros, unused_imports)]

pub mod external;
pub mod graphs;
pub mod texels;

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

pub use core::ffi::{c_char, c_int, c_uint, c_void};
pub use core::ptr::{null, null_mut};
pub use warpsmith_driver::raw::*;
pub use warpsmith_driver::{Backend, Choice};

warpsmith_driver::provide_simulator! {
    // SAFETY: the simulator compiles each of its functions against the signature of its name.
    unsafe { warpsmith_driver::SimulatorBackend::new(warpsmith_simulator::entry_point) }
}

/// Calls a driver function and expects success.
macro_rules! ok {
    ($function:ident($($argument:expr),* $(,)?)) => {{
        // SAFETY: the tests keep the driver functions' contracts.
        let result = unsafe { $function($($argument),*) };
        assert_eq!(result.0, 0, "{} answered {}", stringify!($function), warpsmith_driver::error::name(result));
    }};
}

/// Calls a driver function and expects an error code, by number.
macro_rules! fails {
    ($code:expr, $function:ident($($argument:expr),* $(,)?)) => {{
        // SAFETY: the tests keep the driver functions' contracts, or break them in ways that the driver finds out.
        let result = unsafe { $function($($argument),*) };
        assert_eq!(
            result.0, $code, "{} answered {}", stringify!($function), warpsmith_driver::error::name(result)
        );
    }};
}

/// Calls a function whose first argument receives its result.
macro_rules! get {
    ($function:ident($($argument:expr),* $(,)?)) => {{
        // SAFETY: every result type of the driver's is valid as zeros.
        let mut result = unsafe { core::mem::zeroed() };
        ok!($function(&mut result, $($argument),*));
        result
    }};
}

pub(crate) use {fails, get, ok};

/// Lets the tests of a file take turns, each to its end, where they would get in each other's way: a capture forbids calls to its
/// whole context, the default pool's figures are the process's, a fault ends its context. A real driver besides calls all host
/// functions of a process on one thread, and some of its calls wait for all kernels: two tests that each wait for what stands behind
/// the other's gate or kernel would wait for ever.
pub fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    // A test that failed in its turn leaves nothing behind that the others use.
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Chooses the driver, of which nothing is called yet.
pub fn choose_driver() -> Backend {
    let choice = if std::env::var_os("WARPSMITH_DEVICE").is_some() {
        Choice::Default
    } else {
        Choice::Simulator
    };
    warpsmith_driver::select(choice).expect("a driver")
}

/// Starts the driver and makes the first device's primary context current to this thread.
pub fn gpu() -> Backend {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        choose_driver();
        ok!(cuInit(0));
    });
    let context: CUcontext = get!(cuDevicePrimaryCtxRetain(0));
    ok!(cuCtxSetCurrent(context));
    warpsmith_driver::backend().expect("chosen above")
}

/// The simulator's checks, other than the default ones until this is dropped. They are the process's, so a test has its [`turn`].
pub struct Checks(());

impl Checks {
    pub fn set(which: &str) -> Self {
        assert!(warpsmith_driver::configure_simulator("checks", which));
        Self(())
    }
}

impl Drop for Checks {
    fn drop(&mut self) {
        assert!(warpsmith_driver::configure_simulator("checks", "default"));
    }
}

/// Device memory holding `values`.
pub fn upload<T: Copy>(values: &[T]) -> CUdeviceptr {
    let address: CUdeviceptr = get!(cuMemAlloc_v2(size_of_val(values)));
    ok!(cuMemcpyHtoD_v2(
        address,
        values.as_ptr().cast(),
        size_of_val(values)
    ));
    // The copy may end after the call, in the default stream, which others that do not wait for it may overtake.
    ok!(cuStreamSynchronize(null_mut()));
    address
}

/// The values in device memory.
pub fn download<T: Copy + Default>(address: CUdeviceptr, count: usize) -> Vec<T> {
    let mut values = vec![T::default(); count];
    ok!(cuMemcpyDtoH_v2(
        values.as_mut_ptr().cast(),
        address,
        count * size_of::<T>()
    ));
    values
}

/// Page-locked memory for `count` values, all zero.
pub fn pinned<T>(count: usize) -> *mut T {
    let memory: *mut c_void = get!(cuMemHostAlloc(count * size_of::<T>(), 0));
    // SAFETY: the memory was just allocated in this size.
    unsafe { memory.write_bytes(0, count * size_of::<T>()) };
    memory.cast()
}

/// A non-blocking stream.
pub fn stream() -> CUstream {
    get!(cuStreamCreate(1))
}

/// A host function that waits until its gate opens. The gate may be leaked: tests are short.
pub struct Gate(std::sync::Mutex<bool>, std::sync::Condvar);

impl Gate {
    pub fn new() -> &'static Gate {
        Box::leak(Box::new(Gate(
            std::sync::Mutex::new(false),
            std::sync::Condvar::new(),
        )))
    }

    /// Makes the stream wait for the gate.
    pub fn block(&'static self, stream: CUstream) {
        let (function, data) = self.as_host_function();
        ok!(cuLaunchHostFunc(stream, function, data));
    }

    /// What makes a stream wait, as a host function and its data.
    pub fn as_host_function(&'static self) -> (CUhostFn, *mut c_void) {
        (
            Some(wait_for_gate),
            core::ptr::from_ref(self).cast_mut().cast(),
        )
    }

    pub fn open(&self) {
        *self.0.lock().unwrap() = true;
        self.1.notify_all();
    }
}

unsafe extern "C" fn wait_for_gate(gate: *mut c_void) {
    // SAFETY: gates are leaked, so the address is good for ever.
    let gate = unsafe { &*gate.cast::<Gate>() };
    let mut open = gate.0.lock().unwrap();
    while !*open {
        open = gate.1.wait(open).unwrap();
    }
}

/// A host function that adds one to an `AtomicU32`.
pub unsafe extern "C" fn count_up(counter: *mut c_void) {
    // SAFETY: the tests pass counters that live longer than the stream's work.
    unsafe { &*counter.cast::<std::sync::atomic::AtomicU32>() }
        .fetch_add(1, std::sync::atomic::Ordering::SeqCst);
}

/// A counter for [`count_up`], which lives as long as the process.
pub fn counter() -> &'static AtomicU32 {
    Box::leak(Box::default())
}

/// A word that the device writes and the host watches: other than host functions, which one thread of the driver may run one after
/// the other for all streams, fills of different streams pass each other.
pub struct Flag(*mut u32);

impl Flag {
    pub fn new() -> Self {
        Self(pinned::<u32>(1))
    }

    pub fn set_on(&self, stream: CUstream, value: u32) {
        ok!(cuMemsetD32Async(self.0 as CUdeviceptr, value, 1, stream));
    }

    /// The word's address.
    pub fn address(&self) -> CUdeviceptr {
        self.0 as CUdeviceptr
    }

    pub fn get(&self) -> u32 {
        // SAFETY: page-locked memory of this size, aligned, which lives for the test; the device writes it at the same time.
        unsafe { &*self.0.cast::<std::sync::atomic::AtomicU32>() }
            .load(std::sync::atomic::Ordering::Acquire)
    }
}

/// A word of page-locked memory, zero.
pub struct Word(*mut u32);

impl Word {
    pub fn new() -> Self {
        Self(pinned::<u32>(2))
    }

    pub fn address(&self) -> CUdeviceptr {
        self.0 as CUdeviceptr
    }

    pub fn store(&self, value: u32) {
        // SAFETY: page-locked memory of this size, aligned, which lives for the test.
        unsafe { AtomicU32::from_ptr(self.0) }.store(value, Ordering::SeqCst);
    }

    pub fn load(&self) -> u32 {
        // SAFETY: page-locked memory of this size, aligned, which lives for the test.
        unsafe { AtomicU32::from_ptr(self.0) }.load(Ordering::SeqCst)
    }

    pub fn store_64(&self, value: u64) {
        // SAFETY: page-locked memory of two words, aligned to a page, which lives for the test.
        unsafe { AtomicU64::from_ptr(self.0.cast()) }.store(value, Ordering::SeqCst);
    }
}
