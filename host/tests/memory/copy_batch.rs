//! Copies that are enqueued together.

use crate::common::{Gate, gpu, module};
use warpsmith_host::prelude::*;
use warpsmith_host::{CopyBatch, Extent2, Extent3, Layered1};

/// Copies of every kind in one batch, in the order of all that uses their memory.
#[test]
fn a_batch_is_in_order_with_all_that_uses_its_memory() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let mut gate = Gate::new(&gpu, &module);
    let (one, two) = (gpu.stream()?, gpu.stream()?);
    for stream in [gpu.stream()?, gpu.legacy_stream()?] {
        let mut input = gpu.pinned::<u32>(100)?;
        input.host_mut()?.fill(3);
        let mut output = gpu.register(vec![0_u32; 100])?;
        let mut beside = gpu.mapped::<u32>(10)?;
        let mut words = one.zeroed::<u32>(100)?;
        let nines = two.filled(50, 9_u32)?;
        let mut copy = two.zeroed::<u32>(50)?;
        gpu.synchronize()?;

        gate.close(&one);
        // The batch comes after it.
        one.fill(&mut words, 5)?;
        {
            let (mut left, right) = words.slice_mut(..).split_at_mut(50);
            let (source, mut back) = (input.slice(20..70), output.pinned_slice_mut(..50));
            let mut batch = CopyBatch::new();
            batch.copy_from_host(&source, &mut left)?;
            batch.copy_to_host(&right, &mut back)?;
            batch.copy(&nines, &mut copy)?;
            let (part, none) = (nines.slice(40..), input.slice(5..5));
            let mut nothing = two.zeroed::<u32>(0)?;
            batch.copy_to_host(&part, &mut beside)?;
            batch.copy_from_host(&none, &mut nothing)?;
            assert_eq!(batch.len(), 4);
            stream.copy_batch(batch)?;
        }
        let busy = |result: Result<()>| matches!(result, Err(Error::Busy(_)));
        assert!(busy(input.host_mut().map(drop)) && busy(output.host().map(drop)));
        assert!(busy(beside.host().map(drop)));
        // What comes later waits for the batch.
        two.fill(&mut words.slice_mut(..25), 8)?;
        gate.open();
        assert_eq!(
            two.download(&words)?,
            [[8; 25], [3; 25], [5; 25], [5; 25]].concat()
        );
        assert_eq!(two.download(&copy)?, [9; 50]);
        gpu.synchronize()?;
        assert_eq!(*output.host()?, [[5; 50], [0; 50]].concat());
        assert_eq!(*beside.host()?, [9; 10]);
    }
    Ok(())
}

#[test]
fn batches_that_cannot_be() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    let from = stream.zeroed::<u32>(4)?;
    let mut to = stream.zeroed::<u32>(3)?;
    let mut batch = CopyBatch::new();
    assert!(batch.copy(&from, &mut to).is_err());
    assert!(batch.is_empty());
    stream.copy_batch(batch)?;
    Ok(())
}

/// Rectangles, boxes and arrays, next to copies of elements in a row; in a stream that takes batches, and in one that does not.
#[test]
fn a_batch_copies_rectangles_and_arrays() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let mut gate = Gate::new(&gpu, &module);
    let other = gpu.stream()?;
    for stream in [gpu.stream()?, gpu.legacy_stream()?] {
        let numbers: Vec<u32> = (0..24).collect();
        let mut picture = other.pitched_zeroed::<u32>(4, 6)?;
        let (mut corner, mut row) = (other.zeroed::<u32>(6)?, other.zeroed::<u32>(6)?);
        let mut input = gpu.pinned::<u32>(4)?;
        input.host_mut()?.copy_from_slice(&[7; 4]);
        let mut output = gpu.mapped::<u32>(24)?;
        let mut pasted = other.filled(9, 1_u32)?;
        let shape = Extent3 {
            width: 4,
            height: 3,
            depth: 2,
        };
        let cube = other.array(&numbers, shape)?;
        let mut copied = other.array_zeroed::<u32, _>(shape)?;
        let mut part = other.zeroed::<u32>(4)?;
        let mut lines = other.array_zeroed::<u32, _>(Layered1 {
            width: 3,
            layers: 2,
        })?;
        let line = other.upload(&[4_u32, 5])?;
        let mut flat = other.array_zeroed::<u32, _>(Extent2 {
            width: 6,
            height: 4,
        })?;
        gpu.synchronize()?;

        let mut changing = other.upload(&numbers)?;
        gate.close(&other);
        // The batch comes after it.
        other.fill(&mut changing.slice_mut(..12), 9)?;
        {
            let all = changing.matrix(4, 6)?;
            let left_below = all.region(2..4, 0..3);
            let mut to_picture = picture.matrix_mut();
            let mut to_corner = corner.matrix_mut(2, 3)?;
            let mut middle = pasted.matrix_mut(3, 3)?;
            let mut middle = middle.region_mut(0..2, 1..3);
            let none = all.region(1..1, 0..6);
            let mut nothing = other.zeroed::<u32>(0)?;
            let mut nothing = nothing.matrix_mut(0, 6)?;
            let at = Extent3 {
                width: 1,
                height: 1,
                depth: 1,
            };
            let size = Extent3 {
                width: 2,
                height: 2,
                depth: 1,
            };
            let second = Layered1 {
                width: 1,
                layers: 1,
            };
            let two = Layered1 {
                width: 2,
                layers: 1,
            };
            let first = changing.slice(..6);
            let mut batch = CopyBatch::new();
            batch.copy_matrix(&all, &mut to_picture)?;
            batch.copy_matrix(&left_below, &mut to_corner)?;
            batch.copy_matrix(&none, &mut nothing)?;
            batch.copy_matrix_from_host(&input, &mut middle)?;
            batch.copy_matrix_to_host(&all, &mut output)?;
            batch.copy_array(&cube, &mut copied)?;
            batch.copy_from_array_region(&cube, at, size, &mut part)?;
            batch.copy_to_array_region(&line, &mut lines, second, two)?;
            batch.copy_to_array(&changing, &mut flat)?;
            batch.copy(&first, &mut row)?;
            assert_eq!(batch.len(), 9);
            stream.copy_batch(batch)?;
        }
        assert!(matches!(output.host().map(drop), Err(Error::Busy(_))));
        // What comes later waits for the batch.
        other.fill(&mut changing, 8)?;
        gate.open();
        let changed = [vec![9; 12], numbers[12..].to_vec()].concat();
        assert_eq!(other.download_matrix(&picture.matrix())?, changed);
        assert_eq!(other.download(&corner)?, [12, 13, 14, 18, 19, 20]);
        assert_eq!(other.download(&pasted)?, [1, 7, 7, 1, 7, 7, 1, 1, 1]);
        assert_eq!(other.download_array(&copied)?, numbers);
        assert_eq!(other.download(&part)?, [17, 18, 21, 22]);
        assert_eq!(other.download_array(&lines)?, [0, 0, 0, 0, 4, 5]);
        assert_eq!(other.download_array(&flat)?, changed);
        assert_eq!(other.download(&row)?, [9; 6]);
        gpu.synchronize()?;
        assert_eq!(*output.host()?, changed);
    }
    Ok(())
}

#[test]
fn boxes_that_cannot_be() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    let buffer = stream.zeroed::<u32>(9)?;
    let mut other = stream.zeroed::<u32>(9)?;
    let mut image = stream.array_zeroed::<u32, _>(Extent2 {
        width: 3,
        height: 3,
    })?;
    let mut pinned = gpu.pinned::<u32>(8)?;
    let mut batch = CopyBatch::new();
    let from = buffer.matrix(3, 3)?;
    let mut to = other.matrix_mut(1, 9)?;
    assert!(batch.copy_matrix(&from, &mut to).is_err());
    assert!(batch.copy_matrix_to_host(&from, &mut pinned).is_err());
    let part = buffer.slice(1..);
    assert!(batch.copy_to_array(&part, &mut image).is_err());
    assert!(batch.is_empty());
    let mut batch = CopyBatch::new();
    let (at, size) = (
        Extent2 {
            width: 1,
            height: 1,
        },
        Extent2 {
            width: 3,
            height: 1,
        },
    );
    let mut three = stream.zeroed::<u32>(3)?;
    assert!(
        batch
            .copy_from_array_region(&image, at, size, &mut three)
            .is_err()
    );
    Ok(())
}
