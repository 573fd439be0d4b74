//! Semaphores of other program interfaces, imported by a file descriptor. No GPU knows those that a test can make, so what they do is shown
//! on the simulator.

mod checks;
mod import;
mod nodes;
mod order;

use crate::common::graphs::{fill_node, graph, instantiate, launch};
use crate::common::*;
use rustix::event::EventfdFlags;
use rustix::fs::{MemfdFlags, SealFlags};
use std::os::fd::{AsRawFd, IntoRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicU64, Ordering};
use warpsmith_driver::fault;
use warpsmith_testkit::process::{calling_test, is_child, run_in_child};

const OPAQUE: u32 = 1;
const TIMELINE: u32 = 9;

type SignalParameters = CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS;
type WaitParameters = CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS;

/// A binary semaphore of another interface. Children have it, too.
struct Binary(OwnedFd);

impl Binary {
    fn new() -> Self {
        Self(rustix::event::eventfd(0, EventfdFlags::NONBLOCK).expect("the system has room"))
    }

    fn import(&self) -> CUexternalSemaphore {
        import(OPAQUE, self.0.try_clone().expect("there are numbers left"))
    }

    fn signal(&self) {
        let written = rustix::io::write(&self.0, &1_u64.to_ne_bytes());
        assert_eq!(written, Ok(8));
    }

    /// Waits for it without a wait: whether it was signalled.
    fn take(&self) -> bool {
        rustix::io::read(&self.0, &mut [0_u8; 8]).is_ok()
    }

    fn wait(&self) {
        while !self.take() {
            std::thread::yield_now();
        }
    }
}

/// A timeline semaphore of another interface. Children have it, too.
struct Timeline(OwnedFd);

impl Timeline {
    fn new() -> Self {
        let file = rustix::fs::memfd_create("timeline", MemfdFlags::ALLOW_SEALING);
        let file = file.expect("the system has room");
        rustix::fs::ftruncate(&file, 8).expect("the system has room");
        rustix::fs::fcntl_add_seals(&file, SealFlags::SHRINK).expect("it can be sealed");
        Self(file)
    }

    fn import(&self) -> CUexternalSemaphore {
        import(
            TIMELINE,
            self.0.try_clone().expect("there are numbers left"),
        )
    }

    fn value(&self) -> u64 {
        let mut bytes = [0; 8];
        rustix::io::pread(&self.0, &mut bytes, 0).expect("it is open");
        u64::from_ne_bytes(bytes)
    }

    fn signal(&self, value: u64) {
        rustix::io::pwrite(&self.0, &value.to_ne_bytes(), 0).expect("it is open");
    }

    fn wait(&self, value: u64) {
        while self.value() < value {
            std::thread::yield_now();
        }
    }
}

fn description(kind: u32, descriptor: RawFd) -> CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC {
    CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC {
        type_: CUexternalSemaphoreHandleType_enum(kind),
        handle: CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC_st__bindgen_ty_1 { fd: descriptor },
        ..Default::default()
    }
}

fn import(kind: u32, descriptor: OwnedFd) -> CUexternalSemaphore {
    get!(cuImportExternalSemaphore(&description(
        kind,
        descriptor.into_raw_fd()
    )))
}

fn signal_to(value: u64) -> SignalParameters {
    let mut parameters = SignalParameters::default();
    parameters.params.fence.value = value;
    parameters
}

fn wait_for(value: u64) -> WaitParameters {
    let mut parameters = WaitParameters::default();
    parameters.params.fence.value = value;
    parameters
}

fn signal(semaphore: CUexternalSemaphore, value: u64, stream: CUstream) {
    ok!(cuSignalExternalSemaphoresAsync(
        &semaphore,
        &signal_to(value),
        1,
        stream
    ));
}

fn wait(semaphore: CUexternalSemaphore, value: u64, stream: CUstream) {
    ok!(cuWaitExternalSemaphoresAsync(
        &semaphore,
        &wait_for(value),
        1,
        stream
    ));
}

fn is_idle(stream: CUstream) -> bool {
    // SAFETY: the stream lives.
    unsafe { cuStreamQuery(stream) }.0 == 0
}

/// Whether a number is that of an open descriptor of the file of this name. Other tests may have one of its number.
fn is_open(number: RawFd, name: &str) -> bool {
    std::fs::read_link(format!("/proc/self/fd/{number}"))
        .is_ok_and(|file| file.to_string_lossy().contains(name))
}

/// What a refused import answers. The descriptor stays the test's where it was not looked at.
fn refused(kind: u32, descriptor: RawFd) -> u32 {
    let mut none: CUexternalSemaphore = null_mut();
    // SAFETY: both pointers are valid during the call; the descriptor is the test's, or none.
    let answer = unsafe { cuImportExternalSemaphore(&mut none, &description(kind, descriptor)) };
    assert_ne!(answer.0, 0, "kind {kind}");
    answer.0
}

fn signal_node_parameters(
    semaphores: &mut [CUexternalSemaphore],
    parameters: &[SignalParameters],
) -> CUDA_EXT_SEM_SIGNAL_NODE_PARAMS {
    CUDA_EXT_SEM_SIGNAL_NODE_PARAMS {
        extSemArray: semaphores.as_mut_ptr(),
        paramsArray: parameters.as_ptr(),
        numExtSems: parameters.len() as u32,
    }
}

fn wait_node_parameters(
    semaphores: &mut [CUexternalSemaphore],
    parameters: &[WaitParameters],
) -> CUDA_EXT_SEM_WAIT_NODE_PARAMS {
    CUDA_EXT_SEM_WAIT_NODE_PARAMS {
        extSemArray: semaphores.as_mut_ptr(),
        paramsArray: parameters.as_ptr(),
        numExtSems: parameters.len() as u32,
    }
}
