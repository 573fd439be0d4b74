//! Copies that are enqueued together.

use crate::common::{Gate, gpu, module};
use warpsmith_host::CopyBatch;
use warpsmith_host::prelude::*;

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
