//! A device's attributes, and what they say that there is.

use crate::common::*;
use warpsmith_testkit::{Side, own_process};

/// What belongs to a machine or its load and not to the kind of device.
const OF_THE_MACHINE: &[CUdevice_attribute] = &[
    CUdevice_attribute::CU_DEVICE_ATTRIBUTE_PCI_BUS_ID,
    CUdevice_attribute::CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID,
    CUdevice_attribute::CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID,
    CUdevice_attribute::CU_DEVICE_ATTRIBUTE_NUMA_CONFIG,
    CUdevice_attribute::CU_DEVICE_ATTRIBUTE_NUMA_ID,
    CUdevice_attribute::CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID,
    CUdevice_attribute::CU_DEVICE_ATTRIBUTE_GPU_PCI_SUBSYSTEM_ID,
    CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED,
    CUdevice_attribute::CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED,
    CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES,
];

/// All attributes that the device knows, but for those of the machine, as lines.
fn attributes() -> Vec<String> {
    (1..CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX.0)
        .map(CUdevice_attribute)
        .filter(|key| !OF_THE_MACHINE.contains(key))
        .filter_map(|key| {
            let mut value = 0;
            // SAFETY: the driver writes one number to `value`.
            let result = unsafe { cuDeviceGetAttribute(&mut value, key, 0) };
            (result.0 == 0).then(|| format!("attribute {} = {value}", key.0))
        })
        .collect()
}

/// On an H200 the simulator's device is compared with it, attribute by attribute.
#[test]
fn the_simulated_device_has_the_attributes_of_an_h200() {
    // covers: CC-01
    let Side::Parent(output) = own_process(&[("WARPSMITH_DEVICE", "simulator")]) else {
        gpu();
        println!("{}", attributes().join("\n"));
        return;
    };
    let simulated: Vec<&str> = output
        .stdout
        .lines()
        .filter_map(|line| line.find("attribute ").map(|at| &line[at..]))
        .collect();
    // Major and minor number of the compute capability, threads of a block and of a warp, shared memory of a block.
    for line in ["75 = 9", "76 = 0", "1 = 1024", "10 = 32", "97 = 232448"] {
        let line = format!("attribute {line}");
        assert!(simulated.contains(&line.as_str()), "{line}");
    }
    let mut name: [c_char; 64] = [0; 64];
    let _turn = turn();
    let backend = gpu();
    ok!(cuDeviceGetName(name.as_mut_ptr(), 64, 0));
    // SAFETY: the driver has written a C string.
    let name = unsafe { core::ffi::CStr::from_ptr(name.as_ptr()) };
    if backend == Backend::Simulator || name == c"NVIDIA H200" {
        assert_eq!(attributes(), simulated);
    } else {
        println!("not compared: the device is no H200 but {name:?}");
    }
}

/// Whether the device says that it has multicast objects; the simulator makes them if it says so.
fn has_multicast() -> bool {
    let backend = gpu();
    let key = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED;
    let device: CUdevice = get!(cuDeviceGet(0));
    let supported: c_int = get!(cuDeviceGetAttribute(key, device));
    if backend == Backend::Simulator && supported == 0 {
        let mut object = 0;
        let wish = CUmulticastObjectProp {
            numDevices: 1,
            size: 2 << 20,
            ..Default::default()
        };
        fails!(801, cuMulticastCreate(&mut object, &wish));
    }
    supported != 0
}

#[test]
fn whether_there_are_multicast_objects_is_asked_first() {
    // covers: VMM-36
    let _turn = turn();
    let expected = gpu() == Backend::Simulator;
    if let Side::Child = own_process(&[("WARPSMITH_SIMULATOR_ATTRIBUTES", "132=0")]) {
        assert!(!has_multicast() || !expected);
        return;
    }
    assert!(has_multicast() || !expected);
}
