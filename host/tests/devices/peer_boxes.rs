//! Copies of matrices and arrays from one device to another, in order with all uses of both sides. On two GPUs where there are some.

use crate::common::two::with_two;
use crate::common::{hold_up, open_soon, refusal};
use warpsmith_host::prelude::*;
use warpsmith_host::{
    ArrayExtents, Attribute, Extent1, Extent2, Extent3, Layered1, Layered2, Location,
    MappingAccess, PhysicalOptions, PoolOptions,
};

/// There and back: from one device to the other, and from that to the first.
fn round_trip<D: ArrayExtents>(here: &Stream, there: &Stream, extents: D, len: u32) {
    let texels: Vec<u32> = (1..=len).collect();
    let from = there.array(&texels, extents).unwrap();
    let mut to = here.array_zeroed::<u32, D>(extents).unwrap();
    here.copy_array_from_peer(there, &from, &mut to).unwrap();
    assert_eq!(here.download_array(&to).unwrap(), texels);
    let mut back = there.array_zeroed::<u32, D>(extents).unwrap();
    there.copy_array_from_peer(here, &to, &mut back).unwrap();
    assert_eq!(there.download_array(&back).unwrap(), texels);

    // By memory.
    let mut memory = here.zeroed::<u32>(len as usize).unwrap();
    here.copy_from_array_of_peer(there, &back, &mut memory)
        .unwrap();
    assert_eq!(here.download(&memory).unwrap(), texels);
    here.fill(&mut memory, 5).unwrap();
    there
        .copy_to_array_from_peer(here, &memory, &mut back)
        .unwrap();
    assert_eq!(there.download_array(&back).unwrap(), vec![5; len as usize]);
}

#[test]
fn arrays_of_all_kinds_are_copied_between_devices() {
    // covers: MULTI-09, MULTI-X05
    with_two(|one, other| {
        let (here, there) = (one.stream().unwrap(), other.stream().unwrap());
        round_trip(&here, &there, Extent1 { width: 100 }, 100);
        let flat = Extent2 {
            width: 20,
            height: 5,
        };
        round_trip(&here, &there, flat, 100);
        let deep = Extent3 {
            width: 10,
            height: 5,
            depth: 3,
        };
        round_trip(&here, &there, deep, 150);
        let lines = Layered1 {
            width: 30,
            layers: 4,
        };
        round_trip(&here, &there, lines, 120);
        let layers = Layered2 {
            width: 10,
            height: 3,
            layers: 4,
        };
        round_trip(&here, &there, layers, 120);
    });
}

#[test]
fn parts_of_arrays_are_copied_between_devices() {
    with_two(|one, other| {
        let (here, there) = (one.stream().unwrap(), other.stream().unwrap());
        let at = |width, height| Extent2 { width, height };
        let texels: Vec<[u8; 4]> = (0..12).map(|i| [i, i + 1, 0, 255]).collect();
        let from = there.array(&texels, at(4, 3)).unwrap();
        let mut to = here.array_zeroed::<[u8; 4], _>(at(3, 3)).unwrap();
        here.copy_array_region_from_peer(&there, &from, at(2, 1), &mut to, at(0, 1), at(2, 2))
            .unwrap();
        let mut expected = vec![[0; 4]; 9];
        for (to, from) in [(3, 6), (4, 7), (6, 10), (7, 11)] {
            expected[to] = texels[from];
        }
        assert_eq!(here.download_array(&to).unwrap(), expected);
        for (from_at, to_at, size) in [
            (at(3, 1), at(0, 0), at(2, 1)),
            (at(0, 0), at(2, 0), at(2, 1)),
            (at(0, 0), at(0, 0), at(0, 1)),
            (at(usize::MAX, 0), at(0, 0), at(2, 1)),
        ] {
            let refused =
                here.copy_array_region_from_peer(&there, &from, from_at, &mut to, to_at, size);
            let text = refusal(refused);
            assert!(
                text.contains("cuMemcpy3DPeerAsync") && text.contains("do not lie in an array"),
                "{text}"
            );
        }
        // A level of a mipmapped array is an array, and both sides may be of one device.
        let levels = here.mipmapped_array_zeroed::<u32, _>(at(4, 4), 2).unwrap();
        let (first, mut second) = (levels.level(0), levels.level(1));
        here.upload_array(&(1..=16).collect::<Vec<u32>>(), &mut levels.level(0))
            .unwrap();
        here.copy_array_region_from_peer(&here, &first, at(2, 2), &mut second, at(0, 0), at(2, 2))
            .unwrap();
        assert_eq!(here.download_array(&second).unwrap(), [11, 12, 15, 16]);
        let refused = here.copy_array_region_from_peer(
            &here,
            &first,
            at(2, 2),
            &mut levels.level(0),
            at(0, 0),
            at(2, 2),
        );
        assert!(refusal(refused).contains("one level of a mipmapped array"));
        assert_eq!(here.download_array(&to).unwrap(), expected);
    });
}

#[test]
fn padded_rows_are_copied_between_devices() {
    with_two(|one, other| {
        let (here, there) = (one.stream().unwrap(), other.stream().unwrap());
        let numbers: Vec<u32> = (0..24).collect();
        let from = there.pitched_volume_upload(&numbers, 2, 3, 4).unwrap();
        let mut to = here.pitched_zeroed::<u32>(6, 4).unwrap();
        here.copy_matrix_from_peer(&there, &from.matrix(), &mut to.matrix_mut())
            .unwrap();
        assert_eq!(here.download_matrix(&to.matrix()).unwrap(), numbers);
        // A rectangle, to rows of another distance; what is between them stays.
        let mut packed = here.filled(12, 100_u32).unwrap();
        let mut matrix = packed.matrix_mut(3, 4).unwrap();
        here.copy_matrix_from_peer(
            &there,
            &from.layer(1).region(1..3, 2..4),
            &mut matrix.region_mut(0..2, 1..3),
        )
        .unwrap();
        let expected = [100, 18, 19, 100, 100, 22, 23, 100, 100, 100, 100, 100];
        assert_eq!(here.download(&packed).unwrap(), expected);
        // Of nothing.
        let empty = there.zeroed::<u32>(0).unwrap();
        let mut also = here.zeroed::<u32>(0).unwrap();
        here.copy_matrix_from_peer(
            &there,
            &empty.matrix(0, 4).unwrap(),
            &mut also.matrix_mut(0, 4).unwrap(),
        )
        .unwrap();
    });
}

/// Memory of a pool on the host is host memory to the driver.
fn is_refused(result: Result<()>) {
    let error = result.unwrap_err();
    assert_eq!(error.code(), Some(Code::NOT_SUPPORTED), "{error}");
    assert!(error.to_string().contains("`copy_from_peer`"), "{error}");
}

#[test]
fn memory_of_host_pools_is_refused() {
    with_two(|one, other| {
        let options = PoolOptions {
            location: Location::Host,
            ..Default::default()
        };
        let has_pools = |gpu: &Gpu| {
            let supported = gpu.attribute(Attribute::HOST_MEMORY_POOLS_SUPPORTED);
            supported.is_ok_and(|value| value == 1)
        };
        if ![&one, &other].into_iter().all(has_pools) {
            return;
        }
        let pools = [&one, &other].map(|gpu| gpu.pool(options).unwrap());
        let (here, there) = (one.stream().unwrap(), other.stream().unwrap());
        let mut far = there
            .alloc_from(&pools[1])
            .unwrap()
            .zeroed::<u32>(6)
            .unwrap();
        there.upload_into(&[1, 2, 3, 4, 5, 6], &mut far).unwrap();
        let size = Extent2 {
            width: 3,
            height: 2,
        };
        let mut image = here.array_zeroed::<u32, _>(size).unwrap();
        let refused = here.copy_to_array_from_peer(&there, &far, &mut image);
        is_refused(refused);
        let mut back = there
            .alloc_from(&pools[1])
            .unwrap()
            .zeroed::<u32>(6)
            .unwrap();
        is_refused(there.copy_from_array_of_peer(&here, &image, &mut back));
        let mut near = here
            .alloc_from(&pools[0])
            .unwrap()
            .zeroed::<u32>(4)
            .unwrap();
        is_refused(here.copy_matrix_from_peer(
            &there,
            &back.matrix(2, 3).unwrap().region(0..2, 1..3),
            &mut near.matrix_mut(2, 2).unwrap(),
        ));
        // What the error names.
        let mut own = here.zeroed::<u32>(6).unwrap();
        here.copy_from_peer(&there, &far, &mut own).unwrap();
        assert_eq!(here.download(&own).unwrap(), [1, 2, 3, 4, 5, 6]);
    });
}

#[test]
fn copies_of_arrays_between_devices_are_in_order_on_both() {
    with_two(|one, other| {
        let (here, there) = (one.stream().unwrap(), other.stream().unwrap());
        let (before, after) = (other.stream().unwrap(), other.stream().unwrap());
        let size = Extent2 {
            width: 100,
            height: 50,
        };
        let mut from = there.array_zeroed::<u32, _>(size).unwrap();
        let mut to = here.array_zeroed::<u32, _>(size).unwrap();
        let mut texels = before.zeroed::<u32>(5000).unwrap();
        let zeros = after.zeroed::<u32>(5000).unwrap();
        for round in 1..20 {
            // In streams that have nothing to do with the copy but the array.
            open_soon(hold_up(&before).unwrap());
            before.fill(&mut texels, round).unwrap();
            before.copy_to_array(&texels, &mut from).unwrap();
            here.copy_array_from_peer(&there, &from, &mut to).unwrap();
            after.copy_to_array(&zeros, &mut from).unwrap();
            assert_eq!(here.download_array(&to).unwrap(), vec![round; 5000]);
            assert_eq!(there.download_array(&from).unwrap(), vec![0; 5000]);
        }
        // Both arrays outlive the copy, and so does the other device.
        open_soon(hold_up(&before).unwrap());
        before.fill(&mut texels, 77).unwrap();
        before.copy_to_array(&texels, &mut from).unwrap();
        here.copy_array_from_peer(&there, &from, &mut to).unwrap();
        drop((from, there, after, zeros, texels, other));
        assert_eq!(here.download_array(&to).unwrap(), vec![77; 5000]);
        // As does the one that is written: what is made next has other memory until then.
        let source = before.array(&vec![1_u32; 5000], size).unwrap();
        open_soon(hold_up(&before).unwrap());
        here.copy_array_from_peer(&before, &source, &mut to)
            .unwrap();
        drop((to, source));
        let after = one.stream().unwrap();
        let again = after.array(&vec![5_u32; 5000], size).unwrap();
        before.synchronize().unwrap();
        here.synchronize().unwrap();
        assert_eq!(after.download_array(&again).unwrap(), vec![5; 5000]);
    });
}

#[test]
fn memory_that_may_only_be_read_is_not_written_from_another_device() {
    with_two(|one, other| {
        let (here, there) = (one.stream().unwrap(), other.stream().unwrap());
        let memory = one.physical_memory(64, PhysicalOptions::default()).unwrap();
        // SAFETY: what is read was written, by one mapping while no work uses the other.
        let mut words = unsafe { memory.map::<u32>(MappingAccess::ReadWrite) }.unwrap();
        here.fill(&mut words, 3).unwrap();
        here.synchronize().unwrap();
        // SAFETY: as it is mapped it is only read.
        let mut fixed = unsafe { memory.map::<u32>(MappingAccess::Read) }.unwrap();
        let from = there.filled(16, 7_u32).unwrap();
        let refused = here.copy_from_peer(&there, &from, &mut fixed.slice_mut(..16));
        assert!(refusal(refused).contains("mapped for reading alone"));
        let mut matrix = fixed.slice_mut(..16).matrix_mut(4, 4).unwrap();
        let refused = here.copy_matrix_from_peer(&there, &from.matrix(4, 4).unwrap(), &mut matrix);
        assert!(refusal(refused).contains("mapped for reading alone"));
        assert_eq!(here.download(&fixed.slice(..16)).unwrap(), [3; 16]);
    });
}
