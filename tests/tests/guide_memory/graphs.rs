//! Chapter 12: memory of graphs.

use warpsmith_host::prelude::*;
use warpsmith_tests::fixture;

// covers: GMEM-01, GMEM-X11
#[test]
fn a_driver_of_any_age_says_whether_graphs_have_memory() -> Result<()> {
    let gpu = &fixture().gpu;
    let has_pools = gpu.attribute_if_known(Attribute::MEMORY_POOLS_SUPPORTED)?;
    let version = gpu.driver_version();
    let supported = has_pools.unwrap_or(0) != 0 && (version.major, version.minor) >= (11, 4);
    let mut graph = gpu.graph()?;
    assert_eq!(graph.zeroed::<u32>(64).is_ok(), supported);
    Ok(())
}
