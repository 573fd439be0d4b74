//! The C functions: arguments checked, then handed to the floors below.

use std::ffi::{CString, c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

use warpsmith_driver::raw;
use warpsmith_nccl_abi::*;

use crate::collective::Collective;
use crate::communicator::{self, Communicator, intern, lock};
use crate::element;
use crate::exchange::{Call, Header};
use crate::failure::{Failure, Result};
use crate::group::{self, Operation};
use crate::job::{self, Region, Transfer};
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
        unsafe { begin(comm, ranks, &key_of(&id)?, rank, true) }?;
    }

    unsafe fn ncclCommInitRankConfig(
        comm: *mut ncclComm_t, ranks: c_int, id: ncclUniqueId, rank: c_int, config: *mut ncclConfig_t,
    ) {
        let mut blocking = true;
        if !config.is_null() {
            // SAFETY: it is not null, and the caller's: all versions of the structure begin as this one.
            let config = unsafe { &*config };
            if config.magic != NCCL_API_MAGIC || config.size < size_of::<ncclConfig_t>() {
                return Err(Failure::argument("the configuration was not initialised with NCCL_CONFIG_INITIALIZER"));
            }
            blocking = config.blocking != 0;
        }
        // SAFETY: the caller's condition.
        unsafe { begin(comm, ranks, &key_of(&id)?, rank, blocking) }?;
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
                unsafe { begin(comms.add(rank as usize), devices, &key, rank, true) }
            })
        });
        if let Err(failure) = &begun {
            group::note_failure(failure);
        }
        group::end()?;
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
        unsafe { put(count, communicator::find(comm)?.ranks as c_int) }?;
    }

    unsafe fn ncclCommCuDevice(comm: ncclComm_t, device: *mut c_int) {
        // SAFETY: the caller's condition.
        unsafe { put(device, communicator::find(comm)?.device) }?;
    }

    unsafe fn ncclCommUserRank(comm: ncclComm_t, rank: *mut c_int) {
        // SAFETY: the caller's condition.
        unsafe { put(rank, communicator::find(comm)?.rank as c_int) }?;
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

/// # Safety
///
/// `place` is null or valid for a write.
unsafe fn begin(
    place: *mut ncclComm_t,
    ranks: c_int,
    key: &str,
    rank: c_int,
    blocking: bool,
) -> Result<()> {
    if place.is_null() {
        return Err(Failure::argument(
            "the pointer for the communicator is null",
        ));
    }
    if ranks <= 0 || rank < 0 || rank >= ranks {
        return Err(Failure::argument(format!(
            "there is no rank {rank} of {ranks}"
        )));
    }
    let (handle, communicator) =
        Communicator::begin(key.into(), rank as usize, ranks as usize, blocking)?;
    // SAFETY: it is not null: this function's condition.
    unsafe { place.write(handle) };
    let joined = group::join(communicator);
    if joined.is_err() {
        communicator::forget(handle);
        // SAFETY: as above.
        unsafe { place.write(std::ptr::null_mut()) };
    }
    joined?;
    match blocking {
        true => Ok(()),
        false => Err(Failure {
            code: ncclResult_t::ncclInProgress,
            reason: "the ranks come together".into(),
        }),
    }
}

/// Does something with a device's primary context, which is kept from then on, as the CUDA runtime keeps it.
fn with_primary(device: c_int, body: impl FnOnce() -> Result<()>) -> Result<()> {
    use crate::driver::call;
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
    let _ = communicator.context.with(|| {
        job::forget_last(communicator);
        Ok(())
    });
    communicator::forget(handle);
}

fn rank_of(rank: c_int, communicator: &Communicator) -> Result<usize> {
    usize::try_from(rank)
        .ok()
        .filter(|&rank| rank < communicator.ranks)
        .ok_or_else(|| {
            Failure::argument(format!("there is no rank {rank} of {}", communicator.ranks))
        })
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
    let element = element::size(kind)?;
    element::check_reduction(reduction)?;
    bytes_of(count, element, communicator.ranks)?;
    let collective = Collective {
        call,
        kind,
        reduction,
        root: rank_of(root, &communicator)?,
        count,
        element,
    };
    let (rank, ranks) = (communicator.rank, communicator.ranks);
    let send = region(send, collective.send_bytes(rank, ranks), "send")?;
    let receive = region(receive, collective.receive_bytes(rank, ranks), "receive")?;
    let operation = Operation::Collective {
        collective,
        send,
        receive,
    };
    group::add(communicator, stream as raw::CUstream, operation)
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
    let communicator = communicator::find(comm)?;
    let element = element::size(kind)?;
    bytes_of(count, element, 1)?;
    let what = if sends { "send" } else { "receive" };
    let region = region(pointer, count * element, what)?;
    let header = Header {
        call: Call::Transfer,
        kind,
        reduction: ncclRedOp_t::ncclSum,
        root: 0,
        count: count as u64,
    };
    let transfer = Transfer {
        peer: rank_of(peer, &communicator)?,
        header,
        sends,
    };
    let operation = Operation::Transfer(transfer, region);
    group::add(communicator, stream as raw::CUstream, operation)
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
        for name in warpsmith_nccl_abi::for_each_nccl_function!(all) {
            assert!(entry_point(name).is_some(), "{name}");
        }
        assert!(entry_point("ncclNoSuchFunction").is_none());
    }
}
