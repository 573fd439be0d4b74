//! What goes to and comes from other libraries and other program interfaces.

use std::os::fd::OwnedFd;
use std::ptr::null_mut;

use rustix::event::EventfdFlags;
use rustix::fs::{MemfdFlags, SealFlags};
use warpsmith_driver::raw;
use warpsmith_host::interop::dlpack::{Consumer, Tensor};
use warpsmith_host::prelude::*;
use warpsmith_host::{ExternalMemoryOptions, ForeignWork, PhysicalOptions};

use crate::common::launch_add;
use crate::world::{Case, World, leave_nothing};

macro_rules! ok {
    ($call:expr) => {{
        // SAFETY: of each call: handles and addresses are alive, and results are local variables.
        let code = unsafe { $call };
        assert_eq!(code.0, 0, stringify!($call));
    }};
}

/// A stream of another library.
struct TheirStream(raw::CUstream);

// SAFETY: the driver takes the handle on any thread.
unsafe impl Send for TheirStream {}

impl Drop for TheirStream {
    fn drop(&mut self) {
        ok!(raw::cuStreamDestroy_v2(self.0));
    }
}

/// Memory of another library.
struct TheirMemory(u64);

impl Drop for TheirMemory {
    fn drop(&mut self) {
        ok!(raw::cuMemFree_v2(self.0));
    }
}

fn adopted(world: &World, round: usize) -> Result<()> {
    world.gpu.make_current()?;
    let (mut handle, mut address) = (null_mut(), 0);
    ok!(raw::cuStreamCreate(&mut handle, 1));
    ok!(raw::cuMemAlloc_v2(&mut address, 400));
    // SAFETY: its keeper alone destroys it, and nobody captures it.
    let stream = unsafe { world.gpu.adopt_stream(handle.cast(), TheirStream(handle))? };
    let place = DevicePointer::from_address(address);
    // SAFETY: the memory has 100 words, which its keeper alone frees and nobody else uses; they are written before they are read.
    let mut words = unsafe { stream.adopt::<u32, _>(place, 100, TheirMemory(address))? };
    world.other.fill(&mut words, 1)?;
    launch_add(&stream, &world.add, &mut words, 1);
    match round.is_multiple_of(2) {
        true => drop((words, stream)),
        false => drop((stream, words)),
    }
    Ok(())
}

fn foreign_work(world: &World, _: usize) -> Result<()> {
    let mut words = world.stream.zeroed::<u32>(100)?;
    let mut work = ForeignWork::new("a fill");
    let memory = work.writes(&world.other, &mut words)?;
    let (address, stream) = (memory.pointer().address(), world.other.as_raw().cast());
    let fill = || {
        ok!(raw::cuMemsetD32Async(address, 40, 100, stream));
        Ok::<(), Error>(())
    };
    // SAFETY: the fill is enqueued in the stream that was named, and writes what was named.
    unsafe { work.enqueue(fill) }
}

/// The ways in which a tensor goes to a consumer.
fn consumers(world: &World) -> [Consumer<'_>; 5] {
    // SAFETY: the stream lives as long as `world`.
    let foreign = unsafe { Consumer::from_raw(world.other.as_raw()) };
    [
        Consumer::Own(&world.other),
        foreign,
        Consumer::Legacy,
        Consumer::PerThread,
        Consumer::Unordered,
    ]
}

fn exported_tensors(world: &World, round: usize) -> Result<()> {
    for consumer in consumers(world) {
        let words = world.stream.upload(&[1_u32, 2, 3, 4])?;
        drop(words.into_dlpack(consumer, &[2, 2])?);
        let unified = world.gpu.unified::<u32>(4)?.into_dlpack(consumer, &[4])?;
        let mapped = world.gpu.mapped::<u32>(4)?.into_dlpack(consumer, &[4])?;
        let pinned = world.gpu.pinned::<u32>(4)?.into_dlpack(consumer, &[4])?;
        drop((unified, mapped, pinned));
    }
    if round.is_multiple_of(100) {
        let words = world.stream.upload(&[1_u32])?;
        let tensor = words.into_dlpack(Consumer::Unordered, &[])?;
        // Where the driver may not be called.
        world.stream.host_fn(move || drop(tensor))?;
    }
    Ok(())
}

fn imported_tensors(world: &World, round: usize) -> Result<()> {
    let consumer = consumers(world)[round % 5];
    let words = world.stream.upload(&[1_u32, 2, 3, 4])?;
    let tensor = words.into_dlpack(consumer, &[4])?;
    // SAFETY: nobody else has the structs.
    let tensor = unsafe {
        match round.is_multiple_of(2) {
            true => Tensor::from_raw(tensor.into_raw())?,
            false => Tensor::from_raw_versioned(tensor.into_raw_versioned())?,
        }
    };
    if round.is_multiple_of(3) {
        return Ok(());
    }
    world.stream.synchronize()?;
    // SAFETY: the numbers are written, and their stream was waited for.
    let refused = unsafe { tensor.into_buffer::<f32>(&world.other) };
    let tensor = refused.expect_err("they are integers").value;
    // SAFETY: the numbers are written, and their stream was waited for.
    let mut words = unsafe { tensor.into_buffer::<u32>(&world.other)? };
    world.other.fill(&mut words.slice_mut(1..), 5)?;
    Ok(())
}

/// Tensors whose library gives them back while a stream is captured.
fn tensors_given_back_in_a_capture(world: &World, round: usize) -> Result<()> {
    let mut stream = world.gpu.stream()?;
    let mut kept = stream.zeroed::<u32>(4)?;
    let consumer = consumers(world)[round % 5];
    let tensor = world
        .stream
        .upload(&[1_u32; 4])?
        .into_dlpack(consumer, &[4])?;
    let graph = stream.capture(|capture| {
        drop(tensor);
        capture.fill(&mut kept, 7)
    })?;
    graph.instantiate()?.launch(&stream)
}

const BYTES: usize = 2 << 20;

fn external_memory(world: &World, round: usize) -> Result<()> {
    let shareable = PhysicalOptions {
        shareable: true,
        ..Default::default()
    };
    let physical = world.gpu.physical_memory(BYTES, shareable)?;
    let options = ExternalMemoryOptions {
        bytes: physical.bytes() as u64,
        dedicated: false,
    };
    // SAFETY: it is of this device's memory of that size.
    let memory = unsafe {
        world
            .gpu
            .import_external_memory(physical.export()?, options)?
    };
    // SAFETY: nobody uses the words but by this address.
    let mut words = unsafe { memory.map::<u32>(0, BYTES / 4)? };
    world.stream.fill(&mut words.slice_mut(..100), 1)?;
    match round % 3 {
        0 => drop((physical, memory, words)),
        1 => drop((words, memory, physical)),
        // SAFETY: nobody uses them but by this address.
        _ => unsafe {
            let again = memory.map::<u32>(0, 1)?;
            drop((memory, physical, again, words));
        },
    }
    Ok(())
}

/// Memory of another interface, which is a file on the simulator.
fn external_files(world: &World, _: usize) -> Result<()> {
    if !world.gpu.is_simulator() {
        return Ok(());
    }
    let file = sealed_file(BYTES as u64);
    let options = ExternalMemoryOptions {
        bytes: BYTES as u64,
        dedicated: true,
    };
    // SAFETY: it is of so many bytes, all of which are numbers.
    let memory = unsafe { world.gpu.import_external_memory(file, options)? };
    // SAFETY: nobody else has the file.
    let mut words = unsafe { memory.map::<u32>(4096, 100)? };
    world.stream.fill(&mut words, 1)
}

fn sealed_file(bytes: u64) -> OwnedFd {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let file = rustix::fs::memfd_create("rounds", flags).expect("the system has room");
    rustix::fs::ftruncate(&file, bytes).expect("the system has room");
    rustix::fs::fcntl_add_seals(&file, SealFlags::SHRINK).expect("it can be sealed");
    file
}

/// Semaphores of another interface, which no GPU can import from here.
fn external_semaphores(world: &World, round: usize) -> Result<()> {
    if !world.gpu.is_simulator() {
        return Ok(());
    }
    let flags = EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC;
    let binary = rustix::event::eventfd(0, flags).expect("the system has room");
    // SAFETY: they are of semaphores of the simulator's.
    let (binary, timeline) = unsafe {
        (
            world.gpu.import_semaphore(binary)?,
            world.gpu.import_timeline_semaphore(sealed_file(8))?,
        )
    };
    world
        .stream
        .signal_semaphores(&[binary.point(), timeline.at(1)])?;
    if round.is_multiple_of(2) {
        let mut graph = world.gpu.graph()?;
        graph.wait_semaphores(&[binary.point(), timeline.at(1)])?;
        let mut exec = graph.instantiate()?;
        drop((binary, timeline));
        exec.launch(&world.other)?;
    } else {
        world
            .other
            .wait_semaphores(&[timeline.at(1), binary.point()])?;
    }
    Ok(())
}

/// A descriptor of something else, which is refused and comes back.
fn refused_descriptors(world: &World, _: usize) -> Result<()> {
    let file = || OwnedFd::from(std::fs::File::open("/dev/null").expect("it is there"));
    let options = ExternalMemoryOptions {
        bytes: BYTES as u64,
        dedicated: false,
    };
    assert!(world.gpu.import_physical_memory(file(), BYTES).is_err());
    assert!(world.gpu.import_pool(file()).is_err());
    // SAFETY: they are refused.
    unsafe {
        assert!(world.gpu.import_external_memory(file(), options).is_err());
        assert!(world.gpu.import_semaphore(file()).is_err());
        assert!(world.gpu.import_timeline_semaphore(file()).is_err());
    }
    Ok(())
}

#[test]
fn of_interoperation() {
    leave_nothing(&[
        Case::new("adopted streams and memory", adopted),
        Case::new("foreign work", foreign_work),
        Case::new("exported tensors", exported_tensors),
        Case::new("imported tensors", imported_tensors),
        Case::new(
            "tensors that are given back in a capture",
            tensors_given_back_in_a_capture,
        ),
        Case::new("external memory", external_memory),
        Case::new("external files", external_files),
        Case::new("external semaphores", external_semaphores),
        Case::new("refused descriptors", refused_descriptors),
    ]);
}
