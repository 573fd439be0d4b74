//! Runs programs on a device, through the driver's interface.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr::null_mut;

use anyhow::{Result, bail};
use warpsmith_driver::raw::*;
use warpsmith_driver::{Backend, Choice};

use crate::program::{Program, module};

warpsmith_driver::provide_simulator! {
    // SAFETY: the simulator compiles each of its functions against the signature of its name.
    unsafe { warpsmith_driver::SimulatorBackend::new(warpsmith_simulator::entry_point) }
}

/// Programs of one module.
const PER_MODULE: usize = 48;

/// A device, with its primary context current.
pub struct Device {
    backend: Backend,
}

/// What the driver answered, if not success.
fn check(what: &str, result: CUresult) -> Result<(), String> {
    match result {
        CUresult::CUDA_SUCCESS => Ok(()),
        failed => Err(format!(
            "{what} answers {}",
            warpsmith_driver::error::name(failed)
        )),
    }
}

/// Device memory, freed at the end.
struct Memory(CUdeviceptr);

impl Memory {
    fn new(bytes: usize) -> Result<Memory, String> {
        let mut address = 0;
        // SAFETY: the address outlives the call.
        check("cuMemAlloc", unsafe {
            cuMemAlloc_v2(&mut address, bytes.max(256))
        })?;
        Ok(Memory(address))
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: the address is that of an allocation which is freed here alone; after a fault the call answers an error.
        let _ = unsafe { cuMemFree_v2(self.0) };
    }
}

/// A module, unloaded at the end.
struct Loaded(CUmodule);

impl Loaded {
    fn new(text: &str) -> Result<Loaded, String> {
        let ptx = CString::new(text).map_err(|error| error.to_string())?;
        let mut module = null_mut();
        let mut log = vec![0u8; 4096];
        let mut options = [
            CUjit_option::CU_JIT_ERROR_LOG_BUFFER,
            CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
        ];
        let mut values: [*mut c_void; 2] = [
            log.as_mut_ptr().cast(),
            std::ptr::without_provenance_mut(log.len()),
        ];
        // SAFETY: the text ends with a zero byte; there are as many options as values, and the log is as long as they say.
        let result = unsafe {
            cuModuleLoadDataEx(
                &mut module,
                ptx.as_ptr().cast(),
                2,
                options.as_mut_ptr(),
                values.as_mut_ptr(),
            )
        };
        check("cuModuleLoadData", result).map_err(|answer| {
            let message = CStr::from_bytes_until_nul(&log)
                .unwrap_or_default()
                .to_string_lossy();
            format!("{answer}: {}", message.trim())
        })?;
        Ok(Loaded(module))
    }

    fn run(&self, number: usize, program: &Program) -> Result<Vec<u8>, String> {
        let name = CString::new(format!("k{number}")).map_err(|error| error.to_string())?;
        let mut function = null_mut();
        // SAFETY: the module is loaded, the name ends with a zero byte.
        check("cuModuleGetFunction", unsafe {
            cuModuleGetFunction(&mut function, self.0, name.as_ptr())
        })?;
        let (input, output) = (
            Memory::new(program.input.len())?,
            Memory::new(program.output_bytes)?,
        );
        if !program.input.is_empty() {
            // SAFETY: the allocation is as long as the input.
            check("cuMemcpyHtoD", unsafe {
                cuMemcpyHtoD_v2(input.0, program.input.as_ptr().cast(), program.input.len())
            })?;
        }
        // SAFETY: the allocation is as long as the output.
        check("cuMemsetD8", unsafe {
            cuMemsetD8_v2(output.0, 0xcd, program.output_bytes)
        })?;
        let mut addresses = [input.0, output.0];
        let mut parameters = addresses
            .each_mut()
            .map(|address| std::ptr::from_mut(address).cast::<c_void>());
        // SAFETY: the kernel has two parameters of 8 bytes, which outlive the call.
        check("cuLaunchKernel", unsafe {
            cuLaunchKernel(
                function,
                program.blocks,
                1,
                1,
                program.threads,
                1,
                1,
                0,
                null_mut(),
                parameters.as_mut_ptr(),
                null_mut(),
            )
        })?;
        // SAFETY: it has no arguments.
        check("the kernel", unsafe { cuCtxSynchronize() })?;
        let mut bytes = vec![0; program.output_bytes];
        // SAFETY: the allocation and the vector are as long as the output.
        check("cuMemcpyDtoH", unsafe {
            cuMemcpyDtoH_v2(bytes.as_mut_ptr().cast(), output.0, bytes.len())
        })?;
        Ok(bytes)
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        // SAFETY: the module is unloaded here alone; after a fault the call answers an error.
        let _ = unsafe { cuModuleUnload(self.0) };
    }
}

impl Device {
    /// The device that `WARPSMITH_DEVICE` names; without it `otherwise`.
    ///
    /// # Errors
    /// There is none.
    pub fn new(otherwise: Choice) -> Result<Device> {
        let choice = match std::env::var_os("WARPSMITH_DEVICE") {
            Some(_) => Choice::Default,
            None => otherwise,
        };
        let backend = warpsmith_driver::select(choice)?;
        let device = Device { backend };
        // SAFETY: it has no memory to take care of.
        check("cuInit", unsafe { cuInit(0) }).map_err(anyhow::Error::msg)?;
        device.enter().map_err(anyhow::Error::msg)?;
        Ok(device)
    }

    /// Makes the primary context current.
    fn enter(&self) -> Result<(), String> {
        let mut context = null_mut();
        // SAFETY: the context outlives the call.
        check("cuDevicePrimaryCtxRetain", unsafe {
            cuDevicePrimaryCtxRetain(&mut context, 0)
        })?;
        // SAFETY: it was just retained.
        check("cuCtxSetCurrent", unsafe { cuCtxSetCurrent(context) })
    }

    /// Ends the context and what it holds, after a fault.
    fn start_again(&self) -> Result<(), String> {
        // SAFETY: what was in the context is used no more: each program frees its memory before this is called.
        check("cuDevicePrimaryCtxReset", unsafe {
            cuDevicePrimaryCtxReset_v2(0)
        })?;
        self.enter()
    }

    /// Whether it is the simulator.
    pub fn is_simulator(&self) -> bool {
        self.backend == Backend::Simulator
    }

    /// Its compute capability: 90 for 9.0.
    ///
    /// # Errors
    /// The driver does not tell.
    pub fn capability(&self) -> Result<u32> {
        let attribute = |attribute| -> Result<u32> {
            let mut value: c_int = 0;
            // SAFETY: the value outlives the call.
            check("cuDeviceGetAttribute", unsafe {
                cuDeviceGetAttribute(&mut value, attribute, 0)
            })
            .map_err(anyhow::Error::msg)?;
            Ok(u32::try_from(value)?)
        };
        let major = attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
        let minor = attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
        Ok(10 * major + minor)
    }

    /// Its name, and the driver's version.
    ///
    /// # Errors
    /// The driver does not tell.
    pub fn describe(&self) -> Result<String> {
        let mut name = [0u8; 256];
        let mut version: c_int = 0;
        // SAFETY: the name is as long as the call is told.
        let named = unsafe { cuDeviceGetName(name.as_mut_ptr().cast::<c_char>(), 256, 0) };
        check("cuDeviceGetName", named).map_err(anyhow::Error::msg)?;
        // SAFETY: the version outlives the call.
        let told = unsafe { cuDriverGetVersion(&mut version) };
        check("cuDriverGetVersion", told).map_err(anyhow::Error::msg)?;
        let Ok(name) = CStr::from_bytes_until_nul(&name) else {
            bail!("the device's name has no end");
        };
        Ok(format!("{}, CUDA {version}", name.to_string_lossy()))
    }

    /// Runs programs, and says of each what it wrote, or why it did not. `progress` is told how many are done.
    pub fn run(
        &self,
        programs: &[&Program],
        mut progress: impl FnMut(usize),
    ) -> Vec<Result<Vec<u8>, String>> {
        let mut answers = Vec::new();
        for chunk in programs.chunks(PER_MODULE) {
            match Loaded::new(&module(chunk)) {
                Ok(loaded) => {
                    let mut loaded = Some(loaded);
                    for (number, program) in chunk.iter().enumerate() {
                        let answer = match &loaded {
                            Some(loaded) => loaded.run(number, program),
                            None => self.alone(program),
                        };
                        if answer.is_err() {
                            // The module went with its context.
                            loaded = None;
                            let _ = self.start_again();
                        }
                        answers.push(answer);
                    }
                }
                // One of them is refused: then each gets its own module.
                Err(_) => answers.extend(chunk.iter().map(|program| self.alone(program))),
            }
            progress(answers.len());
        }
        answers
    }

    /// Runs a program in a module of its own.
    fn alone(&self, program: &Program) -> Result<Vec<u8>, String> {
        let loaded = Loaded::new(&module(&[program]))?;
        loaded.run(0, program).inspect_err(|_| {
            let _ = self.start_again();
        })
    }
}
