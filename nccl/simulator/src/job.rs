//! A piece of work in a stream: the data is copied to page-locked memory, a function on the host exchanges it with the other ranks, and
//! what came is copied to the device.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use warpsmith_abi as raw;

use crate::collective::Collective;
use crate::communicator::{Communicator, Factor, LastStream, lock};
use crate::driver::{Pinned, call};
use crate::element;
use crate::exchange::{Header, Incoming, Outgoing, exchange};
use crate::failure::Result;

/// What is done.
pub(crate) enum Work {
    Collective(Collective),
    /// Sends and receives, beside each other.
    Transfers(Vec<Transfer>),
}

/// A send or a receive. Its bytes are a region's.
pub(crate) struct Transfer {
    pub(crate) peer: usize,
    pub(crate) header: Header,
    pub(crate) sends: bool,
}

/// Bytes on the device, and where they are in the job's memory.
#[derive(Clone, Copy)]
pub(crate) struct Region {
    pub(crate) address: u64,
    pub(crate) bytes: usize,
}

/// Work with all it needs to be done, once or by each launch of a graph.
struct Job {
    communicator: Arc<Communicator>,
    work: Work,
    /// What is sent lies here first, then what is received, each region behind the one before.
    memory: Option<Pinned>,
    inputs: Vec<Region>,
    outputs: Vec<Region>,
    /// It counts as outstanding until it is dropped.
    counts: bool,
}

/// Where each region begins, the first one at `start`.
fn places(start: usize, regions: &[Region]) -> Vec<usize> {
    let mut next = start;
    regions
        .iter()
        .map(|region| {
            let place = next;
            next += region.bytes.next_multiple_of(16);
            place
        })
        .collect()
}

fn length(regions: &[Region]) -> usize {
    regions
        .iter()
        .map(|region| region.bytes.next_multiple_of(16))
        .sum()
}

impl Job {
    fn memory(&self) -> &Pinned {
        self.memory.as_ref().expect("it is taken by `drop` alone")
    }

    /// Exchanges the data with the other ranks.
    fn run(&self) {
        let communicator = &self.communicator;
        let _alone = lock(&communicator.working);
        let Some(world) = communicator.world() else {
            return;
        };
        if communicator.ready_to_work() {
            let stopped = || communicator.is_stopped();
            let memory = self.memory();
            let inputs: Vec<&[u8]> = places(0, &self.inputs)
                .into_iter()
                .zip(&self.inputs)
                // SAFETY: the regions lie apart in the memory, which is this job's alone; the stream's copies that write this one are
                // done, and those of the next launch have not begun.
                .map(|(place, region)| unsafe {
                    std::slice::from_raw_parts(memory.at(place), region.bytes)
                })
                .collect();
            let mut outputs: Vec<&mut [u8]> = places(length(&self.inputs), &self.outputs)
                .into_iter()
                .zip(&self.outputs)
                // SAFETY: the regions lie apart in the memory, which is this job's alone; the copy that reads this one begins when this function has
                // ended.
                .map(|(place, region)| unsafe {
                    std::slice::from_raw_parts_mut(memory.at(place), region.bytes)
                })
                .collect();
            let done = match &self.work {
                Work::Collective(collective) => {
                    let send = inputs.first().copied().unwrap_or(&[]);
                    let receive = outputs.first_mut().map_or(&mut [][..], |out| &mut **out);
                    let factor = match &collective.factor {
                        None => None,
                        Some(Factor::Known(bytes)) => Some(&bytes[..collective.element]),
                        // It lies behind what is sent.
                        Some(Factor::OnDevice(_)) => inputs.get(1).copied(),
                    };
                    let scaled =
                        factor.map(|factor| element::scaled(collective.kind, send, factor));
                    let send = scaled.as_deref().unwrap_or(send);
                    collective.run(world, send, receive, &stopped)
                }
                Work::Transfers(transfers) => {
                    let (mut inputs, mut outputs) = (inputs.into_iter(), outputs.into_iter());
                    let (mut outgoing, mut incoming) = (Vec::new(), Vec::new());
                    for transfer in transfers {
                        let (peer, header) = (transfer.peer, transfer.header);
                        if transfer.sends {
                            outgoing.extend(inputs.next().map(|data| Outgoing {
                                to: peer,
                                data,
                                header,
                            }));
                        } else {
                            incoming.extend(outputs.next().map(|data| Incoming {
                                from: peer,
                                data,
                                header,
                            }));
                        }
                    }
                    exchange(world, outgoing, incoming, &stopped)
                }
            };
            if let Err(failure) = done {
                communicator.fail(failure);
            }
        }
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        if let Some(memory) = self.memory.take() {
            self.communicator.return_memory(memory);
        }
        if self.counts {
            self.communicator.end_work();
        }
    }
}

/// The jobs that streams and graphs hold, by the numbers that they were given: a number that is gone does nothing.
static JOBS: Mutex<BTreeMap<usize, Arc<Job>>> = Mutex::new(BTreeMap::new());

/// Gives a job a number, until [`release_job`].
fn number(job: &Arc<Job>) -> *mut c_void {
    static NEXT: AtomicUsize = AtomicUsize::new(1);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    lock(&JOBS).insert(number, job.clone());
    number as *mut c_void
}

unsafe extern "C" fn run_job(number: *mut c_void) {
    let job = lock(&JOBS).get(&number.addr()).cloned();
    let Some(job) = job else { return };
    // A panic must not leave through the driver.
    if std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| job.run())).is_err() {
        job.communicator.abort();
    }
}

unsafe extern "C" fn release_job(number: *mut c_void) {
    let job = lock(&JOBS).remove(&number.addr());
    // Outside of the lock.
    drop(job);
}

/// Puts work into a stream, with the communicator's context current.
pub(crate) fn enqueue(
    communicator: &Arc<Communicator>,
    stream: raw::CUstream,
    work: Work,
    inputs: Vec<Region>,
    outputs: Vec<Region>,
) -> Result<()> {
    communicator.ready()?;
    let mut status = raw::CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE;
    // SAFETY: the driver writes one value to `status`, which outlives the call, and finds out whether the stream is one.
    unsafe { call!(cuStreamIsCapturing(stream, &mut status)) }?;
    let captured = status != raw::CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE;
    let _relaxed = Relaxed::enter();
    if !captured {
        follow_last(communicator, stream)?;
    }
    let memory = communicator.take_memory(length(&inputs) + length(&outputs))?;
    if !captured {
        communicator.begin_work();
    }
    let job = Arc::new(Job {
        communicator: communicator.clone(),
        work,
        memory: Some(memory),
        inputs,
        outputs,
        counts: !captured,
    });
    let data = number(&job);
    if captured {
        if let Work::Collective(_) = job.work {
            communicator.count_call(true);
        }
        // From here on the graph releases it.
        keep_in_graph(stream, data)?;
    }
    let copied_in = places(0, &job.inputs)
        .into_iter()
        .zip(&job.inputs)
        .filter(|(_, region)| region.bytes > 0)
        .try_for_each(|(place, region)| {
            // SAFETY: the memory has the bytes, and is the job's until its end; the driver finds out whether the address has them.
            unsafe {
                call!(cuMemcpyDtoHAsync_v2(
                    job.memory().at(place).cast(),
                    region.address,
                    region.bytes,
                    stream
                ))
            }
        });
    let enqueued = copied_in.and_then(|()| {
        // SAFETY: the function takes any number.
        unsafe { call!(cuLaunchHostFunc(stream, Some(run_job), data)) }
    });
    let first_output = length(&job.inputs);
    let copied = enqueued.clone().and_then(|()| {
        places(first_output, &job.outputs)
            .into_iter()
            .zip(&job.outputs)
            .filter(|(_, region)| region.bytes > 0)
            .try_for_each(|(place, region)| {
                // SAFETY: the memory has the bytes, and is the job's until its end; the driver finds out whether the address has them.
                unsafe {
                    call!(cuMemcpyHtoDAsync_v2(
                        region.address,
                        job.memory().at(place).cast_const().cast(),
                        region.bytes,
                        stream
                    ))
                }
            })
    });
    if captured {
        return copied;
    }
    // Behind all that uses the job. SAFETY: the function takes any number.
    if unsafe { call!(cuLaunchHostFunc(stream, Some(release_job), data)) }.is_err() {
        // A stream that refuses holds nothing any more. SAFETY: the function takes any number.
        unsafe { release_job(data) };
    }
    note_last(communicator, stream)?;
    copied
}

/// Has a graph that is being captured release a job when it is destroyed.
fn keep_in_graph(stream: raw::CUstream, data: *mut c_void) -> Result<()> {
    /// `CU_USER_OBJECT_NO_DESTRUCTOR_SYNC`
    const NO_DESTRUCTOR_SYNC: u32 = 1;
    /// `CU_GRAPH_USER_OBJECT_MOVE`
    const MOVE: u32 = 1;
    let mut status = raw::CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE;
    let mut graph = std::ptr::null_mut();
    let null = std::ptr::null_mut;
    // SAFETY: the driver writes one value each to `status` and `graph`, which outlive the call; nothing else is asked for.
    unsafe {
        call!(cuStreamGetCaptureInfo_v2(
            stream,
            &mut status,
            std::ptr::null_mut(),
            &mut graph,
            null(),
            std::ptr::null_mut()
        ))
    }?;
    let mut object = std::ptr::null_mut();
    // SAFETY: `release_job` takes any number; the driver writes one handle to `object`, which outlives the call.
    let made = unsafe {
        call!(cuUserObjectCreate(
            &mut object,
            data,
            Some(release_job),
            1,
            NO_DESTRUCTOR_SYNC
        ))
    };
    if made.is_err() {
        // SAFETY: the function takes any number.
        unsafe { release_job(data) };
        return made;
    }
    // SAFETY: both handles are the driver's own.
    let retained = unsafe { call!(cuGraphRetainUserObject(graph, object, 1, MOVE)) };
    if retained.is_err() {
        // SAFETY: the object was made above; its destructor releases the job.
        let _ = unsafe { call!(cuUserObjectRelease(object, 1)) };
    }
    retained
}

/// Lets a stream follow the one that had the communicator's work before.
fn follow_last(communicator: &Communicator, stream: raw::CUstream) -> Result<()> {
    match &*lock(&communicator.last_stream) {
        Some(last) if last.stream != stream.addr() => {
            // SAFETY: `note_last` made the event, which lives as long as the communicator's context.
            unsafe { call!(cuStreamWaitEvent(stream, last.event as raw::CUevent, 0)) }
        }
        _ => Ok(()),
    }
}

fn note_last(communicator: &Communicator, stream: raw::CUstream) -> Result<()> {
    let mut last = lock(&communicator.last_stream);
    let event = match &*last {
        Some(known) => known.event as raw::CUevent,
        None => new_event()?,
    };
    *last = Some(LastStream {
        stream: stream.addr(),
        event: event.addr(),
    });
    // SAFETY: the event is the communicator's, and the caller has the stream.
    unsafe { call!(cuEventRecord(event, stream)) }
}

/// Destroys what [`note_last`] made, with the communicator's context current.
pub(crate) fn forget_last(communicator: &Communicator) {
    if let Some(last) = lock(&communicator.last_stream).take() {
        // SAFETY: `note_last` made the event, and it was taken out: it is destroyed once.
        let _ = unsafe { call!(cuEventDestroy_v2(last.event as raw::CUevent)) };
    }
}

fn new_event() -> Result<raw::CUevent> {
    /// `CU_EVENT_DISABLE_TIMING`
    const DISABLE_TIMING: u32 = 2;
    let mut event = std::ptr::null_mut();
    // SAFETY: the driver writes one handle to `event`, which outlives the call.
    unsafe { call!(cuEventCreate(&mut event, DISABLE_TIMING)) }?;
    Ok(event)
}

/// Lets `stream` follow all that `others` hold now.
pub(crate) fn join(stream: raw::CUstream, others: &[raw::CUstream]) -> Result<()> {
    for &other in others {
        let event = new_event()?;
        // SAFETY: the event was made above, and is destroyed once; the driver keeps it until what waits for it is done.
        let ordered = unsafe {
            let ordered = call!(cuEventRecord(event, other))
                .and_then(|()| call!(cuStreamWaitEvent(stream, event, 0)));
            let _ = call!(cuEventDestroy_v2(event));
            ordered
        };
        ordered?;
    }
    Ok(())
}

/// The calling thread may allocate while a stream is captured, whatever the capture's mode.
struct Relaxed(raw::CUstreamCaptureMode);

impl Relaxed {
    fn enter() -> Relaxed {
        let mut mode = raw::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
        // SAFETY: the driver reads and writes `mode`, which outlives the call. If it refuses, nothing has changed.
        let _ = unsafe { call!(cuThreadExchangeStreamCaptureMode(&mut mode)) };
        Relaxed(mode)
    }
}

impl Drop for Relaxed {
    fn drop(&mut self) {
        // SAFETY: the driver reads and writes the mode, which outlives the call. If it refuses, nothing has changed.
        let _ = unsafe { call!(cuThreadExchangeStreamCaptureMode(&mut self.0)) };
    }
}
