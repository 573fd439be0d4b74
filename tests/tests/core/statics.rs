//! Constant memory and device statics, from both sides.

use std::sync::mpsc;

use warpsmith_host::prelude::*;
use warpsmith_test_kernels::statics as kernels;
use warpsmith_tests::{Fixture, Side, own_process};

// covers: SPACE-08, SPACE-09, LANG-06, LANG-07, LANG-20
#[test]
fn the_host_sets_and_reads_statics() {
    // A module of its own: the statics belong to it.
    let f = Fixture::open().unwrap();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::filter).unwrap();
    let x: Vec<f32> = (0..70).map(|i| i as f32 - 10.0).collect();
    let xs = stream.upload(&x).unwrap();
    let filtered = |taps: [f32; 4]| -> Vec<f32> {
        x.windows(4)
            .map(|w| w.iter().zip(taps).map(|(x, tap)| x * tap).sum())
            .collect()
    };
    let run = || {
        let mut out = stream.zeroed::<f32>(67).unwrap();
        stream
            .launch(&kernel, Grid::cover(70, 32), (&xs, &mut out))
            .unwrap();
        stream.download(&out).unwrap()
    };

    assert_eq!(run(), filtered([1.0, 2.0, 3.0, 4.0]));
    let negative = f.module.global::<u32>("NEGATIVE").unwrap();
    assert_eq!(negative.get().unwrap(), 15, "it began at 5");

    let taps = f.module.global::<[f32; 4]>("TAPS").unwrap();
    assert_eq!(taps.get().unwrap(), [1.0, 2.0, 3.0, 4.0]);
    taps.set(&[0.5, 0.0, -1.0, 8.0]).unwrap();
    negative.set(&100).unwrap();
    assert_eq!(run(), filtered([0.5, 0.0, -1.0, 8.0]));
    assert_eq!(negative.get().unwrap(), 110);
    let length = f.module.global::<u64>("LAST_LENGTH").unwrap();
    assert_eq!(length.get().unwrap(), 70);

    // Another load of the same PTX has objects of its own; the host's statics are yet others.
    let other = Fixture::open().unwrap();
    let fresh = other.module.global::<u32>("NEGATIVE").unwrap();
    assert_eq!(fresh.get().unwrap(), 5);
    assert_eq!(*kernels::TAPS, [1.0, 2.0, 3.0, 4.0]);
}

/// A handle to a managed variable keeps its module, so nothing in safe code uses one whose module is unloaded.
// covers: UM-10, UM-X19
#[test]
fn a_managed_static_lives_as_long_as_its_handle() {
    let Fixture { gpu, module } = Fixture::open().unwrap();
    let stream = gpu.stream().unwrap();
    let threads = module.global::<u32>("THREADS").unwrap();
    assert_eq!(threads.get().unwrap(), 3);
    let kernel = module.kernel(kernels::count_threads).unwrap();
    threads.set(&1234).unwrap();
    stream.launch(&kernel, Grid::new(2, 32), ()).unwrap();
    drop(kernel);
    drop(module);
    assert_eq!(threads.get().unwrap(), 1234 + 64);
    threads.set(&7).unwrap();
    drop((gpu, stream));
    assert_eq!(threads.get().unwrap(), 7);
}

/// The host uses a managed static in place, by guards: while a kernel may use it there are none, and while there are no kernel is launched. One that
/// reads stands beside others that read, and beside none that writes.
// covers: UM-09, UM-10, UM-X19
#[test]
fn guards_share_a_managed_static_with_kernels() {
    // What other tests do waits for the work held up here, as the driver makes all host functions of a process on one thread.
    let Side::Child = own_process(&[]) else {
        return;
    };
    let Fixture { gpu, module } = Fixture::open().unwrap();
    let stream = gpu.stream().unwrap();
    let kernel = module.kernel(kernels::count_threads).unwrap();
    let count = || stream.launch(&kernel, Grid::new(2, 32), ());
    let [mut threads, mut same] = [(); 2].map(|()| module.managed::<u32>("THREADS").unwrap());
    *threads.host_mut().unwrap().first_mut().unwrap() = 100;

    // The kernel is held up, and might run at any moment.
    let (go, gone) = mpsc::channel();
    stream
        .host_fn(move || gone.recv().expect("it is told to go on"))
        .unwrap();
    count().unwrap();
    let busy = |error: Error| {
        assert!(matches!(error, Error::Busy(_)), "{error}");
    };
    busy(threads.host().map(drop).unwrap_err());
    busy(same.host_mut().map(drop).unwrap_err());
    go.send(()).unwrap();
    stream.synchronize().unwrap();

    let read = threads.host().unwrap();
    {
        let beside = same.host().unwrap();
        assert_eq!((read[0], beside[0]), (164, 164));
    }
    busy(same.host_mut().map(drop).unwrap_err());
    drop(read);
    let mut write = threads.host_mut().unwrap();
    busy(same.host().map(drop).unwrap_err());
    busy(count().unwrap_err());
    write[0] = 7;
    drop(write);
    count().unwrap();
    stream.synchronize().unwrap();
    assert_eq!(same.host().unwrap()[0], 7 + 64);
}
