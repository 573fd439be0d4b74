//! Memory of several devices at once.

use warpsmith_device::half::{Bf16x2, F16x2};
use warpsmith_host::prelude::*;
use warpsmith_host::{DeviceInfo, MulticastBuffer, PhysicalOptions};
use warpsmith_test_kernels::multicast;
use warpsmith_tests::{Side, own_process, ptx};

/// Runs the calling test in a process of its own with so many simulated devices. Multicast objects are created on the simulator only: GPUs are asked
/// whether they have them, and nothing else.
fn with_simulated(count: &str, body: impl FnOnce(Vec<Gpu>) -> Result<()>) -> Result<()> {
    if std::env::var("WARPSMITH_DEVICE").is_ok_and(|device| device == "cuda") {
        for device in Gpu::devices()? {
            let gpu = Gpu::open(device.choice)?;
            let answer = gpu.attribute(Attribute::MULTICAST_SUPPORTED)?;
            assert!(answer == 0 || answer == 1, "{answer}");
        }
        return Ok(());
    }
    let variables = [
        ("WARPSMITH_DEVICE", "simulator"),
        ("WARPSMITH_SIMULATOR_DEVICES", count),
        ("WARPSMITH_SIMULATOR_MEMORY", "256M"),
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
fn multicast_devices_wait_for_each_other_and_reduce() -> Result<()> {
    with_simulated("4", |gpus| {
        const ROUNDS: u32 = 20;
        let all: Vec<&Gpu> = gpus.iter().collect();
        let sums = MulticastBuffer::<f32>::zeroed(&all, 1)?;
        let arrived = MulticastBuffer::<u32>::zeroed(&all, 1)?;
        let mut running = Vec::new();
        for (gpu, partial) in gpus.iter().zip([1.0f32, 4.0, 9.0, 2.0]) {
            let (stream, module) = (gpu.stream()?, module(gpu)?);
            let mut out = stream.zeroed::<[f32; 2]>(1)?;
            let kernel = module.kernel(multicast::norm)?;
            let (sums, arrived) = (sums.on(gpu)?, arrived.on(gpu)?);
            let arguments = (partial, 4u32, ROUNDS, sums, arrived, &mut out);
            stream.launch(&kernel, Grid::cover(1, 1), arguments)?;
            running.push((stream, module, out));
        }
        // The buffers go first: the kernels keep them.
        drop((sums, arrived));
        let sum = |round: u32| 16.0 + 4.0 * round as f32;
        let expected = [sum(ROUNDS - 1).sqrt(), (0..ROUNDS).map(sum).sum()];
        for (stream, _module, out) in &running {
            assert_eq!(stream.download(out)?, [expected]);
        }
        Ok(())
    })
}

// covers: VMM-42
#[test]
fn multicast_operations_on_integers_reach_all_replicas() -> Result<()> {
    with_simulated("2", |gpus| {
        let [one, other] = [&gpus[0], &gpus[1]];
        let (here, there, module) = (one.stream()?, other.stream()?, module(one)?);
        macro_rules! check {
            ($($kernel:ident $type:ty;)*) => {$(
                let below = |number: $type| (0 as $type).wrapping_sub(number);
                let ours = [1, 2, below(3), 14, 5, 6, 7, below(8)];
                let theirs = [10, below(20), 30, 40, 50, 60, 70, 80];
                let mut words = MulticastBuffer::<$type>::zeroed(&[one, other], 8)?;
                words.upload(&here, &ours)?;
                words.upload(&there, &theirs)?;
                let mut found = here.zeroed::<$type>(6)?;
                let kernel = module.kernel(multicast::$kernel)?;
                here.launch(&kernel, Grid::cover(1, 1), (words.on(one)?, &mut found))?;
                let after = |w: [$type; 8]| {
                    [w[0].wrapping_add(3), w[1].min(12), w[2].max(12), w[3] & 6, w[4] | 6, w[5] ^ 6, 5, w[7]]
                };
                // The other device's stream waits for this one's kernel.
                assert_eq!(words.download(&there)?, after(theirs));
                assert_eq!(words.download(&here)?, after(ours));
                let (a, b) = (ours[7], theirs[7]);
                let expected = [a.wrapping_add(b), a.min(b), a.max(b), a & b, a | b, a ^ b];
                assert_eq!(here.download(&found)?, expected);
            )*};
        }
        check! {
            multimem_u32 u32;
            multimem_i32 i32;
            multimem_u64 u64;
            multimem_i64 i64;
        }
        Ok(())
    })
}

/// A pair of halves, of which these numbers are values.
fn f16x2(low: f32, high: f32) -> F16x2 {
    let bits = |value: f32| u32::from(half::f16::from_f32(value).to_bits());
    F16x2::from_bits(bits(low) | bits(high) << 16)
}

fn bf16x2(low: f32, high: f32) -> Bf16x2 {
    let bits = |value: f32| u32::from(half::bf16::from_f32(value).to_bits());
    Bf16x2::from_bits(bits(low) | bits(high) << 16)
}

// covers: VMM-42
#[test]
fn multicast_operations_on_floats_reach_all_replicas() -> Result<()> {
    with_simulated("3", |gpus| {
        let all: Vec<&Gpu> = gpus.iter().collect();
        let module = module(&gpus[0])?;
        let streams = gpus.iter().map(Gpu::stream).collect::<Result<Vec<_>>>()?;
        macro_rules! check {
            ($($kernel:ident $type:ty, $len:literal, $large:literal, $number:expr;)*) => {$({
                const LEN: usize = $len;
                let number = $number;
                let mut words = MulticastBuffer::<$type>::zeroed(&all, LEN)?;
                for (device, stream) in streams.iter().enumerate() {
                    let first = [1.0, 10.0, 100.0][device];
                    // In its type's precision the large number plus 1 is itself: sums are rounded once.
                    let large = [$large, 1.0, 1.0][device];
                    let data: Vec<$type> = (0..LEN)
                        .map(|i| number(first + (i % 2) as f32, if i % 4 == 2 { large } else { 256.0 }))
                        .collect();
                    words.upload(stream, &data)?;
                }
                let mut found = streams[0].zeroed::<$type>(LEN / 4 + 1)?;
                let kernel = module.kernel(multicast::$kernel)?;
                let arguments = (words.on(&gpus[0])?, number(2.0, 4.0), &mut found);
                streams[0].launch(&kernel, Grid::cover(1, 1), arguments)?;
                for (device, stream) in streams.iter().enumerate() {
                    let first = [1.0, 10.0, 100.0][device];
                    let words = words.download(stream)?;
                    assert_eq!(words[0], number(first + 2.0, 260.0));
                    assert_eq!(words[1], number(2.0, 4.0));
                    if LEN == 16 {
                        for i in 4..8 {
                            let large = if i == 6 { [$large + 4.0, 5.0, 5.0][device] } else { 260.0 };
                            assert_eq!(words[i], number(first + (i % 2) as f32 + 2.0, large));
                        }
                    }
                }
                let found = streams[0].download(&found)?;
                assert_eq!(found[0], number(111.0, $large + 2.0));
                for i in 1..found.len() {
                    if LEN == 16 {
                        let large = if i == 3 { $large + 2.0 } else { 768.0 };
                        assert_eq!(found[i], number(111.0 + 3.0 * ((i - 1) % 2) as f32, large));
                    }
                }
            })*};
        }
        check! {
            multimem_f32 f32, 16, 0.0, |low: f32, _: f32| low;
            multimem_f64 f64, 4, 0.0, |low: f32, _: f32| f64::from(low);
            multimem_f16x2 F16x2, 16, 2048.0, f16x2;
            multimem_bf16x2 Bf16x2, 16, 256.0, bf16x2;
        }
        Ok(())
    })
}

// covers: VMM-42
#[test]
fn multicast_operations_take_each_order() -> Result<()> {
    with_simulated("2", |gpus| {
        let [one, other] = [&gpus[0], &gpus[1]];
        let (stream, module) = (one.stream()?, module(one)?);
        let mut words = MulticastBuffer::<f32>::zeroed(&[one, other], 8)?;
        let mut found = stream.zeroed::<f32>(4)?;
        let kernel = module.kernel(multicast::multimem_orders)?;
        stream.launch(&kernel, Grid::cover(1, 1), (words.on(one)?, &mut found))?;
        assert_eq!(stream.download(&found)?, [18.0, 18.0, 18.0, 12.0]);
        let expected = [9.0, 0.0, 0.0, 0.0, 6.0, 6.0, 6.0, 6.0];
        assert_eq!(words.download(&other.stream()?)?, expected);
        Ok(())
    })
}

// covers: VMM-38, VMM-39
#[test]
fn multicast_errors_name_the_culprit() -> Result<()> {
    with_simulated("3", |gpus| {
        let [one, other, third] = [&gpus[0], &gpus[1], &gpus[2]];
        let refused = |gpus: &[&Gpu], len| {
            let made = MulticastBuffer::<u32>::zeroed(gpus, len);
            made.expect_err("it is refused").to_string()
        };
        assert!(refused(&[], 4).contains("no device is named"));
        assert!(refused(&[one, other, one], 4).contains("is named twice"));
        assert!(refused(&[one, other], 0).contains("without elements"));
        assert!(refused(&[one, other], usize::MAX / 5).contains("an address space"));
        let mut words = MulticastBuffer::<f32>::zeroed(&[one, other], 6)?;
        let error = words.on(third).expect_err("it has no replica").to_string();
        assert!(
            error.contains("has no replica of the multicast buffer"),
            "{error}"
        );
        let (mut here, there, elsewhere) = (one.stream()?, other.stream()?, third.stream()?);
        let error = words
            .upload(&elsewhere, &[0.0; 6])
            .expect_err("no replica")
            .to_string();
        assert!(error.contains("MulticastBuffer::zeroed"), "{error}");
        let error = words
            .download(&elsewhere)
            .expect_err("no replica")
            .to_string();
        assert!(error.contains("has no replica"), "{error}");
        let error = words
            .upload(&here, &[0.0; 5])
            .expect_err("too short")
            .to_string();
        assert!(error.contains('5') && error.contains('6'), "{error}");
        // A device takes its own replica alone, also where the stream was the last to copy the other one.
        let module = module(one)?;
        let kernel = module.kernel(multicast::outside)?;
        for _ in 0..2 {
            let argument = words.on(other)?;
            let launched = here.launch(&kernel, Grid::cover(1, 1), (argument, 0u32));
            let error = launched.expect_err("another device's").to_string();
            assert!(error.contains("the memory is of"), "{error}");
            words.upload(&here, &[0.0; 6])?;
        }
        let refused = here.capture(|capture| words.upload(capture, &[0.0; 6]));
        let error = refused.expect_err("copies wait").to_string();
        assert!(
            error.contains("the host would have to wait for the copy"),
            "{error}"
        );
        // Words that there are not are a panic of the kernel, and nothing is written.
        here.launch(&kernel, Grid::cover(1, 1), (words.on(one)?, 1u32))?;
        let error = here.synchronize().expect_err("a panic").to_string();
        assert!(error.contains("out of range"), "{error}");
        assert_eq!(words.download(&there)?, [0.0; 6]);
        Ok(())
    })
}

// covers: VMM-39
#[test]
fn multicast_memory_that_is_not_there_leaves_nothing_behind() -> Result<()> {
    with_simulated("2", |gpus| {
        let [one, other] = [&gpus[0], &gpus[1]];
        let free = || -> Result<_> { Ok([one.memory_info()?.free, other.memory_info()?.free]) };
        drop(one.physical_memory(1, PhysicalOptions::default())?);
        let before = free()?;
        // The second device has room for a bit less.
        let taken = other.physical_memory(4 << 20, PhysicalOptions::default())?;
        let error = MulticastBuffer::<u8>::zeroed(&[one, other], before[0]).expect_err("too much");
        assert_eq!(error.code(), Some(Code::OUT_OF_MEMORY), "{error}");
        drop(taken);
        assert_eq!(free()?, before);
        for _ in 0..1000 {
            drop(MulticastBuffer::<u32>::zeroed(&[one, other], 4)?);
        }
        one.synchronize()?;
        other.synchronize()?;
        assert_eq!(free()?, before);
        Ok(())
    })
}

/// Everything that belongs to work on a buffer is dropped in each order while the work runs.
// covers: VMM-40
#[test]
fn multicast_buffers_streams_and_devices_are_dropped_in_every_order() -> Result<()> {
    with_simulated("2", |gpus| {
        let choices: Vec<DeviceChoice> =
            Gpu::devices()?.iter().map(|device| device.choice).collect();
        let open = || {
            choices
                .iter()
                .map(|&choice| Gpu::open(choice))
                .collect::<Result<Vec<_>>>()
        };
        drop(MulticastBuffer::<u32>::zeroed(&[&gpus[0], &gpus[1]], 1)?);
        let before = [gpus[0].memory_info()?.free, gpus[1].memory_info()?.free];
        drop(gpus);
        for order in 0..24usize {
            let gpus = open()?;
            let all: Vec<&Gpu> = gpus.iter().collect();
            let words = MulticastBuffer::<u32>::zeroed(&all, 1)?;
            let mut held: Vec<Box<dyn std::any::Any>> = Vec::new();
            for gpu in &all {
                let (stream, module) = (gpu.stream()?, module(gpu)?);
                let kernel = module.kernel(multicast::add_often)?;
                stream.launch(&kernel, Grid::cover(1, 1), (words.on(gpu)?, 2000u32))?;
                held.push(Box::new((stream, module)));
            }
            held.push(Box::new(words));
            held.push(Box::new(gpus));
            let mut rest = order;
            while !held.is_empty() {
                let next = rest % held.len();
                rest /= held.len();
                drop(held.swap_remove(next));
            }
        }
        for (gpu, before) in open()?.iter().zip(before) {
            gpu.synchronize()?;
            assert_eq!(gpu.memory_info()?.free, before);
        }
        Ok(())
    })
}

/// Graphs of both devices keep the replicas, and copies of the buffer come after their launches, from two threads.
// covers: VMM-40
#[test]
fn multicast_replicas_are_kept_by_graphs() -> Result<()> {
    with_simulated("2", |gpus| {
        const TIMES: u32 = 500;
        let all: Vec<&Gpu> = gpus.iter().collect();
        let mut words = MulticastBuffer::<u32>::zeroed(&all, 1)?;
        let mut graphs = Vec::new();
        for gpu in &gpus {
            let (mut stream, module) = (gpu.stream()?, module(gpu)?);
            let kernel = module.kernel(multicast::add_often)?;
            let graph = stream.capture(|capture| {
                capture.launch(&kernel, Grid::cover(1, 1), (words.on(gpu)?, TIMES))
            })?;
            graphs.push((graph.instantiate()?, stream));
        }
        std::thread::scope(|scope| {
            let launch = |(graph, stream): &mut (_, Stream)| -> Result<()> {
                let graph: &mut GraphExec = graph;
                for _ in 0..5 {
                    graph.launch(stream)?;
                }
                Ok(())
            };
            let threads: Vec<_> = graphs
                .iter_mut()
                .map(|graph| scope.spawn(move || launch(graph)))
                .collect();
            threads
                .into_iter()
                .try_for_each(|thread| thread.join().expect("no panic"))
        })?;
        // In streams of their own, which wait for both graphs.
        for gpu in &gpus {
            assert_eq!(words.download(&gpu.stream()?)?, [2 * 5 * TIMES]);
        }
        drop(words);
        for (graph, stream) in &mut graphs {
            graph.launch(stream)?;
            stream.synchronize()?;
        }
        Ok(())
    })
}

// covers: VMM-36
#[test]
fn multicast_needs_a_device_that_has_it() -> Result<()> {
    if std::env::var("WARPSMITH_DEVICE").is_ok_and(|device| device == "cuda") {
        return with_simulated("1", |_| Ok(()));
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
