//! Pools that end before work on their memory does, and before their memory, in every order: the driver is told of it when the last free of
//! their memory is done. A driver that hears of it before (580.159.04) ends the process in one of its next calls.

mod common;

use common::{Add, add, gpu, hold_up, in_own_process, launch_add, module};
use warpsmith_driver::raw;
use warpsmith_host::prelude::*;
use warpsmith_host::{MemoryPool, PoolOptions};

const LEN: usize = 100;
/// So many pools come and go without a wait.
const ROUNDS: usize = 300;

/// Two streams, and a kernel for them.
struct World<'a> {
    gpu: &'a Gpu,
    one: Stream,
    other: Stream,
    add: Add,
}

/// How memory comes from a pool.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Source {
    /// By name.
    ThePool,
    /// Because it is the device's pool.
    TheDevice,
}

/// Who has used the memory.
#[derive(Clone, Copy, Debug)]
enum UsedBy {
    OneStream,
    /// It is freed behind both.
    BothStreams,
}

/// What is dropped first.
#[derive(Clone, Copy, Debug)]
enum First {
    Pool,
    Memory,
    /// On a thread of its own.
    MemoryElsewhere,
}

fn all_ways() -> impl Iterator<Item = (Source, UsedBy, First)> {
    let sources = [Source::ThePool, Source::TheDevice];
    let users = [UsedBy::OneStream, UsedBy::BothStreams];
    let firsts = [First::Pool, First::Memory, First::MemoryElsewhere];
    let of = move |source| {
        let users = users.into_iter();
        users.flat_map(move |by| firsts.into_iter().map(move |first| (source, by, first)))
    };
    sources.into_iter().flat_map(of)
}

impl World<'_> {
    fn memory(&self, pool: &MemoryPool, source: Source) -> Result<DeviceBuffer<u32>> {
        match source {
            Source::ThePool => self.one.alloc_from(pool)?.zeroed(LEN),
            Source::TheDevice => {
                self.gpu.use_pool(pool)?;
                self.one.zeroed(LEN)
            }
        }
    }

    fn uses(&self, words: &mut DeviceBuffer<u32>, by: UsedBy) {
        launch_add(&self.one, &self.add, words, 1);
        if let UsedBy::BothStreams = by {
            launch_add(&self.other, &self.add, words, 1);
        }
    }
}

fn drop_both(pool: MemoryPool, words: DeviceBuffer<u32>, first: First) {
    match first {
        First::Pool => drop((pool, words)),
        First::Memory => drop((words, pool)),
        First::MemoryElsewhere => {
            let thread = std::thread::spawn(move || drop(words));
            thread.join().expect("no panic");
            drop(pool);
        }
    }
}

/// Whether the simulator knows a pool yet. A GPU's driver may not be asked for one that is gone.
fn exists(pool: raw::CUmemoryPool) -> bool {
    let mut bytes = 0_u64;
    // SAFETY: the simulator looks at any handle, and writes a `u64` for this attribute.
    let code = unsafe {
        raw::cuMemPoolGetAttribute(
            pool,
            raw::CUmemPool_attribute::CU_MEMPOOL_ATTR_USED_MEM_CURRENT,
            (&raw mut bytes).cast(),
        )
    };
    code.0 == 0
}

/// A first wait records events behind all frees, and a second one finds them done.
fn end_pools(gpu: &Gpu) -> Result<()> {
    gpu.synchronize()?;
    gpu.synchronize()
}

fn in_a_world(body: impl FnOnce(&World<'_>) -> Result<()>) {
    in_own_process(&[], || {
        let gpu = gpu();
        let world = World {
            gpu: &gpu,
            one: gpu.stream().expect("a stream"),
            other: gpu.stream().expect("a stream"),
            add: add(&module(&gpu)),
        };
        body(&world).unwrap_or_else(|error| panic!("{error}"));
    });
}

#[test]
fn a_pool_ends_when_its_last_free_is_done() {
    in_a_world(|world| {
        let gpu = world.gpu;
        for how @ (source, by, first) in all_ways() {
            for (is_one, held) in [(true, &world.one), (false, &world.other)] {
                let pool = gpu.pool(PoolOptions::default())?;
                let handle: raw::CUmemoryPool = pool.as_raw().cast();
                let mut words = world.memory(&pool, source)?;
                let gate = hold_up(held)?;
                world.uses(&mut words, by);
                drop_both(pool, words, first);
                // Where what is done with is given up.
                drop(world.one.zeroed::<u8>(1)?);
                gpu.event()?;
                let waits = is_one || matches!(by, UsedBy::BothStreams);
                if gpu.is_simulator() && waits {
                    assert!(exists(handle), "{how:?}: it has ended before its frees");
                }
                drop(gate);
                end_pools(gpu)?;
                if gpu.is_simulator() {
                    assert!(!exists(handle), "{how:?}: it has not ended");
                }
            }
        }
        Ok(())
    });
}

#[test]
fn a_pool_stays_as_long_as_its_memory() {
    in_a_world(|world| {
        let gpu = world.gpu;
        for source in [Source::ThePool, Source::TheDevice] {
            let pool = gpu.pool(PoolOptions::default())?;
            let handle: raw::CUmemoryPool = pool.as_raw().cast();
            let mut words = world.memory(&pool, source)?;
            drop(pool);
            for round in 1..4 {
                world.uses(&mut words, UsedBy::BothStreams);
                gpu.synchronize()?;
                assert!(!gpu.is_simulator() || exists(handle), "{source:?}");
                assert_eq!(world.one.download(&words)?, [2 * round; LEN]);
            }
            let gate = hold_up(&world.other)?;
            world.uses(&mut words, UsedBy::BothStreams);
            drop(words);
            // All that was used is free now by the driver's count, or as soon as the streams go on.
            drop(world.one.zeroed::<u8>(1)?);
            assert!(!gpu.is_simulator() || exists(handle), "{source:?}");
            drop(gate);
            end_pools(gpu)?;
            assert!(!gpu.is_simulator() || !exists(handle), "{source:?}");
        }
        Ok(())
    });
}

#[test]
fn pools_come_and_go_without_a_wait() {
    in_a_world(|world| {
        for (source, by, first) in all_ways() {
            for _ in 0..ROUNDS {
                let pool = world.gpu.pool(PoolOptions::default())?;
                let mut words = world.memory(&pool, source)?;
                world.uses(&mut words, by);
                drop_both(pool, words, first);
            }
            world.gpu.synchronize()?;
        }
        let words = world.one.filled(LEN, 7_u32)?;
        assert_eq!(world.one.download(&words)?, [7; LEN]);
        Ok(())
    });
}
