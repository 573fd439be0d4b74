//! Words that streams wait for and write, and the host, too.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};

use warpsmith_driver::raw;

use super::host_block::{HostBlock, HostMapping};
use super::view::{DevicePointer, sealed};
use crate::context::attribute::Attribute;
use crate::driver_call::call;
use crate::error::{Code, Error, Result};
use crate::gpu::Gpu;
use crate::gpu::open_device::{OpenDevice, check_same_device};
use crate::order::position::StreamPosition;
use crate::order::stream_handle::StreamHandle;
use crate::stream::Stream;
use crate::sync::lock;

/// A word that streams wait for and write in their order, and that the host reads and writes at any time. It lies in page-locked host memory.
///
/// ```
/// use warpsmith_host::prelude::*;
///
/// # fn main() -> Result<()> {
/// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
/// let (stream, flag) = (gpu.stream()?, gpu.flag(0_u32)?);
/// stream.wait_value(&flag, Wait::AtLeast(1))?;
/// stream.write_value(&flag, 2)?;                    // after the wait
/// assert_eq!(flag.get(), 0);
/// flag.set(1);                                      // lets the stream go on
/// stream.synchronize()?;
/// assert_eq!(flag.get(), 2);
/// # Ok(())
/// # }
/// ```
///
/// What a stream did before it wrote a value is visible to whoever sees the value: to the host by [`get`](Self::get), to a stream behind
/// its wait; and what the host did before [`set`](Self::set) is visible to a stream behind its wait. Flags change nothing about the order
/// of buffers, which keep their own: a flag says *when*, it makes no access legal.
///
/// # Waits that never end
///
/// A stream whose wait is never satisfied stays there, and so does all that its work uses: memory is not freed, whichever of stream, flag and
/// buffers are dropped. Who waits for such a stream waits for ever: [`Stream::synchronize`], a [`Gpu`]'s last owner when it is dropped, and
/// a stream that uses a buffer after it. So it is a deadlock, too, if the write that a stream waits for is behind a use of a buffer that
/// the waiting stream is to write first. The simulator names a wait that takes longer than `WARPSMITH_PATIENCE`.
///
/// Streams share the device's work queues, 8 of them unless the program's environment sets `CUDA_DEVICE_MAX_CONNECTIONS` (1 to 32), and a
/// stream that waits holds up all that share its queue. With as many streams waiting as there are queues no other makes progress, so a
/// flag that is to be written by a stream must not be waited for by that many. The simulator has a queue for each stream.
pub struct StreamFlag<W: FlagWord> {
    gpu: Arc<OpenDevice>,
    block: HostBlock,
    address: DevicePointer<W>,
    /// The streams that may hold operations on it. One that is gone was idle.
    streams: Mutex<Vec<Weak<StreamHandle>>>,
}

/// When a wait for a [`StreamFlag`] ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wait<W> {
    /// The flag has this value or a later one, where numbers go round: `flag - value`, as a signed number, is not negative.
    AtLeast(W),
    /// The flag has this value.
    Equal(W),
    /// At least one of these bits is set.
    AnySet(W),
    /// At least one of these bits is not set. Not every device has this.
    AnyClear(W),
}

/// The words that a [`StreamFlag`] can be: `u32` and `u64`.
pub trait FlagWord: Copy + sealed::Sealed + Send + Sync + 'static {
    #[doc(hidden)]
    const BYTES: usize;
    #[doc(hidden)]
    fn inverted(self) -> Self;
    /// # Safety
    ///
    /// `word` is valid for atomic accesses of this size, and aligned.
    #[doc(hidden)]
    unsafe fn load(word: *mut u8) -> Self;
    /// # Safety
    ///
    /// As for `load`.
    #[doc(hidden)]
    unsafe fn store(self, word: *mut u8);
    /// # Safety
    ///
    /// The stream is alive, and the address is that of a word of this size that lives until the stream is past the operation.
    #[doc(hidden)]
    unsafe fn wait_in(self, stream: raw::CUstream, address: u64, flags: u32) -> Result<()>;
    /// # Safety
    ///
    /// As for `wait_in`.
    #[doc(hidden)]
    unsafe fn write_in(self, stream: raw::CUstream, address: u64) -> Result<()>;
}

macro_rules! flag_words {
    ($($word:ty, $atomic:ty, $wait:ident, $write:ident;)*) => {$(
        impl sealed::Sealed for $word {}

        impl FlagWord for $word {
            const BYTES: usize = size_of::<$word>();

            fn inverted(self) -> Self {
                !self
            }

            unsafe fn load(word: *mut u8) -> Self {
                // SAFETY: valid for atomic accesses and aligned by the caller's contract.
                unsafe { <$atomic>::from_ptr(word.cast()) }.load(Ordering::Acquire)
            }

            unsafe fn store(self, word: *mut u8) {
                // SAFETY: valid for atomic accesses and aligned by the caller's contract.
                unsafe { <$atomic>::from_ptr(word.cast()) }.store(self, Ordering::Release);
            }

            unsafe fn wait_in(self, stream: raw::CUstream, address: u64, flags: u32) -> Result<()> {
                // SAFETY: the stream is alive and the word lives by the caller's contract.
                unsafe { call!($wait(stream, address, self, flags)) }
            }

            unsafe fn write_in(self, stream: raw::CUstream, address: u64) -> Result<()> {
                // SAFETY: the stream is alive and the word lives by the caller's contract.
                unsafe { call!($write(stream, address, self, 0)) }
            }
        }
    )*};
}

flag_words! {
    u32, AtomicU32, cuStreamWaitValue32_v2, cuStreamWriteValue32_v2;
    u64, AtomicU64, cuStreamWaitValue64_v2, cuStreamWriteValue64_v2;
}

impl Gpu {
    /// A word that streams can wait for and write, with this value.
    ///
    /// # Errors
    ///
    /// The device cannot wait for words of this size, or there is no more page-locked memory.
    pub fn flag<W: FlagWord>(&self, value: W) -> Result<StreamFlag<W>> {
        if W::BYTES == 8 && self.attribute(Attribute::CAN_USE_64_BIT_STREAM_MEM_OPS)? == 0 {
            return Err(Error::unsupported(
                "a flag of 64 bits",
                "a device whose streams wait for 64-bit words; `u32` is there on all",
            ));
        }
        let block = HostBlock::zeroed(&self.inner, W::BYTES, HostMapping::Mapped)?;
        let address = block.device.unwrap_or(block.host as u64);
        let flag = StreamFlag {
            gpu: self.inner.clone(),
            block,
            address: DevicePointer::from_address(address),
            streams: Mutex::default(),
        };
        flag.set(value);
        Ok(flag)
    }
}

impl<W: FlagWord> StreamFlag<W> {
    /// The value at this moment.
    pub fn get(&self) -> W {
        // SAFETY: the block has a word of this size at the start of a page, and is freed after `self` is dropped; all who use it do so by
        // atomic accesses.
        unsafe { W::load(self.block.host) }
    }

    /// Writes a value at once, whatever streams hold.
    pub fn set(&self, value: W) {
        // SAFETY: the block has a word of this size at the start of a page, and is freed after `self` is dropped; all who use it do so by
        // atomic accesses.
        unsafe { value.store(self.block.host) }
    }

    /// The address on the device, for unsafe kernels, which have to use it by atomic operations of system scope and while the flag lives.
    pub fn as_device_ptr(&self) -> DevicePointer<W> {
        self.address
    }

    /// Notes that the stream is about to hold an operation on it.
    fn use_in(&self, call: &'static str, stream: &Stream) -> Result<()> {
        check_same_device(call, &self.gpu, &stream.gpu)?;
        if stream.handle.is_captured() {
            return Err(Error::misuse(
                call,
                Code::STREAM_CAPTURE_UNSUPPORTED,
                "the stream is being captured, and graphs do not keep flags",
                "wait and write before or after the graph's launch",
            ));
        }
        let mut streams = lock(&self.streams);
        streams.retain(|known| known.strong_count() > 0);
        let handle = Arc::downgrade(&stream.handle);
        if !streams.iter().any(|known| known.ptr_eq(&handle)) {
            streams.push(handle);
        }
        Ok(())
    }
}

impl<W: FlagWord> Drop for StreamFlag<W> {
    fn drop(&mut self) {
        let streams = std::mem::take(&mut *lock(&self.streams));
        // The device's list keeps a stream until it is idle, so one that is gone holds nothing any more.
        let positions: Vec<_> = streams
            .iter()
            .filter_map(Weak::upgrade)
            .map(StreamPosition::End)
            .collect();
        let block = self.block;
        self.gpu
            .call_driver_later(move |gpu| gpu.retire(Box::new(block), &positions));
    }
}

impl<W: FlagWord + std::fmt::Debug> std::fmt::Debug for StreamFlag<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("StreamFlag").field(&self.get()).finish()
    }
}

impl Stream {
    /// Writes the value when everything before in this stream is done; returns at once. See [`StreamFlag`].
    ///
    /// # Errors
    ///
    /// The flag is of another device, the stream is being captured, or something went wrong on the device before.
    pub fn write_value<W: FlagWord>(&self, flag: &StreamFlag<W>, value: W) -> Result<()> {
        flag.use_in("cuStreamWriteValue", self)?;
        self.gpu.bind()?;
        // SAFETY: `self` owns the stream; the flag's memory lives until the streams that `use_in` noted are past what they hold.
        unsafe { value.write_in(self.handle.raw(), flag.address.address()) }
    }

    /// Lets later work in this stream wait until the flag has a value; returns at once. See [`StreamFlag`], also for what is held up by a
    /// wait that never ends.
    ///
    /// # Errors
    ///
    /// The flag is of another device, the device has no [`Wait::AnyClear`], the stream is being captured, or something went wrong on the
    /// device before.
    pub fn wait_value<W: FlagWord>(&self, flag: &StreamFlag<W>, until: Wait<W>) -> Result<()> {
        type Flags = raw::CUstreamWaitValue_flags;
        let (value, flags) = match until {
            Wait::AtLeast(value) => (value, Flags::CU_STREAM_WAIT_VALUE_GEQ),
            Wait::Equal(value) => (value, Flags::CU_STREAM_WAIT_VALUE_EQ),
            Wait::AnySet(bits) => (bits, Flags::CU_STREAM_WAIT_VALUE_AND),
            Wait::AnyClear(bits) => {
                if self
                    .gpu()
                    .attribute(Attribute::CAN_USE_STREAM_WAIT_VALUE_NOR)?
                    == 0
                {
                    return Err(Error::unsupported(
                        "`Wait::AnyClear`",
                        "a device with CAN_USE_STREAM_WAIT_VALUE_NOR",
                    ));
                }
                (bits.inverted(), Flags::CU_STREAM_WAIT_VALUE_NOR)
            }
        };
        flag.use_in("cuStreamWaitValue", self)?;
        self.gpu.bind()?;
        // SAFETY: `self` owns the stream; the flag's memory lives until the streams that `use_in` noted are past what they hold.
        unsafe { value.wait_in(self.handle.raw(), flag.address.address(), flags.0) }
    }
}
