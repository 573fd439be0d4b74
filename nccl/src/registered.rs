//! Buffers of NCCL's own memory that are registered with communicators, so that NCCL moves their data without copies in between.

use warpsmith_host::{DeviceBuffer, DevicePointer, Stream};

use crate::call::check;
use crate::communicator::Communicator;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::inner::Taken;
use crate::registrations::{Keeper, Memory, Registered, Relaxed};

const CALL: &str = "Communicator::registered";

impl Communicator {
    /// A buffer of `len` zeros in memory that NCCL allocates for its own use (`ncclMemAlloc`) and that is registered with this communicator
    /// (`ncclCommRegister`): collectives on it, or on parts of it, may go without copies in between and with fewer blocks, where all ranks use such
    /// buffers. In all else it is as any buffer, for kernels and copies in all streams and graphs, and outlives the communicator.
    ///
    /// The registration and the memory are given back some time after the buffer's last use: by a later call of this function or of [`wait`](Self::wait)
    /// for the same communicator, or at its end.
    ///
    /// ```
    /// use warpsmith_host::prelude::*;
    /// use warpsmith_nccl::{Communicator, Reduction};
    ///
    /// # fn main() -> Result<(), warpsmith_nccl::Error> {
    /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
    /// # let communicator = Communicator::all(&[gpu.clone()])?.remove(0);
    /// let stream = gpu.stream()?;
    /// let mut gradients = communicator.registered::<f32>(&stream, 1 << 20)?;
    /// communicator.all_reduce_in_place(&stream, &mut gradients, Reduction::Average)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// NCCL is older than 2.19; the stream is of another GPU, or is being captured; there is too little memory; the communicator was aborted; or NCCL
    /// refuses.
    pub fn registered<T: Element>(&self, stream: &Stream, len: usize) -> Result<DeviceBuffer<T>> {
        let inner = &self.inner;
        if !stream.is_of(&inner.gpu) {
            return Err(Error::misuse(
                CALL,
                format!(
                    "the communicator is of {}, the stream of {}",
                    inner.gpu.choice(),
                    stream.gpu().choice()
                ),
                "make the stream from `communicator.gpu()`",
            ));
        }
        let nccl = &inner.nccl.functions.newer;
        let (Some(allocate), Some(_), Some(register), Some(_)) = (
            nccl.ncclMemAlloc,
            nccl.ncclMemFree,
            nccl.ncclCommRegister,
            nccl.ncclCommDeregister,
        ) else {
            return Err(Error::misuse(
                CALL,
                format!("NCCL {} registers no buffers", inner.nccl.version),
                "NCCL 2.19 or newer does; `stream.zeroed` makes a buffer that is not registered",
            ));
        };
        let bytes = len.checked_mul(size_of::<T>());
        let bytes = bytes.filter(|&bytes| bytes <= isize::MAX as usize);
        let bytes = bytes.ok_or_else(|| {
            Error::misuse(
                CALL,
                format!("{len} elements are more than memory has"),
                "ask for fewer elements",
            )
        })?;
        if bytes == 0 {
            return Ok(stream.zeroed(0)?);
        }
        let taken = Taken::take(CALL, inner)?;
        // SAFETY: the communicator is alive and this thread's: `taken` has it.
        unsafe { inner.take_back_registered() }?;
        inner.gpu.make_current()?;
        let relaxed = Relaxed::enter();
        let mut pointer = std::ptr::null_mut();
        // SAFETY: NCCL writes one address to `pointer`, which outlives the call.
        let code = unsafe { allocate(&mut pointer, bytes) };
        check("ncclMemAlloc", code, None)?;
        let memory = Memory {
            nccl,
            address: pointer.addr(),
        };
        let mut handle = std::ptr::null_mut();
        // SAFETY: the communicator is alive and this thread's: it was taken. The memory has the bytes, and is registered until `take_back` or the end
        // of the communicator: `Keeper` sees to it. NCCL writes one handle to `handle`, which outlives the call.
        let code = unsafe { register(inner.comm(), pointer, bytes, &mut handle) };
        check("ncclCommRegister", code, Some(inner.comm()))?;
        drop((relaxed, taken));
        let keeper = Keeper {
            registered: Some(Registered {
                _memory: memory,
                handle: handle.addr(),
            }),
            registrations: inner.registrations.clone(),
        };
        let pointer = DevicePointer::from_address(pointer.addr() as u64);
        // SAFETY: NCCL allocated the bytes, which the device of the communicator and the stream reaches, and which exist until the keeper is dropped. They
        // are written below before anything reads them, and nobody else knows of them but NCCL, which uses them in collectives on this buffer.
        let adopted = unsafe { stream.adopt::<T, _>(pointer, len, keeper) };
        let mut buffer =
            adopted.map_err(|refused| Error::from(warpsmith_host::Error::from(refused)))?;
        stream.fill(&mut buffer, T::zeroed())?;
        Ok(buffer)
    }
}
