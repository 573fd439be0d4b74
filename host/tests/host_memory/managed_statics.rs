//! Managed statics in place: who is kept out by whom, whatever is forgotten, opened twice or launched beside.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::common::{Gate, gpu, in_own_process};
use warpsmith_host::prelude::*;

const PTX: &str = ".version 7.0
.target sm_70
.address_size 64
.visible .global .attribute(.managed) .align 8 .u32 total[2] = {40, 2};
.visible .global .attribute(.managed) .align 8 .u32 other;
.visible .global .align 4 .u32 plain;

.visible .entry count(.param .u64 seen, .param .u64 len)
{
    .reg .b64 %seen;
    .reg .b32 %value;
    ld.param.u64 %seen, [seen];
    ld.global.u32 %value, [total];
    add.u32 %value, %value, 1;
    st.global.u32 [total], %value;
    st.global.u32 [%seen], %value;
    ret;
}
";

type Count = UntypedKernel<(Out<u32>,)>;

fn count(stream: &Stream, kernel: &Count, seen: &mut DeviceBuffer<u32>) -> Result<()> {
    // SAFETY: the entry takes a slice and writes its first element.
    unsafe { stream.launch_untyped(kernel, Grid::new(1, 1), (seen,)) }
}

fn is_busy<T>(result: Result<T>) -> bool {
    matches!(result, Err(Error::Busy(_)))
}

#[test]
fn the_host_uses_a_managed_static_in_place() -> Result<()> {
    // covers: UM-09, UM-X19
    let gpu = gpu();
    let module = gpu.load(PTX)?;
    let mut total = module.managed::<u32>("total")?;
    assert_eq!(*total.host()?, [40, 2]);
    total.host_mut()?[0] = 1234;
    let kernel: Count = module.untyped_kernel("count")?;
    let stream = gpu.stream()?;
    let mut seen = stream.zeroed::<u32>(1)?;
    count(&stream, &kernel, &mut seen)?;
    assert_eq!(stream.download(&seen)?, [1235]);
    assert_eq!(*total.host()?, [1235, 2]);
    assert_eq!(total.as_global().get_vec()?, [1235, 2]);
    // The static outlives the module's own object.
    drop((module, kernel));
    assert_eq!(total.host()?[1], 2);
    Ok(())
}

#[test]
fn while_a_kernel_may_use_it_the_host_is_kept_out() -> Result<()> {
    let gpu = gpu();
    let (module, gates) = (gpu.load(PTX)?, crate::common::module(&gpu));
    let mut total = module.managed::<u32>("total")?;
    let kernel: Count = module.untyped_kernel("count")?;
    let (stream, idle) = (gpu.stream()?, gpu.stream()?);
    let mut seen = stream.zeroed::<u32>(1)?;
    let mut gate = Gate::new(&gpu, &gates);
    gpu.synchronize()?;
    // A stream in which no kernel has used it says nothing.
    gate.close(&idle);
    assert_eq!(total.host()?[0], 40);
    gate.open();
    gpu.synchronize()?;
    gate.close(&stream);
    count(&stream, &kernel, &mut seen)?;
    assert!(is_busy(total.host().map(drop)) && is_busy(total.host_mut().map(drop)));
    gate.open();
    stream.synchronize()?;
    assert_eq!(total.host_mut()?[0], 41);
    Ok(())
}

#[test]
fn while_the_host_has_it_open_kernels_of_the_module_are() -> Result<()> {
    let gpu = gpu();
    let (module, others) = (gpu.load(PTX)?, crate::common::module(&gpu));
    let mut total = module.managed::<u32>("total")?;
    let kernel: Count = module.untyped_kernel("count")?;
    let stream = gpu.stream()?;
    let mut seen = stream.zeroed::<u32>(1)?;
    let mut graph = gpu.graph()?;
    let mut in_graph = stream.zeroed::<u32>(1)?;
    // SAFETY: the entry takes a slice and writes its first element.
    unsafe { graph.kernel_untyped(&kernel, Grid::new(1, 1), (&mut in_graph,)) }?;
    let mut ready = graph.instantiate()?;
    // Once before, so that the stream is known to use the variables.
    count(&stream, &kernel, &mut seen)?;
    stream.synchronize()?;

    let mut open = total.host_mut()?;
    open[0] = 5;
    assert!(is_busy(count(&stream, &kernel, &mut seen)));
    assert!(is_busy(ready.launch(&stream)));
    // What uses no variable of the module is.
    let mut y = stream.zeroed::<u32>(1)?;
    crate::common::launch_add(&stream, &crate::common::add(&others), &mut y, 3);
    assert_eq!(stream.download(&y)?, [3]);
    drop(open);
    count(&stream, &kernel, &mut seen)?;
    ready.launch(&stream)?;
    assert_eq!(stream.download(&seen)?, [6]);
    assert_eq!(stream.download(&in_graph)?, [7]);

    let reading = total.host()?;
    assert!(is_busy(count(&stream, &kernel, &mut seen)) && is_busy(ready.launch(&stream)));
    assert_eq!(*reading, [7, 2]);
    Ok(())
}

#[test]
fn accesses_of_one_static_exclude_each_other_whoever_asks() -> Result<()> {
    let gpu = gpu();
    let module = gpu.load(PTX)?;
    let [mut one, mut two] = [module.managed::<u32>("total")?, module.managed("total")?];
    let words = module.global::<u16>("total")?;
    let mut other = module.managed::<u32>("other")?;
    {
        let (first, second) = (one.host()?, two.host()?);
        assert_eq!(first[0] + second[1], 42);
        assert_eq!(words.get_vec()?, [40, 0, 2, 0]);
        assert!(is_busy(words.set_slice(&[0; 4])));
        drop(second);
        assert!(is_busy(two.host_mut().map(drop)), "one reader is left");
    }
    let mut writing = one.host_mut()?;
    writing[1] = 3;
    assert!(is_busy(two.host().map(drop)) && is_busy(two.host_mut().map(drop)));
    assert!(is_busy(words.get_vec()) && is_busy(words.set_slice(&[0; 4])));
    // Another variable is another matter.
    other.host_mut()?[0] = 9;
    assert_eq!(other.as_global().get()?, 9);
    drop(writing);
    assert_eq!(*two.host_mut()?, [40, 3]);
    words.set_slice(&[1, 0, 0, 0])?;
    assert_eq!(*two.host()?, [1, 0]);
    Ok(())
}

#[test]
fn a_guard_that_is_forgotten_keeps_kernels_out_for_good() -> Result<()> {
    let gpu = gpu();
    let module = gpu.load(PTX)?;
    let mut total = module.managed::<u32>("total")?;
    std::mem::forget(total.host_mut()?);
    let kernel: Count = module.untyped_kernel("count")?;
    let stream = gpu.stream()?;
    let mut seen = stream.zeroed::<u32>(1)?;
    assert!(is_busy(count(&stream, &kernel, &mut seen)) && is_busy(total.host().map(drop)));
    drop((total, kernel, module));
    // A module of its own is not touched by it.
    let again = gpu.load(PTX)?;
    assert_eq!(again.managed::<u32>("total")?.host()?[0], 40);
    Ok(())
}

#[test]
fn what_is_not_managed_is_refused() -> Result<()> {
    let gpu = gpu();
    let module = gpu.load(PTX)?;
    let error = module.managed::<u32>("plain").map(drop).unwrap_err();
    assert!(
        error.to_string().contains("`plain` is no managed static"),
        "{error}"
    );
    assert!(module.managed::<u32>("totals").is_err());
    assert!(module.managed::<[u8; 3]>("total").is_err());
    Ok(())
}

/// Neither loses what the other has counted.
#[test]
fn host_and_kernels_take_turns() -> Result<()> {
    const LAUNCHES: u32 = 200;
    let gpu = gpu();
    let module = gpu.load(PTX)?;
    let done = AtomicBool::new(false);
    let launched = || -> Result<()> {
        let kernel: Count = module.untyped_kernel("count")?;
        let stream = gpu.stream()?;
        let mut seen = stream.zeroed::<u32>(1)?;
        for _ in 0..LAUNCHES {
            while is_busy(count(&stream, &kernel, &mut seen)) {
                std::thread::yield_now();
            }
            stream.synchronize()?;
        }
        Ok(())
    };
    let counted = std::thread::scope(|scope| -> Result<u32> {
        let launching = scope.spawn(|| {
            let result = launched();
            done.store(true, Ordering::SeqCst);
            result
        });
        let mut total = module.managed::<u32>("total")?;
        let mut counted = 0;
        while !done.load(Ordering::SeqCst) {
            match total.host_mut() {
                Ok(mut open) => {
                    open[0] += 1;
                    counted += 1;
                }
                Err(Error::Busy(_)) => std::thread::yield_now(),
                Err(error) => return Err(error),
            }
        }
        launching.join().unwrap()?;
        Ok(counted)
    })?;
    assert_eq!(
        module.global::<u32>("total")?.get_vec()?[0],
        40 + LAUNCHES + counted
    );
    Ok(())
}

/// Where the device cannot share managed memory, all kernels count.
#[test]
fn a_device_that_cannot_share_keeps_all_kernels_out() {
    // covers: UM-33
    in_own_process(&[("WARPSMITH_SIMULATOR_ATTRIBUTES", "89=0")], || {
        let gpu = gpu();
        if gpu.attribute(Attribute::CONCURRENT_MANAGED_ACCESS).unwrap() != 0 {
            return;
        }
        let (module, others) = (gpu.load(PTX).unwrap(), crate::common::module(&gpu));
        let mut total = module.managed::<u32>("total").unwrap();
        let stream = gpu.stream().unwrap();
        let mut y = stream.zeroed::<u32>(1).unwrap();
        let add = crate::common::add(&others);
        let mut gate = Gate::new(&gpu, &others);
        gate.close(&stream);
        assert!(is_busy(total.host().map(drop)));
        gate.open();
        gpu.synchronize().unwrap();
        let open = total.host_mut().unwrap();
        let mut launch = || {
            // SAFETY: the entry takes a slice and a number, and writes only the slice.
            unsafe { stream.launch_untyped(&add, Grid::new(1, 1), (&mut y, 1)) }
        };
        assert!(is_busy(launch()));
        drop(open);
        launch().unwrap();
        gpu.synchronize().unwrap();
        assert!(total.host().is_ok());
    });
}
