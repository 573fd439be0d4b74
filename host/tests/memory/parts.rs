//! Parts of memory: pieces, ranges that are wrong, other element types, and what memory says of itself.

use warpsmith_host::prelude::*;
use warpsmith_host::{Chunks, Misuse};

use crate::common::{Gate, gpu, module, refusal};

fn misuse(error: &Error) -> &Misuse {
    match error {
        Error::Invalid(misuse) => misuse,
        other => panic!("{other}"),
    }
}

#[test]
fn pieces_are_those_of_slices() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    for len in [0, 1, 5, 6, 7, 12, 13] {
        let numbers: Vec<u32> = (0..len).collect();
        let mut buffer = stream.upload(&numbers)?;
        for length in 1..=8 {
            let contents = |pieces: Chunks<DeviceSlice<'_, u32>>| {
                assert_eq!(pieces.size_hint(), (pieces.len(), Some(pieces.len())));
                let pieces = pieces.map(|piece| stream.download(&piece));
                pieces.collect::<Result<Vec<_>>>()
            };
            let all = contents(buffer.slice(..).chunks(length))?;
            assert!(all.iter().eq(numbers.chunks(length)), "{len} by {length}");
            let exact = buffer.slice(..).chunks_exact(length);
            let expected = numbers.chunks_exact(length);
            assert_eq!(exact.len(), expected.len());
            let remainder = buffer.slice(..).chunks_exact(length).into_remainder();
            assert_eq!(stream.download(&remainder)?, expected.remainder());
            assert!(contents(exact)?.iter().eq(expected));

            // From both ends, and once more than there are.
            let mut pieces = buffer.slice(..).chunks(length);
            let mut expected = numbers.chunks(length);
            for step in 0.. {
                let (here, there) = match step % 2 {
                    0 => (pieces.next_back(), expected.next_back()),
                    _ => (pieces.next(), expected.next()),
                };
                assert_eq!(pieces.len(), expected.len());
                match (here, there) {
                    (Some(here), Some(there)) => assert_eq!(stream.download(&here)?, there),
                    (None, None) => break,
                    (here, there) => panic!("{here:?}, not {there:?}"),
                }
            }
            assert!(pieces.next().is_none() && pieces.next_back().is_none());

            // For writing they are the same pieces.
            let mut expected = numbers.clone();
            for (piece, value) in expected.chunks_exact_mut(length).zip(100..) {
                piece.fill(value);
            }
            let mut exact = buffer.slice_mut(..).chunks_exact_mut(length);
            for (mut piece, value) in exact.by_ref().zip(100..) {
                stream.fill(&mut piece, value)?;
            }
            assert!(exact.into_remainder().len() < length);
            assert_eq!(stream.download(&buffer)?, expected);
            stream.upload_into(&numbers, &mut buffer)?;
        }
    }
    Ok(())
}

/// While a stream that is held up writes one piece, another stream writes the next, and the host does not wait for either.
// covers: STREAM-21
#[test]
fn work_on_pieces_overlaps() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let mut gate = Gate::new(&gpu, &module);
    let streams = [gpu.stream()?, gpu.stream()?];
    let mut words = streams[0].zeroed::<u32>(100)?;
    let mut here = gpu.pinned::<u32>(100)?;
    gpu.synchronize()?;
    let pieces = words.slice_mut(..).chunks_exact_mut(50);
    let there = here.slice_mut(..).chunks_exact_mut(50);
    let mut both: Vec<_> = pieces.zip(there).collect();
    // Not before: where one stream alone has used memory, its parts come after all that it holds when they are made.
    gate.close(&streams[0]);
    for (stream, ((piece, there), value)) in streams.iter().zip(both.iter_mut().zip(1..)) {
        stream.fill(piece, value)?;
        stream.copy_to_host(piece, there)?;
    }
    streams[1].synchronize()?;
    assert_eq!(*both[1].1.host()?, [2; 50]);
    assert!(gate.holds(&streams[0]), "the second stream has not waited");
    assert!(matches!(both[0].1.host(), Err(Error::Busy(_))));
    // What comes next to a piece waits for its last writer.
    let (mut one, _) = both.swap_remove(0);
    streams[1].fill(&mut one, 3)?;
    assert!(gate.holds(&streams[1]));
    gate.open();
    drop(both);
    assert_eq!(
        streams[1].download(&words)?,
        [[3_u32; 50], [2; 50]].concat()
    );
    streams[0].synchronize()?;
    assert_eq!(*here.host()?, *[[1_u32; 50], [2; 50]].concat());
    Ok(())
}

#[test]
#[should_panic(expected = "pieces of memory with 0 elements each")]
fn pieces_have_elements() {
    let stream = gpu().stream().unwrap();
    let mut buffer = stream.zeroed::<u8>(6).unwrap();
    let _ = buffer.slice_mut(..).chunks_mut(0);
}

/// Each wrong range is an error that names it and what there is, and changes nothing.
#[test]
fn ranges_that_are_wrong_are_errors() -> Result<()> {
    use std::ops::Bound::{Excluded, Included, Unbounded};
    let gpu = gpu();
    let stream = gpu.stream()?;
    let mut buffer = stream.upload(&[0_u8, 1, 2, 3, 4, 5])?;
    let pinned = gpu.pinned::<u8>(6)?;
    let wrong = [
        (Included(2), Excluded(7)),
        (Included(7), Unbounded),
        (Included(4), Excluded(3)),
        (Unbounded, Included(6)),
        (Unbounded, Included(usize::MAX)),
        (Excluded(usize::MAX), Unbounded),
        (Included(usize::MAX), Excluded(usize::MAX)),
    ];
    for range in wrong {
        let texts = [
            refusal(buffer.try_slice(range).map(drop)),
            refusal(buffer.try_slice_mut(range).map(drop)),
            refusal(buffer.slice(..).try_slice(range).map(drop)),
            refusal(buffer.slice_mut(..).try_slice(range).map(drop)),
            refusal(buffer.slice_mut(..).try_slice_mut(range).map(drop)),
            refusal(pinned.slice(..).try_slice(range).map(drop)),
        ];
        for text in texts {
            assert!(text.contains("try_slice"), "{text}");
            assert!(text.contains("0..6"), "{range:?}: {text}");
        }
    }
    let error = buffer.try_slice(2..7).unwrap_err();
    assert_eq!(misuse(&error).code, Code::INVALID_VALUE);
    assert_eq!(
        misuse(&error).message,
        "range 2..7 of memory with 6 elements"
    );
    for range in [0..0, 0..6, 6..6, 2..4] {
        let expected: Vec<_> = range.clone().map(|number| number as u8).collect();
        assert_eq!(stream.download(&buffer.try_slice(range)?)?, expected);
    }
    // A part that could not be split is given back.
    let refused = buffer.slice_mut(1..).try_split_at_mut(6).unwrap_err();
    assert!(refused.error.to_string().contains("0..5"), "{refused}");
    let (mut left, right) = refused.value.try_split_at_mut(5)?;
    assert!(right.is_empty());
    stream.fill(&mut left, 9)?;
    assert_eq!(stream.download(&buffer)?, [0, 9, 9, 9, 9, 9]);
    Ok(())
}

#[test]
fn bytes_are_seen_as_other_elements() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    let mut words = stream.upload(&[0x0403_0201_u32, 0x0807_0605])?;
    assert_eq!(
        stream.download(&words.slice(..).cast::<u8>()?)?,
        [1, 2, 3, 4, 5, 6, 7, 8]
    );
    assert_eq!(
        stream.download(&words.slice(..).cast::<u64>()?)?,
        [0x0807_0605_0403_0201]
    );
    assert_eq!(
        stream.download(&words.slice(1..).cast::<[u16; 2]>()?)?,
        [[0x0605, 0x0807]]
    );
    // Written as one type, read as another; the order of uses is that of the bytes.
    let other = gpu.stream()?;
    stream.fill(&mut words.slice_mut(..).cast_mut::<u8>()?, 0x11)?;
    other.fill(&mut words.slice_mut(1..).cast_mut::<f32>()?, 1.0)?;
    assert_eq!(stream.download(&words)?, [0x1111_1111, 1.0_f32.to_bits()]);
    // There and back it is the same part.
    let part = words.slice(..);
    let back = part.cast::<u8>()?.cast::<u32>()?;
    assert_eq!(
        back.as_device_ptr().address(),
        part.as_device_ptr().address()
    );
    assert_eq!((back.len(), back.bytes()), (2, 8));
    Ok(())
}

/// What is refused is what `bytemuck` refuses of slices, with its bytes named.
#[test]
fn casts_that_do_not_come_out_are_errors() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    let mut bytes = stream.upload(&[7_u8; 14])?;
    let error = bytes.slice(..).cast::<u32>().unwrap_err();
    assert_eq!(misuse(&error).call, "DeviceSlice::cast");
    assert_eq!(misuse(&error).code, Code::INVALID_VALUE);
    assert!(
        error
            .to_string()
            .contains("14 bytes of 14 elements of `u8`")
            && error.to_string().contains("`u32`, which has 4"),
        "{error}"
    );
    let error = bytes.slice(1..5).cast::<u32>().unwrap_err();
    assert!(
        error
            .to_string()
            .contains("aligned to the 4 bytes of `u32`"),
        "{error}"
    );
    let refused = bytes.slice_mut(2..6).cast_mut::<u32>().unwrap_err();
    assert_eq!(misuse(&refused.error).call, "DeviceSliceMut::cast_mut");
    // The part is given back, and can be what fits.
    let halves = refused.value.cast_mut::<u16>()?;
    assert_eq!(halves.len(), 2);

    for (start, end) in (0..=14).flat_map(|start| (start..=14).map(move |end| (start, end))) {
        // As far aligned as device memory is.
        #[repr(C, align(256))]
        struct Aligned([u8; 14]);
        let host = Aligned([7; 14]);
        let expected = bytemuck::try_cast_slice::<u8, u64>(&host.0[start..end]);
        let part = bytes.slice(start..end);
        let cast = part.cast::<u64>();
        match (cast, expected) {
            (Ok(cast), Ok(expected)) => assert_eq!(stream.download(&cast)?, expected),
            (Err(_), Err(_)) => {}
            (cast, expected) => panic!("{start}..{end}: {cast:?}, not {expected:?}"),
        }
    }
    // Elements without bytes.
    assert!(bytes.slice(..).cast::<()>().is_err());
    assert_eq!(bytes.slice(..0).cast::<()>()?.len(), 0);
    let nothing = stream.zeroed::<()>(5)?;
    assert_eq!(nothing.slice(..).cast::<[u32; 0]>()?.len(), 5);
    assert_eq!(nothing.slice(..).cast::<u32>()?.len(), 0);
    Ok(())
}

#[test]
fn page_locked_memory_is_seen_as_other_elements() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    let mut here = gpu.pinned_from(&[1_u32, 2, 3])?;
    assert_eq!(here.slice(..).cast::<[u8; 12]>()?.host()?[0][4], 2);
    here.slice_mut(..2).cast_mut::<u64>()?.host_mut()?[0] = 5 | 6 << 32;
    assert_eq!(*here.host()?, [5, 6, 3]);
    assert!(here.slice(1..).cast::<u64>().is_err());
    assert!(here.slice(..).cast::<u64>().is_err());
    let mut there = stream.zeroed::<u8>(12)?;
    stream.copy_from_host(&here.slice(..).cast::<u8>()?, &mut there)?;
    stream.copy_to_host(
        &there.slice(4..8),
        &mut here.slice_mut(..1).cast_mut::<u8>()?,
    )?;
    stream.synchronize()?;
    assert_eq!(*here.host()?, [6, 6, 3]);
    // Where the host has the elements is what counts: a `Vec` is aligned to its own elements alone.
    let registered = gpu.register(vec![1_u8; 4099])?;
    let start = registered.host()?.as_ptr() as usize;
    for offset in 0..8 {
        let words = registered.pinned_slice(offset..offset + 8).cast::<u64>();
        assert_eq!(words.is_ok(), (start + offset).is_multiple_of(8));
    }
    Ok(())
}

#[test]
fn memory_knows_its_size_and_its_device() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    let device = stream.zeroed::<u64>(5)?;
    let unified = gpu.unified::<u64>(5)?;
    let mapped = gpu.mapped::<u64>(5)?;
    let pinned = gpu.pinned::<u64>(5)?;
    let growable = {
        let mut growable = gpu.growable::<u64>(100)?;
        stream.grow_zeroed(&mut growable, 5)?;
        growable
    };
    assert_eq!(growable.bytes(), 40);
    for (bytes, owner) in [
        (device.bytes(), device.gpu()),
        (unified.bytes(), unified.gpu()),
        (mapped.bytes(), mapped.gpu()),
        (pinned.bytes(), pinned.gpu()),
        (growable.bytes(), growable.gpu()),
    ] {
        assert_eq!((bytes, owner.as_ref()), (40, Some(&*gpu)));
    }
    let part = device.slice(3..);
    assert_eq!((part.bytes(), part.gpu()), (16, device.gpu()));
    let nothing = stream.zeroed::<u64>(0)?;
    assert_eq!((nothing.bytes(), nothing.gpu()), (0, None));
    Ok(())
}
