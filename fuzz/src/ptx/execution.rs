//! Loads a module and runs its kernels with random shapes and parameters.

use std::panic::PanicHookInfo;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use anyhow::{Result, bail};
use warpsmith_driver::raw::*;
use warpsmith_driver::{Choice, configure_simulator, error, select};
use warpsmith_simulator::observe::{self, At, Observer};
use warpsmith_testkit::Random;

use crate::choose::Choose;

/// How many instructions of warps a launch may execute: a random loop need not end.
const MOST_STEPS: u64 = 100_000;
/// Bytes of the memory that parameters point to.
const BUFFER: usize = 1 << 16;
/// Kernels of a module that are run.
const MOST_KERNELS: u32 = 6;

/// What trying a module gave.
#[derive(Debug, Default)]
pub struct Tried {
    /// How many kernels were launched; none if the module was refused.
    pub kernels: Option<u64>,
    /// What must not happen, if it did.
    pub harm: Option<String>,
}

/// The first panic that was not the observer's.
static PANIC: Mutex<Option<String>> = Mutex::new(None);

/// What the observer panics with, to stop a launch.
struct Enough;

/// Stops launches that execute too much.
#[derive(Default)]
struct Budget {
    steps: AtomicU64,
}

impl Observer for Budget {
    fn step(&self, _: &At<'_>) {
        if self.steps.fetch_add(1, Ordering::Relaxed) >= MOST_STEPS {
            std::panic::panic_any(Enough);
        }
    }
}

fn note_panic(info: &PanicHookInfo<'_>) {
    // What a scope says of its threads follows their own panics.
    let of_thread = info.payload_as_str() == Some("a scoped thread panicked");
    if of_thread || info.payload().is::<Enough>() {
        return;
    }
    if let Ok(mut panic) = PANIC.lock() {
        panic.get_or_insert_with(|| info.to_string());
    }
}

/// The simulator with a context.
pub struct Device {
    context: CUcontext,
}

impl Device {
    /// Chooses the simulator, with these checks. Panics in this process are noted from now on.
    pub fn new(checks: &str) -> Result<Device> {
        std::panic::set_hook(Box::new(note_panic));
        select(Choice::Simulator)?;
        if !configure_simulator("checks", checks) {
            bail!("the simulator knows no checks `{checks}`");
        }
        // SAFETY: it takes a number.
        expect("cuInit", unsafe { cuInit(0) })?;
        let mut device = Device {
            context: std::ptr::null_mut(),
        };
        device.renew()?;
        Ok(device)
    }

    /// A new context in place of one that a fault has ended.
    fn renew(&mut self) -> Result<()> {
        if !self.context.is_null() {
            // SAFETY: the context is this object's, and nothing of it is used afterwards.
            expect("cuCtxDestroy", unsafe { cuCtxDestroy_v2(self.context) })?;
        }
        // SAFETY: the context is written to a variable that outlives the call.
        expect("cuCtxCreate", unsafe {
            cuCtxCreate_v2(&mut self.context, 0, 0)
        })
    }

    /// Loads a module and runs its kernels.
    pub fn try_module(&mut self, text: &[u8], random: &mut Random) -> Result<Tried> {
        let mut text = text.to_vec();
        text.push(0);
        let mut module = std::ptr::null_mut();
        // SAFETY: the text ends with a zero byte, and the module is written to a variable that outlives the call.
        let loaded = unsafe { cuModuleLoadData(&mut module, text.as_ptr().cast()) };
        let mut tried = Tried::default();
        if loaded == CUresult::CUDA_SUCCESS {
            let mut launched = 0;
            for kernel in functions(module)? {
                launched += 1;
                if !self.run(kernel, random)? {
                    // The module is gone with its context.
                    module = std::ptr::null_mut();
                    break;
                }
            }
            tried.kernels = Some(launched);
            if !module.is_null() {
                // SAFETY: the module is loaded, and none of its functions is used afterwards.
                expect("cuModuleUnload", unsafe { cuModuleUnload(module) })?;
            }
        }
        tried.harm = match PANIC.lock() {
            Ok(mut panic) => panic.take(),
            Err(_) => None,
        };
        Ok(tried)
    }

    /// Runs a kernel twice: watched, so that it can be stopped, and unless it was stopped, as it is run otherwise. Whether the context
    /// still lives.
    fn run(&mut self, kernel: CUfunction, random: &mut Random) -> Result<bool> {
        let mut buffer = 0;
        // SAFETY: the address is written to a variable that outlives the call.
        expect("cuMemAlloc", unsafe { cuMemAlloc_v2(&mut buffer, BUFFER) })?;
        let launch = Launch::random(kernel, buffer, random);
        let budget = Arc::new(Budget::default());
        let registration = observe::register(budget.clone());
        let fill = random.below(3) as u8;
        let mut result = launch.run(fill);
        drop(registration);
        let ended = budget.steps.load(Ordering::Relaxed) < MOST_STEPS;
        if ended && result == CUresult::CUDA_SUCCESS {
            result = launch.run(fill);
        }
        if result != CUresult::CUDA_SUCCESS {
            self.renew()?;
            return Ok(false);
        }
        // SAFETY: nothing uses the memory any more.
        expect("cuMemFree", unsafe { cuMemFree_v2(buffer) })?;
        Ok(true)
    }
}

/// The functions of a module, in its order, as far as they are run.
fn functions(module: CUmodule) -> Result<Vec<CUfunction>> {
    let mut count = 0;
    // SAFETY: the number is written to a variable that outlives the call.
    expect("cuModuleGetFunctionCount", unsafe {
        cuModuleGetFunctionCount(&mut count, module)
    })?;
    let count = count.min(MOST_KERNELS);
    let mut functions = vec![std::ptr::null_mut(); count as usize];
    // SAFETY: there is room for as many.
    expect("cuModuleEnumerateFunctions", unsafe {
        cuModuleEnumerateFunctions(functions.as_mut_ptr(), count, module)
    })?;
    Ok(functions)
}

/// How a kernel is launched.
struct Launch {
    kernel: CUfunction,
    buffer: CUdeviceptr,
    grid: [u32; 3],
    block: [u32; 3],
    shared: u32,
    /// The values of the parameters, in words.
    parameters: Vec<Vec<u64>>,
}

impl Launch {
    fn random(kernel: CUfunction, buffer: CUdeviceptr, random: &mut Random) -> Launch {
        let mut parameters = Vec::new();
        let (mut offset, mut size) = (0, 0);
        // SAFETY: the numbers are written to variables that outlive the call; a number that is too large ends the list.
        while unsafe { cuFuncGetParamInfo(kernel, parameters.len(), &mut offset, &mut size) }
            == CUresult::CUDA_SUCCESS
        {
            let value = match random.index(8) {
                0..=3 => buffer,
                4 => buffer.wrapping_add(u64::from(random.below(70_000))),
                5 => random.below(1000).into(),
                6 => *random.one_of(&[0, 1, 64, u64::MAX]),
                _ => random.bits(),
            };
            // All of it has values, however large it is.
            parameters.push(vec![value; size / 8 + 1]);
        }
        Launch {
            kernel,
            buffer,
            grid: std::array::from_fn(|_| *random.one_of(&[1, 1, 2, 3])),
            block: [
                *random.one_of(&[1, 7, 32, 33, 64, 128]),
                *random.one_of(&[1, 1, 2]),
                *random.one_of(&[1, 1, 2]),
            ],
            shared: *random.one_of(&[0, 0, 16, 1024, 49152]),
            parameters,
        }
    }

    /// Launches it and waits for its end.
    fn run(&self, fill: u8) -> CUresult {
        let mut parameters: Vec<*mut std::ffi::c_void> = self
            .parameters
            .iter()
            .map(|value| value.as_ptr().cast_mut().cast())
            .collect();
        let ([gx, gy, gz], [bx, by, bz]) = (self.grid, self.block);
        // SAFETY: the memory has this size; the values of the parameters have at least the sizes that the driver named, and outlive
        // the call, which only reads them. Whatever addresses the kernel makes, the simulator looks after them.
        unsafe {
            cuMemsetD8_v2(self.buffer, fill, BUFFER);
            cuLaunchKernel(
                self.kernel,
                gx,
                gy,
                gz,
                bx,
                by,
                bz,
                self.shared,
                std::ptr::null_mut(),
                parameters.as_mut_ptr(),
                std::ptr::null_mut(),
            );
            // Also says what an earlier call of this one has done wrong.
            cuCtxSynchronize()
        }
    }
}

/// An error, unless the call succeeded.
fn expect(call: &str, result: CUresult) -> Result<()> {
    match result {
        CUresult::CUDA_SUCCESS => Ok(()),
        failed => bail!("{call} answers {}", error::name(failed)),
    }
}
