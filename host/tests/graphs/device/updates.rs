//! Graphs that kernels launch, updated.

use super::{adds, launcher};
use crate::common::{Gate, add, gpu, module};
use warpsmith_host::prelude::*;

// covers: DGRAPH-04
#[test]
fn an_update_is_seen_by_the_graphs_that_launch_it() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let add = add(&module);
    let mut gate = Gate::new(&gpu, &module);
    let (one, two) = (gpu.stream()?, gpu.stream()?);
    let mut buffer = one.zeroed::<u32>(100)?;
    let mut other = one.zeroed::<u32>(100)?;
    let mut codes = [one.filled(1, 77_u32)?, one.filled(1, 77_u32)?];
    let [inner, outer] = &mut codes;
    let mut tail = adds(&gpu, &add, &mut buffer, 1)?.instantiate_for_device_launch(&one)?;
    let mut first = launcher(&gpu, &tail, outer)?.instantiate()?;
    first.launch(&one)?;
    assert_eq!(one.download(&buffer)?, [1; 100]);

    let ten = adds(&gpu, &add, &mut buffer, 10)?;
    gate.close(&one);
    first.launch(&one)?;
    let error = tail.update(&ten, &two).expect_err("it may be running");
    assert!(matches!(error, Error::Busy(_)), "{error}");
    gate.open();
    assert_eq!(one.download(&buffer)?, [2; 100]);
    one.synchronize()?;
    tail.update(&ten, &two)?;
    first.launch(&one)?;
    assert_eq!(one.download(&buffer)?, [12; 100]);
    tail.launch(&two)?;
    assert_eq!(one.download(&buffer)?, [22; 100]);
    gpu.synchronize()?;

    // Who relies on what it uses would not be in order with more.
    let elsewhere = adds(&gpu, &add, &mut other, 1)?;
    let itself = launcher(&gpu, &tail, inner)?;
    for graph in [elsewhere, itself] {
        let error = tail.update(&graph, &two).expect_err("it uses more");
        assert!(matches!(error, Error::Invalid(_)), "{error}");
    }
    let mut empty = gpu.graph()?;
    empty.empty()?;
    assert!(tail.update(&empty, &two).is_err());
    // Nothing has changed.
    first.launch(&one)?;
    assert_eq!(one.download(&buffer)?, [32; 100]);
    Ok(())
}

/// The host's calls at the same time: an update is refused while a launch is under way, and a launch while the update is.
#[test]
fn updates_and_launches_by_two_threads() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let add = add(&module);
    let (one, two) = (gpu.stream()?, gpu.stream()?);
    let mut buffer = one.zeroed::<u32>(100)?;
    let mut code = one.filled(1, 77_u32)?;
    let mut tail = adds(&gpu, &add, &mut buffer, 1)?.instantiate_for_device_launch(&one)?;
    let mut first = launcher(&gpu, &tail, &mut code)?.instantiate()?;
    let same = adds(&gpu, &add, &mut buffer, 1)?;
    let counted = |result: Result<()>| match result {
        Ok(()) => 1,
        Err(Error::Busy(_)) => 0,
        Err(error) => panic!("{error}"),
    };
    let launches = std::thread::scope(|scope| {
        let launches = scope.spawn(|| {
            let launch = |_| {
                let launched = counted(first.launch(&one));
                one.synchronize().expect("no fault");
                launched
            };
            (0..200).map(launch).sum::<u32>()
        });
        scope.spawn(|| {
            let same = same;
            (0..200).for_each(|_| _ = counted(tail.update(&same, &two)));
        });
        launches.join().expect("it counts")
    });
    assert!(launches > 0);
    assert_eq!(one.download(&buffer)?, [launches; 100]);
    Ok(())
}

/// A launcher may be the tail of what it launched only by an update, which is refused; a graph can still launch itself.
#[test]
fn two_graphs_cannot_launch_each_other() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let stream = gpu.stream()?;
    let mut buffer = stream.zeroed::<u32>(10)?;
    let mut codes = [stream.filled(1, 77_u32)?, stream.filled(1, 77_u32)?];
    let [inner, outer] = &mut codes;
    let leaf = adds(&gpu, &add(&module), &mut buffer, 1)?.instantiate_for_device_launch(&stream)?;
    let mut first = launcher(&gpu, &leaf, inner)?.instantiate_for_device_launch(&stream)?;
    let second = launcher(&gpu, &first, outer)?.instantiate_for_device_launch(&stream)?;
    gpu.synchronize()?;
    let back = launcher(&gpu, &second, inner)?;
    let error = first.update(&back, &stream).expect_err("a circle");
    assert!(error.to_string().contains("may launch a graph"), "{error}");
    let mut start = launcher(&gpu, &second, outer)?.instantiate()?;
    start.launch(&stream)?;
    assert_eq!(stream.download(&buffer)?, [1; 10]);
    Ok(())
}
