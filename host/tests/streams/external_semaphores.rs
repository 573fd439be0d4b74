//! Semaphores of other program interfaces, imported by a file descriptor. The exporter is this test, whose semaphores no GPU knows.

use std::os::fd::{AsRawFd, OwnedFd};

use crate::common::two::with_two;
use crate::common::{Gate, add, gpu, launch_add, module, refusal};
use rustix::event::EventfdFlags;
use rustix::fs::{MemfdFlags, SealFlags};
use warpsmith_host::prelude::*;
use warpsmith_host::{ExternalSemaphore, ExternalTimeline};

/// A binary semaphore as another interface has it.
struct Binary(OwnedFd);

impl Binary {
    fn new() -> Self {
        let flags = EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC;
        Self(rustix::event::eventfd(0, flags).expect("the system has room"))
    }

    fn import(&self, gpu: &Gpu) -> Result<ExternalSemaphore> {
        let descriptor = self.0.try_clone().expect("there are descriptors left");
        // SAFETY: it is of a binary semaphore of the simulator's.
        Ok(unsafe { gpu.import_semaphore(descriptor) }?)
    }

    fn signal(&self) {
        assert_eq!(rustix::io::write(&self.0, &1_u64.to_ne_bytes()), Ok(8));
    }

    fn take(&self) -> bool {
        rustix::io::read(&self.0, &mut [0_u8; 8]).is_ok()
    }
}

/// A timeline semaphore as another interface has it.
struct Timeline(OwnedFd);

impl Timeline {
    fn new() -> Self {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let file = rustix::fs::memfd_create("timeline", flags).expect("the system has room");
        rustix::fs::ftruncate(&file, 8).expect("the system has room");
        rustix::fs::fcntl_add_seals(&file, SealFlags::SHRINK).expect("it can be sealed");
        Self(file)
    }

    fn import(&self, gpu: &Gpu) -> Result<ExternalTimeline> {
        let descriptor = self.0.try_clone().expect("there are descriptors left");
        // SAFETY: it is of a timeline semaphore of the simulator's.
        Ok(unsafe { gpu.import_timeline_semaphore(descriptor) }?)
    }

    fn value(&self) -> u64 {
        let mut bytes = [0; 8];
        rustix::io::pread(&self.0, &mut bytes, 0).expect("it is open");
        u64::from_ne_bytes(bytes)
    }

    fn signal(&self, value: u64) {
        rustix::io::pwrite(&self.0, &value.to_ne_bytes(), 0).expect("it is open");
    }
}

// covers: INTEROP-10, INTEROP-14
#[test]
fn a_stream_goes_on_when_the_other_side_has_signalled() -> Result<()> {
    let gpu = gpu();
    if !gpu.is_simulator() {
        return Ok(());
    }
    let (go, done) = (Binary::new(), Timeline::new());
    let (waited, signalled) = (go.import(&gpu)?, done.import(&gpu)?);
    let stream = gpu.stream()?;
    let mut words = stream.zeroed::<u32>(4)?;
    for round in 1..=3 {
        stream.wait_semaphores(&[waited.point()])?;
        stream.fill(&mut words, round)?;
        stream.signal_semaphores(&[signalled.at(round.into())])?;
        assert!(!stream.is_idle()?);
        go.signal();
        stream.synchronize()?;
        assert_eq!(done.value(), u64::from(round));
        assert!(!go.take(), "the wait has reset it");
        assert_eq!(stream.download(&words)?, [round; 4]);
    }
    // Nothing is done with no semaphore.
    stream.signal_semaphores(&[])?;
    stream.wait_semaphores(&[])?;
    Ok(())
}

// covers: INTEROP-09
#[test]
fn a_semaphore_lives_until_its_last_use() -> Result<()> {
    let gpu = gpu();
    if !gpu.is_simulator() {
        return Ok(());
    }
    let (go, done) = (Binary::new(), Binary::new());
    let (waited, signalled) = (go.import(&gpu)?, done.import(&gpu)?);
    let stream = gpu.stream()?;
    stream.wait_semaphores(&[waited.point()])?;
    stream.signal_semaphores(&[signalled.point()])?;
    // The simulator would report a destruction now.
    drop((waited, signalled));
    gpu.stream()?.synchronize()?;
    drop(stream);
    go.signal();
    gpu.synchronize()?;
    assert!(done.take());
    Ok(())
}

// covers: INTEROP-09, GRAPH-10
#[test]
fn a_graph_keeps_its_semaphores() -> Result<()> {
    let gpu = gpu();
    if !gpu.is_simulator() {
        return Ok(());
    }
    let (go, done) = (Timeline::new(), Timeline::new());
    let stream = gpu.stream()?;
    let mut words = stream.upload(&[1_u32, 2])?;
    let module = module(&gpu);
    let mut exec = {
        let (waited, signalled) = (go.import(&gpu)?, done.import(&gpu)?);
        let mut graph = gpu.graph()?;
        let first = graph.wait_semaphores(&[waited.at(1)])?;
        // SAFETY: the entry takes a slice and a number, and writes only the slice.
        let work = unsafe {
            graph.kernel_untyped(&add(&module), Grid::cover(2, 128), (&mut words, 5_u32))
        }?;
        let last = graph.signal_semaphores(&[signalled.at(1)])?;
        graph.depend(first, work)?;
        graph.depend(work, last)?;
        graph.instantiate()?
    };
    exec.launch(&stream)?;
    assert!(!stream.is_idle()?);
    assert_eq!(done.value(), 0);
    go.signal(1);
    stream.synchronize()?;
    assert_eq!(done.value(), 1);
    assert_eq!(stream.download(&words)?, [6, 7]);

    // Another value for the next launch, of which the executable graph is dropped while it waits.
    let (waited, signalled) = (go.import(&gpu)?, done.import(&gpu)?);
    let mut graph = gpu.graph()?;
    let first = graph.wait_semaphores(&[waited.at(2)])?;
    // SAFETY: the entry takes a slice and a number, and writes only the slice.
    let work =
        unsafe { graph.kernel_untyped(&add(&module), Grid::cover(2, 128), (&mut words, 1_u32)) }?;
    let last = graph.signal_semaphores(&[signalled.at(2)])?;
    graph.depend(first, work)?;
    graph.depend(work, last)?;
    exec.update(&graph)?;
    exec.launch(&stream)?;
    drop((graph, exec, waited, signalled));
    go.signal(2);
    stream.synchronize()?;
    assert_eq!((done.value(), stream.download(&words)?), (2, vec![7, 8]));
    Ok(())
}

// covers: GRAPH-10
#[test]
fn what_is_captured_waits_and_signals_at_each_launch() -> Result<()> {
    let gpu = gpu();
    if !gpu.is_simulator() {
        return Ok(());
    }
    let (go, done) = (Binary::new(), Binary::new());
    let mut stream = gpu.stream()?;
    let mut words = stream.zeroed::<u32>(2)?;
    let graph = {
        let (waited, signalled) = (go.import(&gpu)?, done.import(&gpu)?);
        stream.capture(|capture| {
            capture.wait_semaphores(&[waited.point()])?;
            capture.fill(&mut words, 3)?;
            capture.signal_semaphores(&[signalled.point()])
        })?
    };
    let mut exec = graph.instantiate()?;
    drop(graph);
    for _ in 0..3 {
        assert!(!done.take());
        exec.launch(&stream)?;
        go.signal();
        stream.synchronize()?;
        assert!(done.take());
    }
    assert_eq!(stream.download(&words)?, [3, 3]);
    Ok(())
}

// covers: INTEROP-09
#[test]
fn nothing_leaks_in_whichever_order() -> Result<()> {
    let gpu = gpu();
    if !gpu.is_simulator() {
        return Ok(());
    }
    let open = || std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
    let module = module(&gpu);
    let mut gate = Gate::new(&gpu, &module);
    let stream = gpu.stream()?;
    let mut words = stream.zeroed::<u32>(4)?;
    gpu.synchronize()?;
    let before = open();
    for round in 0..100 {
        let binary = Binary::new();
        let imported = binary.import(&gpu)?;
        let own = gpu.stream()?;
        gate.close(&own);
        own.signal_semaphores(&[imported.point()])?;
        own.wait_semaphores(&[imported.point()])?;
        let (imported, own) = match round % 3 {
            0 => (Some(imported), None),
            1 => (None, Some(own)),
            _ => {
                // On a thread that has no context of its own.
                std::thread::spawn(move || drop(imported)).join().unwrap();
                (None, Some(own))
            }
        };
        gate.open();
        launch_add(&stream, &add(&module), &mut words, 1);
        drop((own, imported));
        gpu.synchronize()?;
    }
    gpu.synchronize()?;
    assert!(open() <= before + 3, "{} descriptors", open());
    Ok(())
}

// covers: INTEROP-09, INTEROP-14
#[test]
fn a_refused_descriptor_comes_back() {
    let gpu = gpu();
    let file = || OwnedFd::from(std::fs::File::open("/proc/self/exe").expect("it is there"));
    let (one, other) = (file(), file());
    let numbers = [one.as_raw_fd(), other.as_raw_fd()];
    // SAFETY: they are of no semaphore, and so refused.
    let refused = unsafe {
        [
            gpu.import_semaphore(one).map(drop).unwrap_err(),
            gpu.import_timeline_semaphore(other).map(drop).unwrap_err(),
        ]
    };
    for (refused, number) in refused.into_iter().zip(numbers) {
        assert_eq!(refused.value.as_raw_fd(), number);
        let text = refused.to_string();
        assert!(text.contains("cuImportExternalSemaphore"), "{text}");
        assert!(text.contains(&format!("descriptor {number}")), "{text}");
        assert!(text.contains("CUDA_ERROR_"), "{text}");
        assert!(std::fs::File::from(refused.value).metadata().is_ok());
    }
}

// covers: GRAPH-10, COND-08, DGRAPH-02
#[test]
fn where_a_semaphore_cannot_be_is_said() -> Result<()> {
    let gpu = gpu();
    if !gpu.is_simulator() {
        return Ok(());
    }
    let timeline = Timeline::new();
    let imported = timeline.import(&gpu)?;
    let mut graph = gpu.graph()?;
    let text = graph.signal_semaphores(&[]).unwrap_err().to_string();
    assert!(text.contains("no semaphore"), "{text}");
    let condition = graph.condition(0)?;
    let refused = graph.if_then(condition, |body| {
        body.wait_semaphores(&[imported.at(1)]).map(drop)
    });
    let text = refused.unwrap_err().to_string();
    assert!(
        text.contains("cannot hold a signal of a semaphore"),
        "{text}"
    );

    let mut graph = gpu.graph()?;
    graph.signal_semaphores(&[imported.at(1)])?;
    let refused = graph.instantiate_for_device_launch(&gpu.stream()?);
    let text = refused.unwrap_err().to_string();
    assert!(text.contains("a semaphore of another interface"), "{text}");
    Ok(())
}

// covers: INTEROP-08
#[test]
fn a_device_is_found_by_its_uuid() -> Result<()> {
    let gpu = gpu();
    for info in Gpu::devices()? {
        let found = Gpu::device_with_uuid(info.uuid)?.expect("its own");
        assert_eq!(found.choice, info.choice);
        let mut other = info.uuid;
        other.0.iter_mut().for_each(|byte| *byte = !*byte);
        assert!(Gpu::device_with_uuid(other)?.is_none(), "not the first one");
    }
    drop(gpu);
    Ok(())
}

#[test]
fn semaphores_of_another_device_are_refused() {
    with_two(|one, other| {
        if !one.is_simulator() {
            return;
        }
        let stream = one.stream().unwrap();
        let binary = Binary::new().import(&other).unwrap();
        let timeline = Timeline::new().import(&other).unwrap();
        for point in [binary.point(), timeline.at(1)] {
            let of_stream = [
                stream.signal_semaphores(&[point]),
                stream.wait_semaphores(&[point]),
            ];
            for text in of_stream.map(refusal) {
                let expected = "the semaphore is of `simulator:1`, the stream of `simulator`";
                assert!(text.contains(expected), "{text}");
            }
            let mut graph = one.graph().unwrap();
            let of_graph = [
                graph.signal_semaphores(&[point]),
                graph.wait_semaphores(&[point]),
            ];
            for text in of_graph.map(refusal) {
                let expected = "the semaphore is of `simulator:1`, the graph of `simulator`";
                assert!(text.contains(expected), "{text}");
            }
        }
        stream.synchronize().unwrap();
    });
}
