//! Plain device memory in other processes.
//!
//! Memory of `cuMemAlloc` is the process's own until it is exported for the first time. Then its bytes move into a file, which takes the
//! place of the pages at the same address. Whoever calls sees to it that nothing runs on the devices meanwhile.

use std::collections::BTreeMap;
use std::os::fd::AsFd;
use std::sync::Mutex;

use super::handle::{Handle, Unopened};
use crate::device;
use crate::error::{Result, code};
use crate::memory::allocation::AllocationKind;
use crate::memory::guest::{self, Source};
use crate::memory::pointer::PointerInfo;
use crate::memory::shared_file::{Content, SharedFile};
use crate::memory::space::Memory;
use crate::sync::lock;
use warpsmith_abi::CUresult;

const PAGE: usize = 4096;
/// How much is moved at once.
const CHUNK: usize = 1 << 20;

/// What is exported and what is opened.
struct Shared {
    /// The file of each allocation that was exported, by its address.
    exported: BTreeMap<usize, SharedFile>,
    /// By address.
    opened: BTreeMap<usize, Opened>,
}

/// Memory of another process.
#[derive(Clone, Copy)]
struct Opened {
    context: u64,
    /// Which file it is.
    identity: u64,
    /// How often it is open.
    times: usize,
}

static SHARED: Mutex<Shared> = Mutex::new(Shared {
    exported: BTreeMap::new(),
    opened: BTreeMap::new(),
});

/// The handle of the whole allocation around an address. `while_quiet` executes what it is given when nothing runs on any device.
///
/// # Errors
///
/// Invalid value if it is not live memory of `cuMemAlloc` and its like; out of memory if the system has no room for the file.
pub(crate) fn export(
    address: usize,
    while_quiet: impl FnOnce(&mut dyn FnMut()),
) -> Result<[u8; 64]> {
    let known = PointerInfo::of(address).ok_or(code::INVALID_VALUE)?;
    if known.kind != AllocationKind::Device || known.is_registered {
        return Err(code::INVALID_VALUE);
    }
    let base = known.info.base;
    let mut handle = handle_of(base);
    if handle.is_none() {
        let mut outcome = Ok(());
        while_quiet(&mut || outcome = move_into_file(base, known.info.len, known.device));
        outcome?;
        handle = handle_of(base);
    }
    Ok(handle.ok_or(code::OPERATING_SYSTEM)?.to_bytes())
}

fn handle_of(base: usize) -> Option<Handle> {
    Handle::of(lock(&SHARED).exported.get(&base)?, Content::Plain)
}

/// Moves an allocation's bytes into a file, which is shown in their place; nothing if they are in one.
fn move_into_file(base: usize, bytes: usize, device: usize) -> Result {
    let mut shared = lock(&SHARED);
    if shared.exported.contains_key(&base) {
        return Ok(());
    }
    let numbers = [device::in_machine(device) as u64, bytes as u64, 0, 0];
    let pages = bytes.next_multiple_of(PAGE);
    let file = SharedFile::create(Content::Plain, pages, numbers).ok_or(code::OUT_OF_MEMORY)?;
    let mut chunk = vec![0; bytes.min(CHUNK)];
    for offset in (0..bytes).step_by(CHUNK) {
        let chunk = &mut chunk[..CHUNK.min(bytes - offset)];
        let to = chunk.as_mut_ptr().expose_provenance();
        // SAFETY: the bytes lie in an allocation of the arena, whose pages stay mapped, and the buffer is as long as the copy.
        unsafe { guest::copy(to, base + offset, Source::Guest, chunk.len()) };
        // What was never written takes no memory.
        if chunk.iter().any(|&byte| byte != 0) {
            file.write(offset, chunk).ok_or(code::OUT_OF_MEMORY)?;
        }
    }
    Memory::global()
        .back_with_file(base, file.as_fd(), 0)
        .ok_or(code::OUT_OF_MEMORY)?;
    shared.exported.insert(base, file);
    Ok(())
}

/// The address at which a context of this process sees the memory of a handle: the same each time.
///
/// # Errors
///
/// As a real driver answers: invalid value if it is no handle, invalid context if this process has exported it, not permitted if the
/// memory has been freed; invalid device if this process does not see the memory's; out of memory.
pub(crate) fn open(context: u64, handle: &[u8; 64]) -> Result<usize> {
    let handle = Handle::from_bytes(handle, Content::Plain).map_err(refusal)?;
    let mut shared = lock(&SHARED);
    let same = |opened: &Opened| opened.context == context && opened.identity == handle.identity();
    let (file, [device, bytes, ..]) = handle.open(Content::Plain).map_err(refusal)?;
    if let Some((&base, opened)) = shared.opened.iter_mut().find(|(_, opened)| same(opened)) {
        opened.times += 1;
        return Ok(base);
    }
    let device = device::of_machine(device as usize).ok_or(code::INVALID_DEVICE)?;
    let bytes = bytes as usize;
    if bytes == 0 || bytes > file.bytes() {
        return Err(code::INVALID_VALUE);
    }
    let memory = Memory::global();
    let kind = AllocationKind::Opened;
    let base = memory
        .allocate(bytes, kind, context, device, "cuIpcOpenMemHandle")
        .ok_or(code::OUT_OF_MEMORY)?;
    if memory.back_with_file(base, file.as_fd(), 0).is_none() {
        memory.free(base, "cuIpcOpenMemHandle");
        return Err(code::MAP_FAILED);
    }
    let opened = Opened {
        context,
        identity: handle.identity(),
        times: 1,
    };
    shared.opened.insert(base, opened);
    Ok(base)
}

fn refusal(why: Unopened) -> CUresult {
    match why {
        Unopened::NoHandle => code::INVALID_VALUE,
        Unopened::Own => code::INVALID_CONTEXT,
        Unopened::Gone => code::NOT_PERMITTED,
    }
}

/// Takes back one opening of the memory at an address. `true` if it was the last one: the memory is to be released.
///
/// # Errors
///
/// Invalid value if no memory of another process begins there.
pub(crate) fn close(base: usize) -> Result<bool> {
    let mut shared = lock(&SHARED);
    let opened = shared.opened.get_mut(&base).ok_or(code::INVALID_VALUE)?;
    opened.times -= 1;
    let is_last = opened.times == 0;
    if is_last {
        // Who opens it from here on gets another address.
        shared.opened.remove(&base);
    }
    Ok(is_last)
}

/// Memory at this address was released: the file that it may have goes with its last owner.
pub(in crate::memory) fn forget(base: usize) {
    let mut shared = lock(&SHARED);
    let gone = (shared.exported.remove(&base), shared.opened.remove(&base));
    drop(shared);
    // Outside of the lock: closing a file may take a while.
    drop(gone);
}
