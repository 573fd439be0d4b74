//! Variables of a module: the host's accesses come between kernels, whatever else goes on.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use crate::common::{Gate, gpu, module};
use warpsmith_host::prelude::*;

type CountChanges = UntypedKernel<(Out<u32>, Value<u32>)>;
type AddVariables = UntypedKernel<(In<u32>, Out<u32>)>;

#[test]
fn a_constant_does_not_change_while_a_kernel_runs() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let large = module.global::<u32>("large")?;
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let launching = scope.spawn(|| -> Result<u32> {
            let kernel: CountChanges = module.untyped_kernel("count_changes")?;
            let stream = gpu.stream()?;
            let mut changes = stream.zeroed::<u32>(1)?;
            for _ in 0..200 {
                // SAFETY: a slice and a number; the entry writes the slice's first element.
                unsafe { stream.launch_untyped(&kernel, Grid::new(1, 1), (&mut changes, 500)) }?;
                stream.synchronize()?;
            }
            done.store(true, Ordering::SeqCst);
            Ok(stream.download(&changes)?[0])
        });
        let mut value = 0;
        while !done.load(Ordering::SeqCst) && !launching.is_finished() {
            value += 1;
            large.set_slice(&vec![value; 4096])?;
            let read = large.get_vec()?;
            assert!(read.iter().all(|word| *word == value));
        }
        assert_eq!(launching.join().unwrap()?, 0);
        Ok(())
    })
}

/// Each launch sees what was set before it, also those that a graph makes.
#[test]
fn accesses_are_in_order_with_kernels_of_all_streams() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let counter = module.global::<u32>("counter")?;
    let kernel: AddVariables = module.untyped_kernel("add_variables")?;
    let (one, two) = (gpu.stream()?, gpu.stream()?);
    let x = one.upload(&[100_u32])?;
    let (mut a, mut b) = (one.zeroed::<u32>(1)?, two.zeroed::<u32>(1)?);
    let mut graph = gpu.graph()?;
    // SAFETY: two slices, of which the second is written.
    unsafe { graph.kernel_untyped(&kernel, Grid::new(1, 1), (&x, &mut b)) }?;
    let mut ready = graph.instantiate()?;
    for value in [5, 7, 9] {
        counter.set(&value)?;
        // SAFETY: two slices, of which the second is written.
        unsafe { one.launch_untyped(&kernel, Grid::new(1, 1), (&x, &mut a)) }?;
        ready.launch(&two)?;
        counter.set(&1000)?;
        // The table's first word is 1.
        assert_eq!(one.download(&a)?, [101 + value]);
        assert_eq!(two.download(&b)?, [101 + value]);
        assert_eq!(counter.get()?, 1000);
    }
    Ok(())
}

/// An access waits for the kernels that use the variables, not for what else the device does.
#[test]
fn an_access_does_not_wait_for_other_modules() -> Result<()> {
    let gpu = gpu();
    let (one, other) = (module(&gpu), module(&gpu));
    let mut gate = Gate::new(&gpu, &one);
    let counter = other.global::<u32>("counter")?;
    let stream = gpu.stream()?;
    // So that the driver has what it needs for a copy before the gate is closed.
    counter.set(&6)?;
    gate.close(&stream);
    counter.set(&7)?;
    assert_eq!(counter.get()?, 7);
    assert!(gate.holds(&stream), "the gate is still closed");
    gate.open();
    stream.synchronize()
}

/// Operations of one stream.
#[derive(Default)]
struct Backlog {
    enqueued: AtomicU32,
    executed: AtomicU32,
    most: AtomicU32,
}

/// Beside threads that launch as fast as they can an access takes its turn, and what waits is bounded.
#[test]
fn an_access_takes_its_turn_beside_launches() -> Result<()> {
    const LAUNCHES: u32 = 3000;
    let gpu = gpu();
    let module = module(&gpu);
    let counter = module.global::<u32>("counter")?;
    let launch = || -> Result<u32> {
        let kernel: AddVariables = module.untyped_kernel("add_variables")?;
        let stream = gpu.stream()?;
        let x = stream.upload(&[0_u32; 1024])?;
        let mut y = stream.zeroed::<u32>(1024)?;
        let backlog = Arc::new(Backlog::default());
        for _ in 0..LAUNCHES {
            // SAFETY: two slices, of which the second is written.
            unsafe { stream.launch_untyped(&kernel, Grid::new(32, 32), (&x, &mut y)) }?;
            let seen = backlog.clone();
            stream.host_fn(move || {
                let executed = seen.executed.fetch_add(2, Ordering::SeqCst);
                let enqueued = seen.enqueued.load(Ordering::SeqCst);
                seen.most
                    .fetch_max(enqueued.saturating_sub(executed), Ordering::SeqCst);
            })?;
            backlog.enqueued.fetch_add(2, Ordering::SeqCst);
        }
        stream.synchronize()?;
        Ok(backlog.most.load(Ordering::SeqCst))
    };
    let most = std::thread::scope(|scope| -> Result<_> {
        let launching = [scope.spawn(launch), scope.spawn(launch)];
        let mut value = 0;
        while !launching.iter().all(|thread| thread.is_finished()) {
            value += 1;
            counter.set(&value)?;
            assert_eq!(counter.get()?, value);
        }
        let [one, two] = launching.map(|thread| thread.join().unwrap());
        Ok([one?, two?])
    })?;
    // Drivers have room for about a thousand.
    assert!(most.iter().all(|most| *most <= 2048), "{most:?}");
    Ok(())
}

#[test]
fn what_the_library_has_for_itself_is_hidden() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let error = module
        .global::<u64>("__warpsmith_internal")
        .map(drop)
        .unwrap_err();
    assert_eq!(error.code(), Some(Code::NOT_FOUND));
    assert!(
        !error.to_string().contains("did you mean `__warpsmith"),
        "{error}"
    );
    Ok(())
}
