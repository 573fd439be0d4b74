//! Buffers that are registered with communicators. Here that makes no collective faster; what is wrong in a program about it is found.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::Mutex;

use warpsmith_nccl_abi::ncclComm_t;

use crate::communicator::lock;
use crate::failure::{Failure, Result};

/// What is registered, by handle.
struct Registered {
    comm: usize,
    begin: usize,
    end: usize,
}

#[derive(Default)]
struct Registrations {
    last: usize,
    known: BTreeMap<usize, Registered>,
}

static REGISTRATIONS: Mutex<Option<Registrations>> = Mutex::new(None);

fn with<R>(body: impl FnOnce(&mut Registrations) -> R) -> R {
    body(lock(&REGISTRATIONS).get_or_insert_default())
}

/// Registers bytes with a communicator, and gives the handle of that.
///
/// # Errors
///
/// The address is null, or the bytes are more than memory has.
pub(crate) fn add(comm: ncclComm_t, buffer: *mut c_void, bytes: usize) -> Result<*mut c_void> {
    let begin = buffer.addr();
    let Some(end) = begin.checked_add(bytes).filter(|_| begin != 0) else {
        return Err(Failure::argument(format!(
            "there are no {bytes} bytes to register at {begin:#x}"
        )));
    };
    let comm = comm.addr();
    Ok(with(|registrations| {
        registrations.last += 1;
        let handle = registrations.last;
        let registered = Registered { comm, begin, end };
        registrations.known.insert(handle, registered);
        handle as *mut c_void
    }))
}

/// Takes a registration back.
///
/// # Errors
///
/// The communicator has none of this handle.
pub(crate) fn remove(comm: ncclComm_t, handle: *mut c_void) -> Result<()> {
    with(|registrations| {
        let known = &mut registrations.known;
        match known.get(&handle.addr()) {
            Some(registered) if registered.comm == comm.addr() => {
                known.remove(&handle.addr());
                Ok(())
            }
            _ => Err(Failure::usage(format!(
                "the communicator has no registration {handle:?}"
            ))),
        }
    })
}

/// Forgets what is registered with a communicator that ends.
pub(crate) fn forget(comm: ncclComm_t) {
    with(|registrations| {
        registrations
            .known
            .retain(|_, registered| registered.comm != comm.addr());
    });
}

/// # Errors
///
/// The memory is about to be freed, and is still registered.
pub(crate) fn refuse_registered(buffer: *mut c_void) -> Result<()> {
    let address = buffer.addr();
    let is_there = |registered: &&Registered| (registered.begin..registered.end).contains(&address);
    with(
        |registrations| match registrations.known.values().find(is_there) {
            None => Ok(()),
            Some(_) => Err(Failure::usage(format!(
                "the memory at {address:#x} is registered: ncclCommDeregister comes before ncclMemFree"
            ))),
        },
    )
}
