//! Device memory: contents, parts, order across streams, life time.

use crate::common::{Gate, add, gpu, launch_add, module};
use warpsmith_host::prelude::*;
use warpsmith_host::{AnyBuffer, Arena};

// covers: MEM-01, EX1-06
#[test]
fn what_goes_up_comes_down() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    for n in [0, 1, 255, 256, 257, 1_000_000] {
        let data: Vec<u32> = (0..n).collect();
        let buffer = stream.upload(&data)?;
        assert_eq!(buffer.len(), data.len());
        assert_eq!(stream.download(&buffer)?, data, "{n} elements");
    }
    Ok(())
}

#[test]
fn nothing_needs_no_memory() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    let mut nothing = stream.upload::<u64>(&[])?;
    assert!(nothing.is_empty());
    stream.fill(&mut nothing, 3)?;
    let mut none = stream.zeroed::<u64>(0)?;
    stream.copy(&nothing, &mut none)?;
    assert_eq!(stream.download(&none)?, [0u64; 0]);
    // A type without size has elements but no bytes.
    let units = stream.zeroed::<()>(5)?;
    assert_eq!(stream.download(&units)?.len(), 5);
    Ok(())
}

// covers: MEM-18
#[test]
fn fills_of_every_width() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    assert_eq!(stream.download(&stream.filled(5, 7_u8)?)?, [7; 5]);
    assert_eq!(
        stream.download(&stream.filled(5, 0x1234_u16)?)?,
        [0x1234; 5]
    );
    assert_eq!(stream.download(&stream.filled(5, 1.5_f32)?)?, [1.5; 5]);
    assert_eq!(stream.download(&stream.filled(5, 0.1_f64)?)?, [0.1; 5]);
    assert_eq!(
        stream.download(&stream.filled(1000, [1_u8, 2, 3])?)?,
        [[1, 2, 3]; 1000]
    );
    assert_eq!(stream.download(&stream.zeroed::<u128>(3)?)?, [0; 3]);
    // Only the part, and nothing beside it.
    let mut buffer = stream.filled(9, 1_u16)?;
    stream.fill(&mut buffer.slice_mut(3..6), 2)?;
    assert_eq!(stream.download(&buffer)?, [1, 1, 1, 2, 2, 2, 1, 1, 1]);
    Ok(())
}

#[test]
fn parts_and_copies() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    let source = stream.upload(&[1, 2, 3, 4, 5, 6_u32])?;
    let mut target = stream.zeroed::<u32>(6)?;
    stream.copy(&source.slice(1..4), &mut target.slice_mut(2..5))?;
    assert_eq!(stream.download(&target)?, [0, 0, 2, 3, 4, 0]);
    assert_eq!(stream.download(&source.slice(2..).slice(1..=2))?, [4, 5]);
    let mut out = [0; 2];
    stream.download_into(&target.slice(3..5), &mut out)?;
    assert_eq!(out, [3, 4]);
    stream.upload_into(&[9, 9], &mut target.slice_mut(..2))?;
    assert_eq!(
        stream.download(&stream.duplicate(&target)?)?,
        [9, 9, 2, 3, 4, 0]
    );

    let error = stream
        .copy(&source, &mut target.slice_mut(..5))
        .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("6 elements and the destination 5"),
        "{error}"
    );
    assert_eq!(error.code(), Some(Code::INVALID_VALUE));
    Ok(())
}

#[test]
#[should_panic(expected = "range 2..7 of memory with 6 elements")]
fn a_part_lies_inside() {
    let stream = gpu().stream().unwrap();
    let buffer = stream.zeroed::<u8>(6).unwrap();
    let _ = buffer.slice(2..7);
}

#[test]
fn too_much_memory_is_an_error() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    let error = stream.zeroed::<u64>(usize::MAX).unwrap_err();
    assert_eq!(error.code(), Some(Code::OUT_OF_MEMORY));
    // More than any device has, but not more than an address space.
    let error = stream.zeroed::<u64>(1 << 55).unwrap_err();
    assert_eq!(error.code(), Some(Code::OUT_OF_MEMORY), "{error}");
    assert!(error.to_string().contains("cuMemAllocAsync"), "{error}");
    assert!(error.hint().is_some());
    // And the stream works on.
    assert_eq!(stream.download(&stream.filled(2, 1_u8)?)?, [1, 1]);
    Ok(())
}

/// A device that has too little says how much was asked for, works on, and other memory takes the device's place.
// covers: MEM-12
#[test]
fn what_the_device_lacks_is_taken_elsewhere() {
    const MUCH: usize = 128 << 20;
    crate::common::in_own_process(&[("WARPSMITH_SIMULATOR_MEMORY", "64M")], || {
        let gpu = gpu();
        if !gpu.is_simulator() {
            println!("skipped: {} has too much memory", gpu.name());
            return;
        }
        let module = module(&gpu);
        let add = add(&module);
        let stream = gpu.stream().unwrap();
        for _ in 0..3 {
            let error = stream.zeroed::<u32>(MUCH / 4).unwrap_err();
            assert_eq!(error.code(), Some(Code::OUT_OF_MEMORY));
            assert!(error.to_string().contains("134217728 bytes"), "{error}");
            let mut small = stream.zeroed::<u32>(100).unwrap();
            launch_add(&stream, &add, &mut small, 2);
            assert_eq!(stream.download(&small).unwrap(), [2; 100]);
        }
        assert!(matches!(
            stream.zeroed_anywhere::<u32>(100).unwrap(),
            AnyBuffer::Device(_)
        ));
        let mut large = stream.zeroed_anywhere::<u32>(MUCH / 4).unwrap();
        assert!(!matches!(large, AnyBuffer::Device(_)), "{large:?}");
        // SAFETY: the entry takes a slice and a number, and writes only the slice.
        unsafe { stream.launch_untyped(&add, Grid::cover(MUCH / 4, 256), (&mut large, 5)) }
            .unwrap();
        assert!(stream.download(&large).unwrap().iter().all(|x| *x == 5));
        // What nothing has is the device's error.
        let error = stream.zeroed_anywhere::<u64>(1 << 55).unwrap_err();
        assert_eq!(error.code(), Some(Code::OUT_OF_MEMORY));
        assert!(error.to_string().contains("cuMemAllocAsync"), "{error}");
    });
}

/// Arrays of many types in one block: each where its elements may lie, none over another.
// covers: MEM-16
#[test]
fn an_arena_gives_aligned_parts() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    let mut block = stream.zeroed::<u8>(1 << 20)?;
    let base = block.as_device_ptr().address();
    let mut random = warpsmith_testkit::Random::new(7);
    // An odd beginning: the alignment is the address's, not the offset's.
    let mut arena = Arena::new(block.slice_mut(3..));
    let mut ends = vec![base + 3];
    let mut note = |address: u64, bytes: usize, alignment: u64| {
        assert_eq!(address % alignment, 0);
        assert!(address >= *ends.last().unwrap(), "parts overlap");
        ends.push(address + bytes as u64);
    };
    for _ in 0..100 {
        let len = (random.bits() % 300) as usize;
        let bytes = arena.take::<u8>(len)?;
        note(bytes.as_device_ptr().address(), len, 256);
        let words = arena.take_aligned::<f64>(len, 1)?;
        note(words.as_device_ptr().address(), len * 8, 8);
        let pairs = arena.take_aligned::<[u32; 4]>(len, 64)?;
        note(pairs.as_device_ptr().address(), len * 16, 64);
    }
    assert!(*ends.last().unwrap() <= base + (1 << 20));

    let left = arena.remaining();
    let error = arena.take::<u64>(1 << 20).map(drop).unwrap_err();
    assert_eq!(error.code(), Some(Code::OUT_OF_MEMORY));
    assert!(error.to_string().contains("u64; 1048576"), "{error}");
    assert_eq!(
        arena.take_aligned::<u8>(1, 3).map(drop).unwrap_err().code(),
        Some(Code::INVALID_VALUE)
    );
    assert_eq!(arena.remaining(), left, "an error takes nothing");
    let mut sevens = arena.take::<u32>(5)?;
    let mut nines = arena.take::<u16>(5)?;
    let other = gpu.stream()?;
    stream.fill(&mut sevens, 7)?;
    other.fill(&mut nines, 9)?;
    assert_eq!(stream.download(&sevens)?, [7; 5]);
    assert_eq!(other.download(&nines)?, [9; 5]);
    Ok(())
}

// covers: MEM-13
#[test]
fn memory_is_aligned() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    let buffers: Vec<_> = (1..100)
        .map(|n| stream.zeroed::<u8>(n))
        .collect::<Result<_>>()?;
    assert!(
        buffers
            .iter()
            .all(|buffer| buffer.as_device_ptr().address() % 256 == 0)
    );
    Ok(())
}

#[test]
fn memory_and_its_parts_say_what_they_are() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    let mut buffer = stream.zeroed::<u16>(6)?;
    let address = buffer.as_device_ptr();
    assert_eq!(
        format!("{buffer:?}"),
        format!("DeviceBuffer<u16>[6] at {address:?}")
    );
    let part = buffer.slice(2..5);
    let address = part.as_device_ptr();
    assert_eq!(
        format!("{part:?}"),
        format!("DeviceSlice<u16>[3] at {address:?}")
    );
    let (first, rest) = part.split_at(1);
    assert_eq!((first.len(), rest.len()), (1, 2));
    assert_eq!(
        rest.as_device_ptr().address(),
        first.as_device_ptr().address() + 2
    );
    assert!(part.split_at(3).1.is_empty());
    let part = buffer.slice_mut(2..5);
    assert_eq!(
        format!("{part:?}"),
        format!("DeviceSliceMut<u16>[3] at {address:?}")
    );
    let (one, other): (&Gpu, &Gpu) = (&gpu, &Gpu::open_default()?);
    assert_eq!(one, other);
    Ok(())
}

#[test]
#[should_panic(expected = "of memory with 3 elements")]
fn a_part_is_not_split_behind_its_end() {
    let buffer = gpu().stream().and_then(|stream| stream.zeroed::<u8>(3));
    buffer.expect("memory").slice(..).split_at(4);
}

// covers: POOL-05, STREAM-08
#[test]
fn streams_follow_each_other_where_they_share_memory() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let add = add(&module);
    let mut gate = Gate::new(&gpu, &module);
    let (one, two, three) = (gpu.stream()?, gpu.stream()?, gpu.stream()?);
    let mut buffer = one.zeroed::<u32>(1000)?;
    let other = three.upload(&[1_u32; 4])?;

    gate.close(&one);
    launch_add(&one, &add, &mut buffer, 1);
    // Waits for the first stream, and the host does not.
    launch_add(&two, &add, &mut buffer, 10);
    let copy = three.duplicate(&buffer.slice(..500))?;
    assert!(gate.holds(&two), "the second stream ran ahead");
    // What shares nothing is not held up by it.
    let fourth = gpu.stream()?;
    assert_eq!(fourth.download(&fourth.upload(&[3_u32])?)?, [3]);
    gate.open();
    assert_eq!(three.download(&copy)?, [11; 500]);
    assert_eq!(one.download(&buffer)?, [11; 1000]);
    drop(other);
    Ok(())
}

// covers: POOL-04, STREAM-07
#[test]
fn memory_outlives_its_last_use() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let add = add(&module);
    let mut gate = Gate::new(&gpu, &module);
    let (one, two) = (gpu.stream()?, gpu.stream()?);
    let mut source = one.filled(1 << 16, 5_u32)?;
    let mut result = two.zeroed::<u32>(1 << 16)?;
    gate.close(&one);
    launch_add(&one, &add, &mut source, 1);
    two.copy(&source, &mut result)?;
    // Both streams still have it before them; dropping it and a stream does not wait.
    drop(source);
    drop(one);
    // New memory of the same size, which the pool would love to take from the old.
    let three = gpu.stream()?;
    let fresh = three.filled(1 << 16, 77_u32)?;
    gate.open();
    assert_eq!(two.download(&result)?, vec![6; 1 << 16]);
    assert_eq!(three.download(&fresh)?, vec![77; 1 << 16]);
    Ok(())
}

// covers: POOL-09
#[test]
fn many_buffers_without_a_wait() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let add = add(&module);
    let streams = [gpu.stream()?, gpu.stream()?, gpu.stream()?];
    let mut kept = streams[0].zeroed::<u32>(64)?;
    for i in 0..300 {
        let stream = &streams[i % 3];
        let mut buffer = stream.filled(64, 1_u32)?;
        launch_add(stream, &add, &mut buffer, 2);
        let next = &streams[(i + 1) % 3];
        next.copy(&buffer, &mut kept)?;
    }
    assert_eq!(streams[1].download(&kept)?, [3; 64]);
    Ok(())
}

#[test]
fn halves_are_independent_and_the_whole_is_not() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let mut gate = Gate::new(&gpu, &module);
    let (one, two) = (gpu.stream()?, gpu.stream()?);
    let mut buffer = one.zeroed::<u32>(8)?;
    one.synchronize()?;
    {
        let (mut left, mut right) = buffer.slice_mut(..).split_at_mut(4);
        gate.close(&one);
        one.fill(&mut left, 1)?;
        // The other half does not wait for the closed gate.
        two.fill(&mut right, 2)?;
        two.synchronize()?;
        assert!(gate.holds(&one));
    }
    // The whole does.
    two.fill(&mut buffer.slice_mut(3..5), 9)?;
    assert!(gate.holds(&two));
    gate.open();
    assert_eq!(two.download(&buffer)?, [1, 1, 1, 9, 9, 2, 2, 2]);
    Ok(())
}

#[test]
fn halves_from_two_threads() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let add = module.untyped_kernel::<(Out<u32>, Value<u32>)>("add")?;
    let (one, two) = (gpu.stream()?, gpu.stream()?);
    let mut buffer = one.zeroed::<u32>(2000)?;
    for _ in 0..20 {
        let (left, right) = buffer.slice_mut(..).split_at_mut(1000);
        std::thread::scope(|scope| {
            for (stream, mut half) in [(&one, left), (&two, right)] {
                let add = &add;
                scope.spawn(move || {
                    for _ in 0..5 {
                        // SAFETY: the entry takes a slice and a number, and writes only the slice.
                        unsafe {
                            stream.launch_untyped(add, Grid::cover(1000, 256), (&mut half, 1))
                        }
                        .unwrap();
                    }
                });
            }
        });
    }
    assert_eq!(two.download(&buffer)?, [100; 2000]);
    Ok(())
}

// covers: DRV-05
#[test]
fn objects_go_in_any_order() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let add = add(&module);
    let stream = gpu.stream()?;
    let mut buffer = stream.filled(10, 1_u32)?;
    drop(gpu);
    drop(module);
    launch_add(&stream, &add, &mut buffer, 4);
    drop(add);
    assert_eq!(stream.download(&buffer)?, [5; 10]);
    drop(stream);
    drop(buffer);
    Ok(())
}

// covers: MEM-09, MEM-10, EX1-11
#[test]
fn variables_of_a_module() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let table = module.global::<u32>("table")?;
    assert_eq!(table.get_vec()?, [1, 2, 3, 4]);
    table.set_slice(&[100, 0, 0, 0])?;
    let counter = module.global::<u32>("counter")?;
    assert_eq!(counter.get()?, 5);
    counter.set(&1000)?;

    let kernel = module.untyped_kernel::<(In<u32>, Out<u32>)>("add_variables")?;
    let stream = gpu.stream()?;
    let x = stream.upload(&[1, 2, 3])?;
    let mut y = stream.zeroed(3)?;
    // SAFETY: two slices, of which the second is written.
    unsafe { stream.launch_untyped(&kernel, Grid::cover(3, 32), (&x, &mut y))? };
    assert_eq!(stream.download(&y)?, [1101, 1102, 1103]);

    let error = module.global::<u32>("tabel").map(drop).unwrap_err();
    assert!(
        error.to_string().contains("did you mean `table`"),
        "{error}"
    );
    let error = module.global::<[u8; 3]>("table").map(drop).unwrap_err();
    assert!(error.to_string().contains("16 bytes"), "{error}");
    let error = table.set(&1).unwrap_err();
    assert!(
        error.to_string().contains("holds 4 elements, not 1"),
        "{error}"
    );
    Ok(())
}
