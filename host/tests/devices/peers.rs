//! Several devices of one process. The simulator shows as many as a process of its own asks for; a machine with one GPU has no peers.

use crate::common::two::with_two;
use crate::common::*;
use warpsmith_host::prelude::*;

const TWO: [(&str, &str); 3] = [
    ("WARPSMITH_DEVICE", "simulator"),
    ("WARPSMITH_SIMULATOR_DEVICES", "2"),
    ("WARPSMITH_REPORT", "0"),
];

fn two() -> (Gpu, Gpu) {
    let devices = Gpu::devices().expect("devices");
    assert_eq!(devices.len(), 2);
    let open = |index: usize| Gpu::open(devices[index].choice).expect("a device");
    (open(0), open(1))
}

#[test]
fn each_device_has_one_name() {
    in_own_process(&TWO, || {
        let (one, other) = two();
        assert_eq!(one.choice(), DeviceChoice::Simulator);
        assert_eq!(other.choice(), DeviceChoice::SimulatorDevice(1));
        let same = Gpu::open(DeviceChoice::SimulatorDevice(0)).expect("a device");
        assert_eq!(same.choice(), DeviceChoice::Simulator);
        assert!(other.is_simulator());
        assert!(one.can_access_peer(&other).expect("an answer"));
        assert!(!one.can_access_peer(&same).expect("an answer"));
        let error = Gpu::open(DeviceChoice::SimulatorDevice(2)).expect_err("there is none");
        assert!(error.to_string().contains("simulator:2"), "{error}");
    });
    let variables = [("WARPSMITH_DEVICE", "simulator:1"), TWO[1], TWO[2]];
    in_own_process(&variables, || {
        let gpu = Gpu::open_default().expect("a device");
        assert!(matches!(
            gpu.choice(),
            DeviceChoice::Simulator | DeviceChoice::SimulatorDevice(1)
        ));
    });
}

#[test]
fn copies_between_devices_are_in_order_on_both() {
    in_own_process(&TWO, || {
        let (one, other) = two();
        let (here, there) = (
            one.stream().expect("a stream"),
            other.stream().expect("a stream"),
        );
        let (before, after) = (
            other.stream().expect("a stream"),
            other.stream().expect("a stream"),
        );
        let mut from = there.zeroed::<u32>(5000).expect("a buffer");
        let mut to = here.zeroed::<u32>(5000).expect("a buffer");
        for round in 1..30 {
            // In streams that have nothing to do with the copy but the memory.
            let late = hold_up(&before).expect("held up");
            before.fill(&mut from, round).expect("a fill");
            here.copy_from_peer(&there, &from, &mut to).expect("a copy");
            after.fill(&mut from, 0).expect("a fill");
            drop(late);
            assert_eq!(here.download(&to).expect("download"), vec![round; 5000]);
            assert_eq!(there.download(&from).expect("download"), vec![0; 5000]);
        }
        // The memory outlives the copy, whoever is dropped first.
        let late = hold_up(&there).expect("held up");
        here.copy_from_peer(&there, &from, &mut to).expect("a copy");
        drop(from);
        drop(late);
        assert_eq!(here.download(&to).expect("download"), vec![0; 5000]);
    });
}

#[test]
fn what_is_of_another_device_is_refused() {
    in_own_process(&TWO, || {
        let (one, other) = two();
        let (here, there) = (
            one.stream().expect("a stream"),
            other.stream().expect("a stream"),
        );
        let mut near = here.zeroed::<u32>(4).expect("a buffer");
        let mut far = there.zeroed::<u32>(4).expect("a buffer");
        let kernel = add(&module(&one));
        // SAFETY: the entry takes a slice and a number, and writes only the slice.
        let launched = unsafe { here.launch_untyped(&kernel, Grid::cover(4, 32), (&mut far, 1)) };
        assert_eq!(
            launched.expect_err("refused").code(),
            Some(Code::INVALID_CONTEXT)
        );
        // SAFETY: the entry takes a slice and a number, and writes only the slice.
        let launched = unsafe { there.launch_untyped(&kernel, Grid::cover(4, 32), (&mut far, 1)) };
        assert_eq!(
            launched.expect_err("refused").code(),
            Some(Code::INVALID_CONTEXT)
        );
        let error = here.copy(&far, &mut near).expect_err("refused");
        assert_eq!(error.code(), Some(Code::INVALID_CONTEXT));
        let error = here
            .copy_from_peer(&here, &far, &mut near)
            .expect_err("refused");
        assert!(
            error.to_string().contains("the memory is of `simulator:1`"),
            "{error}"
        );
        let mut short = here.zeroed::<u32>(3).expect("a buffer");
        assert!(here.copy_from_peer(&there, &far, &mut short).is_err());
        assert_eq!(here.download(&near).expect("download"), [0; 4]);
    });
}

/// The table of MULTI-05: of what is done with an event of another device, only waits work.
#[test]
fn events_are_waited_for_across_devices_and_no_more() {
    // covers: MULTI-05, MULTI-06
    with_two(|one, other| {
        let (here, there) = (one.stream().unwrap(), other.stream().unwrap());
        let (start, ready) = (one.event().unwrap(), one.event().unwrap());
        let far = other.event().unwrap();
        let refused = |result: Result<()>| {
            let error = result.expect_err("refused");
            assert_eq!(error.code(), Some(Code::INVALID_CONTEXT), "{error}");
        };
        here.record(&start).unwrap();
        // Refused: to record it in a stream of another device, and the time between two devices.
        refused(there.record(&ready));
        there.record(&far).unwrap();
        far.synchronize().unwrap();
        start.synchronize().unwrap();
        refused(far.elapsed_since(&start).map(drop));

        // Waits: of a stream of another device, of the host, and the question.
        let gate = hold_up(&here).unwrap();
        here.record(&ready).unwrap();
        there.wait(&ready).unwrap();
        there.record(&far).unwrap();
        other.make_current().unwrap();
        assert!(!ready.is_complete().unwrap());
        assert!(
            !far.is_complete().unwrap(),
            "it comes after the other device's"
        );
        drop(gate);
        far.synchronize().unwrap();
        assert!(ready.is_complete().unwrap());
        ready.synchronize().unwrap();

        // A wait is for the recording that was last when it was made.
        let gate = hold_up(&here).unwrap();
        there.wait(&ready).unwrap();
        here.record(&ready).unwrap();
        there.synchronize().unwrap();
        drop(gate);
        here.synchronize().unwrap();
        // The event may go before the wait is over, and so may its device.
        let gate = hold_up(&here).unwrap();
        here.record(&ready).unwrap();
        there.wait(&ready).unwrap();
        there.record(&far).unwrap();
        drop((ready, start));
        assert!(!far.is_complete().unwrap());
        drop(gate);
        drop((here, one));
        far.synchronize().unwrap();
    });
}

#[test]
fn an_event_of_a_capture_is_not_another_devices() {
    with_two(|one, other| {
        let (mut here, mut there) = (one.stream().unwrap(), other.stream().unwrap());
        let (inside, outside) = (one.event().unwrap(), one.event().unwrap());
        here.record(&outside).unwrap();
        let code = |result: Result<()>| result.expect_err("refused").code();
        here.capture(|capture| {
            capture.record(&inside)?;
            assert_eq!(
                code(there.wait(&inside)),
                Some(Code::STREAM_CAPTURE_ISOLATION)
            );
            there.capture(|far| {
                assert_eq!(code(far.wait(&inside)), Some(Code::STREAM_CAPTURE_MERGE));
                assert_eq!(
                    code(far.wait(&outside)),
                    Some(Code::STREAM_CAPTURE_ISOLATION)
                );
                Ok(())
            })?;
            Ok(())
        })
        .unwrap();
        // Neither is broken by it.
        there.wait(&outside).unwrap();
        there.synchronize().unwrap();
        here.synchronize().unwrap();
    });
}

#[test]
fn a_wait_after_another_devices_event_tells_of_its_panics() {
    with_two(|one, other| {
        let (here, there) = (one.stream().unwrap(), other.stream().unwrap());
        let kernels = crate::common::panicking::kernels(&one);
        let ready = one.event_untimed().unwrap();
        crate::common::panicking::launch_at(&here, &kernels, 21);
        here.host_fn(|| panic!("in a function")).unwrap();
        here.record(&ready).unwrap();
        there.wait(&ready).unwrap();
        let error = there.synchronize().expect_err("it comes after the panic");
        assert_eq!(error.panic().expect("a panic").line, 21);
        let error = there.synchronize().expect_err("and after the function's");
        assert!(error.to_string().contains("in a function"), "{error}");
        // Each is told once.
        there.synchronize().unwrap();
        here.synchronize().unwrap();
    });
}

/// Memory of the host that was made for one device, used by the other: it needs no access.
#[test]
fn host_memory_is_every_devices() {
    // covers: MULTI-13, PINNED-05
    with_two(|one, other| {
        const LEN: usize = 2000;
        let (here, there) = (one.stream().unwrap(), other.stream().unwrap());
        let (add_here, add_there) = (add(&module(&one)), add(&module(&other)));
        let launch = |stream: &Stream, kernel: &Add, words: &mut MappedBuffer<u32>| {
            // SAFETY: the entry takes a slice and a number, and writes only the slice.
            unsafe { stream.launch_untyped(kernel, Grid::cover(LEN, 128), (words, 1)) }.unwrap();
        };
        let mut mapped = one.mapped::<u32>(LEN).unwrap();
        for round in 1..20 {
            let late = hold_up(&here).unwrap();
            launch(&here, &add_here, &mut mapped);
            launch(&there, &add_there, &mut mapped);
            // The host is kept out by either device.
            assert!(matches!(mapped.host(), Err(Error::Busy(_))));
            drop(late);
            there.synchronize().unwrap();
            assert_eq!(mapped.host().unwrap()[..], [2 * round; LEN]);
        }
        let late = hold_up(&there).unwrap();
        launch(&there, &add_there, &mut mapped);
        here.synchronize().unwrap();
        assert!(matches!(mapped.host_mut(), Err(Error::Busy(_))));
        drop(late);
        assert_eq!(there.download(&mapped).unwrap(), [39; LEN]);

        // By copies.
        let mut pinned = one.pinned::<u32>(LEN).unwrap();
        let mut far = there.filled(LEN, 5_u32).unwrap();
        let late = hold_up(&there).unwrap();
        there.copy_to_host(&far, &mut pinned).unwrap();
        assert!(matches!(pinned.host(), Err(Error::Busy(_))));
        let mut near = here.zeroed::<u32>(LEN).unwrap();
        here.copy_from_host(&pinned, &mut near).unwrap();
        drop(late);
        assert_eq!(here.download(&near).unwrap(), [5; LEN]);
        pinned.host_mut().unwrap().fill(6);
        there.copy_from_host(&pinned, &mut far).unwrap();
        // It stays until the copy of the other device is done.
        drop(pinned);
        let again = one.pinned::<u32>(LEN).unwrap();
        assert_eq!(there.download(&far).unwrap(), [6; LEN]);
        drop(again);

        // Registered, and not cached, where both devices have it at one address.
        let mut registered = one.register(vec![1_u32; LEN]).unwrap();
        let late = hold_up(&there).unwrap();
        // SAFETY: the entry takes a slice and a number, and writes only the slice.
        unsafe { there.launch_untyped(&add_there, Grid::cover(LEN, 128), (&mut registered, 1)) }
            .unwrap();
        assert!(matches!(registered.take(), Err(Error::Busy(_))));
        drop(late);
        there.synchronize().unwrap();
        assert_eq!(registered.take().unwrap(), [2; LEN]);
        let mut combined = one.write_combined::<u32>(LEN).unwrap();
        combined.host_mut().unwrap().fill(3);
        there.copy(&combined, &mut far).unwrap();
        assert_eq!(there.download(&far).unwrap(), [3; LEN]);
    });
}

#[test]
fn unified_memory_is_every_devices() {
    // covers: UM-45
    with_two(|one, other| {
        const LEN: usize = 2000;
        let (here, there) = (one.stream().unwrap(), other.stream().unwrap());
        let (add_here, add_there) = (add(&module(&one)), add(&module(&other)));
        let mut words = one.unified::<u32>(LEN).unwrap();
        let shares = |gpu: &Gpu| gpu.attribute(Attribute::CONCURRENT_MANAGED_ACCESS).unwrap() != 0;
        if !shares(&one) || !shares(&other) {
            // SAFETY: the entry takes a slice and a number, and writes only the slice.
            let launched =
                unsafe { there.launch_untyped(&add_there, Grid::cover(LEN, 128), (&mut words, 1)) };
            assert!(launched.is_err());
            return;
        }
        for round in 1..10 {
            for (stream, kernel) in [(&here, &add_here), (&there, &add_there)] {
                // SAFETY: the entry takes a slice and a number, and writes only the slice.
                unsafe { stream.launch_untyped(kernel, Grid::cover(LEN, 128), (&mut words, 1)) }
                    .unwrap();
            }
            there.synchronize().unwrap();
            assert_eq!(words.host().unwrap()[..], [2 * round; LEN]);
        }
        for (stream, to) in [
            (&there, Location::Device),
            (&here, Location::Device),
            (&there, Location::Host),
        ] {
            stream.prefetch(&words, to).unwrap();
            assert_eq!(stream.download(&words).unwrap(), [18; LEN]);
        }
        // A graph of the other device.
        let mut graph = other.graph().unwrap();
        // SAFETY: the entry takes a slice and a number, and writes only the slice.
        unsafe { graph.kernel_untyped(&add_there, Grid::cover(LEN, 128), (&mut words, 100)) }
            .unwrap();
        let mut graph = graph.instantiate().unwrap();
        graph.launch(&there).unwrap();
        graph.launch(&there).unwrap();
        assert_eq!(here.download(&words).unwrap(), [218; LEN]);
        drop((words, graph));
        one.synchronize().unwrap();
        other.synchronize().unwrap();
    });
}
