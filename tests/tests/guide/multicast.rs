//! Memory of several devices at once. On the simulator alone: no test makes a multicast object on GPUs.

use warpsmith_host::prelude::*;
use warpsmith_host::{DeviceInfo, MulticastBuffer, PhysicalOptions};
use warpsmith_test_kernels::multicast;
use warpsmith_tests::{Side, own_process, ptx};

/// Runs the calling test in a process of its own with so many simulated devices; not where the tests run on GPUs.
fn with_simulated(count: &str, body: impl FnOnce(Vec<Gpu>) -> Result<()>) -> Result<()> {
    if std::env::var("WARPSMITH_DEVICE").is_ok_and(|device| device == "cuda") {
        return Ok(());
    }
    let variables = [
        ("WARPSMITH_DEVICE", "simulator"),
        ("WARPSMITH_SIMULATOR_DEVICES", count),
    ];
    match own_process(&variables) {
        Side::Parent(_) => Ok(()),
        Side::Child => {
            let devices = Gpu::devices()?;
            let open = |device: &DeviceInfo| Gpu::open(device.choice);
            body(devices.iter().map(open).collect::<Result<_>>()?)
        }
    }
}

fn module(gpu: &Gpu) -> Result<Module> {
    gpu.load(ptx::for_capability(gpu.compute_capability()))
}

// covers: VMM-43, VMM-X09
#[test]
fn devices_wait_for_each_other_and_reduce() -> Result<()> {
    with_simulated("4", |gpus| {
        let all: Vec<&Gpu> = gpus.iter().collect();
        let sums = MulticastBuffer::<f32>::zeroed(&all, 1)?;
        let arrived = MulticastBuffer::<u32>::zeroed(&all, 1)?;
        let mut running = Vec::new();
        for (gpu, partial) in gpus.iter().zip([1.0f32, 4.0, 9.0, 2.0]) {
            let (stream, module) = (gpu.stream()?, module(gpu)?);
            let mut out = stream.zeroed::<f32>(1)?;
            let kernel = module.kernel(multicast::norm)?;
            let arguments = (partial, 4u32, sums.on(gpu)?, arrived.on(gpu)?, &mut out);
            stream.launch(&kernel, Grid::cover(1, 1), arguments)?;
            running.push((stream, module, out));
        }
        // The buffers go first: the kernels keep them.
        drop((sums, arrived));
        for (stream, _module, out) in &running {
            assert_eq!(stream.download(out)?, [4.0]);
        }
        Ok(())
    })
}

// covers: VMM-42
#[test]
fn each_operation_reaches_all_replicas() -> Result<()> {
    with_simulated("2", |gpus| {
        let [one, other] = [&gpus[0], &gpus[1]];
        let mut words = MulticastBuffer::<u32>::zeroed(&[one, other], 8)?;
        let mut wide = MulticastBuffer::<i64>::zeroed(&[one, other], 2)?;
        let mut singles = MulticastBuffer::<f32>::zeroed(&[one, other], 8)?;
        let (here, there) = (one.stream()?, other.stream()?);
        words.upload(&here, &[0, 10, 1, 4, 8, 3, 1, 0])?;
        words.upload(&there, &[0, 20, 5, 12, 3, 6, 2, 0])?;
        wide.upload(&there, &[100, -9])?;
        singles.upload(&here, &[1.0; 8])?;
        there.synchronize()?;
        let module = module(one)?;
        let kernel = module.kernel(multicast::each_operation)?;
        let mut found = here.zeroed::<u32>(8)?;
        let arguments = (words.on(one)?, wide.on(one)?, singles.on(one)?, &mut found);
        here.launch(&kernel, Grid::cover(1, 1), arguments)?;
        let expected = [10, 9, 12, 6, 15, 9, -9i32 as u32, 3000 + 500 + 70 + 9];
        assert_eq!(here.download(&found)?, expected);
        assert_eq!(words.download(&here)?, [5, 13, 1, 9, 14, 1, 6, 0]);
        assert_eq!(words.download(&there)?, [5, 23, 2, 12, 7, 0, 5, 0]);
        assert_eq!(wide.download(&here)?, [-2, -7]);
        assert_eq!(wide.download(&there)?, [98, -9]);
        let [a, b] = [singles.download(&here)?, singles.download(&there)?];
        assert_eq!(a, [0.5, 1.0, 1.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!(b, [0.5, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 4.0]);
        Ok(())
    })
}

// covers: VMM-38, VMM-39
#[test]
fn wrong_uses_name_the_culprit() -> Result<()> {
    with_simulated("2", |gpus| {
        let [one, other] = [&gpus[0], &gpus[1]];
        let refused = |gpus: &[&Gpu], len| {
            let made = MulticastBuffer::<u32>::zeroed(gpus, len);
            made.expect_err("it is refused").to_string()
        };
        assert!(refused(&[], 4).contains("no device is named"));
        assert!(refused(&[one, other, one], 4).contains("is named twice"));
        assert!(refused(&[one, other], 0).contains("without elements"));
        let words = MulticastBuffer::<u32>::zeroed(&[one], 4)?;
        let error = words.on(other).expect_err("it has no replica").to_string();
        assert!(error.contains("has no replica of the multicast buffer"), "{error}");
        // A word that there is not is a panic of the kernel.
        let (stream, module) = (one.stream()?, module(one)?);
        let kernel = module.kernel(multicast::outside)?;
        stream.launch(&kernel, Grid::cover(1, 1), (words.on(one)?, 4u32))?;
        let error = stream.synchronize().expect_err("a panic").to_string();
        assert!(error.contains("out of range"), "{error}");
        Ok(())
    })
}

#[test]
fn a_thousand_buffers_leave_no_memory_behind() -> Result<()> {
    with_simulated("2", |gpus| {
        let [one, other] = [&gpus[0], &gpus[1]];
        let free = || -> Result<_> { Ok((one.memory_info()?.free, other.memory_info()?.free)) };
        drop(one.physical_memory(1, PhysicalOptions::default())?);
        let before = free()?;
        for _ in 0..1000 {
            drop(MulticastBuffer::<u32>::zeroed(&[one, other], 4)?);
        }
        one.synchronize()?;
        other.synchronize()?;
        assert_eq!(free()?, before);
        Ok(())
    })
}

// covers: VMM-36
#[test]
fn a_device_without_multicast_memory_is_named() -> Result<()> {
    if std::env::var("WARPSMITH_DEVICE").is_ok_and(|device| device == "cuda") {
        return Ok(());
    }
    let variables = [
        ("WARPSMITH_DEVICE", "simulator"),
        ("WARPSMITH_SIMULATOR_ATTRIBUTES", "132=0"),
    ];
    if let Side::Child = own_process(&variables) {
        let gpu = Gpu::open(DeviceChoice::Simulator)?;
        let error = MulticastBuffer::<u32>::zeroed(&[&gpu], 4).expect_err("there is none");
        assert!(matches!(error, Error::Unsupported(_)), "{error}");
        assert!(error.to_string().contains("MULTICAST_SUPPORTED"), "{error}");
    }
    Ok(())
}
