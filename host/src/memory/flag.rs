//! Words that streams wait for and write, and the host, too.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};

use warpsmith_driver::raw;

use super::host_block::{HostBlock, HostMapping};
use super::view::{DevicePointer, sealed};
use crate::context::attribute::Attribute;
use crate::driver_call::call;
use crate::error::{Code, Error, LimitError, Result};
use crate::gpu::Gpu;
use crate::gpu::open_device::{OpenDevice, Owned, check_same_device};
use crate::order::order_lock::OrderGuard;
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
    memory: Arc<FlagMemory>,
    address: DevicePointer<W>,
}

/// A flag's memory. Graphs share it whose nodes use the flag.
pub(crate) struct FlagMemory {
    gpu: Arc<OpenDevice>,
    block: HostBlock,
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
    #[doc(hidden)]
    fn wait_operation(self, address: u64, flags: u32) -> raw::CUstreamBatchMemOpParams;
    #[doc(hidden)]
    fn write_operation(self, address: u64) -> raw::CUstreamBatchMemOpParams;
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
    ($($word:ty, $atomic:ty, $field:ident, $wait:ident $wait_type:ident, $write:ident $write_type:ident;)*) => {$(
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

            fn wait_operation(self, address: u64, flags: u32) -> raw::CUstreamBatchMemOpParams {
                let mut operation = raw::CUstreamBatchMemOpParams::default();
                let mut wait = raw::CUstreamBatchMemOpParams_union_CUstreamMemOpWaitValueParams_st::default();
                wait.operation = raw::CUstreamBatchMemOpType::$wait_type;
                wait.address = address;
                wait.__bindgen_anon_1.$field = self;
                wait.flags = flags;
                operation.waitValue = wait;
                operation
            }

            fn write_operation(self, address: u64) -> raw::CUstreamBatchMemOpParams {
                let mut operation = raw::CUstreamBatchMemOpParams::default();
                let mut write = raw::CUstreamBatchMemOpParams_union_CUstreamMemOpWriteValueParams_st::default();
                write.operation = raw::CUstreamBatchMemOpType::$write_type;
                write.address = address;
                write.__bindgen_anon_1.$field = self;
                operation.writeValue = write;
                operation
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
    u32, AtomicU32, value, cuStreamWaitValue32_v2 CU_STREAM_MEM_OP_WAIT_VALUE_32,
        cuStreamWriteValue32_v2 CU_STREAM_MEM_OP_WRITE_VALUE_32;
    u64, AtomicU64, value64, cuStreamWaitValue64_v2 CU_STREAM_MEM_OP_WAIT_VALUE_64,
        cuStreamWriteValue64_v2 CU_STREAM_MEM_OP_WRITE_VALUE_64;
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
            memory: Arc::new(FlagMemory {
                gpu: self.inner.clone(),
                block,
                streams: Mutex::default(),
            }),
            address: DevicePointer::from_address(address),
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
        unsafe { W::load(self.memory.block.host) }
    }

    /// Writes a value at once, whatever streams hold.
    pub fn set(&self, value: W) {
        // SAFETY: the block has a word of this size at the start of a page, and is freed after `self` is dropped; all who use it do so by
        // atomic accesses.
        unsafe { value.store(self.memory.block.host) }
    }

    /// The address on the device, for unsafe kernels, which have to use it by atomic operations of system scope and while the flag lives.
    pub fn as_device_ptr(&self) -> DevicePointer<W> {
        self.address
    }
}

impl FlagMemory {
    /// Notes that the stream is about to hold an operation on it, or keeps it for the graph that the stream is captured for.
    fn use_in(
        self: &Arc<Self>,
        call: &'static str,
        guard: &OrderGuard<'_>,
        stream: &Stream,
    ) -> Result<()> {
        check_same_device(call, ("the flag", &self.gpu), ("the stream", &stream.gpu))?;
        if let Some(capture) = self.gpu.order().capture_of(guard, &stream.handle) {
            capture.keep(guard, self.clone());
            return Ok(());
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

impl Drop for FlagMemory {
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
    /// The flag is of another device, or something went wrong on the device before.
    pub fn write_value<W: FlagWord>(&self, flag: &StreamFlag<W>, value: W) -> Result<()> {
        self.gpu.bind()?;
        let guard = self.gpu.lock_order();
        flag.memory.use_in("cuStreamWriteValue", &guard, self)?;
        // SAFETY: `self` owns the stream; the flag's memory lives until the streams that `use_in` noted are past what they hold, or as long as
        // the graph.
        unsafe { value.write_in(self.handle.raw(), flag.address.address()) }
    }

    /// Lets later work in this stream wait until the flag has a value; returns at once. See [`StreamFlag`], also for what is held up by a
    /// wait that never ends.
    ///
    /// # Errors
    ///
    /// The flag is of another device, the device has no [`Wait::AnyClear`], or something went wrong on the device before.
    pub fn wait_value<W: FlagWord>(&self, flag: &StreamFlag<W>, until: Wait<W>) -> Result<()> {
        if matches!(until, Wait::AnyClear(_)) {
            require_any_clear(&self.gpu)?;
        }
        let (value, flags) = until.of_driver();
        self.gpu.bind()?;
        let guard = self.gpu.lock_order();
        flag.memory.use_in("cuStreamWaitValue", &guard, self)?;
        // SAFETY: `self` owns the stream; the flag's memory lives until the streams that `use_in` noted are past what they hold, or as long as
        // the graph.
        unsafe { value.wait_in(self.handle.raw(), flag.address.address(), flags) }
    }

    /// Enqueues several operations on flags as one: a batch (`cuStreamBatchMemOp`).
    ///
    /// # Errors
    ///
    /// As for [`wait_value`](Self::wait_value); there are more than 255.
    pub fn flag_operations(&self, operations: &FlagOperations<'_>) -> Result<()> {
        const CALL: &str = "cuStreamBatchMemOp";
        let mut list = operations.checked(CALL, ("the stream", &self.gpu))?;
        if list.is_empty() {
            return Ok(());
        }
        self.gpu.bind()?;
        let guard = self.gpu.lock_order();
        for memory in operations.memory() {
            memory.use_in(CALL, &guard, self)?;
        }
        // SAFETY: `self` owns the stream; the driver reads `list`, which outlives the call, of as many operations. The flags' memory lives until the
        // streams that `use_in` noted are past what they hold, or as long as the graph.
        unsafe {
            call!(cuStreamBatchMemOp_v2(
                self.handle.raw(),
                list.len() as u32,
                list.as_mut_ptr(),
                0
            ))
        }
    }
}

impl<W: FlagWord> Wait<W> {
    /// The value to compare with, and how.
    fn of_driver(self) -> (W, u32) {
        type Flags = raw::CUstreamWaitValue_flags;
        let (value, flags) = match self {
            Wait::AtLeast(value) => (value, Flags::CU_STREAM_WAIT_VALUE_GEQ),
            Wait::Equal(value) => (value, Flags::CU_STREAM_WAIT_VALUE_EQ),
            Wait::AnySet(bits) => (bits, Flags::CU_STREAM_WAIT_VALUE_AND),
            Wait::AnyClear(bits) => (bits.inverted(), Flags::CU_STREAM_WAIT_VALUE_NOR),
        };
        (value, flags.0)
    }
}

/// # Errors
///
/// The device has no [`Wait::AnyClear`].
fn require_any_clear(gpu: &Arc<OpenDevice>) -> Result<()> {
    if Gpu::from(gpu).attribute(Attribute::CAN_USE_STREAM_WAIT_VALUE_NOR)? != 0 {
        return Ok(());
    }
    Err(Error::unsupported(
        "`Wait::AnyClear`",
        "a device with CAN_USE_STREAM_WAIT_VALUE_NOR",
    ))
}

/// Waits for flags and writes of them, done in their order as one operation of a stream ([`Stream::flag_operations`]) or one node of a graph
/// ([`GraphBuilder::flags`](crate::GraphBuilder::flags)). At most 255.
///
/// ```
/// use warpsmith_host::prelude::*;
/// use warpsmith_host::FlagOperations;
///
/// # fn main() -> Result<()> {
/// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
/// let stream = gpu.stream()?;
/// let (ask, answer) = (gpu.flag(0_u32)?, gpu.flag(0_u32)?);
/// stream.flag_operations(&FlagOperations::new().wait(&ask, Wait::Equal(1)).write(&answer, 2))?;
/// ask.set(1);
/// stream.synchronize()?;
/// assert_eq!(answer.get(), 2);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
#[must_use]
pub struct FlagOperations<'a> {
    list: Vec<FlagOperation<'a>>,
}

/// One of them.
#[derive(Clone)]
struct FlagOperation<'a> {
    memory: &'a Arc<FlagMemory>,
    of_driver: raw::CUstreamBatchMemOpParams,
    /// It is a wait that not every device has.
    needs_any_clear: bool,
}

impl<'a> FlagOperations<'a> {
    /// None yet.
    pub fn new() -> FlagOperations<'a> {
        FlagOperations::default()
    }

    /// Adds a wait.
    pub fn wait<W: FlagWord>(mut self, flag: &'a StreamFlag<W>, until: Wait<W>) -> Self {
        let (value, flags) = until.of_driver();
        self.list.push(FlagOperation {
            memory: &flag.memory,
            of_driver: value.wait_operation(flag.address.address(), flags),
            needs_any_clear: matches!(until, Wait::AnyClear(_)),
        });
        self
    }

    /// Adds a write.
    pub fn write<W: FlagWord>(mut self, flag: &'a StreamFlag<W>, value: W) -> Self {
        self.list.push(FlagOperation {
            memory: &flag.memory,
            of_driver: value.write_operation(flag.address.address()),
            needs_any_clear: false,
        });
        self
    }

    /// The flags' memory, once for each operation.
    pub(crate) fn memory(&self) -> impl Iterator<Item = &'a Arc<FlagMemory>> {
        self.list.iter().map(|operation| operation.memory)
    }

    /// The operations in the driver's form.
    ///
    /// # Errors
    ///
    /// A flag is of another device, the device has no such wait, or there are too many.
    pub(crate) fn checked(
        &self,
        call: &'static str,
        user: Owned<'_>,
    ) -> Result<Vec<raw::CUstreamBatchMemOpParams>> {
        /// The driver's limit.
        const MOST: usize = 255;
        if self.list.len() > MOST {
            return Err(Error::Limit(Box::new(LimitError {
                call,
                code: Code::INVALID_VALUE,
                subject: "operations on flags".into(),
                what: "their number",
                value: self.list.len() as u64,
                limit: MOST as u64,
                hint: "split them into several".into(),
            })));
        }
        for operation in &self.list {
            check_same_device(call, ("the flag", &operation.memory.gpu), user)?;
            if operation.needs_any_clear {
                require_any_clear(user.1)?;
            }
        }
        let list = self.list.iter();
        Ok(list.map(|operation| operation.of_driver).collect())
    }
}

impl std::fmt::Debug for FlagOperations<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FlagOperations")
            .field("count", &self.list.len())
            .finish_non_exhaustive()
    }
}
