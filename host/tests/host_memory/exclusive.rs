//! Unified memory on a device that cannot share it with the host while kernels run, and on one that can: who is kept out, and when.

use crate::common::{Gate, gpu, module};
use warpsmith_driver::raw;
use warpsmith_host::prelude::*;

const SHARED: [(&str, &str); 1] = [("WARPSMITH_SIMULATOR_ATTRIBUTES", "89=1")];
const EXCLUSIVE: [(&str, &str); 1] = [("WARPSMITH_SIMULATOR_ATTRIBUTES", "89=0")];

fn is_busy<T>(result: Result<T>) -> bool {
    matches!(result, Err(Error::Busy(_)))
}

/// Whether this device shares unified memory; a GPU may say otherwise than the variable wished.
fn shares(gpu: &Gpu) -> bool {
    gpu.attribute(Attribute::CONCURRENT_MANAGED_ACCESS)
        .expect("an attribute")
        != 0
}

/// Runs `body` where the device does not share unified memory, in a process of its own.
fn exclusively(body: impl FnOnce(&Gpu)) {
    crate::common::in_own_process(&EXCLUSIVE, || {
        let gpu = gpu();
        if !shares(&gpu) {
            body(&gpu);
        }
    });
}

fn add_to(
    stream: &Stream,
    add: &crate::common::Add,
    buffer: &mut UnifiedBuffer<u32>,
) -> Result<()> {
    // SAFETY: the entry takes a slice and a number, and writes only the slice.
    unsafe { stream.launch_untyped(add, Grid::new(1, 100), (buffer, 1)) }
}

/// A kernel runs that uses other memory; then it ends, and somebody waits.
fn a_kernel_that_runs_elsewhere() {
    let gpu = gpu();
    let module = module(&gpu);
    let stream = gpu.stream().expect("a stream");
    let mut x = gpu.unified::<u32>(100).expect("memory");
    let mut y = gpu.unified::<u32>(100).expect("memory");
    let mut mapped = gpu.mapped::<u32>(1).expect("memory");
    let add = crate::common::add(&module);
    let mut gate = Gate::new(&gpu, &module);
    gate.close(&stream);
    add_to(&stream, &add, &mut x).expect("a launch");
    match shares(&gpu) {
        true => y.host_mut().expect("shared")[0] = 5,
        false => assert!(is_busy(y.host_mut()) && is_busy(y.host())),
    }
    // Page-locked memory is no managed memory, and a second kernel may use the same managed memory.
    mapped.host_mut().expect("never restricted")[0] = 1;
    let other = gpu.stream().expect("a stream");
    add_to(&other, &add, &mut x).expect("a launch");
    gate.open();
    gpu.synchronize().expect("no fault");
    y.host_mut().expect("idle")[1] = 6;
    assert_eq!(x.host().expect("idle")[..2], [2, 2]);
}

#[test]
fn from_a_launch_to_the_wait_all_managed_memory_is_the_devices() {
    // covers: UM-33, UM-37, UM-X13, UM-X14, UM-X15
    crate::common::in_own_process(&EXCLUSIVE, a_kernel_that_runs_elsewhere);
}

#[test]
fn where_it_is_shared_the_host_goes_on() {
    // covers: UM-33, UM-X13
    crate::common::in_own_process(&SHARED, a_kernel_that_runs_elsewhere);
}

#[test]
fn what_ends_the_devices_turn() {
    // covers: UM-35
    exclusively(|gpu| {
        let module = module(gpu);
        let add = crate::common::add(&module);
        let (one, other) = (gpu.stream().unwrap(), gpu.stream().unwrap());
        let mut x = gpu.unified::<u32>(100).unwrap();
        let y = gpu.unified::<u32>(100).unwrap();
        let mut gate = Gate::new(gpu, &module);
        let event = gpu.event_untimed().unwrap();

        // A wait for a stream is enough if it alone is active, and not beside another.
        add_to(&one, &add, &mut x).unwrap();
        one.synchronize().unwrap();
        assert!(y.host().is_ok());
        gate.close(&other);
        add_to(&one, &add, &mut x).unwrap();
        one.synchronize().unwrap();
        assert!(is_busy(y.host()));

        // A query that finds work is no wait; one that finds none is.
        assert!(gate.holds(&other));
        assert!(is_busy(y.host()));
        gate.open();
        while !other.is_idle().unwrap() {}
        assert!(y.host().is_ok());

        // An event counts if no work comes after it.
        one.record(&event).unwrap();
        event.synchronize().unwrap();
        assert!(y.host().is_ok());
        one.record(&event).unwrap();
        gate.close(&one);
        event.synchronize().unwrap();
        assert!(is_busy(y.host()));

        // A stream that waits for another one is active with it.
        one.record(&event).unwrap();
        other.wait(&event).unwrap();
        gate.open();
        other.synchronize().unwrap();
        assert!(y.host().is_ok());

        // So does a copy that is waited for.
        assert_eq!(one.download(&x).unwrap()[0], 2);
        assert!(y.host().is_ok());
    });
}

#[test]
fn attached_memory_is_the_hosts_or_one_streams() {
    // covers: UM-39, UM-X16, UM-X17
    exclusively(|gpu| {
        let module = module(gpu);
        let add = crate::common::add(&module);
        let one = gpu.stream().unwrap();
        let mut x = gpu.unified::<u32>(100).unwrap();
        let mut y = gpu.unified::<u32>(100).unwrap();
        let mut gate = Gate::new(gpu, &module);
        y.attach(&one, Attach::Host).unwrap();
        gate.close(&one);
        y.host_mut().unwrap()[0] = 3;
        let refused = add_to(&one, &add, &mut y).expect_err("attached to the host");
        assert_eq!(refused.code(), Some(Code::NOT_PERMITTED));
        gate.open();
        one.synchronize().unwrap();

        // What is said of x changes nothing for y.
        y.attach(&one, Attach::Global).unwrap();
        x.attach(&one, Attach::Single).unwrap();
        gate.close(&one);
        assert!(is_busy(y.host_mut()));
        gate.open();
        one.synchronize().unwrap();
        assert_eq!(y.host().unwrap()[0], 3);
    });
}

/// Copies and fills in a stream of memory that is the stream's, another one's or the host's.
fn copies_and_fills() {
    let gpu = gpu();
    let shares = shares(&gpu);
    let (this, other) = (gpu.stream().unwrap(), gpu.stream().unwrap());
    let mut on_device = this.upload(&[7_u32; 100]).unwrap();
    let mut read = [0_u32; 100];
    for (attach, is_this_streams) in [
        (Attach::Global, true),
        (Attach::Host, false),
        (Attach::Single, true),
        (Attach::Single, false),
    ] {
        let mut data = gpu.unified::<u32>(100).unwrap();
        let owner = if is_this_streams { &this } else { &other };
        data.attach(owner, attach).unwrap();
        let allowed = shares || is_this_streams;
        let results = [
            this.upload_into(&[3_u32; 100], &mut data),
            this.download_into(&data, &mut read),
            this.copy(&on_device, &mut data),
            this.copy(&data, &mut on_device),
            this.fill(&mut data, 9),
        ];
        for (number, result) in results.into_iter().enumerate() {
            match allowed {
                true => result.unwrap(),
                false => {
                    let refused = result.expect_err("it is not this stream's");
                    let code = refused.code();
                    assert_eq!(code, Some(Code::NOT_PERMITTED), "{number}: {refused}");
                }
            }
        }
        this.synchronize().unwrap();
        let expected = if allowed { 9 } else { 0 };
        assert_eq!(data.host().unwrap()[99], expected, "{attach:?}");
        // As the host's end of a copy it is the host's, whoever else may use it.
        let slice = data.host().unwrap();
        this.upload_into(&slice, &mut on_device).unwrap();
        drop(slice);
        assert_eq!(this.download(&on_device).unwrap(), [expected; 100]);
    }
}

#[test]
fn copies_and_fills_of_the_device_want_memory_that_is_its_streams() {
    // covers: UM-41, UM-42
    crate::common::in_own_process(&EXCLUSIVE, copies_and_fills);
}

#[test]
fn where_it_is_shared_copies_and_fills_are_allowed() {
    // covers: UM-41, UM-42
    crate::common::in_own_process(&SHARED, copies_and_fills);
}

#[test]
fn a_copy_or_a_fill_makes_its_stream_active() {
    // covers: UM-42
    exclusively(|gpu| {
        let module = module(gpu);
        let stream = gpu.stream().unwrap();
        let source = stream.upload(&[7_u32; 100]).unwrap();
        let mut used = gpu.unified::<u32>(100).unwrap();
        let beside = gpu.unified::<u32>(100).unwrap();
        let mut own = gpu.unified::<u32>(100).unwrap();
        let hosts = {
            let mut hosts = gpu.unified::<u32>(100).unwrap();
            hosts.attach(&stream, Attach::Host).unwrap();
            hosts
        };
        own.attach(&stream, Attach::Single).unwrap();
        for copies in [false, true] {
            let mut gate = Gate::new(gpu, &module);
            gate.close(&stream);
            match copies {
                false => stream.fill(&mut used, 5).unwrap(),
                true => stream.copy(&source, &mut used).unwrap(),
            }
            assert!(is_busy(used.host()), "what is written");
            assert!(is_busy(beside.host()), "and what any stream may use");
            assert!(hosts.host().is_ok(), "but not what no stream may use");
            gate.open();
            stream.synchronize().unwrap();
            assert_eq!(used.host().unwrap()[0], if copies { 7 } else { 5 });
            assert!(beside.host().is_ok());
        }
        // Memory that is one stream's is busy with the work of that stream that uses it.
        let mut gate = Gate::new(gpu, &module);
        gate.close(&stream);
        stream.fill(&mut own, 6).unwrap();
        assert!(is_busy(own.host()));
        gate.open();
        stream.synchronize().unwrap();
        assert_eq!(own.host().unwrap()[0], 6);
    });
}

#[test]
fn threads_with_a_stream_and_memory_each_do_not_wait_for_each_other() {
    // covers: UM-40, UM-X18
    const THREADS: u32 = 4;
    crate::common::in_own_process(&EXCLUSIVE, || {
        let gpu = gpu();
        let gpu: &Gpu = &gpu;
        let module = module(gpu);
        let add = crate::common::add(&module);
        let (add, module) = (&add, &module);
        let meet = std::sync::Barrier::new(THREADS as usize);
        std::thread::scope(|scope| {
            for number in 0..THREADS {
                let meet = &meet;
                scope.spawn(move || {
                    let stream = gpu.stream().unwrap();
                    let mut data = gpu.unified::<u32>(100).unwrap();
                    data.attach(&stream, Attach::Single).unwrap();
                    let busy = gpu.stream().unwrap();
                    meet.wait();
                    // One thread's stream runs a kernel the whole time.
                    let mut gate = (number == 0).then(|| Gate::new(gpu, module));
                    if let Some(gate) = &mut gate {
                        gate.close(&busy);
                    }
                    meet.wait();
                    data.host_mut().unwrap()[0] = 10 * number;
                    for _ in 0..3 {
                        add_to(&stream, add, &mut data).unwrap();
                        stream.synchronize().unwrap();
                        data.host_mut().unwrap()[0] *= 2;
                    }
                    let expected = ((10 * number + 1) * 2 + 1) * 2;
                    assert_eq!(data.host().unwrap()[0], (expected + 1) * 2);
                    meet.wait();
                });
            }
        });
    });
}

#[test]
fn a_stream_and_the_host_take_turns_with_what_is_attached_to_it() {
    // covers: UM-39
    exclusively(|gpu| {
        let module = module(gpu);
        let add = crate::common::add(&module);
        let (one, other) = (gpu.stream().unwrap(), gpu.stream().unwrap());
        let mut data = gpu.unified::<u32>(100).unwrap();
        data.attach(&one, Attach::Single).unwrap();
        // A kernel of that stream, whatever it uses.
        let mut gate = Gate::new(gpu, &module);
        gate.close(&one);
        assert!(is_busy(data.host()) && is_busy(data.host_mut()));
        gate.open();
        one.synchronize().unwrap();

        // And the other way round.
        let mut buffer = other.zeroed::<u32>(100).unwrap();
        let guard = data.host_mut().unwrap();
        // SAFETY: the entry takes a slice and a number, and writes only the slice.
        let launch = |stream: &Stream, buffer: &mut DeviceBuffer<u32>| unsafe {
            stream.launch_untyped(&add, Grid::new(1, 100), (buffer, 1))
        };
        launch(&other, &mut buffer).unwrap();
        assert!(is_busy(launch(&one, &mut buffer)));
        let mut graph = gpu.graph().unwrap();
        graph.fill(&mut buffer, 5).unwrap();
        let mut graph = graph.instantiate().unwrap();
        assert!(is_busy(graph.launch(&one)));
        graph.launch(&other).unwrap();
        drop(guard);
        launch(&one, &mut buffer).unwrap();
        assert_eq!(one.download(&buffer).unwrap(), [6; 100]);
    });
}

#[test]
fn the_end_of_a_stream_does_not_end_an_attachment() {
    // covers: UM-40
    exclusively(|gpu| {
        let module = module(gpu);
        let (one, other) = (gpu.stream().unwrap(), gpu.stream().unwrap());
        let handle: raw::CUstream = one.as_raw().cast();
        // SAFETY: the simulator knows a handle that is none any more; a GPU has left the test above.
        let is_destroyed = || unsafe { raw::cuStreamQuery(handle) }.0 == 400;
        let mut data = gpu.unified::<u32>(100).unwrap();
        data.attach(&one, Attach::Single).unwrap();
        drop(one);
        gpu.synchronize().unwrap();
        let mut gate = Gate::new(gpu, &module);
        gate.close(&other);
        // The driver would have given the memory to all streams again.
        assert!(!is_destroyed());
        data.host_mut().unwrap()[0] = 1;
        gate.open();
        other.synchronize().unwrap();
        data.attach(&other, Attach::Global).unwrap();
        gpu.synchronize().unwrap();
        assert!(is_destroyed());
    });
}
