//! The physical memory of graphs: what a device has given for them, and which executable graph is mapped to what.
//!
//! Executable graphs that are launched in one stream run one after the other, so those that free all they allocate share a block. A graph
//! that leaves something allocated keeps its block for itself until that is freed. A launch in another stream takes another block. This is
//! an account alone: the bytes lie at each allocation's own address.

use std::collections::BTreeMap;
use std::sync::Mutex;

use crate::device;
use crate::error::{Result, code};
use crate::memory::pool;
use crate::sync::lock;
use crate::work::CompletionPoint;
use warpsmith_abi::CUgraphMem_attribute as Attribute;

/// What each device has given.
static DEVICES: Mutex<BTreeMap<usize, Account>> = Mutex::new(BTreeMap::new());

#[derive(Default)]
struct Account {
    blocks: Vec<Block>,
    /// Ever made.
    count: u64,
    used_high: u64,
    reserved_high: u64,
}

/// Physical memory of graphs that are launched in one stream.
struct Block {
    number: u64,
    stream: StreamIdentity,
    bytes: usize,
    /// The executable graphs that are mapped to it.
    mapped: Vec<usize>,
    /// Allocations in it that outlive their launch.
    held: usize,
    /// The last launch that uses it.
    last: Option<CompletionPoint>,
}

/// A stream's context and handle.
pub(crate) type StreamIdentity = (u64, usize);

/// A block that an executable graph is mapped to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Backing {
    device: usize,
    block: u64,
}

impl Block {
    fn is_busy(&self) -> bool {
        self.held > 0 || self.last.as_ref().is_some_and(|last| !last.is_reached())
    }
}

impl Account {
    fn used(&self) -> u64 {
        let in_use = |block: &&Block| !block.mapped.is_empty() || block.held > 0;
        self.blocks
            .iter()
            .filter(in_use)
            .map(|block| block.bytes as u64)
            .sum()
    }

    fn reserved(&self) -> u64 {
        self.blocks.iter().map(|block| block.bytes as u64).sum()
    }

    fn note_high(&mut self) {
        self.used_high = self.used_high.max(self.used());
        self.reserved_high = self.reserved_high.max(self.reserved());
    }

    fn block(&mut self, number: u64) -> Option<&mut Block> {
        self.blocks.iter_mut().find(|block| block.number == number)
    }

    /// Gives back what nothing uses; says how many bytes.
    fn trim(&mut self) -> usize {
        let unused = self.blocks.extract_if(.., |block| !block.is_busy());
        unused.map(|block| block.bytes).sum()
    }

    /// Gives back what graphs had that were launched in a context's streams; says how many bytes.
    fn release_context(&mut self, context: u64) -> usize {
        let ended = self
            .blocks
            .extract_if(.., |block| block.stream.0 == context && block.held == 0);
        ended.map(|block| block.bytes).sum()
    }

    /// The block that serves a launch in a stream: the graph's own, one of the same stream, or one that another stream has done with.
    fn choose(&self, stream: StreamIdentity, exec: usize, bytes: usize) -> Option<u64> {
        let free = || self.blocks.iter().filter(|block| block.held == 0);
        let of_stream = || free().filter(|block| block.stream == stream);
        of_stream()
            .find(|block| block.mapped.contains(&exec))
            .or_else(|| of_stream().max_by_key(|block| block.bytes))
            .or_else(|| free().find(|block| !block.is_busy() && block.bytes >= bytes))
            .map(|block| block.number)
    }
}

impl Backing {
    /// Maps an executable graph to memory, for a launch in a stream: `bytes` at least.
    ///
    /// # Errors
    ///
    /// Out of memory.
    pub(crate) fn map(
        device: usize,
        stream: StreamIdentity,
        exec: usize,
        bytes: usize,
    ) -> Result<Self> {
        let bytes = bytes
            .checked_next_multiple_of(device::PIECE)
            .ok_or(code::OUT_OF_MEMORY)?;
        if device::exceeds_host(bytes) {
            return Err(code::OUT_OF_MEMORY);
        }
        let devices = &mut *lock(&DEVICES);
        let account = devices.entry(device).or_default();
        let chosen = account.choose(stream, exec, bytes);
        let present = chosen
            .and_then(|number| account.block(number))
            .map_or(0, |block| block.bytes);
        let missing = bytes.saturating_sub(present);
        if missing > 0 {
            pool::take_from_device(device, missing)?;
        }
        for block in &mut account.blocks {
            block.mapped.retain(|&mapped| mapped != exec);
        }
        let number = match chosen {
            Some(number) => number,
            None => {
                account.count += 1;
                account.blocks.push(Block {
                    number: account.count,
                    stream,
                    bytes: 0,
                    mapped: Vec::new(),
                    held: 0,
                    last: None,
                });
                account.count
            }
        };
        if let Some(block) = account.block(number) {
            block.bytes += missing;
            if block.stream != stream {
                block.mapped.clear();
                block.stream = stream;
            }
            block.mapped.push(exec);
        }
        account.note_high();
        Ok(Self {
            device,
            block: number,
        })
    }

    fn change(self, change: impl FnOnce(&mut Block)) {
        let mut devices = lock(&DEVICES);
        let account = devices.get_mut(&self.device);
        if let Some(block) = account.and_then(|account| account.block(self.block)) {
            change(block);
        }
    }

    /// The launch that it was mapped for is enqueued.
    pub(crate) fn launched(self, point: CompletionPoint) {
        self.change(|block| block.last = Some(point));
    }

    /// One allocation in it outlives its launch.
    pub(super) fn hold(self) {
        self.change(|block| block.held += 1);
    }

    /// One of these is freed.
    pub(super) fn let_go(self) {
        self.change(|block| block.held -= 1);
    }
}

/// An executable graph ends: it is mapped to nothing.
pub(crate) fn forget_exec(exec: usize) {
    for account in lock(&DEVICES).values_mut() {
        for block in &mut account.blocks {
            block.mapped.retain(|&mapped| mapped != exec);
        }
    }
}

/// Gives the memory back to the devices that graphs had in the streams of a context, which ends with all its work done.
pub(super) fn release_context(context: u64) {
    let released: Vec<_> = lock(&DEVICES)
        .iter_mut()
        .map(|(&device, account)| (device, account.release_context(context)))
        .collect();
    for (device, bytes) in released {
        if bytes > 0 {
            device::give_memory(device, bytes);
        }
    }
}

/// Gives memory back to the device that no unfreed allocation and no launch uses.
pub(crate) fn trim(device: usize) {
    let released = lock(&DEVICES).entry(device).or_default().trim();
    if released > 0 {
        device::give_memory(device, released);
    }
}

/// # Errors
///
/// Invalid value if there is no such attribute.
pub(crate) fn attribute(device: usize, attribute: Attribute) -> Result<u64> {
    let mut devices = lock(&DEVICES);
    let account = devices.entry(device).or_default();
    Ok(match attribute {
        Attribute::CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT => account.used(),
        Attribute::CU_GRAPH_MEM_ATTR_USED_MEM_HIGH => account.used_high,
        Attribute::CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT => account.reserved(),
        Attribute::CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH => account.reserved_high,
        _ => return Err(code::INVALID_VALUE),
    })
}

/// # Errors
///
/// Invalid value if the attribute cannot be set, or not to this value: a watermark can only be reset, to 0, and then is the present value.
pub(crate) fn set_attribute(device: usize, attribute: Attribute, value: u64) -> Result {
    let mut devices = lock(&DEVICES);
    let account = devices.entry(device).or_default();
    match attribute {
        Attribute::CU_GRAPH_MEM_ATTR_USED_MEM_HIGH if value == 0 => {
            account.used_high = account.used()
        }
        Attribute::CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH if value == 0 => {
            account.reserved_high = account.reserved()
        }
        _ => return Err(code::INVALID_VALUE),
    }
    Ok(())
}
