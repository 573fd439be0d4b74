//! Chapter 10: physical memory and what may be asked of it.

use warpsmith_host::prelude::*;
use warpsmith_host::{MappingAccess, PhysicalOptions};
use warpsmith_test_kernels::guide_memory as kernels;
use warpsmith_tests::fixture;

/// Compression changes no results, whether it was granted or not.
// covers: VMM-30, VMM-X06
#[test]
fn compressible_memory_says_what_was_granted() -> Result<()> {
    let f = fixture();
    let stream = f.stream();
    let increase = f.module.kernel(kernels::increase_each)?;
    let supported = f
        .gpu
        .attribute_if_known(Attribute::GENERIC_COMPRESSION_SUPPORTED)?
        .unwrap_or(0)
        != 0;
    let expected: Vec<u32> = (0..5000).map(|i| i % 7 + 3).collect();
    for compressible in [false, supported] {
        let options = PhysicalOptions {
            compressible,
            ..Default::default()
        };
        let memory = f.gpu.physical_memory(5000 * 4, options)?;
        let granted = memory.is_compressible()?;
        println!("asked for compression: {compressible}, granted: {granted}");
        assert!(compressible || !granted, "it was not asked for");
        // SAFETY: it is the only mapping, and the copy writes what is read.
        let mut words = unsafe { memory.map::<u32>(MappingAccess::ReadWrite)? };
        let first: Vec<u32> = (0..5000).map(|i| i % 7).collect();
        stream.upload_into(&first, &mut words.slice_mut(..5000))?;
        let mut words = words.slice_mut(..5000);
        stream.launch(&increase, Grid::cover(5000, 256), (3, &mut words))?;
        assert_eq!(stream.download(&words)?, expected);
    }
    Ok(())
}
