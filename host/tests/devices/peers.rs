//! Several devices of one process. The simulator shows as many as a process of its own asks for; a machine with one GPU has no peers.

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
        // SAFETY: as above.
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
            error.to_string().contains("the memory is of simulator:1"),
            "{error}"
        );
        let mut short = here.zeroed::<u32>(3).expect("a buffer");
        assert!(here.copy_from_peer(&there, &far, &mut short).is_err());
        assert_eq!(here.download(&near).expect("download"), [0; 4]);
    });
}
