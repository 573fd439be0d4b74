//! Memory pools: what they hold, keep and reuse, and whose memory a buffer's is.

use crate::common::{Gate, gpu, launch_add, module};
use warpsmith_host::prelude::*;
use warpsmith_host::{PoolOptions, ReusePolicy};

const MIB: usize = 1 << 20;

// covers: POOL-13, POOL-19, POOL-22, POOL-X15
#[test]
fn rounds_in_one_stream_use_the_same_memory() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let add = crate::common::add(&module);
    let stream = gpu.stream()?;
    let pool = gpu.pool(PoolOptions::default())?;
    pool.set_release_threshold(u64::MAX)?;
    assert_eq!(pool.usage()?.reserved, 0);
    let mut first = stream.alloc_from(&pool)?.zeroed::<u32>(MIB)?;
    launch_add(&stream, &add, &mut first, 1);
    drop(first);
    let reserved = pool.usage()?.reserved;
    assert!(reserved >= 4 * MIB as u64);
    for round in 0..100 {
        let mut buffer = stream.alloc_from(&pool)?.filled::<u32>(MIB, round)?;
        launch_add(&stream, &add, &mut buffer, 1);
        if round % 50 == 0 {
            assert_eq!(stream.download(&buffer.slice(..2))?, [round + 1; 2]);
        }
    }
    stream.synchronize()?;
    assert_eq!(pool.usage()?.reserved, reserved);
    Ok(())
}

// covers: POOL-17, POOL-18, POOL-X07, POOL-X08
#[test]
fn what_is_above_the_threshold_goes_back() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    let pool = gpu.pool(PoolOptions::default())?;
    assert_eq!(pool.release_threshold()?, 0);
    drop(stream.alloc_from(&pool)?.zeroed::<u8>(8 * MIB)?);
    stream.synchronize()?;
    assert_eq!(pool.usage()?.reserved, 0);

    pool.set_release_threshold(u64::MAX)?;
    assert_eq!(pool.release_threshold()?, u64::MAX);
    let kept = stream.alloc_from(&pool)?.zeroed::<u8>(8 * MIB)?;
    drop(stream.alloc_from(&pool)?.zeroed::<u8>(64 * MIB)?);
    stream.synchronize()?;
    let before = pool.usage()?;
    assert!(before.reserved >= 72 * MIB as u64, "{before:?}");
    pool.trim_to(0)?;
    let after = pool.usage()?;
    // What is allocated stays.
    assert!(after.reserved < before.reserved && after.reserved >= 8 * MIB as u64);
    assert_eq!(stream.download(&kept.slice(..1))?, [0]);
    Ok(())
}

// covers: POOL-20, POOL-X09
#[test]
fn peaks_are_since_the_last_reset() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    let pool = gpu.pool(PoolOptions::default())?;
    let small = stream.alloc_from(&pool)?.zeroed::<u8>(MIB)?;
    drop(stream.alloc_from(&pool)?.zeroed::<u8>(40 * MIB)?);
    stream.synchronize()?;
    let usage = pool.usage()?;
    assert!(
        usage.used_peak >= 41 * MIB as u64 && usage.used < 2 * MIB as u64,
        "{usage:?}"
    );
    assert!(usage.reserved_peak >= usage.used_peak);
    pool.reset_peaks()?;
    let usage = pool.usage()?;
    assert_eq!(
        (usage.used_peak, usage.reserved_peak),
        (usage.used, usage.reserved)
    );
    drop(small);
    Ok(())
}

// covers: POOL-10, POOL-15
#[test]
fn a_pool_has_its_limit() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    let pool = gpu.pool(PoolOptions {
        max_bytes: Some(64 * MIB),
        ..Default::default()
    })?;
    let from_pool = stream.alloc_from(&pool)?;
    let error = from_pool.zeroed::<u8>(100 * MIB).unwrap_err();
    assert_eq!(error.code(), Some(Code::OUT_OF_MEMORY), "{error}");
    let text = error.to_string();
    let (asked, limit) = (100 * MIB, 64 * MIB);
    assert!(
        text.contains(&format!("{asked} bytes of a pool with `max_bytes` {limit}")),
        "{text}"
    );
    let first = from_pool.zeroed::<u8>(48 * MIB)?;
    assert!(from_pool.zeroed::<u8>(48 * MIB).is_err());
    // The stream is as good as before, and freed memory serves again.
    drop(first);
    let second = from_pool.filled::<u8>(48 * MIB, 3)?;
    assert_eq!(stream.download(&second.slice(..2))?, [3, 3]);
    // The driver takes no bytes for no limit.
    let nothing = gpu.pool(PoolOptions {
        max_bytes: Some(0),
        ..Default::default()
    });
    let error = nothing.unwrap_err().to_string();
    assert!(error.contains("`max_bytes`"), "{error}");
    Ok(())
}

// covers: POOL-11, POOL-12, POOL-X06
#[test]
fn a_device_allocates_from_the_pool_that_it_is_told() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    let pool = gpu.pool(PoolOptions::default())?;
    gpu.use_pool(&pool)?;
    let buffer = stream.filled(1000, 7_u32)?;
    assert!(pool.usage()?.used >= 4000);
    // The buffer outlives the pool, and the default pool is in use again.
    drop(pool);
    let other = stream.filled(1000, 8_u32)?;
    assert!(gpu.default_pool()?.usage()?.used >= 4000);
    assert_eq!(stream.download(&buffer)?, [7; 1000]);
    assert_eq!(stream.download(&other)?, [8; 1000]);
    Ok(())
}

#[test]
fn policies_are_what_was_set() -> Result<()> {
    let gpu = gpu();
    let pool = gpu.pool(PoolOptions::default())?;
    assert_eq!(pool.reuse_policy()?, ReusePolicy::default());
    pool.set_reuse_policy(ReusePolicy::DETERMINISTIC)?;
    assert_eq!(pool.reuse_policy()?, ReusePolicy::DETERMINISTIC);
    Ok(())
}

// covers: POOL-04, POOL-09
#[test]
fn ten_thousand_buffers_need_no_wait_and_little_memory() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    let pool = gpu.pool(PoolOptions::default())?;
    pool.set_release_threshold(u64::MAX)?;
    for round in 0..10_000_u32 {
        let buffer = stream.alloc_from(&pool)?.filled::<u32>(64 << 10, round)?;
        if round % 1000 == 0 {
            assert_eq!(stream.download(&buffer.slice(..1))?, [round]);
        }
    }
    stream.synchronize()?;
    let reserved = pool.usage()?.reserved;
    assert!(reserved <= 64 * MIB as u64, "{reserved}");
    Ok(())
}

#[test]
fn a_buffer_goes_back_after_its_last_use() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let stream = gpu.stream()?;
    let mut gate = Gate::new(&gpu, &module);
    let pool = gpu.pool(PoolOptions::default())?;
    let mut buffer = stream.alloc_from(&pool)?.zeroed::<u32>(1000)?;
    stream.synchronize()?;
    gate.close(&stream);
    launch_add(&stream, &crate::common::add(&module), &mut buffer, 1);
    drop(buffer);
    // The kernel has not run yet: its memory counts as free, but serves no other stream and is not given back.
    let usage = pool.usage()?;
    assert!(usage.used == 0 && usage.reserved > 0, "{usage:?}");
    pool.trim_to(0)?;
    assert_eq!(pool.usage()?.reserved, usage.reserved);
    gate.open();
    stream.synchronize()?;
    assert_eq!(pool.usage()?.reserved, 0);
    Ok(())
}
