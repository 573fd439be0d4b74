//! Batches of prefetches of unified memory, and memory whose contents are given up.

use crate::common::{Gate, gpu, in_own_process, module};
use warpsmith_host::prelude::*;
use warpsmith_host::{DiscardBatch, HintedLocation, PrefetchBatch};

const LEN: usize = 1 << 20;

fn is_busy<T>(result: Result<T>) -> bool {
    matches!(result, Err(Error::Busy(_)))
}

fn prefetched(buffer: &UnifiedBuffer<u32>) -> Option<HintedLocation> {
    buffer.hints(..).expect("hints").last_prefetch
}

#[test]
fn the_prefetches_of_a_batch_go_where_each_says() -> Result<()> {
    // covers: UM-21, UM-22
    let gpu = gpu();
    for stream in [gpu.stream()?, gpu.legacy_stream()?] {
        let buffers = [
            gpu.unified::<u32>(LEN)?,
            gpu.unified(LEN)?,
            gpu.unified(LEN)?,
        ];
        let halves = [buffers[2].slice(..LEN / 2), buffers[2].slice(LEN / 2..)];
        let nothing = buffers[0].slice(7..7);
        let mut batch = PrefetchBatch::new();
        batch.add(&buffers[0], Location::Device)?;
        batch.add(&nothing, Location::Host)?;
        batch.add(&halves[1], Location::Device)?;
        batch.add(&buffers[1], Location::Host)?;
        batch.add(&halves[0], Location::Host)?;
        assert_eq!(batch.len(), 4);
        stream.prefetch_batch(batch)?;
        stream.synchronize()?;
        let device = Some(HintedLocation::Device(0));
        assert_eq!(prefetched(&buffers[0]), device);
        assert_eq!(prefetched(&buffers[1]), Some(HintedLocation::Host));
        assert_eq!(prefetched(&buffers[2]), None);
        assert_eq!(buffers[2].hints(LEN / 2..)?.last_prefetch, device);
        assert!(
            buffers
                .iter()
                .all(|buffer| buffer.host().is_ok_and(|words| *words == [0; LEN]))
        );
    }
    Ok(())
}

#[test]
fn a_batch_of_prefetches_is_in_order_with_what_writes_the_memory() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let (one, two) = (gpu.stream()?, gpu.stream()?);
    let mut buffer = gpu.unified::<u32>(LEN)?;
    let mut gate = Gate::new(&gpu, &module);
    gate.close(&one);
    one.fill(&mut buffer, 4)?;
    let mut batch = PrefetchBatch::new();
    batch.add(&buffer, Location::Host)?;
    two.prefetch_batch(batch)?;
    assert!(gate.holds(&two), "it waits for the fill");
    gate.open();
    two.synchronize()?;
    assert_eq!(*buffer.host()?, [4; LEN]);
    Ok(())
}

#[test]
fn prefetches_that_cannot_be() -> Result<()> {
    let gpu = gpu();
    let mut stream = gpu.stream()?;
    let (plain, buffer) = (stream.zeroed::<u32>(4)?, gpu.unified::<u32>(4)?);
    let mut batch = PrefetchBatch::new();
    assert!(batch.add(&plain, Location::Device).is_err());
    assert!(batch.is_empty());
    stream.prefetch_batch(batch)?;
    let mut batch = PrefetchBatch::new();
    batch.add(&buffer, Location::HostNuma(u32::MAX))?;
    assert!(stream.prefetch_batch(batch).is_err());
    stream.capture(|capture| {
        let mut batch = PrefetchBatch::new();
        batch.add(&buffer, Location::Host)?;
        assert!(capture.prefetch_batch(batch).is_err());
        Ok(())
    })?;
    Ok(())
}

/// Whether the driver discards; says so if it does not.
fn can_discard(gpu: &Gpu) -> bool {
    let can = gpu.can_discard().expect("an answer");
    if !can {
        println!("skipped: the driver discards nothing");
    }
    can
}

#[test]
fn discarded_memory_comes_back_by_being_written() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    if !can_discard(&gpu) {
        return Ok(());
    }
    let (one, two) = (gpu.stream()?, gpu.stream()?);
    let mut buffer = gpu.unified_from(&vec![1_u32; LEN])?;
    let mut gate = Gate::new(&gpu, &module);
    gate.close(&one);
    one.fill(&mut buffer, 4)?;
    let mut uninit = buffer.into_uninit();
    // After the fill, and before what comes next.
    two.discard(&mut uninit)?;
    assert!(gate.holds(&two), "it waits for the fill");
    let buffer = one.fill_uninit(uninit, 5)?;
    assert!(is_busy(buffer.host().map(drop)));
    gate.open();
    one.synchronize()?;
    assert_eq!(*buffer.host()?, [5; LEN]);

    let mut uninit = buffer.into_uninit();
    two.discard(&mut uninit)?;
    two.discard(&mut uninit)?;
    let numbers: Vec<u32> = (0..LEN as u32).collect();
    let buffer = one.upload_uninit(&numbers, uninit)?;
    let from = one.filled(LEN, 6_u32)?;
    let mut other = gpu.unified::<u32>(LEN)?.into_uninit();
    one.discard(&mut other)?;
    let other = two.copy_uninit(&from, other)?;
    gpu.synchronize()?;
    assert_eq!(*buffer.host()?, *numbers);
    assert_eq!(*other.host()?, [6; LEN]);
    // What was not discarded is as it was.
    // SAFETY: it was a buffer, and nothing has discarded it since.
    let other = unsafe { other.into_uninit().assume_init() };
    assert_eq!(other.host()?[LEN - 1], 6);
    Ok(())
}

#[test]
fn a_batch_of_discards_may_send_memory_somewhere() -> Result<()> {
    let gpu = gpu();
    if !can_discard(&gpu) {
        return Ok(());
    }
    let stream = gpu.stream()?;
    let mut uninit: [_; 3] =
        std::array::from_fn(|_| gpu.unified::<u32>(LEN).map(UnifiedBuffer::into_uninit));
    let mut empty = gpu.unified::<f64>(0)?.into_uninit();
    let mut batch = DiscardBatch::new();
    let [one, two, three] = uninit
        .each_mut()
        .map(|memory| memory.as_mut().expect("memory"));
    batch.discard(one);
    batch.discard(&mut empty);
    batch.discard_and_prefetch(two, Location::Device);
    batch.discard_and_prefetch(three, Location::Host);
    assert_eq!(batch.len(), 3);
    stream.discard_batch(batch)?;
    stream.discard_batch(DiscardBatch::new())?;
    let mut there = Vec::new();
    for memory in uninit {
        let buffer = stream.fill_uninit(memory?, 8)?;
        stream.synchronize()?;
        assert_eq!(*buffer.host()?, [8; LEN]);
        there.push(prefetched(&buffer));
    }
    let (device, host) = (HintedLocation::Device(0), HintedLocation::Host);
    // What was only discarded is brought to where it is written.
    assert_eq!(there, [Some(device), Some(device), Some(host)]);
    Ok(())
}

#[test]
fn discards_that_cannot_be() -> Result<()> {
    let gpu = gpu();
    let mut stream = gpu.stream()?;
    let mut uninit = gpu.unified::<u32>(LEN)?.into_uninit();
    let refused = |result: Result<()>, why: &str| {
        let error = result.expect_err("refused");
        assert!(error.to_string().contains(why), "{error}");
    };
    refused(
        gpu.legacy_stream()?.discard(&mut uninit),
        "legacy default stream",
    );
    // A graph may be launched at any time, and reads what it was made with.
    let from = gpu.unified::<u32>(LEN)?;
    let mut to = stream.zeroed::<u32>(LEN)?;
    let mut graph = gpu.graph()?;
    graph.copy(&from, &mut to)?;
    let ready = graph.instantiate()?;
    refused(
        stream.discard(&mut from.into_uninit()),
        "a graph was made with the memory",
    );
    drop(ready);
    // Nothing is written in a captured stream, so nothing is a buffer by it.
    stream.capture(|capture| {
        refused(capture.discard(&mut uninit), "being captured");
        refused(capture.fill_uninit(uninit, 3).map(drop), "being captured");
        Ok(())
    })?;
    Ok(())
}

/// A driver that cannot is named, and batches of prefetches are single ones.
#[test]
fn a_device_that_cannot_share_discards_nothing() {
    in_own_process(&[("WARPSMITH_SIMULATOR_ATTRIBUTES", "89=0")], || {
        let gpu = gpu();
        if gpu.attribute(Attribute::CONCURRENT_MANAGED_ACCESS).unwrap() != 0 {
            return;
        }
        assert!(!gpu.can_discard().unwrap());
        let stream = gpu.stream().unwrap();
        let mut uninit = gpu.unified::<u32>(4).unwrap().into_uninit();
        let error = stream.discard(&mut uninit).unwrap_err();
        assert!(matches!(error, Error::Unsupported(_)), "{error}");
        assert!(
            error.to_string().contains("discarding unified memory"),
            "{error}"
        );
        let buffer = stream.fill_uninit(uninit, 2).unwrap();
        let mut batch = PrefetchBatch::new();
        batch.add(&buffer, Location::Host).unwrap();
        stream.prefetch_batch(batch).unwrap();
        stream.synchronize().unwrap();
        assert_eq!(*buffer.host().unwrap(), [2; 4]);
    });
}
