//! Chapter 11: memory that is allocated and freed in the order of streams.

use warpsmith_host::PoolOptions;
use warpsmith_host::prelude::*;
use warpsmith_tests::fixture;

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
