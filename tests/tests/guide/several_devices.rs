//! Several devices of one process: to list them, to choose one, and what a stream of another one takes (3.2.9).

use warpsmith_host::prelude::*;
use warpsmith_test_kernels::guide;
use warpsmith_tests::{Fixture, Side, own_process, ptx};

/// Runs the calling test in a process of its own with two devices: GPUs if there are two, else simulated ones.
fn with_two(body: impl FnOnce([Fixture; 2]) -> Result<()>) -> Result<()> {
    let simulated = [
        ("WARPSMITH_DEVICE", "simulator"),
        ("WARPSMITH_SIMULATOR_DEVICES", "2"),
    ];
    let variables = match Gpu::devices()?.len() {
        0 | 1 => &simulated[..],
        _ => &[],
    };
    match own_process(variables) {
        Side::Parent(_) => Ok(()),
        Side::Child => {
            let devices = Gpu::devices()?;
            assert!(devices.len() >= 2, "{devices:?}");
            let open = |index: usize| -> Result<Fixture> {
                let gpu = Gpu::open(devices[index].choice)?;
                let module = gpu.load(ptx::for_capability(gpu.compute_capability()))?;
                Ok(Fixture { gpu, module })
            };
            body([open(0)?, open(1)?])
        }
    }
}

// covers: MULTI-X01
#[test]
fn a_line_for_each_device() -> Result<()> {
    let devices = Gpu::devices()?;
    assert!(!devices.is_empty());
    for (number, device) in devices.iter().enumerate() {
        let line = format!(
            "Device {number} ({}) has compute capability {}.",
            device.name, device.compute_capability
        );
        let gpu = Gpu::open(device.choice)?;
        assert_eq!(gpu.name(), device.name);
        let numbers = [
            Attribute::COMPUTE_CAPABILITY_MAJOR,
            Attribute::COMPUTE_CAPABILITY_MINOR,
        ]
        .map(|attribute| gpu.attribute(attribute));
        let [major, minor] = [&numbers[0], &numbers[1]].map(|n| n.as_ref().expect("an answer"));
        assert!(line.ends_with(&format!("{major}.{minor}.")), "{line}");
    }
    Ok(())
}

// covers: MULTI-X02
#[test]
fn memory_and_launches_are_of_the_device_that_they_were_asked_of() -> Result<()> {
    with_two(|devices| {
        for (number, f) in (0..).zip(devices) {
            let stream = f.stream();
            let square = f.module.kernel(guide::square)?;
            let mut x = stream.filled(1024 * 128, 3_u32)?;
            stream.launch(&square, Grid::new(1024, 128), (&mut x,))?;
            assert_eq!(stream.download(&x.slice(..4))?, [9; 4]);
            let address = x.as_device_ptr().address();
            let attributes = f.gpu.pointer_attributes(address)?.expect("device memory");
            assert_eq!(attributes.device, Some(number));
        }
        Ok(())
    })
}

// covers: MULTI-X03
#[test]
fn a_stream_takes_no_kernel_of_another_device() -> Result<()> {
    with_two(|[one, other]| {
        let (s0, s1) = (one.stream(), other.stream());
        let [k0, k1] = [&one, &other].map(|f| f.module.kernel(guide::square));
        let (k0, k1) = (k0?, k1?);
        let grid = Grid::cover(64, 64);
        let (mut x0, mut x1) = (s0.filled(64, 3_u32)?, s1.filled(64, 5_u32)?);
        s0.launch(&k0, grid, (&mut x0,))?;
        s1.launch(&k1, grid, (&mut x1,))?;
        let error = s0.launch(&k1, grid, (&mut x1,)).expect_err("the kernel");
        assert_eq!(error.code(), Some(Code::INVALID_CONTEXT));
        let error = s0.launch(&k0, grid, (&mut x1,)).expect_err("the memory");
        assert_eq!(error.code(), Some(Code::INVALID_CONTEXT));
        assert_eq!(s0.download(&x0)?, [9; 64]);
        assert_eq!(s1.download(&x1)?, [25; 64]);
        Ok(())
    })
}
