//! Virtual memory: buffers that grow in place, and physical memory that is mapped, shared and given back.

use crate::common::{Gate, gpu, hold_up, launch_add, module};
use warpsmith_host::prelude::*;
use warpsmith_host::{ForeignWork, MappingAccess, PhysicalOptions};

/// What the device maps at once, in elements.
const PIECE: usize = (2 << 20) / size_of::<u32>();

// covers: VMM-13, VMM-X02
#[test]
fn a_buffer_grows_in_place() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let stream = gpu.stream()?;
    let mut buffer = gpu.growable::<u32>(1 << 34)?;
    let address = buffer.as_device_ptr().address();
    let free = gpu.memory_info()?.free;
    assert_eq!((buffer.len(), buffer.mapped_bytes()?), (0, 0));
    let mut expected = Vec::new();
    for step in 0..12_u32 {
        let part: Vec<u32> = (0..PIECE as u32).map(|i| i ^ step).collect();
        stream.extend(&mut buffer, &part)?;
        expected.extend(part);
        assert_eq!(buffer.as_device_ptr().address(), address, "step {step}");
    }
    stream.grow_zeroed(&mut buffer, expected.len() + 5)?;
    expected.resize(expected.len() + 5, 0);
    assert_eq!(buffer.len(), expected.len());
    // At most an eighth more than what is needed, and no copy beside it.
    let taken = free - gpu.memory_info()?.free;
    assert!(taken <= 16 * PIECE * 4, "{taken}");
    // A kernel goes over all seams.
    let add = crate::common::add(&module);
    let grid = Grid::cover(buffer.len(), 128);
    // SAFETY: the entry takes a slice and a number, and writes only the slice.
    unsafe { stream.launch_untyped(&add, grid, (&mut buffer, 3)) }?;
    expected.iter_mut().for_each(|value| *value += 3);
    assert!(stream.download(&buffer)? == expected);
    drop(buffer);
    gpu.synchronize()?;
    assert_eq!(gpu.memory_info()?.free, free);
    Ok(())
}

#[test]
fn what_does_not_fit_changes_nothing() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    let mut buffer = gpu.growable::<u32>(10)?;
    stream.extend(&mut buffer, &[1, 2, 3])?;
    let error = stream.grow_zeroed(&mut buffer, 11).unwrap_err();
    assert!(
        error.to_string().contains("11") && error.to_string().contains("10"),
        "{error}"
    );
    let error = stream.extend(&mut buffer, &[0; 8]).unwrap_err();
    assert!(
        error.hint().is_some_and(|hint| hint.contains("capacity")),
        "{error}"
    );
    assert_eq!(stream.download(&buffer)?, [1, 2, 3]);

    // More than the device has.
    let most = gpu.total_memory() * 2 / size_of::<u32>();
    let mut buffer = gpu.growable::<u32>(most)?;
    stream.extend(&mut buffer, &[4, 5])?;
    let mapped = buffer.mapped_bytes()?;
    let error = stream.grow_zeroed(&mut buffer, most).unwrap_err();
    assert_eq!(error.code(), Some(Code::OUT_OF_MEMORY), "{error}");
    assert_eq!((buffer.len(), buffer.mapped_bytes()?), (2, mapped));
    assert_eq!(stream.download(&buffer)?, [4, 5]);
    Ok(())
}

#[test]
fn nothing_and_elements_without_size_need_no_addresses() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    let mut none = gpu.growable::<u32>(0)?;
    stream.extend(&mut none, &[])?;
    assert!(stream.grow_zeroed(&mut none, 1).is_err());
    none.shrink_to_fit()?;
    let mut units = gpu.growable::<()>(9)?;
    stream.grow_zeroed(&mut units, 9)?;
    assert_eq!(stream.download(&units)?.len(), 9);
    Ok(())
}

#[test]
fn kernels_see_it_as_a_matrix_or_a_volume_of_its_present_length() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let stream = gpu.stream()?;
    let mut buffer = gpu.growable::<u32>(1 << 20)?;
    stream.grow_zeroed(&mut buffer, 8)?;
    let number = module.untyped_kernel::<(OutMatrix<u32>,)>("number_matrix")?;
    let grid = Grid::new(9, 32);
    // SAFETY: the entry writes inside of the matrix.
    unsafe { stream.launch_untyped(&number, grid, (buffer.matrix_mut_with_stride(2, 3, 5)?,)) }?;
    assert_eq!(stream.download(&buffer)?, [0, 1, 2, 0, 0, 1000, 1001, 1002]);
    assert_eq!(buffer.matrix_with_stride(2, 3, 5)?.stride(), 5);
    assert_eq!(buffer.volume_mut(2, 2, 2)?.extents(), (2, 2, 2));

    // The capacity is no help: what is behind the last element is not the buffer's yet.
    let error = buffer.matrix_with_stride(2, 4, 5).err();
    assert!(error.is_some_and(|error| error.to_string().contains("the memory has 8")));
    assert!(buffer.matrix_mut_with_stride(2, 4, 5).is_err());
    assert!(buffer.volume_mut(1, 3, 3).is_err());
    stream.grow_zeroed(&mut buffer, 9)?;
    assert!(buffer.matrix_with_stride(2, 4, 5).is_ok());
    assert!(buffer.matrix_mut_with_stride(2, 4, 5).is_ok());
    assert!(buffer.volume_mut(1, 3, 3).is_ok());
    Ok(())
}

#[test]
fn it_grows_while_it_is_used() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let (held, other) = (gpu.stream()?, gpu.stream()?);
    let mut gate = Gate::new(&gpu, &module);
    let add = crate::common::add(&module);
    let mut buffer = gpu.growable::<u32>(4 * PIECE)?;
    held.grow_zeroed(&mut buffer, PIECE)?;
    gate.close(&held);
    // SAFETY: the entry takes a slice and a number, and writes only the slice.
    unsafe { held.launch_untyped(&add, Grid::cover(PIECE, 128), (&mut buffer, 1)) }?;
    other.grow_zeroed(&mut buffer, 2 * PIECE)?;
    // The other stream comes after the kernel that is held up, for the part that both use.
    // SAFETY: the entry takes a slice and a number, and writes only the slice.
    unsafe { other.launch_untyped(&add, Grid::cover(2 * PIECE, 128), (&mut buffer, 2)) }?;
    assert!(gate.holds(&held));
    gate.open();
    let values = other.download(&buffer)?;
    assert!(values[..PIECE].iter().all(|&value| value == 3));
    assert!(values[PIECE..].iter().all(|&value| value == 2));
    Ok(())
}

// covers: VMM-12
#[test]
fn dropping_waits_for_nobody_and_loses_nothing() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let stream = gpu.stream()?;
    let mut gate = Gate::new(&gpu, &module);
    let add = crate::common::add(&module);
    let free = gpu.memory_info()?.free;
    for _ in 0..100 {
        gate.close(&stream);
        let mut buffer = gpu.growable::<u32>(PIECE)?;
        stream.grow_zeroed(&mut buffer, 1000)?;
        // SAFETY: the entry takes a slice and a number, and writes only the slice.
        unsafe { stream.launch_untyped(&add, Grid::cover(1000, 128), (&mut buffer, 1)) }?;
        drop(buffer);
        assert!(gate.holds(&stream));
        gate.open();
        stream.synchronize()?;
    }
    gpu.synchronize()?;
    assert_eq!(gpu.memory_info()?.free, free);
    Ok(())
}

#[test]
fn only_what_nothing_uses_is_given_back() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    let mut buffer = gpu.growable::<u32>(8 * PIECE)?;
    for _ in 0..4 {
        stream.extend(&mut buffer, &vec![7; PIECE])?;
    }
    buffer.truncate(PIECE + 1);
    let release = hold_up(&stream)?;
    stream.fill(&mut buffer.slice_mut(..1), 8)?;
    let error = buffer.shrink_to_fit().unwrap_err();
    assert!(matches!(error, Error::Busy(_)), "{error}");
    drop(release);
    stream.synchronize()?;
    let before = buffer.mapped_bytes()?;
    buffer.shrink_to_fit()?;
    assert_eq!((before, buffer.mapped_bytes()?), (16 * PIECE, 8 * PIECE));
    // What comes again is zero, not what was there.
    stream.grow_zeroed(&mut buffer, 3 * PIECE)?;
    let values = stream.download(&buffer)?;
    assert_eq!(values[..2], [8, 7]);
    assert_eq!(values[PIECE..PIECE + 2], [7, 0]);
    Ok(())
}

/// A wait covers what was before it: later uses in the same stream keep the memory.
#[test]
fn later_uses_keep_memory_that_was_waited_for() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let add = crate::common::add(&module);
    let stream = gpu.stream()?;
    let event = gpu.event_untimed()?;
    type Use = fn(&Stream, &crate::common::Add, &mut GrowableBuffer<u32>) -> Result<()>;
    let uses: [Use; 3] = [
        |stream, _, buffer| stream.fill(buffer, 9),
        |stream, _, buffer| {
            let mut copy = stream.zeroed(buffer.len())?;
            stream.copy(buffer, &mut copy)
        },
        |stream, add, buffer| {
            let grid = Grid::cover(buffer.len(), 128);
            // SAFETY: the entry takes a slice and a number, and writes only the slice.
            unsafe { stream.launch_untyped(add, grid, (buffer, 1)) }
        },
    ];
    for (number, use_it) in uses.into_iter().enumerate() {
        for wait in 0..3 {
            let mut buffer = gpu.growable::<u32>(4 * PIECE)?;
            stream.grow_zeroed(&mut buffer, 1)?;
            stream.grow_zeroed(&mut buffer, 2 * PIECE)?;
            match wait {
                0 => stream.synchronize()?,
                1 => gpu.synchronize()?,
                _ => {
                    stream.record(&event)?;
                    event.synchronize()?;
                }
            }
            let release = hold_up(&stream)?;
            use_it(&stream, &add, &mut buffer)?;
            buffer.truncate(1);
            let shrunk = buffer.shrink_to_fit();
            assert!(
                matches!(shrunk, Err(Error::Busy(_))),
                "use {number}, wait {wait}: {shrunk:?}"
            );
            drop(release);
            gpu.synchronize()?;
            buffer.shrink_to_fit()?;
        }
    }
    Ok(())
}

#[test]
fn a_graph_keeps_the_memory_it_uses() -> Result<()> {
    let gpu = gpu();
    let mut stream = gpu.stream()?;
    let mut buffer = gpu.growable::<u32>(2 * PIECE)?;
    stream.grow_zeroed(&mut buffer, 4)?;
    let mut graph = stream
        .capture(|capture| capture.fill(&mut buffer, 9))?
        .instantiate()?;
    stream.synchronize()?;
    buffer.truncate(0);
    let error = buffer.shrink_to_fit().unwrap_err();
    assert!(error.to_string().contains("graph"), "{error}");
    graph.launch(&stream)?;
    stream.synchronize()?;
    drop(graph);
    gpu.synchronize()?;
    buffer.shrink_to_fit()?;
    assert_eq!(buffer.mapped_bytes()?, 0);
    Ok(())
}

#[test]
fn memory_outlives_its_mappings_and_its_handle() -> Result<()> {
    // covers: VMM-07, VMM-10, VMM-20
    let gpu = gpu();
    let module = module(&gpu);
    let stream = gpu.stream()?;
    let free = gpu.memory_info()?.free;
    let memory = gpu.physical_memory(100, PhysicalOptions::default())?;
    assert_eq!(memory.bytes(), 4 * PIECE);
    // SAFETY: all of it is written before it is read, and mappings are used one after the other.
    let mut first = unsafe { memory.map::<u32>(MappingAccess::ReadWrite)? };
    stream.fill(&mut first, 1)?;
    stream.synchronize()?;
    drop(first);
    // SAFETY: the memory was filled above.
    let mut second = unsafe { memory.map::<u32>(MappingAccess::ReadWrite)? };
    drop(memory);
    launch_add(&stream, &crate::common::add(&module), &mut second, 4);
    assert!(stream.download(&second)?.iter().all(|&value| value == 5));
    drop(second);
    gpu.synchronize()?;
    assert_eq!(gpu.memory_info()?.free, free);
    Ok(())
}

#[test]
fn what_cannot_be_shared_says_so() -> Result<()> {
    let gpu = gpu();
    let error = gpu
        .physical_memory(0, PhysicalOptions::default())
        .unwrap_err();
    assert!(error.to_string().contains("0 bytes"), "{error}");
    let memory = gpu.physical_memory(1, PhysicalOptions::default())?;
    let error = memory.export().unwrap_err();
    assert!(error.to_string().contains("shareable"), "{error}");
    let file = std::fs::File::open("/dev/null").expect("it is always there");
    assert!(gpu.import_physical_memory(&file, 1).is_err());

    let shareable = PhysicalOptions {
        shareable: true,
        ..Default::default()
    };
    let memory = gpu.physical_memory(1, shareable)?;
    for bytes in [0, 1, memory.bytes() - 1, 2 * memory.bytes()] {
        let error = gpu.import_physical_memory(memory.export()?, bytes);
        let text = error.unwrap_err().to_string();
        let is_named =
            text.contains(&format!(" {bytes} bytes")) && text.contains("of the exporter");
        assert!(is_named, "{text}");
    }
    Ok(())
}

/// Work of another library that says it writes.
fn foreign_write(stream: &Stream, memory: &mut DeviceBuffer<u32>) -> Result<()> {
    let mut work = ForeignWork::new("a library's write");
    work.writes(stream, memory)?;
    // SAFETY: nothing is enqueued.
    unsafe { work.enqueue(|| panic!("the library is called")) }
}

#[test]
fn memory_for_reading_alone_is_not_written() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    let memory = gpu.physical_memory(1, PhysicalOptions::default())?;
    // SAFETY: what is read was written, and the stream is waited for in between.
    let mut writer = unsafe { memory.map::<u32>(MappingAccess::ReadWrite)? };
    stream.fill(&mut writer, 3)?;
    stream.synchronize()?;
    // SAFETY: what is read was written, and the stream was waited for.
    let mut reader = unsafe { memory.map::<u32>(MappingAccess::Read)? };
    let other = stream.upload(&[1_u32, 2])?;
    let module = module(&gpu);
    let add = crate::common::add(&module);
    let grid = Grid::cover(2, 32);
    let errors = [
        // SAFETY: the entry takes a slice and a number, and writes only the slice.
        unsafe { stream.launch_untyped(&add, grid, (&mut reader, 3)) },
        // SAFETY: the entry takes a slice and a number, and writes only the slice.
        unsafe { stream.launch_untyped(&add, grid, (&mut reader.slice_mut(4..6), 3)) },
        foreign_write(&stream, &mut reader),
        stream.fill(&mut reader, 1),
        stream.fill(&mut reader.slice_mut(4..8), 1),
        stream.upload_into(&[1, 2], &mut reader.slice_mut(..2)),
        stream.copy(&other, &mut reader.slice_mut(..2)),
        stream.fill_matrix(&mut reader.matrix_mut(2, 2)?, 5),
    ];
    let mut graph = gpu.graph()?;
    let refused = [
        // SAFETY: the entry takes a slice and a number, and writes only the slice.
        unsafe { graph.kernel_untyped(&add, grid, (&mut reader, 3)) }.map(drop),
        graph.fill(&mut reader, 1).map(drop),
        graph.copy(&other, &mut reader.slice_mut(..2)).map(drop),
    ];
    for error in errors.into_iter().chain(refused) {
        let text = error.unwrap_err().to_string();
        let is_named = text.contains("for reading alone (`MappingAccess::Read`)")
            && text.contains("`MappingAccess::ReadWrite`");
        assert!(is_named, "{text}");
    }
    // The context lives, and the memory is as it was. A kernel that reads it in this stream does not make it the stream's own.
    assert_eq!(stream.download(&reader.slice(..9))?, [3; 9]);
    let again = stream.fill(&mut reader, 1).unwrap_err().to_string();
    assert!(again.contains("for reading alone"), "{again}");
    stream.fill(&mut writer, 4)?;
    stream.synchronize()?;
    assert_eq!(stream.download(&reader.slice(..9))?, [4; 9]);
    Ok(())
}
