//! Memory that host and device share: pinned, mapped, unified.

use crate::common::{Gate, gpu, module};
use warpsmith_host::prelude::*;

fn is_busy<T>(result: Result<T>) -> bool {
    matches!(result, Err(Error::Busy(_)))
}

// covers: PINNED-01, STREAM-21
#[test]
fn pinned_memory_is_closed_while_it_is_copied() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let mut gate = Gate::new(&gpu, &module);
    let stream = gpu.stream()?;
    let mut from = gpu.pinned::<u32>(100)?;
    let mut to = gpu.pinned::<u32>(100)?;
    assert_eq!(*from.host()?, [0; 100], "fresh memory is zeroed");
    from.host_mut()?
        .iter_mut()
        .zip(0..)
        .for_each(|(x, i)| *x = i);
    let mut buffer = stream.zeroed::<u32>(100)?;
    stream.synchronize()?;

    gate.close(&stream);
    stream.copy_from_host(&from, &mut buffer)?;
    stream.copy_to_host(&buffer, &mut to)?;
    assert!(is_busy(from.host_mut()), "the copy may still read it");
    assert!(is_busy(to.host()));
    assert!(is_busy(to.host_mut()));
    let error = to.host().map(drop).unwrap_err();
    assert!(error.to_string().contains("synchronize"), "{error}");
    gate.open();
    stream.synchronize()?;
    assert!(to.host()?.iter().copied().eq(0..100));
    from.host_mut()?[0] = 1;
    Ok(())
}

/// What a stream holds after the last use is not waited for: buffers are filled and read while later work runs.
// covers: STREAM-21
#[test]
fn host_memory_is_free_when_its_last_use_was_waited_for() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let add = crate::common::add(&module);
    let mut gate = Gate::new(&gpu, &module);
    let (stream, other) = (gpu.stream()?, gpu.stream()?);
    let mut buffer = stream.filled(100, 1_u32)?;
    let (mut from, mut to) = (gpu.pinned::<u32>(100)?, gpu.pinned::<u32>(100)?);
    let mut mapped = gpu.mapped::<u32>(100)?;
    let mut unified = gpu.unified::<u32>(100)?;
    let mut graph = gpu.graph()?;
    graph.fill(&mut unified, 3)?;
    let mut graph = graph.instantiate()?;

    stream.copy_to_host(&buffer, &mut to)?;
    stream.copy_from_host(&from, &mut buffer)?;
    // SAFETY: the entry takes a slice and a number, and writes only the slice.
    unsafe { stream.launch_untyped(&add, Grid::cover(100, 32), (&mut mapped, 2))? };
    graph.launch(&stream)?;
    let used = gpu.event_untimed()?;
    stream.record(&used)?;
    gate.close(&stream);
    drop(buffer);
    used.synchronize()?;
    assert_eq!(*to.host()?, [1; 100]);
    from.host_mut()?.fill(5);
    assert_eq!(*mapped.host()?, [2; 100]);
    assert_eq!(*unified.host()?, [3; 100]);
    to.host_mut()?[0] = 0;
    mapped.host_mut()?[0] = 0;
    unified.host_mut()?[0] = 0;

    // Another use, which nobody has waited for.
    let mut words = other.zeroed::<u32>(100)?;
    stream.copy_from_host(&from, &mut words)?;
    used.synchronize()?;
    assert!(is_busy(from.host_mut()));
    assert_eq!(*from.host()?, [5; 100], "the device only reads it");
    // One who follows the use was waited for.
    gate.open();
    assert_eq!(other.download(&words)?, [5; 100]);
    gate.close(&stream);
    from.host_mut()?.fill(6);
    gate.open();
    stream.synchronize()
}

#[test]
fn pinned_memory_outlives_its_copies() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let mut gate = Gate::new(&gpu, &module);
    let stream = gpu.stream()?;
    let mut buffer = stream.zeroed::<u32>(1 << 16)?;
    gate.close(&stream);
    {
        let mut pinned = gpu.pinned::<u32>(1 << 16)?;
        pinned.host_mut()?.fill(8);
        stream.copy_from_host(&pinned, &mut buffer)?;
    }
    // The next one must not be given the same memory and overwrite it.
    let mut next = gpu.pinned::<u32>(1 << 16)?;
    next.host_mut()?.fill(9);
    gate.open();
    assert_eq!(stream.download(&buffer)?, vec![8; 1 << 16]);
    Ok(())
}

#[test]
fn an_upload_from_pinned_memory_has_been_read() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    let mut pinned = gpu.pinned::<u32>(1 << 20)?;
    pinned.host_mut()?.fill(1);
    let buffer = stream.upload(&pinned.host()?)?;
    // With a copy still running this would be seen on the device.
    pinned.host_mut()?.fill(2);
    assert_eq!(stream.download(&buffer)?, vec![1; 1 << 20]);
    Ok(())
}

// covers: PINNED-05, PINNED-06
#[test]
fn kernels_reach_mapped_memory() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let add = crate::common::add(&module);
    let mut gate = Gate::new(&gpu, &module);
    let stream = gpu.stream()?;
    let mut mapped = gpu.mapped::<u32>(50)?;
    mapped.host_mut()?.fill(40);
    gate.close(&stream);
    // SAFETY: the entry takes a slice and a number, and writes only the slice.
    unsafe { stream.launch_untyped(&add, Grid::cover(50, 32), (&mut mapped, 2))? };
    assert!(is_busy(mapped.host()));
    gate.open();
    stream.synchronize()?;
    assert_eq!(*mapped.host()?, [42; 50]);
    assert_eq!(stream.download(&mapped)?, [42; 50]);
    Ok(())
}

// covers: UM-05, UM-06, UM-21, UM-22
#[test]
fn unified_memory_moves_and_is_guarded() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let add = crate::common::add(&module);
    let mut gate = Gate::new(&gpu, &module);
    let stream = gpu.stream()?;
    let mut unified = gpu.unified::<u32>(5000)?;
    assert_eq!(*unified.host()?, [0; 5000], "fresh memory is zeroed");
    unified.host_mut()?.fill(1);
    for advice in [
        Advice::ReadMostly,
        Advice::NotReadMostly,
        Advice::Prefer(Location::Device),
        Advice::PreferNothing,
        Advice::AccessedBy(Location::Host),
        Advice::NotAccessedBy(Location::Host),
    ] {
        unified.advise(advice)?;
    }
    stream.prefetch(&unified, Location::Device)?;
    gate.close(&stream);
    // SAFETY: the entry takes a slice and a number, and writes only the slice.
    unsafe { stream.launch_untyped(&add, Grid::cover(5000, 256), (&mut unified, 2))? };
    assert!(is_busy(unified.host()));
    assert!(is_busy(unified.host_mut()));
    gate.open();
    stream.prefetch(&unified, Location::Host)?;
    stream.synchronize()?;
    assert_eq!(*unified.host()?, [3; 5000]);
    unified.attach(&stream, Attach::Single)?;
    // SAFETY: the entry takes a slice and a number, and writes only the slice.
    unsafe { stream.launch_untyped(&add, Grid::cover(5000, 256), (&mut unified, 2))? };
    stream.synchronize()?;
    assert_eq!(*unified.host()?, [5; 5000]);
    unified.attach(&stream, Attach::Global)?;
    let other = gpu.stream()?;
    assert_eq!(other.download(&unified)?, [5; 5000]);
    Ok(())
}

/// The host writes write-combined memory and gets no slice of it; the device reads it at its own address.
// covers: PINNED-04
#[test]
fn write_combined_memory_goes_to_the_device() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let mut gate = Gate::new(&gpu, &module);
    let stream = gpu.stream()?;
    let mut frame = gpu.write_combined::<u32>(100)?;
    assert_eq!(frame.read_slowly()?, [0; 100], "fresh memory is zeroed");
    let numbers: Vec<u32> = (0..100).collect();
    frame.host_mut()?.copy_from_slice(0, &numbers[..50]);
    frame.host_mut()?.copy_from_slice(50, &numbers[50..]);
    assert_eq!(stream.download(&frame)?, numbers);
    let mut target = stream.zeroed::<u32>(100)?;
    stream.synchronize()?;

    gate.close(&stream);
    stream.copy(&frame, &mut target)?;
    assert!(is_busy(frame.host_mut()), "the copy may still read it");
    gate.open();
    assert_eq!(stream.download(&target)?, numbers);
    frame.host_mut()?.set(99, 7);
    frame.host_mut()?.copy_from_slice(0, &[5, 6]);
    let read = frame.read_slowly()?;
    assert_eq!((&read[..3], read[99]), (&[5, 6, 2][..], 7));
    frame.host_mut()?.fill(1);
    assert_eq!(stream.download(&frame)?, [1; 100]);

    // The next one is not given other page-locked memory, or it that memory.
    drop(frame);
    stream.synchronize()?;
    let mut mapped = gpu.mapped::<u32>(100)?;
    mapped.host_mut()?.fill(3);
    assert_eq!(gpu.write_combined::<u32>(100)?.read_slowly()?, [0; 100]);
    assert_eq!(*mapped.host()?, [3; 100]);
    assert!(gpu.write_combined::<u64>(0)?.host_mut()?.is_empty());
    Ok(())
}

/// A `Vec` is registered where it lies, used by kernels and copies, and comes back as it was.
// covers: PINNED-02
#[test]
fn registered_memory_is_the_vec_that_it_was() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let add = crate::common::add(&module);
    let mut gate = Gate::new(&gpu, &module);
    let stream = gpu.stream()?;
    let mut values = Vec::with_capacity(5000);
    values.extend(0..4096_u32);
    let (place, capacity) = (values.as_ptr(), values.capacity());
    let mut buffer = gpu.register(values)?;
    gate.close(&stream);
    // SAFETY: the entry takes a slice and a number, and writes only the slice.
    unsafe { stream.launch_untyped(&add, Grid::cover(4096, 256), (&mut buffer, 2))? };
    assert!(is_busy(buffer.host()));
    assert!(is_busy(buffer.take()));
    gate.open();
    stream.synchronize()?;
    assert_eq!(buffer.host()?[..3], [2, 3, 4]);
    let copy = stream.duplicate(&buffer)?;
    assert!(stream.download(&copy)?.into_iter().eq(2..4098));

    // A graph may use it again at any time.
    let mut graph = gpu.graph()?;
    graph.fill(&mut buffer, 9)?;
    let mut ready = graph.instantiate()?;
    drop(graph);
    ready.launch(&stream)?;
    stream.synchronize()?;
    assert!(is_busy(buffer.take()));
    drop(ready);
    let values = buffer.take()?;
    assert!(buffer.is_empty());
    assert_eq!((values.as_ptr(), values.capacity()), (place, capacity));
    assert_eq!(values, [9; 4096]);

    // It is free again: the same memory can be registered anew, dropped in use, and forgotten.
    let buffer = gpu.register(values)?;
    gate.close(&stream);
    let copy = stream.duplicate(&buffer)?;
    drop(buffer);
    let more = vec![1_u32; 4096];
    gate.open();
    assert_eq!(stream.download(&copy)?, [9; 4096]);
    std::mem::forget(gpu.register(more)?);
    assert!(gpu.register(Vec::<u32>::new())?.take()?.is_empty());
    Ok(())
}

#[test]
fn reading_on_both_sides_is_fine() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    let mut pinned = gpu.pinned::<u32>(10)?;
    pinned.host_mut()?.fill(4);
    let open = pinned.host()?;
    let mut buffer = stream.zeroed::<u32>(10)?;
    stream.copy_from_host(&pinned, &mut buffer)?;
    assert_eq!(open[9], 4);
    assert_eq!(stream.download(&buffer)?, [4; 10]);
    Ok(())
}

#[test]
fn a_forgotten_guard_keeps_graphs_out() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    let mut pinned = gpu.pinned::<u32>(4)?;
    let buffer = stream.upload(&[1, 2, 3, 4_u32])?;
    let mut graph = gpu.graph()?;
    graph.copy_to_host(&buffer, &mut pinned)?;
    let mut ready = graph.instantiate()?;
    {
        let open = pinned.host()?;
        assert!(
            is_busy(ready.launch(&stream)),
            "the graph writes what the host reads"
        );
        assert_eq!(*open, [0; 4]);
    }
    ready.launch(&stream)?;
    stream.synchronize()?;
    assert_eq!(*pinned.host()?, [1, 2, 3, 4]);
    std::mem::forget(pinned.host()?);
    assert!(is_busy(ready.launch(&stream)));
    // What the borrow checker sees to goes on.
    stream.copy_to_host(&buffer, &mut pinned)?;
    stream.synchronize()?;
    Ok(())
}

#[test]
fn empty_host_memory() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    let mut pinned = gpu.pinned::<u32>(0)?;
    assert!(pinned.host_mut()?.is_empty());
    let unified = gpu.unified::<u64>(0)?;
    assert!(unified.host()?.is_empty());
    unified.advise(Advice::ReadMostly)?;
    stream.prefetch(&unified, Location::Device)?;
    let mut buffer = stream.zeroed::<u32>(0)?;
    stream.copy_from_host(&pinned, &mut buffer)?;
    stream.copy_to_host(&buffer, &mut pinned)?;
    Ok(())
}

// covers: UM-01
#[test]
fn where_unified_memory_cannot_be_shared_host_and_kernels_take_turns() {
    // The simulated device reports no concurrent managed access.
    crate::common::in_own_process(&[("WARPSMITH_SIMULATOR_ATTRIBUTES", "89=0")], || {
        let gpu = gpu();
        if gpu.attribute(Attribute::CONCURRENT_MANAGED_ACCESS).unwrap() != 0 {
            println!("skipped: {} shares unified memory", gpu.name());
            return;
        }
        let module = module(&gpu);
        let add = crate::common::add(&module);
        let (one, two) = (gpu.stream().unwrap(), gpu.stream().unwrap());
        let mut unified = gpu.unified::<u32>(100).unwrap();
        let mut elsewhere = one.zeroed::<u32>(100).unwrap();
        one.synchronize().unwrap();
        let mut gate = Gate::new(&gpu, &module);

        // A kernel that has nothing to do with it keeps the host out.
        gate.close(&one);
        assert!(is_busy(unified.host()));
        assert!(is_busy(unified.host_mut()));
        gate.open();
        one.synchronize().unwrap();

        // And the host keeps every kernel out.
        {
            let mut open = unified.host_mut().unwrap();
            open[0] = 7;
            // SAFETY: the entry takes a slice and a number, and writes only the slice.
            let launch =
                unsafe { one.launch_untyped(&add, Grid::new(1, 100), (&mut elsewhere, 1)) };
            assert!(is_busy(launch));
        }
        // SAFETY: the entry takes a slice and a number, and writes only the slice.
        unsafe { one.launch_untyped(&add, Grid::new(1, 100), (&mut unified, 1)) }.unwrap();
        one.synchronize().unwrap();
        assert_eq!(unified.host().unwrap()[..2], [8, 1]);

        // Attached to one stream, the others are no matter, and may not use it.
        unified.attach(&two, Attach::Single).unwrap();
        gate.close(&one);
        unified.host_mut().unwrap()[1] = 5;
        // SAFETY: the entry takes a slice and a number, and writes only the slice.
        let launch = unsafe { one.launch_untyped(&add, Grid::new(1, 100), (&mut unified, 1)) };
        assert_eq!(launch.unwrap_err().code(), Some(Code::NOT_PERMITTED));
        // SAFETY: the entry takes a slice and a number, and writes only the slice.
        unsafe { two.launch_untyped(&add, Grid::new(1, 100), (&mut unified, 1)) }.unwrap();
        two.synchronize().unwrap();
        assert_eq!(unified.host().unwrap()[..2], [9, 6]);
        gate.open();
    });
}

/// One kernel, with memory that moves and with memory that stays at the host; how atomics of both sides go together is the device's to say.
// covers: UM-04
#[test]
fn unified_and_mapped_memory_are_the_same_to_a_kernel() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let add = crate::common::add(&module);
    let stream = gpu.stream()?;
    let mut unified = gpu.unified::<u32>(1000)?;
    let mut mapped = gpu.mapped::<u32>(1000)?;
    for (index, word) in unified.host_mut()?.iter_mut().enumerate() {
        *word = index as u32;
    }
    mapped.host_mut()?.copy_from_slice(&unified.host()?);
    let grid = Grid::cover(1000, 128);
    // SAFETY: the entry takes a slice and a number, and writes only the slice.
    unsafe {
        stream.launch_untyped(&add, grid, (&mut unified, 7))?;
        stream.launch_untyped(&add, grid, (&mut mapped, 7))?;
    }
    stream.synchronize()?;
    assert_eq!(*unified.host()?, *mapped.host()?);
    assert_eq!(unified.host()?[999], 1006);
    let native = gpu.attribute(Attribute::HOST_NATIVE_ATOMIC_SUPPORTED)?;
    assert!((0..=1).contains(&native), "{native}");
    Ok(())
}
