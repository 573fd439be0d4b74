//! Parts of memory that the host and the device share, in several streams and on the host at a time.

use crate::common::{Gate, gpu, module};
use warpsmith_host::prelude::*;
use warpsmith_host::{HintedLocation, UnifiedHints};

fn is_busy<T>(result: Result<T>) -> bool {
    matches!(result, Err(Error::Busy(_)))
}

/// The guide's overlap: one page-locked array, of which each stream copies a part there, has a kernel change it, and copies it back; issued stream
/// by stream and step by step.
// covers: EX1-18
#[test]
fn each_stream_copies_its_part_there_and_back() -> Result<()> {
    const HALF: usize = 5000;
    let gpu = gpu();
    let module = module(&gpu);
    let add = crate::common::add(&module);
    let streams = [gpu.stream()?, gpu.stream()?];
    let mut input = gpu.pinned::<u32>(2 * HALF)?;
    let mut output = gpu.pinned::<u32>(2 * HALF)?;
    let mut words = streams[0].zeroed::<u32>(2 * HALF)?;
    for (index, word) in input.host_mut()?.iter_mut().enumerate() {
        *word = index as u32;
    }
    let work = |stream: &Stream, part: &mut DeviceSliceMut<'_, u32>| {
        // SAFETY: the entry takes a slice and a number, and writes only the slice.
        unsafe { stream.launch_untyped(&add, Grid::cover(HALF, 128), (part, 3)) }
    };
    for by_stream in [true, false] {
        output.host_mut()?.fill(0);
        let (left, right) = output.slice_mut(..).split_at_mut(HALF);
        let (there_left, there_right) = words.slice_mut(..).split_at_mut(HALF);
        let mut parts = [(there_left, left), (there_right, right)];
        let source = |index: usize| input.slice(index * HALF..(index + 1) * HALF);
        if by_stream {
            for (index, (there, back)) in parts.iter_mut().enumerate() {
                streams[index].copy_from_host(&source(index), there)?;
                work(&streams[index], there)?;
                streams[index].copy_to_host(there, back)?;
            }
        } else {
            for (index, (there, _)) in parts.iter_mut().enumerate() {
                streams[index].copy_from_host(&source(index), there)?;
            }
            for (index, (there, _)) in parts.iter_mut().enumerate() {
                work(&streams[index], there)?;
            }
            for (index, (there, back)) in parts.iter_mut().enumerate() {
                streams[index].copy_to_host(there, back)?;
            }
        }
        gpu.synchronize()?;
        assert!(output.host()?.iter().copied().eq(3..3 + 2 * HALF as u32));
    }
    Ok(())
}

/// While a copy of one part is under way the other streams and the host have the rest, and nobody has that part or the whole.
// covers: PINNED-06, STREAM-21
#[test]
fn a_part_is_closed_while_it_is_copied_and_the_rest_is_not() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let mut gate = Gate::new(&gpu, &module);
    let (one, two) = (gpu.stream()?, gpu.stream()?);
    let mut words = gpu.pinned::<u32>(200)?;
    let nines = one.filled(100, 9_u32)?;
    let eights = two.filled(100, 8_u32)?;
    gpu.synchronize()?;
    {
        let (mut left, mut right) = words.slice_mut(..).split_at_mut(100);
        gate.close(&one);
        one.copy_to_host(&nines, &mut left)?;
        assert!(is_busy(left.host()) && is_busy(left.host_mut()));
        assert!(is_busy(left.slice_mut(99..).host_mut()));
        assert_eq!(right.host()?[..], [0; 100], "nobody writes this part");
        right.host_mut()?.fill(7);
        // The other stream does not wait for the first.
        two.copy_to_host(&eights, &mut right)?;
        two.synchronize()?;
        assert_eq!(*right.host()?, [8; 100]);
        // A guard that is forgotten keeps graphs out, and nothing else.
        std::mem::forget(right.host_mut()?);
    }
    assert!(is_busy(words.host()), "a part of it is being written");
    assert!(is_busy(words.slice(50..150).host()));
    assert_eq!(*words.slice(100..).host()?, [8; 100]);
    gate.open();
    one.synchronize()?;
    assert_eq!((words.host()?[99], words.host()?[100]), (9, 8));

    // What only reads leaves reading to the host.
    let mut there = one.zeroed::<u32>(100)?;
    one.synchronize()?;
    gate.close(&one);
    one.copy_from_host(&words.slice(..100), &mut there)?;
    assert_eq!(words.host()?[0], 9);
    assert!(is_busy(words.slice_mut(..100).host_mut()));
    words.slice_mut(100..).host_mut()?.fill(1);
    gate.open();
    assert_eq!(one.download(&there)?, [9; 100]);
    Ok(())
}

/// Every kind of page-locked memory is an end of copies, whole or in part, and so of those of matrices.
#[test]
fn all_page_locked_memory_is_copied() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    let numbers: Vec<u32> = (0..12).collect();
    let mut mapped = gpu.mapped::<u32>(12)?;
    mapped.host_mut()?.copy_from_slice(&numbers);
    let mut registered = gpu.register(vec![0_u32; 5000])?;
    let mut combined = gpu.write_combined::<u32>(12)?;
    combined.host_mut()?.copy_from_slice(0, &numbers);

    let mut there = stream.zeroed::<u32>(12)?;
    stream.copy_from_host(&mapped, &mut there)?;
    stream.copy_to_host(&there, &mut registered.pinned_slice_mut(4000..4012))?;
    stream.synchronize()?;
    assert_eq!(
        registered.host()?[3999..4013],
        [&[0], &numbers[..], &[0]].concat()
    );
    stream.copy_from_host(
        &registered.pinned_slice(4001..4004),
        &mut there.slice_mut(..3),
    )?;
    stream.copy_to_host(&there.slice(..5), &mut mapped.pinned_slice_mut(7..))?;
    stream.synchronize()?;
    assert_eq!(mapped.host()?[6..], [6, 1, 2, 3, 3, 4]);
    stream.copy_from_host(&combined, &mut there)?;
    assert_eq!(stream.download(&there)?, numbers);

    let mut matrix = there.matrix_mut(3, 4)?;
    let mut corner = matrix.region_mut(1..3, 1..3);
    stream.copy_matrix_from_host(&registered.pinned_slice(4008..4012), &mut corner)?;
    stream.copy_matrix_to_host(&there.matrix(3, 4)?, &mut registered.pinned_slice_mut(..12))?;
    stream.synchronize()?;
    assert_eq!(
        registered.host()?[..12],
        [0, 1, 2, 3, 4, 8, 9, 7, 8, 10, 11, 11]
    );
    let error = stream.copy_from_host(&mapped.pinned_slice(..3), &mut there);
    assert_eq!(error.unwrap_err().code(), Some(Code::INVALID_VALUE));
    Ok(())
}

/// Kernels take parts of what they reach, and the host is kept out of the whole.
#[test]
fn kernels_take_parts_of_shared_memory() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let add = crate::common::add(&module);
    let mut gate = Gate::new(&gpu, &module);
    let (one, two) = (gpu.stream()?, gpu.stream()?);
    let mut mapped = gpu.mapped::<u32>(100)?;
    let mut registered = gpu.register(vec![5_u32; 100])?;
    let mut unified = gpu.unified::<u32>(100)?;
    macro_rules! halves {
        ($buffer:ident, $start:literal) => {{
            let (mut left, mut right) = $buffer.slice_mut(..).split_at_mut(40);
            let grid = Grid::cover(60, 32);
            gate.close(&one);
            // SAFETY: the entry takes a slice and a number, and writes only the slice.
            unsafe {
                one.launch_untyped(&add, grid, (&mut left, 1))?;
                two.launch_untyped(&add, grid, (&mut right, 2))?;
            }
            // Not after the first stream's part.
            two.synchronize()?;
            assert!(is_busy($buffer.host()));
            gate.open();
            one.synchronize()?;
            let expected = [[$start + 1; 40].as_slice(), &[$start + 2; 60]].concat();
            assert_eq!(*$buffer.host()?, expected);
            let rows = $buffer.matrix(2, 50)?.region(0..2, 39..41);
            let row = [$start + 1, $start + 2, $start + 2, $start + 2];
            assert_eq!(one.download_matrix(&rows)?, row);
            assert_eq!(one.download(&$buffer.slice(39..41))?, row[..2]);
        }};
    }
    halves!(mapped, 0);
    halves!(registered, 5);
    halves!(unified, 0);
    Ok(())
}

/// A graph holds the part it was given: what others do with other parts is in no order with it, and the host is kept out.
#[test]
fn graphs_hold_parts() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let mut gate = Gate::new(&gpu, &module);
    let stream = gpu.stream()?;
    let mut words = gpu.pinned::<u32>(8)?;
    let mut registered = gpu.register(vec![1_u32, 2, 3, 4])?;
    let mut there = stream.zeroed::<u32>(2)?;
    let mut graph = gpu.graph()?;
    graph.copy_from_host(&registered.pinned_slice(1..3), &mut there)?;
    {
        let (mut left, _right) = words.slice_mut(..).split_at_mut(2);
        graph.copy_to_host(&there, &mut left)?;
    }
    let mut ready = graph.instantiate()?;
    drop(graph);
    stream.synchronize()?;
    gate.close(&stream);
    ready.launch(&stream)?;
    assert!(is_busy(words.host()) && is_busy(words.slice(..2).host()));
    words.slice_mut(2..).host_mut()?.fill(6);
    assert!(is_busy(registered.host_mut()));
    assert_eq!(*registered.host()?, [1, 2, 3, 4], "the graph only reads it");
    gate.open();
    stream.synchronize()?;
    assert_eq!(*words.host()?, [2, 3, 6, 6, 6, 6, 6, 6]);
    {
        let (_left, mut right) = words.slice_mut(..).split_at_mut(2);
        let open = right.host_mut()?;
        assert!(
            is_busy(ready.launch(&stream)),
            "the host has the memory open"
        );
        drop(open);
        ready.launch(&stream)?;
    }
    assert!(is_busy(registered.take()));
    drop((ready, words));
    stream.synchronize()?;
    assert_eq!(registered.take()?, [1, 2, 3, 4]);
    Ok(())
}

/// Two threads use one half each, on the host and in their stream, without an order between them.
#[test]
fn two_threads_have_a_half_each() -> Result<()> {
    let gpu = gpu();
    let mut words = gpu.pinned::<u32>(2000)?;
    let (left, right) = words.slice_mut(..).split_at_mut(1000);
    std::thread::scope(|scope| {
        for (mut half, add) in [(left, 1), (right, 2)] {
            let gpu = &*gpu;
            scope.spawn(move || -> Result<()> {
                let stream = gpu.stream()?;
                let mut there = stream.zeroed::<u32>(1000)?;
                for round in 0..50 {
                    half.host_mut()?.iter_mut().for_each(|word| *word += add);
                    stream.copy_from_host(&half, &mut there)?;
                    half.host_mut().map(drop).or_else(|error| match error {
                        Error::Busy(_) => Ok(()),
                        other => Err(other),
                    })?;
                    stream.copy_to_host(&there, &mut half)?;
                    stream.synchronize()?;
                    assert_eq!(*half.host()?, [add * (round + 1); 1000]);
                }
                Ok(())
            });
        }
    });
    assert_eq!((words.host()?[999], words.host()?[1000]), (50, 100));
    Ok(())
}

/// However many streams use the memory after a write, the host does not get at it before that is done.
#[test]
fn a_write_is_waited_for_behind_many_readers() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let mut gate = Gate::new(&gpu, &module);
    let writer = gpu.stream()?;
    let readers = (0..40).map(|_| gpu.stream()).collect::<Result<Vec<_>>>()?;
    let mut words = gpu.pinned::<u32>(40)?;
    let ones = writer.filled(40, 1_u32)?;
    let mut copies = readers
        .iter()
        .map(|stream| stream.zeroed::<u32>(1))
        .collect::<Result<Vec<_>>>()?;
    gpu.synchronize()?;
    gate.close(&writer);
    writer.copy_to_host(&ones, &mut words)?;
    for (i, (stream, copy)) in readers.iter().zip(&mut copies).enumerate() {
        stream.copy_from_host(&words.slice(i..=i), copy)?;
        assert!(is_busy(words.host()), "{i}");
        assert!(is_busy(words.slice(20..21).host()), "{i}");
    }
    gate.open();
    gpu.synchronize()?;
    assert_eq!(*words.host()?, [1; 40]);
    assert_eq!(readers[39].download(&copies[39])?, [1]);
    Ok(())
}

#[test]
fn parts_of_nothing_and_out_of_bounds() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    let mut empty = gpu.pinned::<u32>(0)?;
    assert!(empty.slice(..).is_empty() && empty.slice_mut(0..0).host_mut()?.is_empty());
    let mut words = gpu.pinned::<u32>(4)?;
    let (none, all) = words.slice_mut(..).split_at_mut(0);
    assert_eq!((none.len(), all.len(), all.slice(1..3).len()), (0, 4, 2));
    assert_eq!(format!("{all:?}"), "PinnedSliceMut<u32>[4]");
    stream.copy_from_host(&none, &mut stream.zeroed::<u32>(0)?)?;
    let out_of_bounds =
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| words.slice(3..5).len()));
    assert!(out_of_bounds.is_err());
    Ok(())
}

/// Hints are about parts, and what was said of a part is answered of it.
// covers: UM-21, UM-23, UM-24, UM-25, UM-26, UM-27
#[test]
fn hints_are_of_parts() -> Result<()> {
    /// 4 MiB, so that they begin with a page of the device, too.
    const HALF: usize = 1 << 20;
    let gpu = gpu();
    let stream = gpu.stream()?;
    let mut words = gpu.unified_from(&vec![7_u32; 2 * HALF])?;
    assert_eq!(words.hints(..)?, UnifiedHints::default());

    words.advise_part(..HALF, Advice::ReadMostly)?;
    words.advise_part(HALF.., Advice::Prefer(Location::Host))?;
    words.advise(Advice::AccessedBy(Location::Device))?;
    words.advise_part(..HALF, Advice::AccessedBy(Location::Host))?;
    let (left, right, all) = (words.hints(..HALF)?, words.hints(HALF..)?, words.hints(..)?);
    assert!(left.read_mostly && !right.read_mostly && !all.read_mostly);
    assert_eq!(right.preferred, Some(HintedLocation::Host));
    assert_eq!((left.preferred, all.preferred), (None, None));
    assert_eq!(left.accessed_by.len(), 2);
    assert!(left.accessed_by.contains(&HintedLocation::Host));
    assert!(matches!(all.accessed_by[..], [HintedLocation::Device(_)]));

    stream.prefetch(&words.slice(..HALF), Location::Device)?;
    stream.prefetch(&words.slice(HALF..), Location::Host)?;
    stream.synchronize()?;
    let sent = |hints: UnifiedHints| hints.last_prefetch;
    assert!(matches!(
        sent(words.hints(..HALF)?),
        Some(HintedLocation::Device(_))
    ));
    assert_eq!(sent(words.hints(HALF..)?), Some(HintedLocation::Host));
    assert_eq!(sent(words.hints(..)?), None);
    // A part that another stream writes meanwhile is put in order.
    let other = gpu.stream()?;
    let (mut left, right) = words.slice_mut(..).split_at_mut(HALF);
    other.fill(&mut left, 8)?;
    stream.prefetch(&left, Location::Host)?;
    stream.prefetch(&right, Location::Device)?;
    stream.synchronize()?;
    assert_eq!(
        words.host()?[HALF - 1..=HALF],
        [8, 7],
        "hints change nothing"
    );

    words.advise_part(..HALF, Advice::NotReadMostly)?;
    words.advise(Advice::PreferNothing)?;
    words.advise(Advice::NotAccessedBy(Location::Device))?;
    words.advise(Advice::NotAccessedBy(Location::Host))?;
    let hints = words.hints(..HALF)?;
    assert_eq!(
        (hints.read_mostly, hints.preferred, hints.accessed_by),
        (false, None, vec![])
    );
    Ok(())
}

/// A NUMA node of the host is a place, where the driver has them; what is none, and memory that does not move, is refused by name.
#[test]
fn unified_memory_goes_to_nodes_of_the_host() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    let words = gpu.unified_from(&[5_u32; 1000])?;
    let node = u32::try_from(gpu.attribute(Attribute::HOST_NUMA_ID)?).unwrap_or(0);
    let place = Location::HostNuma(node);
    words.advise(Advice::Prefer(place))?;
    stream.prefetch(&words, place)?;
    stream.synchronize()?;
    let hints = words.hints(..)?;
    let expected = Some(HintedLocation::HostNuma(node));
    assert_eq!(hints.last_prefetch, expected);
    // A GPU takes the advice, and says that no location is preferred (H200, driver 13.0).
    if gpu.is_simulator() {
        assert_eq!(hints.preferred, expected);
    }
    assert_eq!(*words.host()?, [5; 1000]);
    let error = words.advise(Advice::AccessedBy(place)).unwrap_err();
    assert!(error.to_string().contains("Location::Host"), "{error}");
    for far in [99_999, u32::MAX] {
        let error = stream.prefetch(&words, Location::HostNuma(far));
        let error = error.unwrap_err().to_string();
        assert!(error.contains(&far.to_string()), "{error}");
    }
    let device = stream.zeroed::<u32>(4)?;
    let error = stream.prefetch(&device, Location::Host).unwrap_err();
    assert!(error.to_string().contains("gpu.unified"), "{error}");
    assert!(gpu.unified_from::<u32>(&[])?.host()?.is_empty());
    words.advise_part(3..3, Advice::ReadMostly)?;
    assert_eq!(words.hints(3..3)?, UnifiedHints::default());
    Ok(())
}

/// Where a running kernel keeps the host out of all unified memory, it keeps it out of new memory, too.
// covers: UM-34
#[test]
fn unified_memory_is_not_written_where_a_kernel_keeps_the_host_out() {
    crate::common::in_own_process(&[("WARPSMITH_SIMULATOR_ATTRIBUTES", "89=0")], || {
        let gpu = gpu();
        if gpu.attribute(Attribute::CONCURRENT_MANAGED_ACCESS).unwrap() != 0 {
            println!("skipped: {} shares unified memory", gpu.name());
            return;
        }
        let module = module(&gpu);
        let stream = gpu.stream().unwrap();
        let mut gate = Gate::new(&gpu, &module);
        gate.close(&stream);
        assert!(is_busy(gpu.unified_from(&[1_u32, 2])));
        gate.open();
        stream.synchronize().unwrap();
        let words = gpu.unified_from(&[1_u32, 2]).unwrap();
        assert_eq!(*words.host().unwrap(), [1, 2]);
    });
}
