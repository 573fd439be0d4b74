//! What a typed launch costs the CPU, beside a plain `cuLaunchKernelEx` of the same kernel with the same arguments.

use super::statistics::{Samples, Timing};
use crate::session::Session;
use anyhow::{Result, bail};
use serde::Serialize;
use std::ffi::{CString, c_void};
use std::time::{Duration, Instant};
use warpsmith_driver::raw;
use warpsmith_host::prelude::*;
use warpsmith_kernels::saxpy::{THREADS, saxpy};

/// Microseconds of CPU time for one launch.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Overhead {
    /// `stream.launch(&kernel, grid, arguments)`.
    pub typed: Timing,
    /// `cuLaunchKernelEx`.
    pub plain: Timing,
}

/// Launches in a batch: fewer than the driver queues without waiting.
const BATCH: u32 = 500;
/// Batches of each kind, in turns.
const BATCHES: usize = 41;

pub(super) fn measure(session: &Session) -> Result<Overhead> {
    let stream = &session.stream;
    let typed = session.module.kernel(saxpy)?;
    let plain = Plain::new(session)?;
    let x = stream.zeroed::<f32>(64)?;
    let mut y = stream.zeroed::<f32>(64)?;
    let grid = Grid::new(1, THREADS);
    let (batch, batches) = if session.gpu.is_simulator() {
        (4, 3)
    } else {
        (BATCH, BATCHES)
    };
    let mut samples = [Samples::default(), Samples::default()];
    for round in 0..=batches {
        for kind in [round % 2, 1 - round % 2] {
            stream.synchronize()?;
            let start = Instant::now();
            if kind == 0 {
                for _ in 0..batch {
                    stream.launch(&typed, grid, (1.0f32, &x, &mut y))?;
                }
            } else {
                for _ in 0..batch {
                    plain.launch(
                        stream,
                        1.0,
                        x.as_device_ptr().address(),
                        y.as_device_ptr().address(),
                        64,
                    )?;
                }
            }
            let time: Duration = start.elapsed() / batch;
            match round {
                0 => samples[kind].warm_up(),
                _ => samples[kind].add(time)?,
            }
        }
    }
    stream.synchronize()?;
    Ok(Overhead {
        typed: samples[0].timing()?,
        plain: samples[1].timing()?,
    })
}

/// The kernel without the host library.
struct Plain {
    module: raw::CUmodule,
    function: raw::CUfunction,
}

impl Plain {
    fn new(session: &Session) -> Result<Plain> {
        // Makes the context current on this thread.
        session.gpu.synchronize()?;
        let image = CString::new(crate::PTX)?;
        let mut plain = Plain {
            module: std::ptr::null_mut(),
            function: std::ptr::null_mut(),
        };
        // SAFETY: the image ends with a NUL; results and name outlive the calls.
        unsafe {
            check(raw::cuModuleLoadData(
                &mut plain.module,
                image.as_ptr().cast(),
            ))?;
            check(raw::cuModuleGetFunction(
                &mut plain.function,
                plain.module,
                c"saxpy".as_ptr(),
            ))?;
        }
        Ok(plain)
    }

    #[inline]
    fn launch(
        &self,
        stream: &Stream,
        mut a: f32,
        mut x: u64,
        mut y: u64,
        mut n: u64,
    ) -> Result<()> {
        let mut length = n;
        let mut arguments: [*mut c_void; 5] = [
            (&raw mut a).cast(),
            (&raw mut x).cast(),
            (&raw mut n).cast(),
            (&raw mut y).cast(),
            (&raw mut length).cast(),
        ];
        let config = raw::CUlaunchConfig {
            gridDimX: 1,
            gridDimY: 1,
            gridDimZ: 1,
            blockDimX: THREADS,
            blockDimY: 1,
            blockDimZ: 1,
            hStream: stream.as_raw().cast(),
            ..Default::default()
        };
        // SAFETY: the arguments are saxpy's flat parameters, for buffers of `n` elements that live until the
        // measurement has synchronised.
        check(unsafe {
            raw::cuLaunchKernelEx(
                &config,
                self.function,
                arguments.as_mut_ptr(),
                std::ptr::null_mut(),
            )
        })
    }
}

impl Drop for Plain {
    fn drop(&mut self) {
        // SAFETY: loaded once; its launches have ended, since `measure` synchronises. There is no caller to return an error.
        let _ = unsafe { raw::cuModuleUnload(self.module) };
    }
}

fn check(result: raw::CUresult) -> Result<()> {
    if result == raw::CUresult::CUDA_SUCCESS {
        return Ok(());
    }
    bail!(
        "{}: {}",
        warpsmith_driver::error::name(result),
        warpsmith_driver::error::description(result)
    )
}
