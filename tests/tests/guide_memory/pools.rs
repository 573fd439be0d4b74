//! Chapter 11: memory that is allocated and freed in the order of streams.

use warpsmith_host::PoolOptions;
use warpsmith_host::prelude::*;
use warpsmith_test_kernels::guide_memory as kernels;
use warpsmith_tests::{Fixture, Side, fixture, own_process};

// covers: POOL-01, POOL-X01
#[test]
fn a_driver_of_any_age_says_whether_it_has_pools() -> Result<()> {
    let gpu = &fixture().gpu;
    let asked = |attribute| -> Result<i32> { Ok(gpu.attribute_if_known(attribute)?.unwrap_or(0)) };
    let has_pools = asked(Attribute::MEMORY_POOLS_SUPPORTED)? != 0;
    let descriptors = asked(Attribute::MEMPOOL_SUPPORTED_HANDLE_TYPES)? & 1 != 0;
    // What no driver knows is no error.
    assert_eq!(gpu.attribute_if_known(Attribute(1 << 20))?, None);
    assert!(gpu.attribute(Attribute(1 << 20)).is_err());
    assert_eq!(gpu.default_pool().is_ok(), has_pools);
    let shareable = PoolOptions {
        shareable: true,
        ..Default::default()
    };
    assert_eq!(gpu.pool(shareable).is_ok(), descriptors);
    Ok(())
}

// covers: POOL-02, POOL-X02
#[test]
fn an_allocation_a_kernel_and_a_free_in_one_stream() -> Result<()> {
    let Fixture { gpu, module } = fixture();
    let stream = gpu.stream()?;
    let increase = module.kernel(kernels::increase_each)?;
    let mut back = gpu.pinned::<u32>(128)?;
    let mut memory = stream.zeroed::<u32>(128)?;
    stream.launch(&increase, Grid::cover(128, 64), (7, &mut memory))?;
    stream.copy_to_host(&memory, &mut back)?;
    drop(memory);
    stream.synchronize()?;
    assert_eq!(*back.host()?, [7; 128]);
    Ok(())
}

/// The waits of the example are the library's. Without them, by driver calls: `driver/tests/streams/conflicts/pools.rs`.
// covers: POOL-X03
#[test]
fn allocated_in_one_stream_used_in_a_second_and_freed_after_a_third() -> Result<()> {
    let Fixture { gpu, module } = fixture();
    let (one, two, three) = (gpu.stream()?, gpu.stream()?, gpu.stream()?);
    let increase = module.kernel(kernels::increase_each)?;
    let mut back = gpu.pinned::<u32>(1000)?;
    for round in 1..20 {
        let mut memory = one.filled::<u32>(1000, round)?;
        two.launch(&increase, Grid::cover(1000, 128), (5, &mut memory))?;
        three.copy_to_host(&memory, &mut back)?;
        drop(memory);
        three.synchronize()?;
        assert_eq!(*back.host()?, [round + 5; 1000]);
    }
    Ok(())
}

/// Plain memory (`cuMemAlloc`: the kind that other processes open by a handle) goes back behind its last use, as that of a pool does.
// covers: POOL-X04
#[test]
fn plain_memory_is_back_when_its_stream_was_waited_for() -> Result<()> {
    // Elsewhere another test could get the same address.
    let Side::Child = own_process(&[]) else {
        return Ok(());
    };
    let Fixture { gpu, module } = fixture();
    let stream = gpu.stream()?;
    let increase = module.kernel(kernels::increase_each)?;
    const WORDS: usize = 16 << 20;
    let address = {
        let mut memory = gpu.exportable::<u32>(WORDS)?;
        stream.launch(
            &increase,
            Grid::cover(1000, 128),
            (5, &mut memory.slice_mut(..1000)),
        )?;
        assert_eq!(stream.download(&memory.slice(..1000))?, [5; 1000]);
        memory.as_device_ptr().address()
    };
    stream.synchronize()?;
    assert_eq!(gpu.pointer_attributes(address)?, None, "it was freed");
    Ok(())
}
