//! The C functions: arguments checked, then handed to the floors below.

use std::ffi::{CString, c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

use warpsmith_abi as raw;
use warpsmith_nccl_abi::*;

use crate::collective::Collective;
use crate::communicator::{self, Communicator, Factor, intern, lock};
use crate::driver::call;
use crate::element;
use crate::exchange::{Call, Header};
use crate::failure::{Failure, Result};
use crate::group::{self, Operation};
use crate::job::{self, Region, Transfer};
use crate::registration;
use crate::split::Seat;
use crate::{VERSION, world};

/// What went wrong last, and all texts that were ever handed out.
static LAST: Mutex<(String, Vec<CString>)> = Mutex::new((String::new(), Vec::new()));

/// What an id begins with.
const MARK: &[u8; 16] = b"warpsmith-nccl-1";

fn answer(body: impl FnOnce() -> Result<()>) -> ncclResult_t {
    let result = catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|_| {
        Err(Failure {
            code: ncclResult_t::ncclInternalError,
            reason: "the simulator's NCCL panicked".into(),
        })
    });
    match result {
        Ok(()) => ncclResult_t::ncclSuccess,
        Err(failure) => {
            if failure.code != ncclResult_t::ncclInProgress {
                lock(&LAST).0 = failure.reason.clone();
                group::note_failure(&failure);
            }
            failure.code
        }
    }
}

/// Writes an answer where the caller wants it.
///
/// # Safety
///
/// `place` is null or valid for a write.
unsafe fn put<T>(place: *mut T, value: T) -> Result<()> {
    if place.is_null() {
        return Err(Failure::argument("a pointer for an answer is null"));
    }
    // SAFETY: it is not null: this function's condition.
    unsafe { place.write(value) };
    Ok(())
}

macro_rules! functions {
    ($(unsafe fn $name:ident($($argument:ident: $kind:ty),* $(,)?) $body:block)*) => {
        $(
            #[allow(non_snake_case)]
            unsafe extern "C" fn $name($($argument: $kind),*) -> ncclResult_t {
                answer(move || {
                    $body
                    #[allow(unreachable_code)]
                    Ok(())
                })
            }
        )*

        /// The function of this name, which has the type that the name has in [`warpsmith_nccl_abi::signature`].
        pub fn entry_point(name: &str) -> Option<*const c_void> {
            match name {
                $(stringify!($name) => Some($name as signature::$name as *const c_void),)*
                "ncclGetErrorString" => Some(ncclGetErrorString as signature::ncclGetErrorString as *const c_void),
                "ncclGetLastError" => Some(ncclGetLastError as signature::ncclGetLastError as *const c_void),
                _ => None,
            }
        }
    };
}

functions! {
    unsafe fn ncclGetVersion(version: *mut c_int) {
        // SAFETY: the caller's condition.
        unsafe { put(version, VERSION) }?;
    }

    unsafe fn ncclGetUniqueId(id: *mut ncclUniqueId) {
        let mut internal = [0; NCCL_UNIQUE_ID_BYTES];
        let key = world::new_key()?;
        for (place, byte) in internal.iter_mut().zip(MARK.iter().chain(key.as_bytes())) {
            *place = *byte as c_char;
        }
        // SAFETY: the caller's condition.
        unsafe { put(id, ncclUniqueId { internal }) }?;
    }

    unsafe fn ncclCommInitRank(comm: *mut ncclComm_t, ranks: c_int, id: ncclUniqueId, rank: c_int) {
        // SAFETY: the caller's condition.
        unsafe { begin(comm, ranks, key_of(&id)?, rank, true) }?;
    }

    unsafe fn ncclCommInitRankConfig(
        comm: *mut ncclComm_t, ranks: c_int, id: ncclUniqueId, rank: c_int, config: *mut ncclConfig_t,
    ) {
        // SAFETY: the caller's condition.
        let blocking = unsafe { blocking(config) }?.unwrap_or(true);
        // SAFETY: the caller's condition.
        unsafe { begin(comm, ranks, key_of(&id)?, rank, blocking) }?;
    }

    unsafe fn ncclCommInitAll(comms: *mut ncclComm_t, devices: c_int, list: *const c_int) {
        if comms.is_null() || devices <= 0 {
            return Err(Failure::argument("ncclCommInitAll without devices"));
        }
        let key = world::new_key()?;
        group::start();
        let begun = (0..devices).try_for_each(|rank| {
            // SAFETY: the caller gives a list of `devices` numbers, or none.
            let device = if list.is_null() { rank } else { unsafe { *list.add(rank as usize) } };
            with_primary(device, || {
                // SAFETY: the caller gives `devices` places.
                unsafe { begin(comms.add(rank as usize), devices, key.clone(), rank, true) }
            })
        });
        if let Err(failure) = &begun {
            group::note_failure(failure);
        }
        group::end()?;
    }

    unsafe fn ncclCommSplit(
        comm: ncclComm_t, color: c_int, key: c_int, split: *mut ncclComm_t, config: *mut ncclConfig_t,
    ) {
        // SAFETY: the caller's condition.
        unsafe { put(split, std::ptr::null_mut()) }?;
        let parent = communicator::find(comm)?;
        if color < 0 && color != NCCL_SPLIT_NOCOLOR {
            return Err(Failure::argument(format!("{color} is no color: they are 0 and up, or NCCL_SPLIT_NOCOLOR")));
        }
        // SAFETY: the caller's condition.
        let blocking = unsafe { blocking(config) }?.unwrap_or(parent.blocking);
        let communicator = parent.begin_split(color, key, blocking)?;
        let handle = (color != NCCL_SPLIT_NOCOLOR).then_some(split);
        // SAFETY: the pointer was written above.
        unsafe { settle(handle, communicator, parent.blocking) }?;
    }

    unsafe fn ncclCommFinalize(comm: ncclComm_t) {
        let communicator = communicator::find(comm)?;
        communicator.finalize();
        if communicator.blocking {
            communicator.wait_for_work();
        }
    }

    unsafe fn ncclCommDestroy(comm: ncclComm_t) {
        let communicator = communicator::find(comm)?;
        communicator.finalize();
        communicator.wait_for_work();
        give_back(comm, &communicator);
    }

    unsafe fn ncclCommAbort(comm: ncclComm_t) {
        let communicator = communicator::find(comm)?;
        communicator.abort();
        give_back(comm, &communicator);
    }

    unsafe fn ncclCommGetAsyncError(comm: ncclComm_t, error: *mut ncclResult_t) {
        let result = communicator::find(comm)?.asynchronous_result();
        // SAFETY: the caller's condition.
        unsafe { put(error, result) }?;
    }

    unsafe fn ncclCommCount(comm: ncclComm_t, count: *mut c_int) {
        // SAFETY: the caller's condition.
        unsafe { put(count, communicator::find(comm)?.known_world()?.ranks as c_int) }?;
    }

    unsafe fn ncclCommCuDevice(comm: ncclComm_t, device: *mut c_int) {
        // SAFETY: the caller's condition.
        unsafe { put(device, communicator::find(comm)?.device()) }?;
    }

    unsafe fn ncclCommUserRank(comm: ncclComm_t, rank: *mut c_int) {
        // SAFETY: the caller's condition.
        unsafe { put(rank, communicator::find(comm)?.known_world()?.rank as c_int) }?;
    }

    unsafe fn ncclRedOpCreatePreMulSum(
        op: *mut ncclRedOp_t, scalar: *mut c_void, kind: ncclDataType_t, residence: ncclScalarResidence_t, comm: ncclComm_t,
    ) {
        let communicator = communicator::find(comm)?;
        let element = element::size(kind)?;
        if scalar.is_null() {
            return Err(Failure::argument("the factor's address is null"));
        }
        let factor = match residence {
            ncclScalarResidence_t::ncclScalarHostImmediate => {
                let mut known = [0; 8];
                // SAFETY: the caller gives the address of an element on the host, and no element has more bytes than `known`.
                unsafe { known.as_mut_ptr().copy_from_nonoverlapping(scalar.cast(), element) };
                Factor::Known(known)
            }
            ncclScalarResidence_t::ncclScalarDevice => Factor::OnDevice(scalar.addr() as u64),
            _ => return Err(Failure::argument(format!("there is no residence {}", residence.0))),
        };
        // SAFETY: the caller's condition.
        unsafe { put(op, communicator.add_reduction(kind, factor)) }?;
    }

    unsafe fn ncclRedOpDestroy(op: ncclRedOp_t, comm: ncclComm_t) {
        communicator::find(comm)?.forget_reduction(op)?;
    }

    unsafe fn ncclMemAlloc(pointer: *mut *mut c_void, bytes: usize) {
        let mut address = 0;
        // SAFETY: the driver writes one address to `address`, which outlives the call.
        unsafe { call!(cuMemAlloc_v2(&mut address, bytes)) }?;
        // SAFETY: the caller's condition.
        let put = unsafe { put(pointer, address as *mut c_void) };
        if put.is_err() {
            // SAFETY: the memory was allocated above, and nobody knows of it.
            unsafe { call!(cuMemFree_v2(address)) }?;
        }
        put?;
    }

    unsafe fn ncclMemFree(pointer: *mut c_void) {
        if !pointer.is_null() {
            registration::refuse_registered(pointer)?;
            // SAFETY: the driver finds out whether the address is one that it gave; that nobody uses it is the caller's condition.
            unsafe { call!(cuMemFree_v2(pointer.addr() as u64)) }?;
        }
    }

    unsafe fn ncclCommRegister(comm: ncclComm_t, buffer: *mut c_void, bytes: usize, handle: *mut *mut c_void) {
        communicator::find(comm)?;
        let registered = registration::add(comm, buffer, bytes)?;
        // SAFETY: the caller's condition.
        let put = unsafe { put(handle, registered) };
        if put.is_err() {
            registration::remove(comm, registered)?;
        }
        put?;
    }

    unsafe fn ncclCommDeregister(comm: ncclComm_t, handle: *mut c_void) {
        communicator::find(comm)?;
        if !handle.is_null() {
            registration::remove(comm, handle)?;
        }
    }

    unsafe fn ncclAllReduce(
        send: *const c_void, receive: *mut c_void, count: usize, kind: ncclDataType_t, op: ncclRedOp_t, comm: ncclComm_t,
        stream: cudaStream_t,
    ) {
        collective(Call::AllReduce, send, receive, count, kind, op, 0, comm, stream)?;
    }

    unsafe fn ncclBroadcast(
        send: *const c_void, receive: *mut c_void, count: usize, kind: ncclDataType_t, root: c_int, comm: ncclComm_t,
        stream: cudaStream_t,
    ) {
        collective(Call::Broadcast, send, receive, count, kind, ncclRedOp_t::ncclSum, root, comm, stream)?;
    }

    unsafe fn ncclBcast(
        buffer: *mut c_void, count: usize, kind: ncclDataType_t, root: c_int, comm: ncclComm_t, stream: cudaStream_t,
    ) {
        collective(Call::Broadcast, buffer, buffer, count, kind, ncclRedOp_t::ncclSum, root, comm, stream)?;
    }

    unsafe fn ncclReduce(
        send: *const c_void, receive: *mut c_void, count: usize, kind: ncclDataType_t, op: ncclRedOp_t, root: c_int,
        comm: ncclComm_t, stream: cudaStream_t,
    ) {
        collective(Call::Reduce, send, receive, count, kind, op, root, comm, stream)?;
    }

    unsafe fn ncclAllGather(
        send: *const c_void, receive: *mut c_void, count: usize, kind: ncclDataType_t, comm: ncclComm_t, stream: cudaStream_t,
    ) {
        collective(Call::AllGather, send, receive, count, kind, ncclRedOp_t::ncclSum, 0, comm, stream)?;
    }

    unsafe fn ncclReduceScatter(
        send: *const c_void, receive: *mut c_void, count: usize, kind: ncclDataType_t, op: ncclRedOp_t, comm: ncclComm_t,
        stream: cudaStream_t,
    ) {
        collective(Call::ReduceScatter, send, receive, count, kind, op, 0, comm, stream)?;
    }

    unsafe fn ncclSend(
        send: *const c_void, count: usize, kind: ncclDataType_t, peer: c_int, comm: ncclComm_t, stream: cudaStream_t,
    ) {
        transfer(true, send, count, kind, peer, comm, stream)?;
    }

    unsafe fn ncclRecv(
        receive: *mut c_void, count: usize, kind: ncclDataType_t, peer: c_int, comm: ncclComm_t, stream: cudaStream_t,
    ) {
        transfer(false, receive, count, kind, peer, comm, stream)?;
    }

    unsafe fn ncclAlltoAll(
        send: *const c_void, receive: *mut c_void, count: usize, kind: ncclDataType_t, comm: ncclComm_t, stream: cudaStream_t,
    ) {
        let parts = Parts::of(count, kind, comm, stream)?;
        parts.transfer(|peer| {
            parts.send(send, peer, peer)?;
            parts.receive(receive, peer, peer)
        })?;
    }

    unsafe fn ncclGather(
        send: *const c_void, receive: *mut c_void, count: usize, kind: ncclDataType_t, root: c_int, comm: ncclComm_t,
        stream: cudaStream_t,
    ) {
        let parts = Parts::of(count, kind, comm, stream)?;
        let root = parts.rank_of(root)?;
        parts.transfer(|peer| {
            if peer == root {
                parts.send(send, 0, root)?;
            }
            match parts.rank == root {
                true => parts.receive(receive, peer, peer),
                false => Ok(()),
            }
        })?;
    }

    unsafe fn ncclScatter(
        send: *const c_void, receive: *mut c_void, count: usize, kind: ncclDataType_t, root: c_int, comm: ncclComm_t,
        stream: cudaStream_t,
    ) {
        let parts = Parts::of(count, kind, comm, stream)?;
        let root = parts.rank_of(root)?;
        parts.transfer(|peer| {
            if parts.rank == root {
                parts.send(send, peer, peer)?;
            }
            match peer == root {
                true => parts.receive(receive, 0, root),
                false => Ok(()),
            }
        })?;
    }

    unsafe fn ncclGroupStart() {
        group::start();
    }

    unsafe fn ncclGroupEnd() {
        group::end()?;
    }
}

#[allow(non_snake_case)]
unsafe extern "C" fn ncclGetErrorString(result: ncclResult_t) -> *const c_char {
    use ncclResult_t as code;
    let text = match result {
        code::ncclSuccess => c"no error",
        code::ncclUnhandledCudaError => c"unhandled cuda error",
        code::ncclSystemError => c"unhandled system error",
        code::ncclInternalError => c"internal error",
        code::ncclInvalidArgument => c"invalid argument",
        code::ncclInvalidUsage => c"invalid usage",
        code::ncclRemoteError => c"remote process exited or there was a network error",
        code::ncclInProgress => c"NCCL operation in progress",
        code::ncclTimeout => c"NCCL operation timed out",
        _ => c"unknown result code",
    };
    text.as_ptr()
}

#[allow(non_snake_case)]
unsafe extern "C" fn ncclGetLastError(comm: ncclComm_t) -> *const c_char {
    let own = communicator::find(comm)
        .ok()
        .and_then(|communicator| communicator.message());
    own.unwrap_or_else(|| {
        let (last, known) = &mut *lock(&LAST);
        intern(known, last)
    })
}

/// What ranks come together by.
fn key_of(id: &ncclUniqueId) -> Result<String> {
    let bytes = id.internal.map(|byte| byte as u8);
    let key = &bytes[MARK.len()..MARK.len() + 32];
    match bytes.starts_with(MARK) && key.iter().all(u8::is_ascii_hexdigit) {
        true => Ok(String::from_utf8_lossy(key).into_owned()),
        false => Err(Failure::argument(
            "the id does not come from ncclGetUniqueId of the simulator's NCCL",
        )),
    }
}

/// What a configuration says about whether calls wait; `None` where there is none, and `true` where it says nothing.
///
/// # Errors
///
/// It is none, or NCCL refuses what it says.
///
/// # Safety
///
/// `config` is null, or as many bytes can be read there as the structure says.
unsafe fn blocking(config: *const ncclConfig_t) -> Result<Option<bool>> {
    if config.is_null() {
        return Ok(None);
    }
    // SAFETY: all versions of the structure begin with these two: this function's condition.
    let (size, magic) = unsafe {
        (
            (&raw const (*config).size).read(),
            (&raw const (*config).magic).read(),
        )
    };
    /// Of the structure of NCCL 2.14, the first.
    const LEAST: usize = 24;
    if magic != NCCL_API_MAGIC || size < LEAST {
        return Err(Failure::argument(
            "the configuration was not initialised with NCCL_CONFIG_INITIALIZER",
        ));
    }
    let mut known = ncclConfig_t::DEFAULT;
    // SAFETY: so many bytes can be read and written, and any bytes are a configuration.
    unsafe {
        (&raw mut known)
            .cast::<u8>()
            .copy_from_nonoverlapping(config.cast(), size.min(size_of::<ncclConfig_t>()));
    }
    let said = |value: c_int| (value != NCCL_CONFIG_UNDEF_INT).then_some(value);
    let least = said(known.minCTAs);
    let most = said(known.maxCTAs);
    let refused = |what: &str, value: c_int| {
        Err(Failure::argument(format!(
            "the configuration's {what} is {value}"
        )))
    };
    match (said(known.blocking), least, most) {
        (Some(value), ..) if value != 0 && value != 1 => refused("blocking", value),
        (_, Some(value), _) if value <= 0 => refused("minCTAs", value),
        (_, _, Some(value)) if value <= 0 => refused("maxCTAs", value),
        (_, Some(least), Some(most)) if least > most => refused("minCTAs, above maxCTAs,", least),
        (blocking, ..) => Ok(Some(blocking != Some(0))),
    }
}

/// # Safety
///
/// `place` is null or valid for a write.
unsafe fn begin(
    place: *mut ncclComm_t,
    ranks: c_int,
    key: String,
    rank: c_int,
    blocking: bool,
) -> Result<()> {
    // SAFETY: this function's condition.
    unsafe { put(place, std::ptr::null_mut()) }?;
    if ranks <= 0 || rank < 0 || rank >= ranks {
        return Err(Failure::argument(format!(
            "there is no rank {rank} of {ranks}"
        )));
    }
    let (rank, ranks) = (rank as usize, ranks as usize);
    let seat = Seat {
        key,
        rank,
        ranks,
        members: Vec::new(),
    };
    let communicator = Communicator::begin(seat, blocking)?;
    // SAFETY: the place is valid: this function's condition.
    unsafe { settle(Some(place), communicator, blocking) }
}

/// Writes a handle for a communicator that has begun to come in, if there is to be one, and waits for it where the call blocks.
///
/// # Safety
///
/// The place is valid for a write.
unsafe fn settle(
    place: Option<*mut ncclComm_t>,
    communicator: Arc<Communicator>,
    blocking: bool,
) -> Result<()> {
    let handle = place.map(|place| (place, communicator::register(&communicator)));
    if let Some((place, handle)) = handle {
        // SAFETY: this function's condition.
        unsafe { place.write(handle) };
    }
    if !blocking {
        return group::go_on();
    }
    let joined = group::join(communicator);
    if let (Err(_), Some((place, handle))) = (&joined, handle) {
        communicator::forget(handle);
        // SAFETY: this function's condition.
        unsafe { place.write(std::ptr::null_mut()) };
    }
    joined
}

/// Does something with a device's primary context, which is kept from then on, as the CUDA runtime keeps it.
fn with_primary(device: c_int, body: impl FnOnce() -> Result<()>) -> Result<()> {
    let mut context = std::ptr::null_mut();
    // SAFETY: the driver writes one handle to `context`, which outlives the call.
    unsafe { call!(cuDevicePrimaryCtxRetain(&mut context, device)) }?;
    // SAFETY: the context was retained above.
    unsafe { call!(cuCtxPushCurrent_v2(context)) }?;
    let result = body();
    // SAFETY: the driver writes one handle to `context`, which outlives the call.
    unsafe { call!(cuCtxPopCurrent_v2(&mut context)) }?;
    result
}

/// The communicator leaves, and its handle is no handle any more.
fn give_back(handle: ncclComm_t, communicator: &Communicator) {
    communicator.leave();
    let _ = communicator.context().with(|| {
        job::forget_last(communicator);
        Ok(())
    });
    registration::forget(handle);
    communicator::forget(handle);
}

fn rank_of(rank: c_int, ranks: usize) -> Result<usize> {
    usize::try_from(rank)
        .ok()
        .filter(|&rank| rank < ranks)
        .ok_or_else(|| Failure::argument(format!("there is no rank {rank} of {ranks}")))
}

fn region(pointer: *const c_void, bytes: usize, what: &str) -> Result<Region> {
    if pointer.is_null() && bytes > 0 {
        return Err(Failure::argument(format!("the buffer to {what} is null")));
    }
    Ok(Region {
        address: pointer.addr() as u64,
        bytes,
    })
}

fn bytes_of(count: usize, element: usize, ranks: usize) -> Result<()> {
    count
        .checked_mul(element)
        .and_then(|bytes| bytes.checked_mul(ranks))
        .filter(|&bytes| bytes <= isize::MAX as usize)
        .map(drop)
        .ok_or_else(|| Failure::argument(format!("{count} elements are more than memory has")))
}

#[allow(clippy::too_many_arguments)] // NCCL's own.
fn collective(
    call: Call,
    send: *const c_void,
    receive: *mut c_void,
    count: usize,
    kind: ncclDataType_t,
    reduction: ncclRedOp_t,
    root: c_int,
    comm: ncclComm_t,
    stream: cudaStream_t,
) -> Result<()> {
    let communicator = communicator::find(comm)?;
    let world = communicator.ready()?;
    let (rank, ranks) = (world.rank, world.ranks);
    let element = element::size(kind)?;
    bytes_of(count, element, ranks)?;
    let (reduction, factor) = if reduction.0 < ncclRedOp_t::BUILT_IN {
        (reduction, None)
    } else {
        let made = ncclRedOp_t(ncclRedOp_t::BUILT_IN);
        (made, Some(communicator.factor(reduction, kind)?))
    };
    let collective = Collective {
        call,
        kind,
        reduction,
        root: rank_of(root, ranks)?,
        count,
        element,
        factor,
    };
    let mut inputs = vec![region(send, collective.send_bytes(rank, ranks), "send")?];
    if let Some(Factor::OnDevice(address)) = factor {
        inputs.push(Region {
            address,
            bytes: element,
        });
    }
    let output = region(receive, collective.receive_bytes(rank, ranks), "receive")?;
    let operation = Operation::Collective(collective, inputs, output);
    group::add(communicator.clone(), stream as raw::CUstream, operation)
}

/// A collective that is a group of sends and receives, of as many elements each.
struct Parts {
    communicator: Arc<Communicator>,
    rank: usize,
    ranks: usize,
    count: usize,
    bytes: usize,
    kind: ncclDataType_t,
    stream: cudaStream_t,
}

impl Parts {
    fn of(
        count: usize,
        kind: ncclDataType_t,
        comm: ncclComm_t,
        stream: cudaStream_t,
    ) -> Result<Parts> {
        let communicator = communicator::find(comm)?;
        let world = communicator.ready()?;
        let (rank, ranks) = (world.rank, world.ranks);
        let element = element::size(kind)?;
        bytes_of(count, element, ranks)?;
        Ok(Parts {
            communicator: communicator.clone(),
            rank,
            ranks,
            count,
            bytes: count * element,
            kind,
            stream,
        })
    }

    fn rank_of(&self, rank: c_int) -> Result<usize> {
        rank_of(rank, self.ranks)
    }

    /// Makes the sends and receives of each rank, beside each other.
    fn transfer(&self, part: impl FnMut(usize) -> Result<()>) -> Result<()> {
        group::start();
        let added = (0..self.ranks).try_for_each(part);
        if let Err(failure) = &added {
            group::note_failure(failure);
        }
        group::end()
    }

    fn send(&self, from: *const c_void, part: usize, peer: usize) -> Result<()> {
        self.add(true, from, part, peer)
    }

    fn receive(&self, to: *const c_void, part: usize, peer: usize) -> Result<()> {
        self.add(false, to, part, peer)
    }

    fn add(&self, sends: bool, pointer: *const c_void, part: usize, peer: usize) -> Result<()> {
        let what = if sends { "send" } else { "receive" };
        let mut region = region(pointer, self.bytes, what)?;
        region.address += (part * self.bytes) as u64;
        let header = Header {
            call: Call::Transfer,
            kind: self.kind,
            reduction: ncclRedOp_t::ncclSum,
            root: 0,
            count: self.count as u64,
        };
        let transfer = Transfer {
            peer,
            header,
            sends,
        };
        let operation = Operation::Transfer(transfer, region);
        group::add(
            self.communicator.clone(),
            self.stream as raw::CUstream,
            operation,
        )
    }
}

fn transfer(
    sends: bool,
    pointer: *const c_void,
    count: usize,
    kind: ncclDataType_t,
    peer: c_int,
    comm: ncclComm_t,
    stream: cudaStream_t,
) -> Result<()> {
    let parts = Parts::of(count, kind, comm, stream)?;
    parts.add(sends, pointer, 0, parts.rank_of(peer)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_function_of_the_interface_is_there() {
        macro_rules! all {
            ($(fn $name:ident($($argument:ident: $kind:ty),* $(,)?) -> $result:ty;)*) => {
                [$(stringify!($name)),*]
            };
        }
        let names = warpsmith_nccl_abi::for_each_nccl_function!(all);
        let newer = warpsmith_nccl_abi::for_each_newer_nccl_function!(all);
        for name in names.iter().chain(&newer) {
            assert!(entry_point(name).is_some(), "{name}");
        }
        assert!(entry_point("ncclNoSuchFunction").is_none());
    }
}
